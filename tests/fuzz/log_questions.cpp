/// Asks a log for its rows.
#include "fuzz/log_questions.h"

#include "hindsight/dataset/load.h"
#include "hindsight/dataset/network_context.h"
#include "hindsight/dataset/stored_space.h"
#include "hindsight/log/asked.h"
#include "hindsight/log/content.h"
#include "hindsight/log/deep_check.h"
#include "hindsight/log/gpu_measurements.h"
#include "hindsight/log/pulse.h"
#include "hindsight/log/query.h"
#include "hindsight/log/row_names.h"
#include "hindsight/space/design_space.h"

namespace hindsight::fuzz {
namespace {

void ask_tables(const log::Log& log, Questions& questions) {
  questions.ask("counts", [&] { (void)log::summary(log); });
  questions.ask("spaces", [&] { (void)log::spaces(log); });
  questions.ask("evaluators", [&] { (void)log::evaluators(log); });
  questions.ask("workloads", [&] { (void)log::workloads(log); });
  questions.ask("runs", [&] { (void)log::recent_runs(log, 10); });
  questions.ask("running", [&] { (void)log::pulse(log); });
  questions.ask("proposals", [&] { (void)log::proposals(log, std::nullopt); });
  questions.ask("proposing runs", [&] { (void)log::proposing_runs(log, 10); });
  questions.ask("metrics", [&] { (void)log::metric_names(log); });
  questions.ask("origins", [&] { (void)log::workload_origins(log); });
  questions.ask("designs by hash", [&] { (void)log::designs_by_hash(log, "ab"); });
  questions.ask("pending", [&] { (void)log::pending_designs(log); });
  questions.ask("asks", [&] { (void)log::asks(log); });
  questions.ask("GPUs", [&] { (void)log::gpu_measurements(log); });
}

void ask_evaluations(const log::Log& log, Questions& questions) {
  questions.ask("best designs", [&] {
    for (const log::WorkloadStats& one : log::workload_stats(log)) {
      (void)log::best_designs(log, one.workload, "area_mm2", 3);
      (void)log::pareto_front(log, one.workload, {"area_mm2", "latency_s"});
    }
  });
  questions.ask("evaluations", [&] {
    const log::RowNames names(log);
    log::for_each_evaluation(log, {}, log::Detail::all, [&](const log::EvaluationRecord& record) {
      (void)names.workload(record.workload_id);
      (void)names.evaluator(record.evaluator_id);
      (void)names.run_started_at(record.run_id);
      return true;
    });
  });
  questions.ask("content", [&] { (void)log::content(log); });
}

void ask_dataset(const log::Log& log, Questions& questions) {
  questions.ask("space", [&] { (void)dataset::stored_space(log, std::nullopt); });
  questions.ask("definitions", [&] {
    for (const log::SpaceSummary& space : log::spaces(log)) {
      (void)space::space_from_definition(space.name, space.definition);
    }
  });
  questions.ask("layers", [&] {
    for (const log::WorkloadRecord& workload : log::workloads(log)) {
      (void)dataset::logged_layers(workload.layers_json, workload.definition);
    }
  });
  questions.ask("dataset", [&] {
    dataset::Selection selection;
    selection.objective = dataset::parse_objective("latency_s", Direction::minimise);
    (void)dataset::load_dataset(log.path(), selection);
  });
}

}  // namespace

void ask_rows(const log::Log& log, Questions& questions) {
  bool sound = false;
  questions.ask("verify", [&] { sound = log.verify().sound(); });
  if (sound) questions.ask("verify deeply", [&] { (void)log::contradictions_in(log); });
  ask_tables(log, questions);
  ask_evaluations(log, questions);
  ask_dataset(log, questions);
}

}  // namespace hindsight::fuzz
