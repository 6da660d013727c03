/// A training cut into independent jobs, one process each, and the model that their parts make.
///
/// Units: the members of an ensemble; of the methods `margins` and `layers`, whose members share every step, the heads
/// (objective, feasibility, labels). A unit draws from streams of its own, seeded by the recipe, so that it is the same
/// weights in whatever process; shard i of N trains the units whose number modulo N is i. What needs all members
/// (temperature of p_feasible, metrics) is found when the parts are joined, from the same rows.
///
/// File of a part: a safetensors file of a kind of its own, with the checksums of a model file (docs/models.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "hindsight/surrogate/train.h"

namespace hindsight::surrogate {

/// Process `index` of `count` that train one model.
struct TrainingShard {
  std::uint64_t index = 0, count = 1;
  [[nodiscard]] bool has(std::uint64_t unit) const { return unit % count == index; }
};

/// What a part says beside what it learnt.
struct PartFacts {
  TrainingShard shard;
  std::string version, commit;                    ///< of the program
  std::string library, device;                    ///< that trained
  std::string recipe_text;                        ///< YAML
  std::string space_sha256, data_sha256;          ///< of what was learnt from
  std::string request_json;                       ///< the caller's: which rows of a log these are
  std::map<std::string, std::string> provenance;  ///< the caller's: of this process
};
/// Of a file of a part. Error{incompatible}: damaged, or no part.
[[nodiscard]] PartFacts read_part_facts(const std::filesystem::path& file);
/// Of all parts of one training, by shard. Error{incompatible} naming two files and the first thing in which they
/// differ; Error{usage} for a shard that is missing or there twice.
[[nodiscard]] std::vector<PartFacts> read_whole_training(const std::vector<std::filesystem::path>& files);

struct PartResult {
  bool interrupted = false;  ///< Ctrl-C: no part was written, the checkpoint keeps what was done
  double seconds = 0;
  std::vector<MemberProgress> units;  ///< of this shard
};
/// Trains the units of a shard and writes them to `file`, or nothing when interrupted. `shard`, `request_json` and
/// `provenance` of `facts` are kept, the others found out. Errors as train(); a unit whose loss diverged is no error of
/// its part.
[[nodiscard]] PartResult train_part(const dataset::Dataset& data, const TrainingPlan& plan, const TrainOptions& options,
                                    PartFacts facts, const std::filesystem::path& file);

/// The model of all parts: weights, temperature and metrics are those of train(), bit for bit. Error{incompatible} when
/// `data` are other rows than the parts learnt from.
[[nodiscard]] TrainResult join_parts(const dataset::Dataset& data, const TrainingPlan& plan,
                                     const std::vector<std::filesystem::path>& files);

}  // namespace hindsight::surrogate
