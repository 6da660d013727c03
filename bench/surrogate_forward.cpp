/// How many designs per second does the forward pass of a trained network predict on one core?
///
/// Default recipe on a space of PRIME's size: 10 parameters, 12 context features, 1 constraint, d_model 16, one
/// transformer layer, 3 experts of 128, 128. Arguments: designs per call, instructions.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "hindsight/core/random.h"
#include "hindsight/surrogate/architecture.h"
#include "hindsight/surrogate/model.h"

namespace {

namespace surrogate = hindsight::surrogate;

surrogate::Architecture default_architecture() {
  surrogate::Architecture architecture;
  architecture.level_counts = {10, 10, 7, 10, 7, 11, 7, 4, 5, 6};
  architecture.context_size = 12;
  architecture.constraint_count = 1;
  return architecture;
}

surrogate::Network random_network(const surrogate::Architecture& architecture) {
  surrogate::Weights weights;
  for (const auto& [name, shape] : weight_shapes(architecture)) {
    std::int64_t count = 1;
    for (const std::int64_t size : shape) count *= size;
    const hindsight::RandomStream random(1, name);
    surrogate::Tensor tensor{.shape = shape, .values = {}};
    const double width = std::sqrt(3.0 / static_cast<double>(shape.back()));
    for (std::int64_t i = 0; i < count; ++i) {
      tensor.values.push_back(static_cast<float>(width * (2 * random.uniform(static_cast<std::uint64_t>(i)) - 1)));
    }
    weights.emplace(name, std::move(tensor));
  }
  return {architecture, std::move(weights)};
}

void predict(benchmark::State& state) {
  const surrogate::Network network = random_network(default_architecture());
  const auto& counts = network.architecture().level_counts;
  const hindsight::RandomStream random(1, "designs");
  surrogate::LevelMatrix levels(state.range(0), static_cast<Eigen::Index>(counts.size()));
  for (Eigen::Index i = 0; i < levels.size(); ++i) {
    const auto count = static_cast<std::uint64_t>(counts[static_cast<std::size_t>(i % levels.cols())]);
    levels.data()[i] = static_cast<std::uint16_t>(random.below(static_cast<std::uint64_t>(i), count));
  }
  const Eigen::VectorXf context = Eigen::VectorXf::LinSpaced(network.architecture().context_size, -1.0F, 1.0F);
  const auto instructions = static_cast<surrogate::Instructions>(state.range(1));
  for ([[maybe_unused]] auto iteration : state) {
    benchmark::DoNotOptimize(network.predict(levels, context, instructions).objective.data());
  }
  state.SetLabel(to_string(instructions));
  state.counters["designs_per_s"] =
      benchmark::Counter(static_cast<double>(state.iterations() * state.range(0)), benchmark::Counter::kIsRate);
}
BENCHMARK(predict)->Apply([](benchmark::internal::Benchmark* registered) {
  for (const std::int64_t designs : {1, 64, 1024, 16384}) registered->Args({designs, 0});
  for (const surrogate::Instructions each : surrogate::supported_instructions()) {
    registered->Args({4096, static_cast<std::int64_t>(each)});
  }
});

void construct(benchmark::State& state) {
  const surrogate::Network network = random_network(default_architecture());
  for ([[maybe_unused]] auto iteration : state) {
    benchmark::DoNotOptimize(surrogate::Network(network.architecture(), network.weights()).architecture());
  }
}
BENCHMARK(construct);

}  // namespace

BENCHMARK_MAIN();
