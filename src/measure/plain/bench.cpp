/// One task after the other, each handed to the sink before the next one starts.
#include "hindsight/measure/bench.h"

#include <array>
#include <chrono>
#include <ctime>

namespace hindsight::measure {
namespace {

/// False when something of the task failed.
bool measure_one(Bench& bench, const Task& task, Sink& sink) {
  TaskResults results = bench.measure(task);
  for (const std::string& problem : results.problems) sink.failed(key(task), problem);
  const std::string now = utc_second();
  for (GemmRow& row : results.gemms) row.measured_at = now;
  for (Quantity& quantity : results.quantities) {
    quantity.task = key(task);
    quantity.measured_at = now;
  }
  sink.results(results.gemms, results.quantities);
  return results.problems.empty();
}

}  // namespace

std::string utc_second() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text.data();
}

RunResult run_on(const OpenBench& open, const std::vector<Task>& plan, const RunOptions& options, Sink& sink) {
  const auto start = std::chrono::steady_clock::now();
  const auto is_over = [&] {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    return options.budget_s > 0 && elapsed.count() >= options.budget_s;
  };
  RunResult result;
  std::vector<const Task*> left;
  bool needs_cublaslt = false;
  for (const Task& task : plan) {
    if (options.finished.contains(key(task))) {
      ++result.finished_before;
      continue;
    }
    left.push_back(&task);
    needs_cublaslt = needs_cublaslt || (task.kind == Task::Kind::gemm && task.kernel == Kernel::cublaslt);
  }
  const std::unique_ptr<Bench> bench = open(needs_cublaslt);
  sink.session(bench->session());
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (is_over() || !sink.next(key(*left[i]), i, left.size())) {
      result.left = left.size() - i;
      break;
    }
    if (measure_one(*bench, *left[i], sink)) {
      ++result.measured;
    } else {
      ++result.failed;
    }
  }
  return result;
}

}  // namespace hindsight::measure
