/// Writes the README of an exported task.
#include "check/play_readme.h"

#include <fmt/format.h>

#include "hindsight/accel/evaluation.h"
#include "hindsight/core/text.h"

namespace hindsight::check {
namespace {

std::string origin_of(const PlayTask& task, const PlayExported& written) {
  const std::string designs = with_commas(written.designs);
  switch (task.log.kind) {
    case PlayLog::Kind::uniform:
      return designs + " random designs of at most 100 mm2";
    case PlayLog::Kind::around:
      return designs + " variants of one chip, at most four parameters' steps away from it";
    case PlayLog::Kind::trajectory:
      return "the " + designs + " designs that an evolutionary search within the limits tried, in order";
    case PlayLog::Kind::worst_half:
      return designs + " random designs of at most 100 mm2, without the better half of the feasible ones";
  }
  return "";
}

std::string list_of(const std::vector<std::string>& names) { return "`" + join(names, "`, `") + "`"; }

std::string limits_of(const PlayTask& task) {
  std::vector<std::string> limits;
  for (const sweep::FactLimit& bound : task.limits) limits.push_back(fmt::format("{} <= {}", bound.fact, bound.limit));
  return list_of(limits);
}

constexpr const char* kFiles = R"(
## Files

- `task.json`: this task for a program: `train`, `apply`, `limits`, and under `space` the ten parameters with their
  values. A design takes one value of each.
- `log.csv`: one evaluation a line: the ten parameters; `workload`; `feasible` (1 or 0); `reasons`, why not, separated
  by `;`; `latency_s`, `energy_j`, `average_power_w` (empty when infeasible); `area_mm2`, `peak_power_w` (always known,
  and the same for all workloads of a design).
- `violations.csv`: how far limits were missed: `row` of `log.csv` (from 1), reason `code`, the `quantity`, its `value`
  and its `limit`.
- `log.sqlite`: all of that as a Hindsight log (`hindsight train --log log.sqlite`).
- `layers.csv`: the layers of all applications as matrix products: m x k times k x n, `count` of them, `repeat` times.
- `space.yaml`: the space for `hindsight --space`.

## Rules

Use what is in this folder, and any knowledge of accelerators. Do not ask a simulator about designs: what is measured is
what a log teaches. (A method that asks may still be scored; say so in its name.) Area and peak power are no secret:
they need no simulation, and

    hindsight bench facts DESIGNS.csv

adds both to as many designs as you like.
)";

constexpr const char* kAnswer = R"(
## Answer

A CSV file with a header of the ten parameters, in any order, and up to {} designs, best first:

    {}

    hindsight bench score {} FILE.csv --results results.jsonl

says which are feasible, and of the best of the first 1, 10 and {}: regret (its value over that of the best design there
is) and rank among all feasible designs within the limits.
)";

}  // namespace

std::string play_readme(const PlayTask& task, const PlayExport& options, const PlayExported& written) {
  std::vector<std::string> header;
  const auto evaluator = play_evaluator();
  for (const space::Parameter& parameter : evaluator->space().parameters()) header.push_back(parameter.name);
  std::string text =
      fmt::format("# {}\n\nVersion {} of the task, version {} of the accelerator model, seed {} of the log.\n\n",
                  task.name, task.version, play_technology().model_version, options.seed);
  text += fmt::format("Propose accelerators of the smallest {} without asking a simulator: a log is all there is.\n\n",
                      task.objective == PlayObjective::latency ? "latency" : "energy-delay product");
  text += fmt::format("- **Value** of a design: mean `{}` over {}.\n", formula_of(task.objective), list_of(task.apply));
  text += fmt::format("- **Limits**: {}. A design beyond one, or that an application cannot run on, is infeasible.\n",
                      limits_of(task));
  text += fmt::format("- **Log**: {}; {} evaluations on {}, {} of them feasible.\n", origin_of(task, written),
                      with_commas(written.rows), list_of(task.train), with_commas(written.feasible));
  text += kFiles;
  text += fmt::format(kAnswer, kMostPlayProposals, join(header, ","), task.name, kMostPlayProposals);
  return text;
}

}  // namespace hindsight::check
