/// Heads of networks by tables (kinds `margins` and `layers`) in double precision: their outputs, the derivatives of
/// these by the weights, and weights moved along them.
#pragma once

#include <Eigen/Dense>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "hindsight/dataset/context.h"
#include "hindsight/surrogate/architecture.h"

namespace hindsight::surrogate {

/// A head as architecture.h has it. One that sees a context, or nothing but the design, is a sum over one layer (with
/// the context as its features, or none) that is repeated once.
struct HeadWeights {
  std::string name;
  std::vector<Eigen::MatrixXd> weight;  // per layer of the MLP, out x in
  std::vector<Eigen::VectorXd> bias;
  Eigen::MatrixXd of_layers;   // first layer's out x features; no columns without
  Eigen::MatrixXd skip;        // outputs x inputs; no columns where the head is no sum
  Eigen::MatrixXd layer_skip;  // outputs x features; alike
  Eigen::VectorXd factor;      // outputs; 1 where the head is no sum
  [[nodiscard]] Eigen::Index outputs() const { return bias.back().size(); }
  [[nodiscard]] bool sums() const { return skip.cols() > 0; }
};
/// Whether the network has that head.
[[nodiscard]] bool has_head(const Network& network, const std::string& name);
[[nodiscard]] HeadWeights read_head(const Network& network, const std::string& name);
/// Replaces its weights; `scale`, which only feasibility has, stays.
void write_head(const HeadWeights& head, Weights& weights);

/// What a head is asked: row i of `inputs` (a design, architecture.h) on application `application[i]`.
struct HeadQuestions {
  Eigen::MatrixXd inputs;                        // n x inputs
  std::vector<std::size_t> application;          // n
  std::vector<dataset::LayerList> applications;  ///< raw features; as the head sees them (HeadWeights)
  [[nodiscard]] Eigen::Index size() const { return inputs.rows(); }
};

/// What of a head may move, few numbers first. `slope` multiplies all that the last layer adds up but its bias; `lines`
/// are the weights of the design in the last sum (logarithms of parameters, of their products and quotients, single
/// levels), `layer_lines` those of the layer; `last` are those of the last hidden units; `hidden` is all the rest.
enum class Part { shift, slope, lines, layer_lines, last, hidden };
inline constexpr std::array<Part, 6> kParts = {Part::shift,       Part::slope, Part::lines,
                                               Part::layer_lines, Part::last,  Part::hidden};
/// One vector per part, empty where the part stays.
using Moves = std::array<Eigen::VectorXd, kParts.size()>;
[[nodiscard]] inline std::size_t place_of(Part part) { return static_cast<std::size_t>(part); }

/// Outputs of one head's output, and their derivatives by its parts (empty where they were not asked for).
struct HeadResponse {
  Eigen::VectorXd values;                              // n
  std::array<Eigen::MatrixXd, kParts.size()> by_part;  // n x size of the part
};

/// The coordinates in which one output of a head moves, fixed by the head before it moves: features of layers are
/// standardised over those that it learnt, hidden weights count relative to the root mean square of their layer.
class HeadFrame {
 public:
  /// `learnt`: layers (or contexts) that the head learnt from.
  HeadFrame(HeadWeights base, Eigen::Index output, const std::vector<dataset::LayerList>& learnt);
  [[nodiscard]] bool has(Part part) const;
  [[nodiscard]] const HeadWeights& base() const { return base_; }
  /// Of the head after `moves`, at the derivatives' own point; `wanted`: parts whose derivatives are asked for.
  [[nodiscard]] HeadResponse respond(const Moves& moves, const HeadQuestions& questions,
                                     const std::vector<Part>& wanted) const;
  /// `head` (the base, or one whose other outputs moved) with this output moved.
  void apply(const Moves& moves, HeadWeights& head) const;

 private:
  struct Row;
  void respond_row(const HeadWeights& head, const HeadQuestions& questions, Eigen::Index row,
                   const std::vector<Part>& wanted, HeadResponse& response) const;
  void hidden_derivatives(const HeadWeights& head, const Row& row, Eigen::Ref<Eigen::RowVectorXd> target) const;
  [[nodiscard]] Eigen::Index size_of(Part part) const;

  HeadWeights base_;
  Eigen::Index output_;
  Eigen::RowVectorXd mean_, deviation_;  // features; of the layers learnt
  std::vector<double> size_;             ///< root mean square of every layer's weights; last: of `of_layers`
};

}  // namespace hindsight::surrogate
