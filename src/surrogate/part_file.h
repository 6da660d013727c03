/// The file of a part of a model that is trained in shards, and what its units became.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "hindsight/surrogate/parts.h"
#include "surrogate/margin_training.h"
#include "surrogate/preparation.h"

namespace hindsight::surrogate {

/// What became of the units of a training, those of other shards empty: members, or heads of all members.
struct TrainedUnits {
  std::vector<MemberOutcome> members;
  std::vector<TrainedHead> heads;
};

void save_part(const std::filesystem::path& file, const PartFacts& facts, const TrainedUnits& units);

/// The training by tables of what is prepared; null for methods whose members are trained each for itself.
[[nodiscard]] std::unique_ptr<TableTraining> tables_of(const Preparation& prepared);
/// All members, from units of all shards.
[[nodiscard]] std::vector<MemberOutcome> members_of(const TrainedUnits& units, const TableTraining* tables);

}  // namespace hindsight::surrogate
