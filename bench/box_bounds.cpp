/// How tight are the bounds of boxes of designs, and what does one cost against one prediction?
///
/// Boxes of 2, 4, 16 and 256 designs take two neighbouring levels of 1, 2, 4 and 8 parameters of a random design; the
/// last box is the whole space, of which designs are sampled. Prints a Markdown table, means over boxes and networks.
#include "hindsight/surrogate/box_bounds.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

#include "hindsight/core/random.h"
#include "hindsight/dataset/network_context.h"
#include "hindsight/workload/network.h"

namespace {

namespace surrogate = hindsight::surrogate;

constexpr double kPessimism = 1;

/// What the boxes of one size came to, sums over boxes.
struct Tally {
  double boxes = 0, below = 0, range = 0, width = 0, p_range = 0, p_width = 0, box_s = 0, objective_s = 0, design_s = 0,
         designs = 0;
};

surrogate::Box box_around(const hindsight::space::DesignSpace& space, const hindsight::RandomStream& random,
                          std::uint64_t number, std::size_t free) {
  const auto& parameters = space.parameters();
  const std::uint64_t base = number * 64;
  surrogate::Box box;
  for (std::size_t t = 0; t < parameters.size(); ++t) {
    box.push_back({static_cast<std::uint16_t>(random.below(base + t, parameters[t].level_count() - 1))});
  }
  for (std::size_t k = 0, tried = 0; k < free; ++tried) {
    auto& levels = box[random.below(base + 32 + tried, parameters.size())];
    if (levels.size() > 1) continue;
    levels.push_back(static_cast<std::uint16_t>(levels.front() + 1));
    ++k;
  }
  return box;
}

/// All designs of a small box.
surrogate::LevelMatrix designs_of(const surrogate::Box& box) {
  Eigen::Index count = 1;
  for (const auto& levels : box) count *= std::ssize(levels);
  surrogate::LevelMatrix designs(count, std::ssize(box));
  for (Eigen::Index i = 0; i < count; ++i) {
    Eigen::Index rest = i;
    for (std::size_t t = 0; t < box.size(); ++t) {
      designs(i, static_cast<Eigen::Index>(t)) = box[t][static_cast<std::size_t>(rest % std::ssize(box[t]))];
      rest /= std::ssize(box[t]);
    }
  }
  return designs;
}

surrogate::LevelMatrix sample_of(const hindsight::space::DesignSpace& space, Eigen::Index count) {
  surrogate::LevelMatrix designs(count, std::ssize(space.parameters()));
  const hindsight::RandomStream random(2, "sampled designs");
  for (Eigen::Index i = 0; i < designs.size(); ++i) {
    const auto& parameter = space.parameters()[static_cast<std::size_t>(i % designs.cols())];
    designs.data()[i] =
        static_cast<std::uint16_t>(random.below(static_cast<std::uint64_t>(i), parameter.level_count()));
  }
  return designs;
}

/// Processor time of this process, which has one thread: other programs' load does not count.
double processor_s() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void add(Tally& tally, const surrogate::Model& model, const surrogate::BoxBounder& bounder,
         const surrogate::PreparedContext& prepared, const surrogate::Box& box, const surrogate::LevelMatrix& designs) {
  const double start = processor_s();
  const surrogate::BoxBounds bounds = bounder.bound(box);
  tally.box_s += processor_s() - start;
  const double objective = processor_s();
  static_cast<void>(bounder.bound(box, nullptr, {.feasibility = false}));
  tally.objective_s += processor_s() - objective;
  const double asked = processor_s();
  const surrogate::EnsemblePrediction truth = model.predict(designs, {.constraints = false}, prepared);
  tally.design_s += processor_s() - asked;
  tally.designs += static_cast<double>(designs.rows());
  const Eigen::VectorXd cautious = truth.score + kPessimism * truth.spread;
  const double deviation = prepared.scale.deviation;
  tally.boxes += 1;
  tally.below += deviation * (cautious.minCoeff() - bounds.cautious[0].lower);
  tally.range += deviation * (cautious.maxCoeff() - cautious.minCoeff());
  tally.width += deviation * (bounds.cautious[0].upper - bounds.cautious[0].lower);
  tally.p_range += truth.p_feasible.maxCoeff() - truth.p_feasible.minCoeff();
  tally.p_width += bounds.p_feasible[0].upper - bounds.p_feasible[0].lower;
}

void print(const std::string& name, const Tally& tally) {
  const double n = tally.boxes;
  fmt::print("| {} | {:.3f} | {:.3f} | {:.3f} | {:.2f} | {:.2f} | {:.0f} | {:.0f} | {:.1f} |\n", name, tally.below / n,
             tally.range / n, tally.width / n, tally.p_range / n, tally.p_width / n, 1e6 * tally.box_s / n,
             1e6 * tally.objective_s / n, 1e6 * tally.design_s / tally.designs);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Tightness and cost of the bounds of boxes");
  std::string file, workloads = "prime9";
  std::uint64_t boxes = 200;
  app.add_option("model", file, "Model file of kind margins or layers")->required();
  app.add_option("--workloads", workloads, "Networks");
  app.add_option("--boxes", boxes, "Boxes per size and network");
  CLI11_PARSE(app, argc, argv);
  const surrogate::Model model = surrogate::load_model(file);
  const auto& space = model.parts().space;
  const hindsight::RandomStream random(1, "boxes");
  const surrogate::LevelMatrix sample = sample_of(space, 20'000);
  std::vector<Tally> tallies(5);
  for (const hindsight::workload::Network& network : hindsight::workload::load_networks(workloads)) {
    const hindsight::dataset::Context context = hindsight::dataset::context_of(network);
    const surrogate::BoxBounder bounder(model, {context}, {.pessimism = kPessimism});
    const surrogate::PreparedContext prepared = model.prepare(context);
    for (std::size_t size = 0; size < 4; ++size) {
      for (std::uint64_t number = 0; number < boxes; ++number) {
        const surrogate::Box box = box_around(space, random, 4 * number + size, std::size_t{1} << size);
        add(tallies[size], model, bounder, prepared, box, designs_of(box));
      }
    }
    add(tallies[4], model, bounder, prepared, {}, sample);
  }
  fmt::print(
      "| designs | below the smallest | range sampled | width of the bounds | p sampled | p bounds | us per box | of "
      "the "
      "objective alone | us per design |\n|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
  const std::vector<std::string> names = {"2", "4", "16", "256", "all (20,000 sampled)"};
  for (std::size_t size = 0; size < names.size(); ++size) print(names[size], tallies[size]);
  return 0;
}
