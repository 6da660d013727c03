/// The forward pass over lanes of designs, compiled for several instruction sets and chosen when the program runs.
///
/// Only the three entry functions carry a target: everything else is inlined into them, so that no template that other
/// files share is ever emitted with instructions this machine may lack.
#include "surrogate/forward.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/surrogate/architecture.h"

namespace hindsight::surrogate {
namespace {

#define HINDSIGHT_INLINE [[gnu::always_inline]] inline

/// One register of `kLanes` designs. Loads may be unaligned and alias floats.
template <int kLanes>
struct Register;
template <>
struct Register<4> {
  using Float [[gnu::vector_size(16), gnu::may_alias, gnu::aligned(4)]] = float;
  using Int [[gnu::vector_size(16)]] = std::int32_t;
};
template <>
struct Register<8> {
  using Float [[gnu::vector_size(32), gnu::may_alias, gnu::aligned(4)]] = float;
  using Int [[gnu::vector_size(32)]] = std::int32_t;
};
template <>
struct Register<16> {
  using Float [[gnu::vector_size(64), gnu::may_alias, gnu::aligned(4)]] = float;
  using Int [[gnu::vector_size(64)]] = std::int32_t;
};

/// Instruction sets as tile shapes: designs per register, and outputs x registers of accumulators.
struct Avx512 {
  static constexpr int kLanes = 16, kOutputs = 8, kRegisters = 3;
};
struct Avx2 {
  static constexpr int kLanes = 8, kOutputs = 4, kRegisters = 3;
};
struct Baseline {
  static constexpr int kLanes = 4, kOutputs = 4, kRegisters = 2;
};

enum class Activation { none, relu, leaky_relu };

/// log(p / (1 - p)) of p = prod_j sigmoid(logits[j * kBlockRows]), j = 0 .. reasons - 1. Per design, in double, so that
/// no instruction set changes its bits; never inlined, because it must not take on an entry function's instructions.
[[gnu::noinline]] float all_pass_logit(const float* logits, std::ptrdiff_t reasons) {
  if (reasons == 1) return *logits;
  double sum = 0;  // -log p
  for (std::ptrdiff_t j = 0; j < reasons; ++j) {
    const double logit = logits[j * kBlockRows];
    sum += std::log1p(std::exp(-std::abs(logit))) + std::max(-logit, 0.0);
  }
  constexpr double kLeast = 1e-30;  // logit 69: beyond any trained head
  sum = std::max(sum, kLeast);
  return static_cast<float>(-(sum + std::log(-std::expm1(-sum))));  // log(e^S - 1) without overflow
}

/// factor * log(sum), where the sum is e^largest times `share`. Never inlined, as above.
[[gnu::noinline]] float pooled(float factor, float largest, float share) {
  return static_cast<float>(double{factor} * (double{largest} + std::log(double{share})));
}

/// The slope of the leaky ReLU as the arithmetic in float has it.
constexpr float kSlope = static_cast<float>(kLeakySlope);
/// Added to the variance of a layer norm. [paper: prime-code, prime_colab.ipynb]
constexpr float kNormEpsilon = 1e-5F;

template <class Isa>
struct Forward {
  using Float = typename Register<Isa::kLanes>::Float;
  using Int = typename Register<Isa::kLanes>::Int;

  HINDSIGHT_INLINE static Float& at(float* row, std::ptrdiff_t lane) { return *reinterpret_cast<Float*>(row + lane); }
  HINDSIGHT_INLINE static const Float& at(const float* row, std::ptrdiff_t lane) {
    return *reinterpret_cast<const Float*>(row + lane);
  }

