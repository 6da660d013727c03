/// Synthetic networks: as many seeded networks of documented families as a surrogate for any network needs.
///
/// Network `index` of `seed` is a pure function of both and of the generator's version: the first 100 of 300 are the
/// 100. It reads no shipped network and no layer table; ranges and shares stand in `docs/workloads.md`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/workload/network.h"

namespace hindsight::workload {

/// Bumped whenever a seed gives another network; part of every network's name, so that logs never mix generators.
inline constexpr int kSyntheticVersion = 4;

struct SyntheticFamily {
  std::string_view name;         ///< last part of its networks' names
  std::string_view description;  ///< one sentence
  int share_percent;             ///< of all networks, on average
};
[[nodiscard]] std::span<const SyntheticFamily> synthetic_families();

[[nodiscard]] Network synthetic_network(std::uint64_t seed, std::uint64_t index);

/// Whether a text that names networks is meant to be "synthetic:COUNT", "synthetic:COUNT@SEED", or one network of such
/// a set, "synthetic:COUNT/INDEX" (from 0).
[[nodiscard]] bool names_synthetic_set(std::string_view text);
/// The names of the networks that such a text stands for. Error{usage} with the way to write it.
[[nodiscard]] std::vector<std::string> synthetic_names(std::string_view text);
/// The network of a name like "synthetic4_s0_17_mobile"; nothing when it is no such name. Error{usage} when this
/// version of the generator makes no network of that name.
[[nodiscard]] std::optional<Network> find_synthetic(std::string_view name);
/// The family in such a name; nothing for other names.
[[nodiscard]] std::optional<std::string_view> synthetic_family_of(std::string_view name);
/// "synthetic mobile" for such a name, of other versions of the generator "synthetic mobile of version 1".
[[nodiscard]] std::optional<std::string> synthetic_group_of(std::string_view name);
/// "| family | share | networks |": the table of `docs/workloads.md`, as Markdown.
[[nodiscard]] std::string synthetic_table();

}  // namespace hindsight::workload
