/// hindsight space: what the design spaces are, designs drawn from them, and spaces found in tables.
#include <fmt/format.h>

#include <memory>

#include "csv_roles.h"
#include "dry_run.h"
#include "file_roles.h"
#include "hindsight/accel/technology.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/patience.h"
#include "hindsight/core/units.h"
#include "hindsight/report/catalogue.h"
#include "hindsight/space/sampling.h"
#include "output.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

struct SpaceOptions {
  std::string space = "edge";
  std::string sampler = "uniform";
  std::int64_t count = 10;
  std::int64_t seed = 0;
  std::int64_t grid_limit = 10'000'000;
  bool json = false;
};

constexpr std::int64_t kMostSamples = 1'000'000;  // they are held in memory

int list(const SpaceOptions& options) {
  std::vector<space::DesignSpace> spaces;
  for (const std::string& name : list_data_files("configs/spaces")) spaces.push_back(space::load_space(name));
  print(options.json ? report::spaces_json(spaces) : report::spaces_text(spaces, output_columns()));
  return 0;
}

int show(const SpaceOptions& options) {
  const space::DesignSpace space = space::load_space(options.space);
  print(options.json ? report::space_json(space) : report::space_text(space, output_columns()));
  return 0;
}

int check(const SpaceOptions& options) {
  const space::DesignSpace space = space::load_space(options.space);
  if (!space.technology().empty()) (void)accel::load_technology("", space);
  const space::SpaceCheck found = space::check_space(space);
  print(options.json ? report::check_json(space, found) : report::check_text(space, found, output_columns()));
  return 0;
}

int count(const SpaceOptions& options) {
  const space::DesignSpace space = space::load_space(options.space);
  const space::LegalCount designs = space::count_designs(space);
  print(options.json ? report::count_json(space, designs) : report::count_text(designs) + "\n");
  return 0;
}

int sample(const SpaceOptions& options) {
  const space::DesignSpace space = space::load_space(options.space);
  const auto wanted = static_cast<std::uint64_t>(options.count);
  const auto sampler =
      space::make_sampler(space::parse_sampler(options.sampler), space, static_cast<std::uint64_t>(options.seed),
                          wanted, static_cast<std::uint64_t>(options.grid_limit));
  std::vector<space::Design> designs;
  const std::uint64_t drawn = std::min(wanted, sampler->length());
  const Steps steps("drawing designs", drawn);
  for (std::uint64_t i = 0; i < drawn; ++i) {
    steps.at(i);
    space::Design design;
    design.levels.resize(space.parameters().size());
    sampler->sample(i, design.levels);
    designs.push_back(std::move(design));
  }
  print(options.json ? report::designs_json(space, designs) : report::designs_text(space, designs));
  return 0;
}

struct InferOptions {
  std::string csv;
  CsvRoleOptions roles;
  std::string name;
  std::string out;
  bool json = false;
};

int infer(const InferOptions& options, const Session& session) {
  FileRoles().reads("--csv", options.csv).writes("--out", options.out).require_usable();
  const dataset::CsvTable table = dataset::read_table(options.csv);
  const space::DesignSpace space = infer_csv_space(table, options.roles.resolve(table), options.name);
  const std::string yaml = dataset::to_yaml(space);
  const bool is_file = !is_standard_output(options.out);
  if (is_file) write_or_rehearse(session, options.out, yaml);
  if (options.json) {
    print(report::space_json(space));
  } else {
    print(is_file ? report::space_text(space, output_columns()) : yaml);
  }
  return 0;
}

}  // namespace

void add_space(CLI::App& app, Session& session) {
  const auto options = std::make_shared<SpaceOptions>();
  CLI::App* group = app.add_subcommand("space", "List, show, check, sample and infer spaces");
  group->require_subcommand(1);
  group->footer("Example: hindsight space sample edge --count 5 --sampler sobol");
  const auto add = [&](const char* name, const char* description, int (*body)(const SpaceOptions&)) {
    CLI::App* verb = group->add_subcommand(name, description);
    verb->add_flag("--json", options->json, "As JSON");
    verb->callback([options, body, &session] { session.action = [options, body] { return body(*options); }; });
    return verb;
  };
  add("list", "The design spaces that ship with Hindsight", list)->footer("Example: hindsight space list");

  for (const char* name : {"show", "describe"}) {  // two words for one thing
    CLI::App* show_verb = add(name, "Parameters, values, constraints, derived quantities", show);
    show_verb->add_option("space,--space", options->space, "Name or YAML file [edge]");
    show_verb->footer(fmt::format("Example: hindsight space {} edge", name));
  }

  CLI::App* check_verb = add("check", "Whether a space is usable; what constraints leave", check);
  check_verb->add_option("space,--space", options->space, "Name or YAML file [edge]");
  check_verb->footer(
      "Exit code 3 when constraints leave no design, with the one that is in the way.\n"
      "Example: hindsight space check my_chip.yaml");

  CLI::App* count_verb = add("count", "How many designs there are", count);
  count_verb->add_option("space,--space", options->space, "Name or YAML file [edge]");
  count_verb->footer(
      "Exact as far as a search of a few seconds counts, else an estimate that says so.\n"
      "Example: hindsight space count my_chip.yaml");

  CLI::App* sample_verb = add("sample", "Draw designs, one text id per line", sample);
  sample_verb->add_option("space,--space", options->space, "Name or YAML file [edge]");
  sample_verb->add_option("--count", options->count, "Number of designs [10]")->check(between(1, kMostSamples));
  sample_verb->add_option("--sampler", options->sampler, "uniform, lhs, sobol or grid [uniform]");
  sample_verb->add_option("--seed", options->seed, "Seed of the sequence [0]")->check(between(0, kLargestExactInteger));
  sample_verb->add_option("--grid-limit", options->grid_limit, "Largest space for the grid [10000000]")
      ->check(between(1, kLargestExactInteger));
  sample_verb->footer("Example: hindsight space sample edge --count 5 --sampler sobol");

  const auto infer_options = std::make_shared<InferOptions>();
  CLI::App* infer_verb = group->add_subcommand("infer", "Find the design space of a table");
  infer_verb->add_option("csv,--csv", infer_options->csv, "Table with commas, tabs or semicolons; .gz")->required();
  add_csv_roles(*infer_verb, infer_options->roles);  // without an objective all columns are looked at
  infer_verb->add_option("--name", infer_options->name, "Name of the space [the file's]");
  infer_verb->add_option("--out", infer_options->out, "YAML file to write [standard output]");
  infer_verb->add_flag("--json", infer_options->json, "The space as JSON, as space show");
  add_dry_run(*infer_verb, session);
  infer_verb->footer(
      "All columns without a role are design parameters; those that look like results\n"
      "are named.\n"
      "Example: hindsight space infer tuning.csv --objective time_ms \\\n"
      "           --infeasible infeasible --out tuning.yaml");
  infer_verb->callback([infer_options, &session] {
    session.action = [infer_options, &session] { return infer(*infer_options, session); };
  });
}

}  // namespace hindsight::app
