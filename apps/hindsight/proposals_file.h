/// The file of `propose --json`, read back.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "hindsight/accel/config.h"
#include "hindsight/space/design_space.h"

namespace hindsight::app {

struct ProposedDesign {
  std::string name;  ///< text id
  accel::AcceleratorConfig config;
  std::vector<std::string> networks;  ///< names of what it was proposed for, as they stand there
};
struct ProposalsFile {
  std::string technology;               ///< its name as it stands there, else that of the space; empty: nothing says
  std::vector<ProposedDesign> designs;  ///< best first, at least one
};
/// At most `most` designs. `asked_space`: a space or its file, which counts where it is the one that the file names, or
/// the file names none; may be empty. Error{usage} for what `propose --json` does not write, a space that names a file
/// or is not at hand, a design that the space has not.
[[nodiscard]] ProposalsFile read_proposals_file(const std::string& file, const std::string& asked_space,
                                                std::size_t most);

/// "workloads": [{"name": ...}] of a prediction, as `propose` writes it; of an optimum those that it has metrics of.
[[nodiscard]] std::vector<std::string> predicted_networks(const nlohmann::ordered_json& prediction);

[[nodiscard]] accel::AcceleratorConfig configuration_of(const space::DesignSpace& space, const std::string& text_id);

}  // namespace hindsight::app
