/// The rows of an adaptation in the model's terms, and moves written into its networks.
#include "surrogate/transfer_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "surrogate/codes.h"
#include "surrogate/training_rows.h"

namespace hindsight::surrogate {
namespace {

/// Codes as the networks have them.
Codes codes_of(const Network& network) {
  const Architecture& architecture = network.architecture();
  Codes codes{.sizes = architecture.code_sizes, .paired = architecture.paired, .tables = {}};
  for (std::size_t i = 0; i < codes.sizes.size(); ++i) {
    codes.tables.push_back(network.weights().at(fmt::format("code.{}", i)));
  }
  return codes;
}

/// An application as a head sees it: its layers, or its scaled features as a single one.
dataset::LayerList seen(const Model& base, const dataset::Context& context) {
  const Architecture& architecture = base.parts().members.front().architecture();
  if (architecture.kind == NetworkKind::layers) return base.seen_layers(context);
  dataset::LayerList one{.features = Eigen::MatrixXf(1, architecture.context_size),
                         .repeats = Eigen::VectorXf::Ones(1)};
  if (architecture.context_size > 0) {
    one.features.row(0) = base.parts().context_scaler.apply(context).cast<float>().transpose();
  }
  return one;
}

/// Numbers of designs in the order of their first row.
std::vector<std::size_t> designs_of(const dataset::Dataset& data) {
  std::map<std::uint64_t, std::size_t> numbers;
  std::vector<std::size_t> of_rows;
  for (Eigen::Index i = 0; i < data.levels.rows(); ++i) {
    const std::uint64_t key = design_key(data.levels.row(i).data(), data.levels.cols());
    of_rows.push_back(numbers.emplace(key, numbers.size()).first->second);
  }
  return of_rows;
}

/// Designs are dealt to folds at random, those with a feasible row first, so that every fold has its share of them.
std::vector<std::size_t> folds_of(const dataset::Dataset& data, const std::vector<std::size_t>& designs,
                                  std::uint64_t seed) {
  std::set<std::size_t> feasible;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (data.feasible[i]) feasible.insert(designs[i]);
  }
  const std::size_t count = designs.empty() ? 0 : *std::ranges::max_element(designs) + 1;
  std::vector<std::size_t> order = all_places(count);
  Draws draws(seed, "transfer folds");
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[draws.below(i)]);
  std::stable_partition(order.begin(), order.end(), [&](std::size_t design) { return feasible.contains(design); });
  std::vector<std::size_t> of_designs(count), folds;
  for (std::size_t i = 0; i < count; ++i) of_designs[order[i]] = i % kTransferFolds;
  for (const std::size_t design : designs) folds.push_back(of_designs[design]);
  return folds;
}

}  // namespace

std::vector<std::size_t> all_places(std::size_t count) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

dataset::ObjectiveScaler::Scale scale_of(const Model& base, const dataset::Context& context) {
  return base.parts().objective_scaler.scale(context.name, base.parts().context_scaler.apply(context));
}

TransferRows make_rows(const Model& base, const dataset::Dataset& data, std::uint64_t seed) {
  TransferRows rows{
      .base = base,
      .data = data,
      .all = {},
      .learnt = {},
      .design = designs_of(data),
      .fold = {},
      .feasible = {},
      .objective = Eigen::VectorXd::Constant(std::ssize(data.context), std::numeric_limits<double>::quiet_NaN())};
  rows.fold = folds_of(data, rows.design, seed);
  rows.all.inputs = inputs_of(codes_of(base.parts().members.front()), data.levels).cast<double>();
  for (const std::int32_t context : data.context) rows.all.application.push_back(static_cast<std::size_t>(context));
  for (const dataset::Context& context : data.contexts) rows.all.applications.push_back(seen(base, context));
  for (const dataset::Context& context : base.parts().training_contexts) rows.learnt.push_back(seen(base, context));
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (!data.feasible[i]) continue;
    rows.feasible.push_back(i);
    const auto scale = scale_of(base, data.contexts[static_cast<std::size_t>(data.context[i])]);
    const double value =
        dataset::scaled_value(base.parts().objective_scaler.value_scale, data.objective[static_cast<Eigen::Index>(i)]);
    rows.objective[static_cast<Eigen::Index>(i)] = (value - scale.mean) / scale.deviation;
  }
  return rows;
}

std::vector<Network> as_networks(const TransferNetworks& networks) {
  std::vector<Network> members;
  for (const Weights& weights : networks.weights) members.emplace_back(networks.architecture, weights);
  return members;
}

std::vector<HeadFrame> frames_of(const TransferNetworks& networks, const TransferRows& rows, const std::string& head,
                                 Eigen::Index output) {
  std::vector<HeadFrame> frames;
  for (const Network& network : as_networks(networks))
    frames.emplace_back(read_head(network, head), output, rows.learnt);
  return frames;
}

void stop_when_asked() {
  if (interrupt_requested()) throw Error(ErrorKind::interrupted, "interrupted; no model was written");
}

void apply_moves(TransferNetworks& networks, const std::vector<HeadFrame>& frames, const std::vector<Moves>& moves) {
  for (std::size_t m = 0; m < frames.size(); ++m) {
    const Network now(networks.architecture, networks.weights[m]);
    HeadWeights head = read_head(now, frames[m].base().name);
    frames[m].apply(moves[m], head);
    write_head(head, networks.weights[m]);
  }
}

std::pair<std::string, Eigen::Index> head_of(const std::string& name, const std::vector<std::int64_t>& layered,
                                             std::size_t place) {
  const auto number = static_cast<std::int64_t>(place);
  const auto found = std::ranges::lower_bound(layered, number);
  const auto before = found - layered.begin();
  if (found != layered.end() && *found == number) return {name + "_layers", before};
  return {name, number - before};
}

}  // namespace hindsight::surrogate
