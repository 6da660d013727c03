/// The benchmark that others can play: the study's tasks with the log to learn from and the truth to be scored by.
///
/// A task fixes everything that decides its log and its answers but a seed: applications, how the log was drawn,
/// limits. Whatever changes one of these takes a new version of the task; the accelerator model has its own. The same
/// task, seed and version of Hindsight give the same bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/accel/technology.h"
#include "hindsight/evaluator/evaluator.h"
#include "hindsight/sweep/sweep.h"

namespace hindsight::check {

/// How a task's log comes about. Designs are of at most kPlayLogAreaLimit, the task's own limits aside.
struct PlayLog {
  enum class Kind {
    uniform,     ///< random designs
    around,      ///< walks of up to 4 single-parameter steps from what is nearest to the chip coral_edge_tpu
    trajectory,  ///< what an evolution within the task's area tried
    worst_half,  ///< random designs, of the feasible rows the worse half
  };
  Kind kind = Kind::uniform;
  std::uint64_t samples = 0;  ///< designs
};
[[nodiscard]] std::string to_string(PlayLog::Kind kind);
inline constexpr double kPlayLogAreaLimit = 100;  ///< mm2 [paper: prime-2022]

/// What a task minimises, meant over its applications.
enum class PlayObjective {
  latency,  ///< s
  edp,      ///< energy-delay product, J s
};
/// As the dataset's objectives are written: "latency_s", "energy_j * latency_s".
[[nodiscard]] std::string formula_of(PlayObjective objective);
/// The name of its values in JSON, with the unit: "latency_s", "edp_js".
[[nodiscard]] std::string key_of(PlayObjective objective);

/// Learn from designs on `train`, propose designs of the space edge for `apply`, without asking the simulator.
/// What counts is the mean of the objective over `apply`; a proposal beyond a limit, or that one of them cannot run on,
/// is infeasible.
struct PlayTask {
  std::string name;  ///< "single/unet", "small/unet@1000"
  int version = 1;
  std::string about;  ///< some words for a table
  std::vector<std::string> train;
  std::vector<std::string> apply;
  std::vector<sweep::FactLimit> limits;
  PlayLog log;
  PlayObjective objective = PlayObjective::latency;
};
/// Single applications, sets and unseen ones as in the offline study; biased and small logs, tight budgets,
/// energy-delay products, a set of networks that want different chips.
[[nodiscard]] const std::vector<PlayTask>& play_tasks();
/// Error{usage} with the nearest name.
[[nodiscard]] const PlayTask& find_play_task(const std::string& name);

/// What answers for all tasks, and the process it answers for.
[[nodiscard]] std::shared_ptr<const evaluator::Evaluator> play_evaluator();
[[nodiscard]] accel::Technology play_technology();

}  // namespace hindsight::check
