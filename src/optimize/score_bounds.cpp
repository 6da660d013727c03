/// Scores from more and more of the layers, in steps chosen by what they save on a sample of designs.
#include "optimize/score_bounds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace hindsight::optimize {
namespace {

/// [chosen] Shares of the layers after which a step may end.
constexpr std::array<double, 9> kShares = {0.02, 0.04, 0.08, 0.12, 0.18, 0.25, 0.4, 0.6, 0.8};
/// [chosen] What a question costs besides its layers, in layers: the design's part of the first layer, bookkeeping.
constexpr double kFixedCost = 1.5;
/// [measured: bench/box_bounds, two cores of an AMD EPYC, 2026-11-23] A question to all heads over one to the
/// objective.
constexpr double kAllHeads = 2;
/// [chosen] Lower bounds are asked first where they leave out a quarter of the sample: they cost about as much as one
/// to two layers of five networks.
constexpr double kMostPassing = 0.75;
constexpr surrogate::Heads kObjective{.objective = true, .feasibility = false, .constraints = false};

using Layers = std::vector<Eigen::Index>;

surrogate::PreparedContext with_layers(const surrogate::Model& model, const dataset::Context& application,
                                       const Layers& layers) {
  dataset::Context some = application;
  some.layers.features = application.layers.features(layers, Eigen::all);
  some.layers.repeats = application.layers.repeats(layers);
  return model.prepare(some);
}

/// log(e^a + e^b), element by element.
Eigen::VectorXd added(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  return a.cwiseMax(b).array() + (-(a - b).cwiseAbs()).array().exp().log1p();
}

/// The layers of one application, the dearest first, and how the sample's Z grows with them.
struct Order {
  Layers layers;
  Eigen::MatrixXd sums;  ///< sample x (layers + 1): Z of the first l layers, nothing first
};

Order order_of(const surrogate::Model& model, const dataset::Context& application, const LevelMatrix& sample) {
  const Eigen::Index count = application.layers.repeats.size();
  Eigen::MatrixXd logarithms(sample.rows(), count);
  for (Eigen::Index l = 0; l < count; ++l) {
    logarithms.col(l) = model.predict(sample, kObjective, with_layers(model, application, {l})).score;
  }
  const Eigen::VectorXd largest = logarithms.rowwise().maxCoeff();
  Eigen::MatrixXd shares = (logarithms.colwise() - largest).array().exp().matrix();
  shares.array().colwise() /= shares.rowwise().sum().array().eval();
  const Eigen::RowVectorXd share = shares.colwise().mean();
  Order order{.layers = Layers(static_cast<std::size_t>(count)),
              .sums = Eigen::MatrixXd::Constant(sample.rows(), count + 1, -std::numeric_limits<double>::infinity())};
  std::iota(order.layers.begin(), order.layers.end(), Eigen::Index{0});
  std::stable_sort(order.layers.begin(), order.layers.end(),
                   [&](Eigen::Index a, Eigen::Index b) { return share[a] > share[b]; });
  for (Eigen::Index l = 0; l < count; ++l) {
    const Eigen::VectorXd own = logarithms.col(order.layers[static_cast<std::size_t>(l)]);
    order.sums.col(l + 1) = l == 0 ? own : added(order.sums.col(l), own);
  }
  return order;
}

/// A place where a step may end: layers taken so far per application, and what of the sample goes on from there.
struct Stop {
  std::vector<std::size_t> taken;
  double layers = 0;
  double passing = 1;
};

std::vector<Stop> stops_of(const std::vector<Order>& orders, const Forecast& forecast, double cutoff) {
  std::vector<Stop> stops{{.taken = std::vector<std::size_t>(orders.size(), 0)}};
  for (const double share : kShares) {
    Stop stop;
    Eigen::MatrixXd sums(orders.front().sums.rows(), std::ssize(orders));
    for (std::size_t c = 0; c < orders.size(); ++c) {
      const auto taken = static_cast<std::size_t>(std::ceil(share * static_cast<double>(orders[c].layers.size())));
      stop.taken.push_back(taken);
      stop.layers += static_cast<double>(taken);
      sums.col(static_cast<Eigen::Index>(c)) = orders[c].sums.col(static_cast<Eigen::Index>(taken));
    }
    if (stop.layers <= stops.back().layers) continue;  // so few layers that both shares are the same
    stop.passing = (forecast.score_of(sums).array() <= cutoff).cast<double>().mean();
    stops.push_back(std::move(stop));
  }
  return stops;
}

/// The stops, in order, that make the fewest layers per design; `rest`: layers of what follows the last one.
std::vector<std::size_t> cheapest(const std::vector<Stop>& stops, double applications, double rest) {
  // From the last to the first: least[i] is the cost after stop i of a design that goes on from it.
  std::vector<double> least(stops.size(), rest);
  std::vector<std::size_t> next(stops.size(), stops.size());
  for (std::size_t i = stops.size(); i-- > 0;) {
    for (std::size_t j = i + 1; j < stops.size(); ++j) {
      const double going_on = stops[i].passing > 0 ? stops[j].passing / stops[i].passing : 1;
      const double cost = kFixedCost * applications + stops[j].layers - stops[i].layers + going_on * least[j];
      if (cost < least[i]) {
        least[i] = cost;
        next[i] = j;
      }
    }
  }
  std::vector<std::size_t> chosen;
  for (std::size_t i = next[0]; i < stops.size(); i = next[i]) chosen.push_back(i);
  return chosen;
}

/// Whether the objective is a sum over layers as the header has it.
bool sums_over_layers(const surrogate::Model& model) {
  const auto& members = model.parts().members;
  return std::all_of(members.begin(), members.end(), [](const surrogate::Network& member) {
    if (member.architecture().kind != surrogate::NetworkKind::layers) return false;
    const std::vector<float>& factor = member.weights().at("objective.factor").values;
    return std::all_of(factor.begin(), factor.end(), [](float value) { return value == 1.0F; });
  });
}

/// Adds what the layers of one step cost.
ScoreBound step_of(const surrogate::Model& model, const std::shared_ptr<const Forecast>& forecast,
                   std::vector<std::optional<surrogate::PreparedContext>> parts, bool first) {
  return [&model, forecast, first, parts = std::move(parts)](const LevelMatrix& levels, Eigen::MatrixXd& known) {
    for (std::size_t c = 0; c < parts.size(); ++c) {
      if (!parts[c]) continue;
      const auto column = static_cast<Eigen::Index>(c);
      const Eigen::VectorXd own = model.predict(levels, kObjective, *parts[c]).score;
      known.col(column) = first ? own : added(known.col(column), own);
    }
    return forecast->score_of(known);
  };
}

}  // namespace