  /// x <- e^x for x <= 0, relative error below 3e-7; below -87 (the smallest normal number) the result stays e^-87.
  /// e^x = 2^n e^r, n = round(x / ln 2), |r| <= ln 2 / 2, e^r by its Taylor series up to r^7 / 7!.
  HINDSIGHT_INLINE static void exponential(Float& x) {
    constexpr float kLowest = -87.0F;
    constexpr float kReciprocalLn2 = 1.44269504F;
    constexpr float kLn2High = 0.693359375F, kLn2Low = -2.12194440e-4F;  // ln 2 in two parts: n * kLn2High is exact
    constexpr float kRoundingShift = 12582912.0F;                        // 1.5 * 2^23: adding it rounds to an integer
    constexpr int kExponentBias = 127, kMantissaBits = 23;
    const Float clamped = x > kLowest ? x : kLowest - Float{};
    const Float n = (clamped * kReciprocalLn2 + kRoundingShift) - kRoundingShift;
    const Float r = (clamped - n * kLn2High) - n * kLn2Low;
    Float series = r / 5040.0F + 1.0F / 720.0F;
    series = series * r + 1.0F / 120.0F;
    series = series * r + 1.0F / 24.0F;
    series = series * r + 1.0F / 6.0F;
    series = series * r + 0.5F;
    series = series * r + 1.0F;
    series = series * r + 1.0F;
    const Int bits = (__builtin_convertvector(n, Int) + kExponentBias) << kMantissaBits;
    x = series * reinterpret_cast<const Float&>(bits);
  }

  /// `kOutputs` outputs of `kRegisters` registers of designs: C = A(W X + b). Accumulates over inputs in order.
  template <int kRegisters, Activation kActivation>
  HINDSIGHT_INLINE static void tile(const PackedLinear& linear, std::ptrdiff_t first_output, const float* input,
                                    float* output) {
    Float sum[Isa::kOutputs][kRegisters];
    const float* bias = linear.bias.data() + first_output;
#pragma GCC unroll 8
    for (int o = 0; o < Isa::kOutputs; ++o) {
#pragma GCC unroll 3
      for (int r = 0; r < kRegisters; ++r) sum[o][r] = bias[o] - Float{};
    }
    const std::ptrdiff_t group = first_output / kPackedOutputs;
    const float* weight =
        linear.weight.data() + group * linear.in * kPackedOutputs + (first_output - group * kPackedOutputs);
    for (std::ptrdiff_t i = 0; i < linear.in; ++i) {
      Float x[kRegisters];
#pragma GCC unroll 3
      for (int r = 0; r < kRegisters; ++r) x[r] = at(input, r * Isa::kLanes);
#pragma GCC unroll 8
      for (int o = 0; o < Isa::kOutputs; ++o) {
#pragma GCC unroll 3
        for (int r = 0; r < kRegisters; ++r) sum[o][r] += weight[o] * x[r];
      }
      input += kBlockRows;
      weight += kPackedOutputs;
    }
#pragma GCC unroll 8
    for (int o = 0; o < Isa::kOutputs; ++o) {
      if (first_output + o >= linear.out) break;
#pragma GCC unroll 3
      for (int r = 0; r < kRegisters; ++r) {
        const Float y = sum[o][r];
        Float& target = at(output + (first_output + o) * kBlockRows, r * Isa::kLanes);
        if constexpr (kActivation == Activation::none) target = y;
        if constexpr (kActivation == Activation::relu) target = y > 0.0F ? y : Float{};
        if constexpr (kActivation == Activation::leaky_relu) target = y > 0.0F ? y : y * kSlope;
      }
    }
  }

  template <Activation kActivation>
  HINDSIGHT_INLINE static void apply(const PackedLinear& linear, const float* input, float* output,
                                     std::ptrdiff_t lanes) {
    constexpr std::ptrdiff_t kWide = std::ptrdiff_t{Isa::kLanes} * Isa::kRegisters;
    for (std::ptrdiff_t o = 0; o < linear.out; o += Isa::kOutputs) {
      std::ptrdiff_t lane = 0;
      for (; lane + kWide <= lanes; lane += kWide) {
        tile<Isa::kRegisters, kActivation>(linear, o, input + lane, output + lane);
      }
      for (; lane < lanes; lane += Isa::kLanes) tile<1, kActivation>(linear, o, input + lane, output + lane);
    }
  }

