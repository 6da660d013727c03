/// The tasks of the benchmark.
#include "hindsight/check/play.h"

#include <fmt/format.h>

#include <algorithm>

#include "hindsight/check/offline.h"
#include "hindsight/core/enum_names.h"
#include "hindsight/core/text.h"
#include "hindsight/evaluator/built_in.h"

namespace hindsight::check {
namespace {

using Kind = PlayLog::Kind;

constexpr EnumNames<Kind, 4> kKinds{{{Kind::uniform, "uniform"},
                                     {Kind::around, "around"},
                                     {Kind::trajectory, "trajectory"},
                                     {Kind::worst_half, "worst_half"}}};

constexpr std::uint64_t kStudySamples = 20'000;  // those of the offline study
/// [chosen] what an engineer tries by hand, or lets a search try in an afternoon of a slow simulator
constexpr std::uint64_t kBiasedSamples = 2'000;
constexpr double kSingleArea = 27;  // [paper: prime-2022] mm2
// [chosen] so that fewer than one in forty of the logged designs is feasible within them, and the best of these is not
// near the optimum (docs/play.md)
constexpr double kTightArea = 15;    // mm2
constexpr double kTightPower = 1.5;  // W
constexpr double kEdpPower = 2;      // W

/// The applications whose log size the study varies: the largest image network, the one with most activations, the one
/// whose weights just do not fit.
const std::vector<std::string> kThree = {"m4", "unet", "t_rnn_enc"};
/// Those whose optimum a log of random designs does not hold.
const std::vector<std::string> kHard = {"m4", "unet", "m6"};
/// Convolutions and transformers.
const std::vector<std::string> kMixed = {"resnet50", "vit_b_16", "bert_base"};

sweep::FactLimit area(double mm2) { return {.fact = "area_mm2", .limit = mm2}; }
sweep::FactLimit peak_power(double watts) { return {.fact = "peak_power_w", .limit = watts}; }

PlayTask of_study(const OfflineTask& task) {
  return {.name = task.name,
          .about = task.train == task.apply ? "as in the study" : "unseen in its log",
          .train = task.train,
          .apply = task.apply,
          .limits = {area(task.area_limit_mm2)},
          .log = {.kind = Kind::uniform, .samples = kStudySamples}};
}

PlayTask single(const std::string& name, const std::string& application, const std::string& about, PlayLog log,
                std::vector<sweep::FactLimit> limits = {area(kSingleArea)}) {
  return {.name = name,
          .about = about,
          .train = {application},
          .apply = {application},
          .limits = std::move(limits),
          .log = log};
}

std::vector<PlayTask> make_play_tasks() {
  std::vector<PlayTask> tasks;
  for (const OfflineTask& task : offline_tasks()) tasks.push_back(of_study(task));
  for (const std::string& name : kThree) {
    tasks.push_back(
        single("biased/near_" + name, name, "variants of one chip", {.kind = Kind::around, .samples = kBiasedSamples}));
    tasks.push_back(single("biased/tuned_" + name, name, "somebody's search",
                           {.kind = Kind::trajectory, .samples = kBiasedSamples}));
    tasks.push_back(
        single("biased/worst_" + name, name, "the worse half", {.kind = Kind::worst_half, .samples = kStudySamples}));
  }
  for (const std::string& name : kThree) {
    for (const std::uint64_t samples : {200, 1000, 5000}) {
      tasks.push_back(single(fmt::format("small/{}@{}", name, samples), name, "a small log",
                             {.kind = Kind::uniform, .samples = samples}));
    }
  }
  const PlayLog usual{.kind = Kind::uniform, .samples = kStudySamples};
  for (const std::string& name : kHard) {
    tasks.push_back(single("tight/area_" + name, name, "little area", usual, {area(kTightArea)}));
    tasks.push_back(
        single("tight/power_" + name, name, "little power", usual, {area(kSingleArea), peak_power(kTightPower)}));
    PlayTask edp =
        single("edp/" + name, name, "energy-delay product", usual, {area(kSingleArea), peak_power(kEdpPower)});
    edp.objective = PlayObjective::edp;
    tasks.push_back(std::move(edp));
  }
  for (PlayTask& task : tasks) {
    // Of version 1 were 10 mm2 and 5 W, and another chip.
    if (task.name.starts_with("tight/") || task.log.kind == PlayLog::Kind::around) task.version = 2;
  }
  tasks.push_back({.name = "mixed/convolutions_and_transformers@27",
                   .about = "a set that disagrees",
                   .train = kMixed,
                   .apply = kMixed,
                   .limits = {area(kSingleArea)},
                   .log = usual});
  return tasks;
}

}  // namespace

std::string formula_of(PlayObjective objective) {
  return objective == PlayObjective::latency ? "latency_s" : "energy_j * latency_s";
}

std::string key_of(PlayObjective objective) { return objective == PlayObjective::latency ? "latency_s" : "edp_js"; }

std::string to_string(PlayLog::Kind kind) { return std::string(name_in(kKinds, kind)); }

const std::vector<PlayTask>& play_tasks() {
  static const std::vector<PlayTask> tasks = make_play_tasks();
  return tasks;
}

const PlayTask& find_play_task(const std::string& name) {
  std::vector<std::string> known;
  for (const PlayTask& task : play_tasks()) known.push_back(task.name);
  return play_tasks()[index_of_name("task", name, known)];
}

std::shared_ptr<const evaluator::Evaluator> play_evaluator() {
  return evaluator::built_in(space::load_space("edge"), play_technology());
}

accel::Technology play_technology() { return study_technology(); }

}  // namespace hindsight::check
