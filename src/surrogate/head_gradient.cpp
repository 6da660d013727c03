/// The equations of heads by tables and their derivatives.
#include "surrogate/head_gradient.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/surrogate/architecture.h"

namespace hindsight::surrogate {
namespace {

using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Slope of the leaky ReLU for negative values (architecture.h).

Eigen::MatrixXd matrix_of(const Tensor& tensor) {
  const Eigen::Index rows = tensor.shape.front();
  const Eigen::Index columns = rows == 0 ? 0 : std::ssize(tensor.values) / rows;
  return Eigen::Map<const RowMajor>(tensor.values.data(), rows, columns).cast<double>();
}

void put(Weights& weights, const std::string& name, const Eigen::MatrixXd& values, bool vector) {
  const RowMajor single = values.cast<float>();
  Tensor tensor{.shape = {values.rows()}, .values = {single.data(), single.data() + single.size()}};
  if (!vector) tensor.shape.push_back(values.cols());
  weights[name] = std::move(tensor);
}

double root_mean_square(const Eigen::MatrixXd& values) {
  return values.size() == 0 ? 0 : std::sqrt(values.squaredNorm() / static_cast<double>(values.size()));
}

/// The name under which a head keeps the weights of layers or of the context; empty when it has none.
std::string name_of_layers(const Network& network, const std::string& head) {
  for (const char* ending : {".layer.weight", ".context.weight"}) {
    if (network.weights().contains(head + ending)) return head + ending;
  }
  return {};
}

/// A row of `part` in a row of derivatives, as a matrix of that shape; moves `next` behind it.
auto next_block(Eigen::Ref<Eigen::RowVectorXd> target, Eigen::Index& next, Eigen::Index rows, Eigen::Index columns) {
  Eigen::Map<Eigen::MatrixXd> block(target.data() + next, rows, columns);
  next += rows * columns;
  return block;
}

}  // namespace

/// One question on its way through a head.
struct HeadFrame::Row {
  Eigen::VectorXd input;                           // inputs
  Eigen::MatrixXd features;                        // f x layers, raw
  std::vector<Eigen::MatrixXd> before, activated;  ///< per hidden layer: units x layers
  Eigen::RowVectorXd share;  ///< layers: derivative of the result by what each layer adds to the sum
};

bool has_head(const Network& network, const std::string& name) {
  return network.weights().contains(name + ".0.weight");
}

HeadWeights read_head(const Network& network, const std::string& name) {
  HINDSIGHT_EXPECT(has_head(network, name));
  const Weights& weights = network.weights();
  HeadWeights head;
  head.name = name;
  for (std::size_t j = 0; weights.contains(fmt::format("{}.{}.weight", name, j)); ++j) {
    head.weight.push_back(matrix_of(weights.at(fmt::format("{}.{}.weight", name, j))));
    head.bias.emplace_back(matrix_of(weights.at(fmt::format("{}.{}.bias", name, j))));
  }
  const std::string layers = name_of_layers(network, name);
  head.of_layers = layers.empty() ? Eigen::MatrixXd(head.bias.front().size(), 0) : matrix_of(weights.at(layers));
  head.skip.resize(head.outputs(), 0);
  head.layer_skip.resize(head.outputs(), 0);
  head.factor = Eigen::VectorXd::Ones(head.outputs());
  if (!weights.contains(name + ".factor")) return head;
  head.skip = matrix_of(weights.at(name + ".skip.weight"));
  head.layer_skip = matrix_of(weights.at(name + ".layer_skip.weight"));
  head.factor = matrix_of(weights.at(name + ".factor"));
  return head;
}

void write_head(const HeadWeights& head, Weights& weights) {
  for (std::size_t j = 0; j < head.weight.size(); ++j) {
    put(weights, fmt::format("{}.{}.weight", head.name, j), head.weight[j], false);
    put(weights, fmt::format("{}.{}.bias", head.name, j), head.bias[j], true);
  }
  for (const char* ending : {".layer.weight", ".context.weight"}) {
    if (weights.contains(head.name + ending)) put(weights, head.name + ending, head.of_layers, false);
  }
  if (!head.sums()) return;
  put(weights, head.name + ".skip.weight", head.skip, false);
  put(weights, head.name + ".layer_skip.weight", head.layer_skip, false);
  put(weights, head.name + ".factor", head.factor, true);
}

HeadFrame::HeadFrame(HeadWeights base, Eigen::Index output, const std::vector<dataset::LayerList>& learnt)
    : base_(std::move(base)), output_(output) {
  const Eigen::Index features = base_.of_layers.cols();
  Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(features), squares = sum;
  double count = 0;
  for (const dataset::LayerList& one : learnt) {
    if (one.features.cols() != features || features == 0) continue;
    const Eigen::MatrixXd rows = one.features.cast<double>();
    sum += rows.colwise().sum();
    squares += rows.cwiseAbs2().colwise().sum();
    count += static_cast<double>(rows.rows());
  }
  mean_ = sum / std::max(count, 1.0);
  deviation_ = (squares / std::max(count, 1.0) - mean_.cwiseAbs2()).cwiseMax(0).cwiseSqrt();
  for (double& deviation : deviation_) deviation = deviation > 0 ? deviation : 1;
  for (const Eigen::MatrixXd& weight : base_.weight) size_.push_back(root_mean_square(weight));
  size_.push_back(root_mean_square(base_.of_layers * deviation_.asDiagonal()));
}

Eigen::Index HeadFrame::size_of(Part part) const {
  switch (part) {
    case Part::shift:
    case Part::slope:
      return 1;
    case Part::lines:
      return base_.skip.cols();
    case Part::layer_lines:
      return base_.layer_skip.cols();
    case Part::last:
      return base_.weight.back().cols();
    case Part::hidden:
      break;
  }
  Eigen::Index size = base_.of_layers.size();
  for (std::size_t j = 0; j + 1 < base_.weight.size(); ++j) size += base_.weight[j].size() + base_.bias[j].size();
  return size;
}

bool HeadFrame::has(Part part) const { return size_of(part) > 0; }

/// Equation: z_0 = W_0 s + V t_l + b_0, a_j = A(z_j), z_j = W_j a_{j-1} + b_j, o_l = z_last + u s + v t_l,
/// y = factor log sum_l r_l e^{o_l}; share_l = dy / do_l = factor r_l e^{o_l} / sum.
void HeadFrame::respond_row(const HeadWeights& head, const HeadQuestions& questions, Eigen::Index row,
                            const std::vector<Part>& wanted, HeadResponse& response) const {
  const dataset::LayerList& application = questions.applications[questions.application[static_cast<std::size_t>(row)]];
  const Eigen::Index layers = head.of_layers.cols() == 0 ? 1 : application.repeats.size();
  Row at{.input = questions.inputs.row(row).transpose(),
         .features = Eigen::MatrixXd(head.of_layers.cols(), layers),
         .before = {},
         .activated = {},
         .share = {}};
  if (head.of_layers.cols() > 0) at.features = application.features.cast<double>().transpose();
  Eigen::MatrixXd z = head.of_layers * at.features;
  z.colwise() += head.weight.front() * at.input + head.bias.front();
  for (std::size_t j = 1; j < head.weight.size(); ++j) {
    at.before.push_back(z);
    at.activated.push_back(z.cwiseMax(kLeakySlope * z));
    z = (head.weight[j] * at.activated.back()).colwise() + head.bias[j];
  }
  Eigen::RowVectorXd o = z.row(output_);
  const Eigen::Index k = output_;
  if (head.sums()) {
    o.array() += head.skip.row(k).dot(at.input);
    o += head.layer_skip.row(k) * at.features;
    const Eigen::RowVectorXd log_terms = o + application.repeats.cast<double>().array().log().matrix().transpose();
    const double largest = log_terms.maxCoeff();
    const Eigen::RowVectorXd terms = (log_terms.array() - largest).exp();
    response.values[row] = head.factor[k] * (largest + std::log(terms.sum()));
    at.share = head.factor[k] * terms / terms.sum();
  } else {
    response.values[row] = o[0];
    at.share = Eigen::RowVectorXd::Ones(1);
  }
  for (const Part part : wanted) {
    Eigen::Ref<Eigen::RowVectorXd, 0, Eigen::InnerStride<>> target = response.by_part[place_of(part)].row(row);
    const Eigen::VectorXd units = at.activated.back() * at.share.transpose();
    if (part == Part::shift) target[0] = at.share.sum();
    if (part == Part::last) target = units.transpose();
    if (part == Part::lines) target = at.share.sum() * at.input.transpose();
    if (part == Part::layer_lines) {
      const Eigen::VectorXd shared = at.features * at.share.transpose();
      target = (shared.transpose() - at.share.sum() * mean_).cwiseQuotient(deviation_);
    }
    if (part == Part::slope) {
      target[0] = base_.weight.back().row(k).dot(units);
      if (head.sums()) {
        target[0] += at.share.sum() * base_.skip.row(k).dot(at.input);
        target[0] += base_.layer_skip.row(k).dot(at.features * at.share.transpose());
      }
    }
    if (part == Part::hidden) {
      Eigen::RowVectorXd derivatives(target.size());
      hidden_derivatives(head, at, derivatives);
      target = derivatives;
    }
  }
}

/// Backwards through the hidden layers: d_j = (W_{j+1}' d_{j+1}) A'(z_j); dy/dW_j = d_j a_{j-1}', dy/db_j = d_j.
void HeadFrame::hidden_derivatives(const HeadWeights& head, const Row& row,
                                   Eigen::Ref<Eigen::RowVectorXd> target) const {
  const std::size_t last = head.weight.size() - 1;
  Eigen::MatrixXd delta = head.weight.back().row(output_).transpose() * row.share;
  Eigen::Index next = 0;
  for (std::size_t j = last; j-- > 0;) {
    delta = (row.before[j].array() > 0).select(delta, kLeakySlope * delta);
    const Eigen::VectorXd sums = delta.rowwise().sum();
    auto weight = next_block(target, next, head.weight[j].rows(), head.weight[j].cols());
    if (j > 0) {
      weight = size_[j] * delta * row.activated[j - 1].transpose();
    } else {
      weight = size_[0] * sums * row.input.transpose();
    }
    next_block(target, next, sums.size(), 1) = size_[j] * sums;
    if (j > 0) delta = head.weight[j].transpose() * delta;
  }
  if (head.of_layers.cols() == 0) return;
  const Eigen::MatrixXd standard =
      deviation_.cwiseInverse().asDiagonal() * (row.features.colwise() - mean_.transpose());
  next_block(target, next, head.of_layers.rows(), head.of_layers.cols()) = size_.back() * delta * standard.transpose();
}

HeadResponse HeadFrame::respond(const Moves& moves, const HeadQuestions& questions,
                                const std::vector<Part>& wanted) const {
  HeadWeights head = base_;
  apply(moves, head);
  HeadResponse response;
  response.values.resize(questions.size());
  for (const Part part : wanted) response.by_part[place_of(part)].resize(questions.size(), size_of(part));
  for (Eigen::Index row = 0; row < questions.size(); ++row) respond_row(head, questions, row, wanted, response);
  return response;
}

void HeadFrame::apply(const Moves& moves, HeadWeights& head) const {
  const Eigen::Index k = output_;
  const auto of = [&](Part part) -> const Eigen::VectorXd& { return moves[place_of(part)]; };
  double& bias = head.bias.back()[k];
  if (of(Part::slope).size() > 0) {
    head.weight.back().row(k) += of(Part::slope)[0] * base_.weight.back().row(k);
    head.skip.row(k) += of(Part::slope)[0] * base_.skip.row(k);
    head.layer_skip.row(k) += of(Part::slope)[0] * base_.layer_skip.row(k);
  }
  if (of(Part::shift).size() > 0) bias += of(Part::shift)[0];
  if (of(Part::lines).size() > 0) head.skip.row(k) += of(Part::lines).transpose();
  if (of(Part::layer_lines).size() > 0) {
    const Eigen::RowVectorXd raw = of(Part::layer_lines).transpose().cwiseQuotient(deviation_);
    head.layer_skip.row(k) += raw;
    bias -= raw.dot(mean_);
  }
  if (of(Part::last).size() > 0) head.weight.back().row(k) += of(Part::last).transpose();
  if (of(Part::hidden).size() == 0) return;
  Eigen::Index next = 0;
  const auto block = [&](Eigen::Index rows, Eigen::Index columns) {
    const Eigen::Map<const Eigen::MatrixXd> values(of(Part::hidden).data() + next, rows, columns);
    next += rows * columns;
    return values;
  };
  for (std::size_t j = head.weight.size() - 1; j-- > 0;) {
    head.weight[j] += size_[j] * block(head.weight[j].rows(), head.weight[j].cols());
    head.bias[j] += size_[j] * block(head.bias[j].size(), 1);
  }
  if (head.of_layers.cols() == 0) return;
  const Eigen::MatrixXd raw =
      size_.back() * block(head.of_layers.rows(), head.of_layers.cols()) * deviation_.cwiseInverse().asDiagonal();
  head.of_layers += raw;
  head.bias.front() -= raw * mean_.transpose();
}

}  // namespace hindsight::surrogate