  /// x <- LN(x + y) per design over `d` features.
  HINDSIGHT_INLINE static void add_and_normalise(const LayerNorm& norm, float* x, const float* y, std::ptrdiff_t d,
                                                 std::ptrdiff_t lane) {
    const float per_feature = 1.0F / static_cast<float>(d);
    Float sum{};
    for (std::ptrdiff_t j = 0; j < d; ++j) {
      Float& value = at(x + j * kBlockRows, lane);
      value += at(y + j * kBlockRows, lane);
      sum += value;
    }
    const Float mean = sum * per_feature;
    Float squares{};
    for (std::ptrdiff_t j = 0; j < d; ++j) {
      const Float difference = at(x + j * kBlockRows, lane) - mean;
      squares += difference * difference;
    }
    const Float variance = squares * per_feature + kNormEpsilon;
    Float deviation{};
    for (int k = 0; k < Isa::kLanes; ++k) deviation[k] = __builtin_sqrtf(variance[k]);
    const Float factor = 1.0F / deviation;
    for (std::ptrdiff_t j = 0; j < d; ++j) {
      Float& value = at(x + j * kBlockRows, lane);
      value =
          (value - mean) * factor * norm.scale[static_cast<std::size_t>(j)] + norm.shift[static_cast<std::size_t>(j)];
    }
  }

  /// values <- softmax over `count` rows, `stride` floats apart.
  HINDSIGHT_INLINE static void softmax(float* values, std::ptrdiff_t count, std::ptrdiff_t stride,
                                       std::ptrdiff_t lane) {
    Float largest = at(values, lane);
    for (std::ptrdiff_t i = 1; i < count; ++i) {
      const Float value = at(values + i * stride, lane);
      largest = value > largest ? value : largest;
    }
    Float sum{};
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      Float value = at(values + i * stride, lane) - largest;
      exponential(value);
      at(values + i * stride, lane) = value;
      sum += value;
    }
    const Float factor = 1.0F / sum;
    for (std::ptrdiff_t i = 0; i < count; ++i) at(values + i * stride, lane) *= factor;
  }

  /// Multi-head attention of all tokens for one register of designs. q, k, v: token after token, `stride` rows apart.
  HINDSIGHT_INLINE static void attend(const ForwardPlan& plan, const float* query, std::ptrdiff_t stride, float* output,
                                      float* scores, std::ptrdiff_t lane) {
    const std::ptrdiff_t p = plan.parameters, d = plan.d_model, head_size = d / plan.heads;
    const float* key = query + d * kBlockRows;
    const float* value = query + 2 * d * kBlockRows;
    for (std::ptrdiff_t feature = 0; feature < d; feature += head_size) {
      for (std::ptrdiff_t t = 0; t < p; ++t) {
        for (std::ptrdiff_t s = 0; s < p; ++s) {
          Float product{};
          for (std::ptrdiff_t j = feature; j < feature + head_size; ++j) {
            product += at(query + (t * stride + j) * kBlockRows, lane) * at(key + (s * stride + j) * kBlockRows, lane);
          }
          at(scores + s * Isa::kLanes, 0) = product;
        }
        softmax(scores, p, Isa::kLanes, 0);
        for (std::ptrdiff_t j = feature; j < feature + head_size; ++j) {
          Float sum{};
          for (std::ptrdiff_t s = 0; s < p; ++s) {
            sum += at(scores + s * Isa::kLanes, 0) * at(value + (s * stride + j) * kBlockRows, lane);
          }
          at(output + (t * d + j) * kBlockRows, lane) = sum;
        }
      }
    }
  }

