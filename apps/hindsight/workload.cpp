/// hindsight workload: the networks, their layers and their context features.
#include <memory>

#include "hindsight/core/files.h"
#include "hindsight/report/catalogue.h"
#include "hindsight/workload/network.h"
#include "output.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

struct Options {
  std::string workload;
  std::int64_t batch = 0;
  bool json = false;
};

constexpr std::int64_t kLargestBatch = 1'000'000;

int list(const Options& options) {
  std::vector<workload::Network> networks;
  for (const std::string& name : list_data_files("data/workloads")) networks.push_back(workload::load_network(name));
  print(options.json ? report::workloads_json(networks) : report::workloads_text(networks, output_columns()));
  return 0;
}

int show(const Options& options) {
  workload::Network network = workload::load_network(options.workload);
  if (options.batch > 0) network = network.with_batch(options.batch);
  print(options.json ? report::workload_json(network) : report::workload_text(network, output_columns()));
  return 0;
}

}  // namespace

void add_workload(CLI::App& app, Session& session) {
  const auto options = std::make_shared<Options>();
  CLI::App* group = app.add_subcommand("workload", "List and show networks");
  group->require_subcommand(1);
  group->footer("Example: hindsight workload show mobilenet_v2");
  const auto add = [&](const char* name, const char* description, int (*body)(const Options&)) {
    CLI::App* verb = group->add_subcommand(name, description);
    verb->add_flag("--json", options->json, "As JSON");
    verb->callback([options, body, &session] { session.action = [options, body] { return body(*options); }; });
    return verb;
  };
  add("list", "The networks that ship with Hindsight", list)->footer("Example: hindsight workload list");

  CLI::App* show_verb = add("show", "Totals, layers and context features of one network", show);
  show_verb->add_option("workload,--workload", options->workload, "Name or YAML file")->required();
  show_verb->add_option("--batch", options->batch, "Inferences at a time [the file's]")
      ->check(between(1, kLargestBatch));
  show_verb->footer("Example: hindsight workload show mobilenet_v2");
}

}  // namespace hindsight::app
