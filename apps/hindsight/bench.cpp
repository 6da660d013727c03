/// hindsight bench: studies of how well learning from logs works.
#include "verbs.h"

namespace hindsight::app {

void add_bench(CLI::App& app, Session& session) {
  CLI::App* group = app.add_subcommand("bench", "Measure how well learning from logs works");
  group->require_subcommand(1);
  group->footer("Example: hindsight bench w50 --csv tuning.csv --objective time_ms");
  add_bench_offline(*group, session);
  add_bench_optima(*group, session);
  add_bench_w50(*group, session);
  add_bench_play(*group, session);
}

}  // namespace hindsight::app