  /// Where a block's intermediate values live, one row of kBlockRows floats per feature.
  struct Scratch {
    float* tokens;     // p*d: X
    float* query;      // p*3 d: q, k, v of every token
    float* attention;  // p*d
    float* scores;     // p
    float* narrow;     // widest
    float* wide;       // widest
    float* gate;       // widest
    float* sum;        // 1
    // Kinds by tables:
    float* of_design;  // widest: the design's part of a sum's first layer
    float* activated;  // widest: the first layer of a sum
    float* skip;       // widest
    float* largest;    // most_outputs: of a sum's terms so far
    float* share;      // most_outputs: the sum so far over e^largest
    float* heads;      // most_outputs: outputs of two heads together
  };
  HINDSIGHT_INLINE static std::ptrdiff_t scratch_rows(const ForwardPlan& plan) {
    const std::ptrdiff_t by_tables = plan.by_tables() ? 3 * plan.widest + 3 * plan.most_outputs : 0;
    return 6 * plan.parameters * plan.d_model + plan.parameters + 3 * plan.widest + 1 + by_tables;
  }
  HINDSIGHT_INLINE static Scratch divide(const ForwardPlan& plan, float* memory) {
    const std::ptrdiff_t width = plan.parameters * plan.d_model;
    Scratch scratch{};
    scratch.tokens = memory;
    scratch.query = scratch.tokens + width * kBlockRows;
    scratch.attention = scratch.query + 3 * width * kBlockRows;
    scratch.scores = scratch.attention + width * kBlockRows;
    scratch.narrow = scratch.scores + plan.parameters * kBlockRows;
    scratch.wide = scratch.narrow + plan.widest * kBlockRows;
    scratch.gate = scratch.wide + plan.widest * kBlockRows;
    scratch.sum = scratch.gate + plan.widest * kBlockRows;
    scratch.of_design = scratch.sum + kBlockRows;
    scratch.activated = scratch.of_design + plan.widest * kBlockRows;
    scratch.skip = scratch.activated + plan.widest * kBlockRows;
    scratch.largest = scratch.skip + plan.widest * kBlockRows;
    scratch.share = scratch.largest + plan.most_outputs * kBlockRows;
    scratch.heads = scratch.share + plan.most_outputs * kBlockRows;
    return scratch;
  }

  /// Looks the designs of a block up: X and, with a transformer layer, q, k, v. Lanes beyond `rows` repeat the last.
  HINDSIGHT_INLINE static void gather(const ForwardPlan& plan, const std::uint16_t* levels, std::ptrdiff_t level_stride,
                                      std::ptrdiff_t rows, std::ptrdiff_t lanes, const Scratch& scratch) {
    const std::ptrdiff_t d = plan.d_model;
    for (std::ptrdiff_t t = 0; t < plan.parameters; ++t) {
      const float* table = plan.tables.data() + plan.table_offsets[static_cast<std::size_t>(t)];
      float* token = scratch.tokens + t * d * kBlockRows;
      float* query = scratch.query + t * 3 * d * kBlockRows;
      for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
        const std::ptrdiff_t row = lane < rows ? lane : rows - 1;
        const float* entry = table + levels[row * level_stride + t] * plan.table_width;
        for (std::ptrdiff_t j = 0; j < d; ++j) token[j * kBlockRows + lane] = entry[j];
        for (std::ptrdiff_t j = d; j < plan.table_width; ++j) query[(j - d) * kBlockRows + lane] = entry[j];
      }
    }
  }

  HINDSIGHT_INLINE static void transform(const ForwardPlan& plan, std::ptrdiff_t lanes, const Scratch& scratch) {
    const std::ptrdiff_t p = plan.parameters, d = plan.d_model;
    for (std::size_t l = 0; l < plan.layers.size(); ++l) {
      const TransformerLayer& layer = plan.layers[l];
      if (l > 0) {
        for (std::ptrdiff_t t = 0; t < p; ++t) {
          apply<Activation::none>(layer.query_key_value, scratch.tokens + t * d * kBlockRows,
                                  scratch.query + t * 3 * d * kBlockRows, lanes);
        }
      }
      for (std::ptrdiff_t lane = 0; lane < lanes; lane += Isa::kLanes) {
        attend(plan, scratch.query, 3 * d, scratch.attention, scratch.scores, lane);
      }
      for (std::ptrdiff_t t = 0; t < p; ++t) {
        float* token = scratch.tokens + t * d * kBlockRows;
        apply<Activation::none>(layer.attention_out, scratch.attention + t * d * kBlockRows, scratch.narrow, lanes);
        for (std::ptrdiff_t lane = 0; lane < lanes; lane += Isa::kLanes) {
          add_and_normalise(layer.norm1, token, scratch.narrow, d, lane);
        }
        apply<Activation::relu>(layer.feed_forward_in, token, scratch.wide, lanes);
        apply<Activation::none>(layer.feed_forward_out, scratch.wide, scratch.narrow, lanes);
        for (std::ptrdiff_t lane = 0; lane < lanes; lane += Isa::kLanes) {
          add_and_normalise(layer.norm2, token, scratch.narrow, d, lane);
        }
      }
    }
  }

