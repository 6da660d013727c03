/// How many evaluation rows per second does the log take, and how many does it give back?
///
/// The rows look like a sweep's: nine workloads per design, four of five rows infeasible with one to three reasons.
#include <benchmark/benchmark.h>

#include <vector>

#include "hindsight/log/log.h"
#include "hindsight/log/query.h"
#include "log_rows.h"

namespace hindsight::bench {
namespace {

/// Appends batches of `batch_rows` rows to a log that already holds `rows_before` rows.
void append(benchmark::State& state) {
  const auto batch_rows = static_cast<std::size_t>(state.range(0));
  const auto rows_before = static_cast<std::size_t>(state.range(1));
  constexpr std::size_t kFillRows = 90'000;
  const ScratchLog scratch;
  Log log = Log::open(scratch.file, OpenMode::read_write_create);
  const Ids ids = register_all(log);
  std::uint64_t design = 0;
  for (std::size_t filled = 0; filled < rows_before; filled += kFillRows) {
    log.append(ids.run, ids.space, ids.evaluator, rows_of(ids, design, kFillRows));
    design += kFillRows / kWorkloads;
  }
  for (auto _ : state) {
    state.PauseTiming();
    const std::vector<EvaluationRow> rows = rows_of(ids, design, batch_rows);
    design += batch_rows / kWorkloads + 1;
    state.ResumeTiming();
    const auto result = log.append(ids.run, ids.space, ids.evaluator, rows, log::Checkpoint{"k", "{}"});
    if (result.inserted != batch_rows) {
      state.SkipWithError("rows were not inserted");
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(batch_rows));
}
BENCHMARK(append)
    ->ArgNames({"batch_rows", "rows_before"})
    ->Args({9, 0})
    ->Args({900, 0})
    ->Args({9'000, 0})
    ->Args({90'000, 0})
    ->Args({9'000, 1'800'000})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

/// The same batches as in append(), through BareTables; every batch into the log's file of its own tables.
void append_bare(benchmark::State& state) {
  const auto batch_rows = static_cast<std::size_t>(state.range(0));
  const ScratchLog scratch;
  Ids ids;
  {
    Log log = Log::open(scratch.file, OpenMode::read_write_create);
    ids = register_all(log);
  }
  BareTables tables(scratch.file, state.range(1) != 0);
  std::uint64_t design = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const std::vector<EvaluationRow> rows = rows_of(ids, design, batch_rows);
    const std::vector<PlainRow> plain = plain_rows_of(rows);
    design += batch_rows / kWorkloads + 1;
    state.ResumeTiming();
    if (!tables.append(ids, plain)) state.SkipWithError("rows were not inserted");
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(batch_rows));
}
BENCHMARK(append_bare)
    ->ArgNames({"batch_rows", "foreign_keys"})
    ->Args({9'000, 0})
    ->Args({9'000, 1})
    ->Args({90'000, 1})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

/// Reads a log of `rows` rows back: every row with its reasons, statistics per workload, the best designs, a front.
void read_back(benchmark::State& state) {
  const auto rows = static_cast<std::size_t>(state.range(0));
  const ScratchLog scratch;
  Log log = Log::open(scratch.file, OpenMode::read_write_create);
  const Ids ids = register_all(log);
  log.append(ids.run, ids.space, ids.evaluator, rows_of(ids, 0, rows));
  for (auto _ : state) {
    switch (state.range(1)) {
      case 0:
        log::for_each_evaluation(log, {}, log::Detail::all, [](const auto& record) {
          benchmark::DoNotOptimize(&record);
          return true;
        });
        break;
      case 1:
        benchmark::DoNotOptimize(log::workload_stats(log));
        break;
      case 2:
        benchmark::DoNotOptimize(log::best_designs(log, "network_3", "latency_s", 10));
        break;
      default:
        benchmark::DoNotOptimize(log::pareto_front(log, "network_3", {"latency_s", "energy_j"}));
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(rows));
}
BENCHMARK(read_back)
    ->ArgNames({"rows", "query"})
    ->ArgsProduct({{900'000}, {0, 1, 2, 3}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace hindsight::bench

BENCHMARK_MAIN();
