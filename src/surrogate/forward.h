/// The forward pass as data: weights rearranged so that every step runs over lanes of designs.
///
/// Layout: activations of a block of kBlockRows designs lie feature after feature, so that one vector register holds
/// one feature of several designs. Every design is computed by the same operations in the same order wherever it
/// stands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hindsight/surrogate/architecture.h"

namespace hindsight::surrogate {

/// Designs per block. [chosen] a multiple of every register width used, and a block's activations fit the first-level
/// cache: 160 features x 48 x 4 bytes = 30 KiB.
inline constexpr std::ptrdiff_t kBlockRows = 48;
/// Outputs that are packed together. [chosen] eight accumulators times three registers of designs fill a register file
/// of 32; half of it fills one of 16.
inline constexpr std::ptrdiff_t kPackedOutputs = 8;

/// y = W x + b, W packed [ceil(out / 8)][in][8], b padded with zeros to the same number of outputs.
struct PackedLinear {
  std::ptrdiff_t in = 0, out = 0;
  std::vector<float> weight;
  std::vector<float> bias;
};

struct LayerNorm {
  std::vector<float> scale, shift;  // d
};

struct TransformerLayer {
  PackedLinear query_key_value;  ///< d -> 3 d, queries divided by sqrt(d / heads); unused in the first layer: `tables`
  PackedLinear attention_out;
  LayerNorm norm1;
  PackedLinear feed_forward_in, feed_forward_out;
  LayerNorm norm2;
};

using PackedMlp = std::vector<PackedLinear>;

/// A linear map of designs as a sum of one table row per parameter (kinds `margins` and `layers`).
struct DesignTables {
  std::ptrdiff_t width = 0;             ///< of a row: outputs, padded with zeros to kTableLanes
  std::vector<float> rows;              ///< of all parameters' levels
  std::vector<std::ptrdiff_t> offsets;  ///< p; where a parameter's rows start
};
/// An MLP on designs; with sums, one on designs and layers.
struct TableMlp {
  DesignTables first;                   ///< the design's part of the first layer
  PackedMlp rest;                       ///< the layers after the first; empty when the MLP is not there
  std::vector<std::ptrdiff_t> targets;  ///< where each output goes among the reasons or labels
  // Of sums over layers; empty without.
  DesignTables skip;          ///< the design's part of what is added to the last layer
  std::vector<float> factor;  ///< of the logarithm of the sum
  [[nodiscard]] bool exists() const { return !rest.empty(); }
  [[nodiscard]] std::ptrdiff_t outputs() const { return exists() ? rest.back().out : 0; }
};
/// Width of the widest register: rows of tables are padded to it.
inline constexpr std::ptrdiff_t kTableLanes = 16;

struct ForwardPlan {
  std::ptrdiff_t parameters = 0, d_model = 0, heads = 0;
  /// The input of the network takes few values: one row per (parameter, level) holds embedding + position (d) and,
  /// when there is a transformer layer, the first layer's query, key and value of it (3 d).
  std::vector<float> tables;
  std::ptrdiff_t table_width = 0;             ///< d or 4 d
  std::vector<std::ptrdiff_t> table_offsets;  // p; where a parameter's rows start in `tables`
  std::vector<TransformerLayer> layers;
  std::vector<PackedMlp> experts;
  PackedMlp feasible;
  PackedMlp constraint;                ///< empty without constraints
  PackedLinear gate_in;                ///< gate.0 on the trunk
  std::vector<float> gate_in_context;  ///< gate.0 on the gate context, packed like gate_in.weight; empty without
  PackedLinear gate_out;
  /// Kinds `margins` and `layers` have these, `parameters`, `widest` and `most_outputs`, nothing else.
  TableMlp table_objective, table_feasible, table_constraint;
  TableMlp sum_feasible, sum_constraint;  ///< of layers, as is the objective where `by_layers`
  bool by_layers = false;
  [[nodiscard]] bool by_tables() const { return table_objective.exists(); }
  std::ptrdiff_t widest = 0;        ///< largest output of any step that needs scratch space
  std::ptrdiff_t most_outputs = 1;  ///< of any head by tables
};

/// What the layers of an application add to a sum's MLP.
struct LayerTerms {
  std::ptrdiff_t layers = 0;
  std::vector<float> start;  ///< layers x first.width: added to the first layer's outputs, its biases included
  std::vector<float> skip;   ///< layers x outputs: added to the last layer's, log r_l included
};

/// What a context contributes, computed once for all calls about it.
struct ContextTerms {
  std::vector<float> trunk_factors;  ///< p*d, context.weight x; empty without context
  /// Kind `margins`: biases of the first layers with the context folded in, as wide as the tables' rows.
  std::vector<float> objective_start = {}, feasible_start = {}, constraint_start = {};
  /// Kind `layers`, beside the starts of heads of the design alone.
  LayerTerms objective_layers = {}, feasible_layers = {}, constraint_layers = {};
  PackedLinear gate_in;  ///< gate.0 with the gate context folded in: gate.0 (u; u * g) = (U + W diag(g)) u
};

/// Where the results go: one entry per design; constraints target after target, `constraint_stride` apart. A head whose
/// results go nowhere (null) is not run.
struct ForwardResult {
  float* objective = nullptr;
  float* feasible_logit = nullptr;
  float* constraints = nullptr;
  std::ptrdiff_t constraint_stride = 0;
};

/// Rows of levels, `level_stride` apart, each level checked by the caller, who also checks that this machine has the
/// instructions.
void forward(const ForwardPlan& plan, const ContextTerms& context, const std::uint16_t* levels,
             std::ptrdiff_t level_stride, std::ptrdiff_t rows, const ForwardResult& result, Instructions instructions);

}  // namespace hindsight::surrogate