  /// Runs an MLP; returns where its output is (`narrow` or `wide`).
  HINDSIGHT_INLINE static const float* run(const PackedMlp& mlp, const float* input, std::ptrdiff_t lanes,
                                           const Scratch& scratch) {
    float* output = scratch.narrow;
    float* other = scratch.wide;
    for (std::size_t j = 0; j + 1 < mlp.size(); ++j) {
      apply<Activation::leaky_relu>(mlp[j], input, output, lanes);
      input = output;
      std::swap(output, other);
    }
    apply<Activation::none>(mlp.back(), input, output, lanes);
    return output;
  }

  /// g of the experts, from the trunk before the context modulates it.
  HINDSIGHT_INLINE static void gate(const ForwardPlan& plan, const ContextTerms& context, std::ptrdiff_t lanes,
                                    const Scratch& scratch) {
    const std::ptrdiff_t experts = static_cast<std::ptrdiff_t>(plan.experts.size());
    apply<Activation::leaky_relu>(context.gate_in, scratch.tokens, scratch.narrow, lanes);
    apply<Activation::none>(plan.gate_out, scratch.narrow, scratch.gate, lanes);
    for (std::ptrdiff_t lane = 0; lane < lanes; lane += Isa::kLanes) softmax(scratch.gate, experts, kBlockRows, lane);
  }

  /// u <- v, the contextual trunk.
  HINDSIGHT_INLINE static void modulate(const ContextTerms& context, std::ptrdiff_t lanes, const Scratch& scratch) {
    for (std::size_t i = 0; i < context.trunk_factors.size(); ++i) {
      float* feature = scratch.tokens + static_cast<std::ptrdiff_t>(i) * kBlockRows;
      for (std::ptrdiff_t lane = 0; lane < lanes; lane += Isa::kLanes) at(feature, lane) *= context.trunk_factors[i];
    }
  }

  /// sum_e g_e f_e into `sum`.
  HINDSIGHT_INLINE static void vote(const ForwardPlan& plan, std::ptrdiff_t lanes, const Scratch& scratch) {
    const std::ptrdiff_t experts = static_cast<std::ptrdiff_t>(plan.experts.size());
    for (std::ptrdiff_t lane = 0; lane < lanes; lane += Isa::kLanes) at(scratch.sum, lane) = Float{};
    for (std::ptrdiff_t e = 0; e < experts; ++e) {
      const float* opinion = run(plan.experts[static_cast<std::size_t>(e)], scratch.tokens, lanes, scratch);
      for (std::ptrdiff_t lane = 0; lane < lanes; lane += Isa::kLanes) {
        at(scratch.sum, lane) += at(scratch.gate + e * kBlockRows, lane) * at(opinion, lane);
      }
    }
  }

  /// A block's designs.
  struct Designs {
    const std::uint16_t* levels;
    std::ptrdiff_t stride, rows, lanes;
  };

  /// `output` <- start + one row per parameter, feature after feature; activated where asked. No `start`: zeros.
  template <Activation kActivation>
  HINDSIGHT_INLINE static void look_up(const DesignTables& tables, const float* start, const Designs& designs,
                                       float* output) {
    const auto parameters = static_cast<std::ptrdiff_t>(tables.offsets.size());
    for (std::ptrdiff_t lane = 0; lane < designs.lanes; ++lane) {
      const std::uint16_t* design = designs.levels + (lane < designs.rows ? lane : designs.rows - 1) * designs.stride;
      for (std::ptrdiff_t j = 0; j < tables.width; j += Isa::kLanes) {
        Float sum{};
        if (start != nullptr) sum = at(start, j);
        for (std::ptrdiff_t t = 0; t < parameters; ++t) {
          sum += at(tables.rows.data() + tables.offsets[static_cast<std::size_t>(t)] + design[t] * tables.width, j);
        }
        if constexpr (kActivation == Activation::leaky_relu) sum = sum > 0.0F ? sum : sum * kSlope;
        for (int k = 0; k < Isa::kLanes; ++k) output[(j + k) * kBlockRows + lane] = sum[k];
      }
    }
  }

