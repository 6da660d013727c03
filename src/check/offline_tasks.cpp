/// Tasks and methods of the offline study, by name.
#include <fmt/format.h>

#include <algorithm>

#include "check/task_question.h"
#include "hindsight/check/offline.h"
#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/text.h"
#include "hindsight/study/backtest.h"
#include "hindsight/workload/prime_applications.h"

namespace hindsight::check {
namespace {

using Names = std::vector<std::string>;

/// The sets of the multi-application and zero-shot tables [paper: prime-2022].
const Names kImageNets = {"mobilenet_edgetpu", "mobilenet_v2", "mobilenet_v3_large", "m4", "m5", "m6"};

Names with(Names names, const Names& more) {
  names.insert(names.end(), more.begin(), more.end());
  return names;
}

OfflineTask multi(const std::string& name, const Names& applications, double area_limit_mm2) {
  return {.name = "multi/" + name, .train = applications, .apply = applications, .area_limit_mm2 = area_limit_mm2};
}

std::vector<OfflineTask> make_tasks() {
  constexpr double kSingle = 27;  // [paper: prime-2022] mm2
  constexpr double kSmall = 29;   // [paper: prime-2022] mm2
  constexpr double kLarge = 100;  // [paper: prime-2022] mm2
  std::vector<OfflineTask> tasks;
  for (const workload::PrimeApplication& application : workload::prime_applications()) {
    const std::string name(application.name);
    tasks.push_back({.name = "single/" + name, .train = {name}, .apply = {name}, .area_limit_mm2 = kSingle});
  }
  tasks.push_back(multi("edge_v2_v3@29", {"mobilenet_edgetpu", "mobilenet_v2", "mobilenet_v3_large"}, kSmall));
  tasks.push_back(multi("v2_v3_m5_m6@29", {"mobilenet_v2", "mobilenet_v3_large", "m5", "m6"}, kSmall));
  tasks.push_back(multi("six@29", kImageNets, kSmall));
  tasks.push_back(multi("six_unet_enc@29", with(kImageNets, {"unet", "t_rnn_enc"}), kSmall));
  tasks.push_back(multi("six_enc@100", with(kImageNets, {"t_rnn_enc"}), kLarge));
  tasks.push_back(multi("six_dec_enc@29", with(kImageNets, {"t_rnn_dec", "t_rnn_enc"}), kSmall));
  tasks.push_back(multi("nine@100", with(kImageNets, {"unet", "t_rnn_dec", "t_rnn_enc"}), kLarge));
  const Names seven = with(kImageNets, {"t_rnn_enc"});
  tasks.push_back({.name = "zero_shot/edge_v3_to_v2@29",
                   .train = {"mobilenet_edgetpu", "mobilenet_v3_large"},
                   .apply = {"mobilenet_v2"},
                   .area_limit_mm2 = kSmall});
  tasks.push_back({.name = "zero_shot/v2_v3_m5_m6_to_edge_m4@29",
                   .train = {"mobilenet_v2", "mobilenet_v3_large", "m5", "m6"},
                   .apply = {"mobilenet_edgetpu", "m4"},
                   .area_limit_mm2 = kSmall});
  for (const double limit : {kSmall, kLarge}) {
    tasks.push_back({.name = fmt::format("zero_shot/seven_to_unet_dec@{}", limit),
                     .train = seven,
                     .apply = {"unet", "t_rnn_dec"},
                     .area_limit_mm2 = limit});
  }
  return tasks;
}

const std::string kBestLogged = "best_in_log", kChosen = "default";
const Names kOnline = {"random", "evolutionary", "firefly", "bayesian"};

/// Every name of parse_offline_method(), each once.
Names all_methods(const Names& recipes) {
  Names names = {kBestLogged, kChosen, "supervised", "coms", "prime", "margins", "layers"};
  for (const Names& more : {kOnline, recipes}) {
    for (const std::string& name : more) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

/// "200" or "10x", behind the @ of a name.
void read_budget(OfflineMethod& method, std::string budget) {
  const bool sizes = budget.ends_with('x');
  if (sizes) budget.pop_back();
  const auto number = parse_double(budget);
  if (method.kind != OfflineMethod::Kind::online || !number || *number <= 0 || (!sizes && *number < 1)) {
    throw Error(ErrorKind::usage, fmt::format("method '{}': a budget of queries belongs to an online method, e.g. "
                                              "evolutionary@200 or evolutionary@10x",
                                              printable(method.name)));
  }
  if (sizes) {
    method.log_sizes = *number;
  } else {
    method.queries = static_cast<std::uint64_t>(*number);
  }
}

}  // namespace

const std::vector<OfflineTask>& offline_tasks() {
  static const std::vector<OfflineTask> tasks = make_tasks();
  return tasks;
}

accel::Technology study_technology(const std::string& asked) {
  return accel::load_technology(asked, space::load_space(kStudySpace));
}

std::vector<OfflineTask> select_tasks(const std::vector<std::string>& names) {
  std::vector<OfflineTask> chosen;
  for (const std::string& name : names) {
    const std::size_t before = chosen.size();
    for (const OfflineTask& task : offline_tasks()) {
      if (task.name == name || task.name.starts_with(name + "/") || name == "all") chosen.push_back(task);
    }
    if (chosen.size() > before) continue;
    std::vector<std::string> known{"all", "single", "multi", "zero_shot"};
    for (const OfflineTask& task : offline_tasks()) known.push_back(task.name);
    fail_unknown_name("task", name, known);
  }
  return chosen;
}

OfflineMethod parse_offline_method(const std::string& text) {
  const std::vector<std::string> recipes = list_data_files("configs/training");
  const bool is_file = text.find('/') != std::string::npos || text.ends_with(".yaml") || text.ends_with(".yml");
  const std::size_t at = is_file ? std::string::npos : text.find('@');
  const std::string base = text.substr(0, at);
  OfflineMethod method;
  method.name = text;
  if (std::ranges::find(kOnline, base) != kOnline.end()) {
    method.kind = OfflineMethod::Kind::online;
    method.online = optimize::parse_online_method(base);
  } else if (surrogate::is_method(base)) {
    method.kind = OfflineMethod::Kind::learned;
    const surrogate::Method own = surrogate::parse_method(base);
    method.lists_best_alone = !surrogate::by_tables(own);
    method.recipe = surrogate::load_recipe(method.lists_best_alone ? "v0.1" : base, own);
    method.recipe.method = own;
  } else if (base == kChosen) {
    method.kind = OfflineMethod::Kind::chosen;
    method.candidates = study::candidate_recipes(true);
  } else if (is_file || std::ranges::find(recipes, base) != recipes.end()) {
    method.kind = OfflineMethod::Kind::learned;
    method.recipe = surrogate::load_recipe(base);
  } else if (base != kBestLogged) {
    fail_unknown_name("method", base, all_methods(recipes));
  }
  if (at != std::string::npos) read_budget(method, text.substr(at + 1));
  return method;
}

}  // namespace hindsight::check
