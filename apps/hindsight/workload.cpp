/// hindsight workload: the networks, their layers and their context features.
#include <memory>

#include "hindsight/report/catalogue.h"
#include "hindsight/workload/network.h"
#include "output.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

struct WorkloadOptions {
  std::string workload;
  std::int64_t batch = 0;
  bool json = false;
};

constexpr std::int64_t kLargestBatch = 1'000'000;

int list(const WorkloadOptions& options) {
  const std::vector<workload::Network> networks =
      workload::load_networks(options.workload.empty() ? "all" : options.workload);
  print(options.json ? report::workloads_json(networks) : report::workloads_text(networks, output_columns()));
  return 0;
}

workload::Network chosen(const WorkloadOptions& options) {
  workload::Network network = workload::load_network(options.workload);
  return options.batch > 0 ? network.with_batch(options.batch) : network;
}

int show(const WorkloadOptions& options) {
  const workload::Network network = chosen(options);
  print(options.json ? report::workload_json(network) : report::workload_text(network, output_columns()));
  return 0;
}

int export_yaml(const WorkloadOptions& options) {
  print(workload::to_yaml(chosen(options)));
  return 0;
}

}  // namespace

void add_workload(CLI::App& app, Session& session) {
  const auto options = std::make_shared<WorkloadOptions>();
  CLI::App* group = app.add_subcommand("workload", "List, show and export networks");
  group->require_subcommand(1);
  group->footer("Example: hindsight workload show mobilenet_v2");
  const auto add = [&](const char* name, const char* description, int (*body)(const WorkloadOptions&)) {
    CLI::App* verb = group->add_subcommand(name, description);
    verb->callback([options, body, &session] { session.action = [options, body] { return body(*options); }; });
    return verb;
  };
  const auto takes_one = [&](CLI::App* verb) {
    verb->add_option("workload,--workload", options->workload, "Name, synthetic:N/I, or YAML file")->required();
    verb->add_option("--batch", options->batch, "Inferences at a time [the network's]")
        ->check(between(1, kLargestBatch));
  };
  CLI::App* list_verb = add("list", "Totals of networks", list);
  list_verb->add_option("workloads,--workloads", options->workload, std::string(kWorkloadsHelp) + " [all]");
  list_verb->add_flag("--json", options->json, "As JSON");
  list_verb->footer("Example: hindsight workload list synthetic:300");

  CLI::App* show_verb = add("show", "Totals, layers and context features of one network", show);
  takes_one(show_verb);
  show_verb->add_flag("--json", options->json, "As JSON");
  show_verb->footer("Example: hindsight workload show mobilenet_v2");

  CLI::App* export_verb = add("export", "One network as a YAML file, to edit and to give to other verbs", export_yaml);
  takes_one(export_verb);
  export_verb->footer("Example: hindsight workload export synthetic:300/17 > mine.yaml");
}

}  // namespace hindsight::app