  HINDSIGHT_INLINE static const float* run(const TableMlp& mlp, const std::vector<float>& start, const Designs& designs,
                                           const Scratch& scratch) {
    look_up<Activation::leaky_relu>(mlp.first, start.data(), designs, scratch.gate);
    return run(mlp.rest, scratch.gate, designs.lanes, scratch);
  }

  /// Adds e^term to a sum kept as e^largest * share.
  HINDSIGHT_INLINE static void add_to_sum(float* largest, float* share, const Float& term, std::ptrdiff_t lane) {
    Float& top = at(largest, lane);
    Float& sum = at(share, lane);
    const Float higher = term > top ? term : top;
    Float old_part = top - higher, new_part = term - higher;
    exponential(old_part);
    exponential(new_part);
    sum = sum * old_part + new_part;
    top = higher;
  }

  /// The outputs of a sum over layers: `scratch.largest` and `scratch.share`.
  HINDSIGHT_INLINE static void add_layers(const TableMlp& mlp, const LayerTerms& terms, const Designs& designs,
                                          const Scratch& scratch) {
    const std::ptrdiff_t outputs = mlp.rest.back().out;
    look_up<Activation::none>(mlp.first, nullptr, designs, scratch.of_design);
    look_up<Activation::none>(mlp.skip, nullptr, designs, scratch.skip);
    for (std::ptrdiff_t l = 0; l < terms.layers; ++l) {
      const float* start = terms.start.data() + l * mlp.first.width;
      for (std::ptrdiff_t j = 0; j < mlp.first.width; ++j) {
        for (std::ptrdiff_t lane = 0; lane < designs.lanes; lane += Isa::kLanes) {
          const Float sum = at(scratch.of_design + j * kBlockRows, lane) + start[j];
          at(scratch.activated + j * kBlockRows, lane) = sum > 0.0F ? sum : sum * kSlope;
        }
      }
      const float* last = run(mlp.rest, scratch.activated, designs.lanes, scratch);
      for (std::ptrdiff_t o = 0; o < outputs; ++o) {
        const float constant = terms.skip[static_cast<std::size_t>(l * outputs + o)];
        float* largest = scratch.largest + o * kBlockRows;
        float* share = scratch.share + o * kBlockRows;
        for (std::ptrdiff_t lane = 0; lane < designs.lanes; lane += Isa::kLanes) {
          const Float term = at(last + o * kBlockRows, lane) + at(scratch.skip + o * kBlockRows, lane) + constant;
          if (l > 0) {
            add_to_sum(largest, share, term, lane);
            continue;
          }
          at(largest, lane) = term;
          at(share, lane) = Float{} + 1.0F;
        }
      }
    }
  }

  /// Outputs of a sum over layers, each at its target among `heads`.
  HINDSIGHT_INLINE static void run_sum(const TableMlp& mlp, const LayerTerms& terms, const Designs& designs,
                                       const Scratch& scratch, float* heads) {
    add_layers(mlp, terms, designs, scratch);
    for (std::size_t o = 0; o < mlp.factor.size(); ++o) {
      const std::ptrdiff_t from = static_cast<std::ptrdiff_t>(o) * kBlockRows, to = mlp.targets[o] * kBlockRows;
      for (std::ptrdiff_t r = 0; r < designs.rows; ++r) {
        heads[to + r] = pooled(mlp.factor[o], scratch.largest[from + r], scratch.share[from + r]);
      }
    }
  }

