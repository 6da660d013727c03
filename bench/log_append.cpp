/// How many evaluation rows per second does the log take, and how many does it give back?
///
/// The rows look like a sweep's: nine workloads per design, four of five rows infeasible with one to three reasons.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <vector>

#include "hindsight/log/durability.h"
#include "hindsight/log/log.h"
#include "hindsight/log/query.h"
#include "log_rows.h"

namespace hindsight::bench {
namespace {

/// Seconds that it takes to append the batches, one commit each.
double append_all(const fs::path& file, const Ids& ids, const std::vector<std::vector<EvaluationRow>>& batches,
                  log::Durability durability, bool bare) {
  const auto seconds_of = [&](auto&& append) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < batches.size(); ++i) append(i);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  if (bare) {
    std::vector<std::vector<PlainRow>> plain;
    for (const std::vector<EvaluationRow>& batch : batches) plain.push_back(plain_rows_of(batch));
    BareTables tables(file, true, durability);
    return seconds_of([&](std::size_t i) { tables.append(ids, plain[i]); });
  }
  Log log = Log::open(file, OpenMode::read_write);
  return seconds_of([&](std::size_t i) {
    static_cast<void>(log.append(ids.run, ids.space, ids.evaluator, batches[i], log::Checkpoint{"k", "{}"}));
  });
}

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

/// Commits of `batch_rows` rows by `writers` at once into one log, normal or full (what a commit outlives), through the
/// log or through BareTables: the table of docs/log-schema.md.
void commit(benchmark::State& state) {
  const auto batch_rows = static_cast<std::size_t>(state.range(0));
  const auto durability = state.range(1) != 0 ? log::Durability::full : log::Durability::normal;
  const auto writers = static_cast<std::size_t>(state.range(2));
  const bool bare = state.range(3) != 0;
  const std::size_t batches = std::clamp<std::size_t>(90'000 / batch_rows, 4, 400);
  log::set_durability(durability);
  for (auto _ : state) {
    const ScratchLog scratch;
    const Ids ids = [&] {
      Log log = Log::open(scratch.file, OpenMode::read_write_create);
      return register_all(log);
    }();
    std::vector<std::future<double>> times;
    for (std::size_t writer = 0; writer < writers; ++writer) {
      times.push_back(std::async(std::launch::async, [&, writer] {
        std::vector<std::vector<EvaluationRow>> rows;
        for (std::size_t i = 0; i < batches; ++i) {
          rows.push_back(rows_of(ids, (writer * batches + i) * (batch_rows / kWorkloads), batch_rows));
        }
        return append_all(scratch.file, ids, rows, durability, bare);
      }));
    }
    double slowest_s = 0;
    for (std::future<double>& time : times) slowest_s = std::max(slowest_s, time.get());
    state.SetIterationTime(slowest_s);
  }
  log::set_durability(log::Durability::normal);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(writers * batches * batch_rows));
}
BENCHMARK(commit)
    ->ArgNames({"batch_rows", "full", "writers", "bare"})
    ->ArgsProduct({{9, 90, 900, 9'000}, {0, 1}, {1, 2}, {0, 1}})
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime();

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
