/// hindsight simulate: one design on some networks.
#include <fmt/format.h>

#include <memory>

#include "design_argument.h"
#include "hindsight/accel/area.h"
#include "hindsight/accel/config.h"
#include "hindsight/accel/technology.h"
#include "hindsight/core/error.h"
#include "hindsight/report/evaluation.h"
#include "hindsight/space/design_space.h"
#include "hindsight/workload/network.h"
#include "output.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

struct SimulateOptions {
  std::string design;
  std::string space;  ///< empty: edge
  std::string log;    ///< whose designs short ids name
  std::string workloads;
  std::string technology;  ///< empty: that of the space, or of the chip
  bool explain = false;
  bool json = false;
};

/// `technology`: becomes that of the evaluation, which refers to it.
report::EvaluatedDesign evaluate(const SimulateOptions& options, const std::vector<workload::Network>& networks,
                                 accel::Technology& technology) {
  const auto in_space = [&](const space::DesignSpace& space, const space::Design& design, const std::string& own) {
    technology = technology_for(options.technology, own);
    accel::require_expressible(technology, space);
    return report::evaluate_design(space, design, technology, networks);
  };
  if (names_logged(options.design, options.log)) {
    require_own_space(options.space);
    const LoggedDesign logged = logged_design(options.log, options.design);
    return in_space(logged.space, logged.design,
                    own_technology(options.technology, logged.technologies,
                                   fmt::format("{}: has rows of {} with", options.log, options.design)));
  }
  if (is_text_id(options.design)) {
    const space::DesignSpace space = space_of_text_id(options.design, options.space);
    return in_space(space, space.parse_design(options.design), space.technology());
  }
  const auto [chip, why] = asked_chip(options.design, options.technology);
  technology = technology_of_chip(options.technology, options.design, chip.technology);
  accel::require_expressible(technology, chip.name, chip.config);
  report::EvaluatedDesign result = report::evaluate_design(chip.name, chip.config, technology, networks);
  result.description = chip.description;
  if (chip.published_area) result.published_area = accel::compared(*chip.published_area, result.chip.area);
  result.why_technology = why;
  return result;
}

int simulate(const SimulateOptions& options) {
  const std::vector<workload::Network> networks = workload::load_networks(options.workloads);
  accel::Technology technology;
  const report::EvaluatedDesign design = evaluate(options, networks, technology);
  if (options.json) {
    print(report::evaluation_json(design));
  } else if (options.explain) {
    print(report::explanation_text(design, output_columns()));
  } else {
    print(report::summary_text(design, output_columns()));
  }
  return design.feasible() ? 0 : exit_code(ErrorKind::no_feasible);
}

}  // namespace

void add_simulate(CLI::App& app, Session& session) {
  const auto options = std::make_shared<SimulateOptions>();
  CLI::App* verb = app.add_subcommand("simulate", "Evaluate one design on workloads");
  verb->add_option("--design", options->design, kDesignHelp)->required();
  verb->add_option("--workload,--workloads", options->workloads, kWorkloadsHelp)->required();
  verb->add_option("--space", options->space, "Design space of a text id [edge]");
  verb->add_option("--log", options->log, "Log that has the design of a short id");
  verb->add_option("--technology", options->technology, "Node, NODE@CLASS: its cooling [the design's]");
  verb->add_flag("--explain", options->explain, "Area, layers, energy, traffic and violations");
  verb->add_flag("--json", options->json, "Everything, as JSON");
  verb->footer(
      "Exit code 3 when the design cannot run every workload.\n"
      "Example: hindsight simulate --design coral_edge_tpu --workload unet --explain");
  verb->callback([options, &session] { session.action = [options] { return simulate(*options); }; });
}

}  // namespace hindsight::app