  /// Outputs of a head of the design alone and of one of layers, whichever exist, each at its target; where they are.
  HINDSIGHT_INLINE static const float* run_heads(const TableMlp& own, const std::vector<float>& start,
                                                 const TableMlp& sum, const LayerTerms& terms, const Designs& designs,
                                                 const Scratch& scratch) {
    if (own.exists()) {
      const float* outputs = run(own, start, designs, scratch);
      if (!sum.exists()) return outputs;
      for (std::size_t o = 0; o < own.targets.size(); ++o) {
        const float* from = outputs + static_cast<std::ptrdiff_t>(o) * kBlockRows;
        float* to = scratch.heads + own.targets[o] * kBlockRows;
        for (std::ptrdiff_t r = 0; r < designs.rows; ++r) to[r] = from[r];
      }
    }
    run_sum(sum, terms, designs, scratch, scratch.heads);
    return scratch.heads;
  }

  HINDSIGHT_INLINE static void table_blocks(const ForwardPlan& plan, const ContextTerms& context,
                                            const std::uint16_t* levels, std::ptrdiff_t level_stride,
                                            std::ptrdiff_t rows, const ForwardResult& result, float* memory) {
    const Scratch scratch = divide(plan, memory);
    for (std::ptrdiff_t first = 0; first < rows; first += kBlockRows) {
      const std::ptrdiff_t count = rows - first < kBlockRows ? rows - first : kBlockRows;
      const Designs designs{.levels = levels + first * level_stride,
                            .stride = level_stride,
                            .rows = count,
                            .lanes = (count + Isa::kLanes - 1) / Isa::kLanes * Isa::kLanes};
      if (result.objective != nullptr && plan.by_layers) {
        run_sum(plan.table_objective, context.objective_layers, designs, scratch, scratch.heads);
        for (std::ptrdiff_t r = 0; r < count; ++r) result.objective[first + r] = scratch.heads[r];
      } else if (result.objective != nullptr) {
        const float* objective = run(plan.table_objective, context.objective_start, designs, scratch);
        for (std::ptrdiff_t r = 0; r < count; ++r) result.objective[first + r] = objective[r];
      }
      if (result.feasible_logit != nullptr) {
        const float* logits = run_heads(plan.table_feasible, context.feasible_start, plan.sum_feasible,
                                        context.feasible_layers, designs, scratch);
        store_feasibility(logits, plan.table_feasible.outputs() + plan.sum_feasible.outputs(), first, count, result);
      }
      const std::ptrdiff_t label_count = plan.table_constraint.outputs() + plan.sum_constraint.outputs();
      if (label_count == 0 || result.constraints == nullptr) continue;
      const float* labels = run_heads(plan.table_constraint, context.constraint_start, plan.sum_constraint,
                                      context.constraint_layers, designs, scratch);
      store_constraints(labels, label_count, first, count, result);
    }
  }

  HINDSIGHT_INLINE static void store_feasibility(const float* logits, std::ptrdiff_t reasons, std::ptrdiff_t first,
                                                 std::ptrdiff_t count, const ForwardResult& result) {
    for (std::ptrdiff_t r = 0; r < count; ++r) result.feasible_logit[first + r] = all_pass_logit(logits + r, reasons);
  }

  HINDSIGHT_INLINE static void store_constraints(const float* labels, std::ptrdiff_t constraints, std::ptrdiff_t first,
                                                 std::ptrdiff_t count, const ForwardResult& result) {
    for (std::ptrdiff_t k = 0; k < constraints; ++k) {
      for (std::ptrdiff_t r = 0; r < count; ++r) {
        result.constraints[k * result.constraint_stride + first + r] = labels[k * kBlockRows + r];
      }
    }
  }