ScoreBounds score_bounds(const surrogate::Model& model, const ProposeOptions& options,
                         const std::shared_ptr<const Forecast>& forecast, const LevelMatrix& sample, double cutoff) {
  ScoreBounds bounds{.steps = {}, .known = std::ssize(options.contexts)};
  if (const auto alone = forecast->score_of_bounds(sample)) {
    if ((alone->array() <= cutoff).cast<double>().mean() <= kMostPassing) {
      bounds.steps.emplace_back([forecast](const LevelMatrix& levels, Eigen::MatrixXd& /*known*/) {
        return *forecast->score_of_bounds(levels);
      });
    }
  }
  if (sums_over_layers(model)) {
    std::vector<Order> orders;
    for (const dataset::Context& application : options.contexts) orders.push_back(order_of(model, application, sample));
    const std::vector<Stop> stops = stops_of(orders, *forecast, cutoff);
    const auto applications = static_cast<double>(orders.size());
    double whole = kFixedCost * applications;
    for (const Order& order : orders) whole += static_cast<double>(order.layers.size());
    const double passing = (forecast->score_alone(sample).array() <= cutoff).cast<double>().mean();
    std::vector<std::size_t> before = stops.front().taken;
    for (const std::size_t i : cheapest(stops, applications, whole * (1 + kAllHeads * passing))) {
      std::vector<std::optional<surrogate::PreparedContext>> parts;
      for (std::size_t c = 0; c < orders.size(); ++c) {
        const auto begin = orders[c].layers.begin() + static_cast<std::ptrdiff_t>(before[c]);
        const auto end = orders[c].layers.begin() + static_cast<std::ptrdiff_t>(stops[i].taken[c]);
        parts.emplace_back();
        if (begin != end) parts.back() = with_layers(model, options.contexts[c], Layers(begin, end));
      }
      bounds.steps.push_back(step_of(model, forecast, std::move(parts), before == stops.front().taken));
      before = stops[i].taken;
    }
  }
  bounds.steps.emplace_back(
      [forecast](const LevelMatrix& levels, Eigen::MatrixXd& /*known*/) { return forecast->score_alone(levels); });
  return bounds;
}

}  // namespace hindsight::optimize
