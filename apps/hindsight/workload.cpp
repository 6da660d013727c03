/// hindsight workload: the networks, their layers and their context features; networks of other tools.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <vector>

#include "dry_run.h"
#include "file_roles.h"
#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/report/catalogue.h"
#include "hindsight/report/network_import.h"
#include "hindsight/workload/import.h"
#include "hindsight/workload/network.h"
#include "output.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

struct WorkloadOptions {
  std::string workload;
  std::int64_t batch = 0;
  bool json = false;
  // import:
  std::string file, out, format, name;
  std::vector<std::string> dimensions;
};

int list(const WorkloadOptions& options) {
  const std::vector<workload::Network> networks =
      workload::load_networks(options.workload.empty() ? "zoo" : options.workload);
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

/// "batch=1", "sequence length=128": the last = divides, because names of dimensions may be expressions.
std::map<std::string, std::int64_t> dimensions_of(const std::vector<std::string>& texts) {
  std::map<std::string, std::int64_t> dimensions;
  for (const std::string& text : texts) {
    const std::size_t at = text.rfind('=');
    const std::string name(trimmed(std::string_view(text).substr(0, std::min(at, text.size()))));
    const std::optional<std::int64_t> value =
        at == std::string::npos ? std::nullopt : parse_int(trimmed(std::string_view(text).substr(at + 1)));
    if (name.empty() || !value || *value < 0 || *value > workload::kLargestSize) {
      throw Error(ErrorKind::usage,
                  fmt::format("--dim: '{}' is not NAME=NUMBER with a number in 0..{}, e.g. --dim batch=1",
                              printable(text), workload::kLargestSize));
    }
    if (!dimensions.emplace(name, *value).second) {
      throw Error(ErrorKind::usage, fmt::format("--dim: '{}' is given twice", printable(name)));
    }
  }
  return dimensions;
}

int import_file(const WorkloadOptions& options, const Session& session) {
  FileRoles().reads("FILE", std::vector<std::string>{options.file}).writes("--out", options.out).require_usable();
  workload::ImportOptions import;
  if (!options.format.empty()) import.format = workload::parse_import_format(options.format);
  import.name = options.name;
  import.dimensions = dimensions_of(options.dimensions);
  const workload::ImportedNetwork imported = workload::import_network(options.file, import);
  const std::string yaml = workload::to_yaml(imported.network);
  if (options.out == "-") {
    print(yaml);
    return 0;
  }
  if (!options.out.empty()) write_or_rehearse(session, options.out, yaml);
  print(options.json ? report::network_import_json(imported, options.out)
                     : report::network_import_text(imported, options.out, output_columns()));
  return 0;
}

void add_import(CLI::App& verb, WorkloadOptions& options, Session& session) {
  verb.add_option("file", options.file, "Network of another tool; Timeloop: or a folder")->required();
  verb.add_option("--out", options.out, "Workload file; - is standard output [report only]");
  verb.add_option("--format", options.format, "What FILE is, of those below [by its content]");
  repeatable(verb.add_option("--dim", options.dimensions, "ONNX: NAME=NUMBER, a symbolic size; again for more"));
  verb.add_option("--name", options.name, "Name of the network [FILE's own, or FILE's name]");
  verb.add_flag("--json", options.json, "The report as JSON");
  add_dry_run(verb, session);
  verb.footer("Formats: " + join(workload::import_format_names(), ", ") +
              ".\nReads shapes only: weights are never read, and no file but FILE is opened.\n"
              "Example: hindsight workload import model.onnx --dim batch=1 --out model.yaml");
}

}  // namespace

void add_workload(CLI::App& app, Session& session) {
  const auto options = std::make_shared<WorkloadOptions>();
  CLI::App* group = app.add_subcommand("workload", "List, show, import and export networks");
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
        ->check(between(1, workload::kLargestBatch));
  };
  CLI::App* list_verb = add("list", "Totals of networks", list);
  list_verb->add_option("workloads,--workloads", options->workload,
                        "a,b,c; prime9; all; zoo; synthetic:N; a file [zoo]");
  list_verb->add_flag("--json", options->json, "As JSON");
  list_verb->footer("Example: hindsight workload list synthetic:300");

  CLI::App* show_verb = add("show", "Totals, layers and context features of one network", show);
  takes_one(show_verb);
  show_verb->add_flag("--json", options->json, "As JSON");
  show_verb->footer("Example: hindsight workload show mobilenet_v2");

  CLI::App* export_verb = add("export", "One network as a YAML file, to edit and to give to other verbs", export_yaml);
  takes_one(export_verb);
  CLI::App* import_verb = group->add_subcommand("import", "Another tool's network (ONNX, ...) as a workload file");
  import_verb->callback(
      [options, &session] { session.action = [options, &session] { return import_file(*options, session); }; });
  add_import(*import_verb, *options, session);

  export_verb->footer("Example: hindsight workload export synthetic:300/17 > mine.yaml");
}

}  // namespace hindsight::app