  HINDSIGHT_INLINE static void blocks(const ForwardPlan& plan, const ContextTerms& context, const std::uint16_t* levels,
                                      std::ptrdiff_t level_stride, std::ptrdiff_t rows, const ForwardResult& result,
                                      float* memory) {
    if (plan.by_tables()) {
      table_blocks(plan, context, levels, level_stride, rows, result, memory);
      return;
    }
    const Scratch scratch = divide(plan, memory);
    for (std::ptrdiff_t first = 0; first < rows; first += kBlockRows) {
      const std::ptrdiff_t count = rows - first < kBlockRows ? rows - first : kBlockRows;
      const std::ptrdiff_t lanes = (count + Isa::kLanes - 1) / Isa::kLanes * Isa::kLanes;
      gather(plan, levels + first * level_stride, level_stride, count, lanes, scratch);
      transform(plan, lanes, scratch);
      if (result.objective != nullptr) gate(plan, context, lanes, scratch);
      modulate(context, lanes, scratch);
      if (result.objective != nullptr) {
        vote(plan, lanes, scratch);
        for (std::ptrdiff_t r = 0; r < count; ++r) result.objective[first + r] = scratch.sum[r];
      }
      if (result.feasible_logit != nullptr) {
        const float* logits = run(plan.feasible, scratch.tokens, lanes, scratch);
        store_feasibility(logits, plan.feasible.back().out, first, count, result);
      }
      if (plan.constraint.empty() || result.constraints == nullptr) continue;
      const float* labels = run(plan.constraint, scratch.tokens, lanes, scratch);
      store_constraints(labels, plan.constraint.back().out, first, count, result);
    }
  }
};

using Blocks = void (*)(const ForwardPlan&, const ContextTerms&, const std::uint16_t*, std::ptrdiff_t, std::ptrdiff_t,
                        const ForwardResult&, float*);

void blocks_baseline(const ForwardPlan& plan, const ContextTerms& context, const std::uint16_t* levels,
                     std::ptrdiff_t level_stride, std::ptrdiff_t rows, const ForwardResult& result, float* memory) {
  Forward<Baseline>::blocks(plan, context, levels, level_stride, rows, result, memory);
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) void blocks_avx2(const ForwardPlan& plan, const ContextTerms& context,
                                                     const std::uint16_t* levels, std::ptrdiff_t level_stride,
                                                     std::ptrdiff_t rows, const ForwardResult& result, float* memory) {
  Forward<Avx2>::blocks(plan, context, levels, level_stride, rows, result, memory);
}

__attribute__((target("avx512f,avx512vl,avx512dq,avx2,fma"))) void blocks_avx512(
    const ForwardPlan& plan, const ContextTerms& context, const std::uint16_t* levels, std::ptrdiff_t level_stride,
    std::ptrdiff_t rows, const ForwardResult& result, float* memory) {
  Forward<Avx512>::blocks(plan, context, levels, level_stride, rows, result, memory);
}
#endif

Blocks blocks_of(Instructions instructions) {
#if defined(__x86_64__)
  if (instructions == Instructions::avx512) return blocks_avx512;
  if (instructions == Instructions::avx2) return blocks_avx2;
#endif
  HINDSIGHT_EXPECT(instructions == Instructions::baseline);
  return blocks_baseline;
}

/// Alignment of a block's memory: a cache line, so that no register load crosses one.
constexpr std::align_val_t kCacheLine{64};
struct FreeAligned {
  void operator()(float* memory) const { ::operator delete[](memory, kCacheLine); }
};

}  // namespace

std::vector<Instructions> supported_instructions() {
  std::vector<Instructions> supported = {Instructions::baseline};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") == 0 || __builtin_cpu_supports("fma") == 0) return supported;
  supported.push_back(Instructions::avx2);
  if (__builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
      __builtin_cpu_supports("avx512dq") != 0) {
    supported.push_back(Instructions::avx512);
  }
#endif
  return supported;
}

std::string to_string(Instructions instructions) {
  switch (instructions) {
    case Instructions::automatic:
      return "automatic";
    case Instructions::baseline:
      return "baseline";
    case Instructions::avx2:
      return "avx2";
    case Instructions::avx512:
      return "avx512";
  }
  return "";
}

void forward(const ForwardPlan& plan, const ContextTerms& context, const std::uint16_t* levels,
             std::ptrdiff_t level_stride, std::ptrdiff_t rows, const ForwardResult& result, Instructions instructions) {
  const auto floats = static_cast<std::size_t>(Forward<Baseline>::scratch_rows(plan) * kBlockRows);
  const std::unique_ptr<float[], FreeAligned> memory(
      static_cast<float*>(::operator new[](floats * sizeof(float), kCacheLine)));
  blocks_of(instructions)(plan, context, levels, level_stride, rows, result, memory.get());
}

}  // namespace hindsight::surrogate
