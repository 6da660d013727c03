/// How fast are evaluation and sweeps? Designs x nine applications per second and core, rows per second into a log,
/// and the memory that a sweep takes. Run: `build/bench/sweep_speed` on an idle machine.
#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/network_set.h"
#include "hindsight/evaluator/built_in.h"
#include "hindsight/space/sampling.h"
#include "hindsight/sweep/sweep.h"

namespace hindsight {
namespace {

constexpr double kAreaLimit_mm2 = 100;  // the study of the nine applications

double peak_resident_mib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;  // Linux counts KiB
}

/// Chips of uniformly drawn designs within the area limit, as a sweep evaluates them.
std::vector<accel::ChipFacts> chips(const space::DesignSpace& space, const accel::Technology& technology,
                                    std::size_t count) {
  const accel::ConfigBinding binding(space);
  const auto sampler = space::make_sampler(space::SamplerKind::uniform, space, 1, count, 0);
  std::vector<accel::ChipFacts> out;
  space::Design design;
  design.levels.resize(space.parameters().size());
  for (std::uint64_t i = 0; out.size() < count; ++i) {
    sampler->sample(i, design.levels);
    const accel::ChipFacts chip = accel::chip_facts(binding.bind(space, design), technology);
    if (chip.area.total_mm2() <= kAreaLimit_mm2) out.push_back(chip);
  }
  return out;
}

/// What a sweep computes per design, without the log. `depth` 0: as a flow, which stops at unbuildable hardware;
/// 1: every check and every layer of every design.
void evaluate_nine(benchmark::State& state) {
  const space::DesignSpace space = space::load_space("edge");
  const accel::Technology technology = accel::load_technology(accel::kDefaultTechnology);
  const std::vector<workload::Network> networks = workload::load_networks("prime9");
  const std::vector<accel::ChipFacts> designs = chips(space, technology, 1000);
  const auto depth = state.range(0) == 0 ? accel::Depth::stop_at_hardware : accel::Depth::all_checks;
  std::size_t next = 0;
  for (auto _ : state) {
    const accel::ChipFacts chip = accel::chip_facts(designs[next].config, technology);
    for (const workload::Network& network : networks) {
      benchmark::DoNotOptimize(accel::evaluate(chip, network, depth));
    }
    next = (next + 1) % designs.size();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(evaluate_nine)->ArgName("depth")->Arg(0)->Arg(1);

/// The same with layers that the networks share costed once, as sweeps and searches ask.
void evaluate_nine_together(benchmark::State& state) {
  const space::DesignSpace space = space::load_space("edge");
  const accel::Technology technology = accel::load_technology(accel::kDefaultTechnology);
  const accel::NetworkSet set(workload::load_networks("prime9"));
  const std::vector<accel::ChipFacts> designs = chips(space, technology, 1000);
  const auto depth = state.range(0) == 0 ? accel::Depth::stop_at_hardware : accel::Depth::all_checks;
  accel::SetEvaluator evaluator(set);
  std::vector<accel::Evaluation> evaluations(set.size());
  std::size_t next = 0;
  for (auto _ : state) {
    evaluator.evaluate(accel::chip_facts(designs[next].config, technology), depth, evaluations);
    benchmark::DoNotOptimize(evaluations.data());
    next = (next + 1) % designs.size();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(evaluate_nine_together)->ArgName("depth")->Arg(0)->Arg(1);

/// What a candidate costs that the area limit rejects.
void decide_candidate(benchmark::State& state) {
  const space::DesignSpace space = space::load_space("edge");
  const accel::Technology technology = accel::load_technology(accel::kDefaultTechnology);
  const accel::ConfigBinding binding(space);
  const auto sampler = space::make_sampler(space::SamplerKind::uniform, space, 1, 1, 0);
  std::vector<std::uint16_t> levels(space.parameters().size());
  std::vector<double> values(levels.size());
  std::uint64_t i = 0;
  for (auto _ : state) {
    sampler->sample(i++, levels);
    space.values(levels, values);
    benchmark::DoNotOptimize(accel::chip_facts(binding.bind(values), technology));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(decide_candidate);

/// The whole sweep: drawing, deciding, evaluating, appending. Arguments: threads, samples.
void sweep_nine(benchmark::State& state) {
  std::string folder = (std::filesystem::temp_directory_path() / "hindsight-bench-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    state.SkipWithError("no temporary folder");
    return;
  }
  const accel::Technology technology = accel::load_technology(accel::kDefaultTechnology);
  std::uint64_t rows = 0, designs = 0;
  for (auto _ : state) {
    const std::filesystem::path log = std::filesystem::path(folder) / "study.sqlite";
    std::filesystem::remove(log);
    const sweep::SweepOptions options{.evaluator = evaluator::built_in(space::load_space("edge"), technology),
                                      .networks = workload::load_networks("prime9"),
                                      .sampler = space::SamplerKind::uniform,
                                      .samples = static_cast<std::uint64_t>(state.range(1)),
                                      .seed = 1,
                                      .limits = {{.fact = "area_mm2", .limit = kAreaLimit_mm2}},
                                      .shard = {},
                                      .log = log,
                                      .threads = static_cast<unsigned>(state.range(0)),
                                      .quiet = true,
                                      .provenance = {}};
    const sweep::SweepSummary summary = sweep::run_sweep(options);
    rows += summary.rows_inserted;
    designs += summary.designs_this_run;
  }
  std::filesystem::remove_all(folder);
  state.counters["designs_per_s"] = benchmark::Counter(static_cast<double>(designs), benchmark::Counter::kIsRate);
  state.counters["rows_per_s"] = benchmark::Counter(static_cast<double>(rows), benchmark::Counter::kIsRate);
  state.counters["peak_resident_mib"] = peak_resident_mib();
}
BENCHMARK(sweep_nine)
    ->ArgNames({"threads", "samples"})
    ->Args({1, 5000})
    ->Args({2, 5000})
    ->Args({2, 20000})
    ->Iterations(1)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hindsight

BENCHMARK_MAIN();
