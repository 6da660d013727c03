/// Splits of a dataset into training and validation rows: seeded and recorded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hindsight/core/enum_names.h"
#include "hindsight/dataset/dataset.h"

namespace hindsight::dataset {

enum class SplitKind {
  worst_for_training,   ///< PRIME's: per context the worst 80 % of feasible rows train, the best 20 % validate
  random,               ///< a seeded random 20 % of every context validates
  leave_workloads_out,  ///< whole contexts validate
};
/// Names as above. Error{usage} with the nearest name.
inline constexpr EnumNames<SplitKind, 3> kSplitKinds{{{SplitKind::worst_for_training, "worst_for_training"},
                                                      {SplitKind::random, "random"},
                                                      {SplitKind::leave_workloads_out, "leave_workloads_out"}}};
[[nodiscard]] SplitKind parse_split_kind(const std::string& name);
[[nodiscard]] std::string to_string(SplitKind kind);

struct SplitOptions {
  SplitKind kind = SplitKind::worst_for_training;
  double validation_frac = 0.2;
  std::uint64_t seed = 1;
  std::vector<std::string> held_out = {};  ///< leave_workloads_out: context names
};
/// Row numbers, ascending; every row is in exactly one of the two. Of n rows floor((1 - validation_frac) n) train, at
/// least one; equal objectives are told apart by the seed. Infeasible rows: a seeded random `validation_frac` validates
/// (worst_for_training, random).
struct Split {
  std::vector<std::size_t> train;
  std::vector<std::size_t> validation;
  std::string description;
};
/// Error{usage} for a fraction outside [0, 1), an unknown workload to hold out, or nothing left to train on.
[[nodiscard]] Split split(const Dataset& data, const SplitOptions& options);

}  // namespace hindsight::dataset
