/// hindsight bench optima: the exact optima of the offline study's tasks.
#include <memory>

#include "file_roles.h"
#include "hindsight/check/optima.h"
#include "hindsight/core/interrupt.h"
#include "output.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

struct BenchOptimaOptions {
  std::vector<std::string> tasks = {"all"};
  std::vector<std::string> objectives;
  std::string out;
};

int run(const BenchOptimaOptions& options) {
  FileRoles().writes("--out", options.out).require_usable();
  install_interrupt_handlers();
  const std::vector<check::TaskOptimum> optima = check::task_optima(
      check::select_tasks(options.tasks), options.objectives.empty() ? check::optima_objectives() : options.objectives,
      [](const accel::optimum::Standing&) { return !interrupt_requested(); });
  print_or_write(options.out, check::optima_csv(optima));
  return 0;
}

}  // namespace

void add_bench_optima(CLI::App& group, Session& session) {
  const auto options = std::make_shared<BenchOptimaOptions>();
  CLI::App* verb = group.add_subcommand("optima", "Exact optima of the offline study's tasks, as CSV");
  repeatable(verb->add_option("--task", options->tasks, "single, multi, zero_shot, or one task [all]"));
  repeatable(verb->add_option("--objective", options->objectives, "latency_s, energy_j, energy_j * latency_s [all]"));
  verb->add_option("--out", options->out, "CSV file [standard output]");
  verb->footer("Example: hindsight bench optima --task single --objective latency_s");
  verb->callback([options, &session] { session.action = [options] { return run(*options); }; });
}

}  // namespace hindsight::app
