/// Renders what Hindsight knows about: design spaces, samples of them, workloads, and this installation.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hindsight/space/design_space.h"
#include "hindsight/space/space_check.h"
#include "hindsight/workload/network.h"

namespace hindsight::report {

[[nodiscard]] std::string spaces_text(std::span<const space::DesignSpace> spaces, int columns);
[[nodiscard]] std::string spaces_json(std::span<const space::DesignSpace> spaces);
[[nodiscard]] std::string space_text(const space::DesignSpace& space, int columns);
[[nodiscard]] std::string space_json(const space::DesignSpace& space);

/// "7,300", or "about 3.1e+12 (+- 2 %)" where it is an estimate.
[[nodiscard]] std::string count_text(const space::LegalCount& count);
[[nodiscard]] std::string count_json(const space::DesignSpace& space, const space::LegalCount& count);
/// How many designs are legal, what each rule leaves alone, and the spread of derived quantities.
[[nodiscard]] std::string check_text(const space::DesignSpace& space, const space::SpaceCheck& check, int columns);
[[nodiscard]] std::string check_json(const space::DesignSpace& space, const space::SpaceCheck& check);

/// One text id per line: ready for `hindsight simulate --design`.
[[nodiscard]] std::string designs_text(const space::DesignSpace& space, std::span<const space::Design> designs);
[[nodiscard]] std::string designs_json(const space::DesignSpace& space, std::span<const space::Design> designs);

[[nodiscard]] std::string workloads_text(std::span<const workload::Network> networks, int columns);
[[nodiscard]] std::string workloads_json(std::span<const workload::Network> networks);
/// Source, totals, a row per layer and the context vector.
[[nodiscard]] std::string workload_text(const workload::Network& network, int columns);
[[nodiscard]] std::string workload_json(const workload::Network& network);

/// Named facts in order, e.g. of `hindsight doctor`.
using Facts = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] std::string facts_text(const Facts& facts, int columns);
[[nodiscard]] std::string facts_json(const Facts& facts);

/// "3.11.2": of the JSON library behind these functions.
[[nodiscard]] std::string json_library_version();

}  // namespace hindsight::report
