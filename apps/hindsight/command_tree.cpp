/// Builds the tree of verbs and options, and answers questions about it.
#include "command_tree.h"

#include <algorithm>

namespace hindsight::app {
namespace {

constexpr int kHelpColumn = 26;
constexpr const char* kCommonOptions = "Options of all verbs";

}  // namespace

void describe_program(CLI::App& app) {
  app.description("Designs the next accelerator from the logs of the last ones.");
  app.name("hindsight");
  app.get_formatter()->column_width(kHelpColumn);
  app.require_subcommand(0, 1);
  app.footer(
      "Exit codes: 0 ok, 1 failed, 2 usage, 3 infeasible, 4 incompatible file,\n"
      "            5 not built in, 70 bug, 130 interrupted (143 by SIGTERM)\n"
      "Example:    hindsight simulate --design coral_edge_tpu --workload unet --explain\n"
      "Documents:  hindsight help");
}

void add_verbs(CLI::App& app, Session& session) {
  add_simulate(app, session);
  add_serve(app, session);
  add_sweep(app, session);
  add_search(app, session);
  add_log(app, session);
  add_space(app, session);
  add_workload(app, session);
  add_train(app, session);
  add_backtest(app, session);
  add_model(app, session);
  add_optimum(app, session);
  add_join(app, session);
  add_propose(app, session);
  add_campaign(app, session);
  add_ask(app, session);
  add_tell(app, session);
  add_worker(app, session);
  add_check(app, session);
  add_report(app, session);
  add_bench(app, session);
  add_measure(app, session);
  add_gemm(app, session);
  add_kernel(app, session);
  add_calibrate(app, session);
  add_completion(app, session);
  add_config(app, session);
  add_doctor(app, session);
  add_common_options(app, session);
}

void add_common_options(CLI::App& app, Session& session) {
  const auto subcommands = app.get_subcommands([](CLI::App*) { return true; });
  for (CLI::App* verb : subcommands) add_common_options(*verb, session);
  if (!subcommands.empty() && app.get_parent() != nullptr) return;  // a group: its verbs have them
  app.add_option("--color,--colour", session.colour, "auto, always or never [auto]")->group(kCommonOptions);
  app.add_flag("--no-config", session.no_config, "No defaults of environment and files")->group(kCommonOptions);
}

std::vector<const CLI::App*> verbs_below(const CLI::App& group) {
  return group.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<const CLI::App*> all_verbs(const CLI::App& program) {
  std::vector<const CLI::App*> found;
  for (const CLI::App* verb : verbs_below(program)) {
    const std::vector<const CLI::App*> below = all_verbs(*verb);
    if (below.empty()) found.push_back(verb);
    found.insert(found.end(), below.begin(), below.end());
  }
  return found;
}

std::string full_name(const CLI::App& verb) {
  return verb.get_parent() == nullptr ? verb.get_name() : full_name(*verb.get_parent()) + " " + verb.get_name();
}

std::string verb_path(const CLI::App& verb) {
  const std::string name = full_name(verb);
  const std::size_t blank = name.find(' ');
  return blank == std::string::npos ? std::string{} : name.substr(blank + 1);
}

std::vector<const CLI::Option*> options_of(const CLI::App& verb) {
  return verb.get_options([](const CLI::Option* option) { return option->nonpositional(); });
}

std::vector<const CLI::Option*> positionals_of(const CLI::App& verb) {
  return verb.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

std::vector<std::string> spellings(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

std::string value_name(const CLI::Option& option) { return takes_value(option) ? option.get_type_name() : ""; }

std::string description_line(const CLI::Option& option) {
  std::string text = option.get_description();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace hindsight::app
