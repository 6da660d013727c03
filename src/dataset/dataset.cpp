/// Datasets as values: subsets, identity, fitness for training.
#include "hindsight/dataset/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/text.h"

namespace hindsight::dataset {
namespace {

/// Collects values as little-endian bytes with lengths, so that two datasets give the same bytes only when equal.
class ByteText {
 public:
  void add(std::uint64_t word) {
    for (int shift = 0; shift < 64; shift += 8) {
      bytes_ += static_cast<char>((word >> static_cast<unsigned>(shift)) & 0xffU);
    }
  }
  void add(double value) {
    const double canonical = std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value + 0.0;
    add(std::bit_cast<std::uint64_t>(canonical));
  }
  void add(const std::string& text) {
    add(static_cast<std::uint64_t>(text.size()));
    bytes_ += text;
  }
  void add(const std::vector<std::string>& texts) {
    add(static_cast<std::uint64_t>(texts.size()));
    for (const std::string& text : texts) add(text);
  }
  template <class Derived>
  void add(const Eigen::DenseBase<Derived>& array) {
    add(static_cast<std::uint64_t>(array.rows()));
    add(static_cast<std::uint64_t>(array.cols()));
    for (Eigen::Index row = 0; row < array.rows(); ++row) {
      for (Eigen::Index column = 0; column < array.cols(); ++column) {
        if constexpr (std::is_same_v<typename Derived::Scalar, double>) {
          add(static_cast<double>(array(row, column)));
        } else {
          bytes_ += static_cast<char>(array(row, column) & 0xffU);
          bytes_ += static_cast<char>(array(row, column) >> 8U);
        }
      }
    }
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// What the feasible rows of one context say about its objective.
struct ObjectiveRange {
  std::size_t rows = 0;
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
};

std::vector<ObjectiveRange> objective_ranges(const Dataset& data) {
  std::vector<ObjectiveRange> ranges(data.contexts.size());
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (!data.feasible[i]) {
      continue;
    }
    const double value = data.objective[static_cast<Eigen::Index>(i)];
    if (!std::isfinite(value)) {
      throw Error(
          ErrorKind::usage,
          fmt::format("row {} (evaluation {}) is feasible, but its objective {} is {}. Choose an objective that "
                      "is finite for every feasible design",
                      i, data.evaluation_id[i], data.objective_text, value));
    }
    ObjectiveRange& range = ranges[static_cast<std::size_t>(data.context[i])];
    ++range.rows;
    range.low = std::min(range.low, value);
    range.high = std::max(range.high, value);
  }
  return ranges;
}

}  // namespace

ReasonRows ReasonRows::subset(const std::vector<std::size_t>& rows) const {
  ReasonRows result{.levels = {}, .context = {}, .missed = {}, .kept = {}, .evaluation_id = {}};
  std::vector<Eigen::Index> places;
  for (const std::size_t row : rows) {
    HINDSIGHT_EXPECT(row < size());
    places.push_back(static_cast<Eigen::Index>(row));
    result.context.push_back(context[row]);
    result.missed.push_back(missed[row]);
    result.kept.push_back(kept[row]);
    result.evaluation_id.push_back(evaluation_id[row]);
  }
  result.levels = levels(places, Eigen::all);
  if (margins.cols() > 0) result.margins = margins(places, Eigen::all);
  return result;
}

std::shared_ptr<const ReasonRows> shared(ReasonRows rows) {
  return rows.size() == 0 ? nullptr : std::make_shared<const ReasonRows>(std::move(rows));
}

namespace {

/// Those of the contexts that `has` says.
std::shared_ptr<const ReasonRows> of_contexts(const std::shared_ptr<const ReasonRows>& rows,
                                              const std::vector<bool>& has) {
  std::vector<std::size_t> taken;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    if (has[static_cast<std::size_t>(rows->context[i])]) taken.push_back(i);
  }
  return taken.size() == rows->size() ? rows : shared(rows->subset(taken));
}

}  // namespace

std::size_t Dataset::feasible_count() const {
  return static_cast<std::size_t>(std::count(feasible.begin(), feasible.end(), true));
}

Dataset Dataset::subset(const std::vector<std::size_t>& rows) const {
  const auto count = static_cast<Eigen::Index>(rows.size());
  Dataset result{.space = space,
                 .contexts = contexts,
                 .objective_text = objective_text,
                 .constraint_names = constraint_names,
                 .reason_names = reason_names,
                 .levels = {},
                 .context = {},
                 .feasible = {},
                 .objective = Eigen::VectorXd(count),
                 .constraints = Eigen::MatrixXd(count, constraints.cols()),
                 .reasons = {},
                 .evaluation_id = {},
                 .margins = Eigen::MatrixXf(margins.cols() == 0 ? 0 : count, margins.cols()),
                 .evaluator = evaluator,
                 .evaluator_definition = evaluator_definition,
                 .repeats = repeats};
  result.levels.resize(count, levels.cols());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t from = rows[i];
    HINDSIGHT_EXPECT(from < size());
    const auto to_row = static_cast<Eigen::Index>(i);
    const auto from_row = static_cast<Eigen::Index>(from);
    result.levels.row(to_row) = levels.row(from_row);
    result.context.push_back(context[from]);
    result.feasible.push_back(feasible[from]);
    result.objective[to_row] = objective[from_row];
    result.constraints.row(to_row) = constraints.row(from_row);
    if (margins.cols() > 0) result.margins.row(to_row) = margins.row(from_row);
    result.reasons.push_back(reasons[from]);
    result.evaluation_id.push_back(evaluation_id[from]);
  }
  if (reason_rows) {
    std::vector<bool> has(contexts.size(), false);
    for (const std::int32_t one : result.context) has[static_cast<std::size_t>(one)] = true;
    result.reason_rows = of_contexts(reason_rows, has);
  }
  return result;
}

Dataset Dataset::without_empty_contexts() const {
  Dataset result = *this;
  std::vector<std::int32_t> number(contexts.size(), -1);
  for (const std::int32_t one : context) number[static_cast<std::size_t>(one)] = 0;
  result.contexts.clear();
  for (std::size_t c = 0; c < contexts.size(); ++c) {
    if (number[c] < 0) continue;
    number[c] = static_cast<std::int32_t>(result.contexts.size());
    result.contexts.push_back(contexts[c]);
  }
  for (std::int32_t& one : result.context) one = number[static_cast<std::size_t>(one)];
  if (!reason_rows) return result;
  std::vector<bool> has;
  for (const std::int32_t one : number) has.push_back(one >= 0);
  if (const auto own = of_contexts(reason_rows, has)) {
    ReasonRows renumbered = *own;
    for (std::int32_t& one : renumbered.context) one = number[static_cast<std::size_t>(one)];
    result.reason_rows = shared(std::move(renumbered));
  } else {
    result.reason_rows = nullptr;
  }
  return result;
}

Dataset Dataset::without_unused_reasons() const {
  std::uint64_t used = 0;
  for (const std::uint64_t bits : reasons) used |= bits;
  if (reason_rows) {
    for (const std::uint64_t bits : reason_rows->missed) used |= bits;
  }
  Dataset result = *this;
  result.reason_names.clear();
  std::vector<Eigen::Index> kept;
  for (std::size_t bit = 0; bit < reason_names.size(); ++bit) {
    if ((used >> bit & 1U) == 0) continue;
    kept.push_back(static_cast<Eigen::Index>(bit));
    result.reason_names.push_back(reason_names[bit]);
  }
  const auto move_bits = [&](std::vector<std::uint64_t>& all) {
    for (std::uint64_t& bits : all) {
      std::uint64_t moved = 0;
      for (std::size_t bit = 0; bit < kept.size(); ++bit) {
        moved |= (bits >> static_cast<std::uint64_t>(kept[bit]) & 1U) << bit;
      }
      bits = moved;
    }
  };
  move_bits(result.reasons);
  if (margins.cols() > 0) result.margins = Eigen::MatrixXf(margins(Eigen::all, kept));
  if (!reason_rows) return result;
  ReasonRows taken = *reason_rows;
  move_bits(taken.missed);
  move_bits(taken.kept);
  if (taken.margins.cols() > 0) taken.margins = Eigen::MatrixXf(reason_rows->margins(Eigen::all, kept));
  result.reason_rows = shared(std::move(taken));
  return result;
}

std::string Dataset::content_hash() const {
  ByteText text;
  text.add(space.canonical_definition());
  text.add(static_cast<std::uint64_t>(contexts.size()));
  for (const Context& one : contexts) {
    text.add(one.name);
    text.add(one.feature_names);
    text.add(one.features);
    if (one.layers.empty()) continue;
    text.add(one.layers.features.cast<double>().eval());
    text.add(one.layers.repeats.cast<double>().eval());
  }
  text.add(objective_text);
  text.add(constraint_names);
  text.add(reason_names);
  text.add(levels);
  for (std::size_t i = 0; i < size(); ++i) {
    text.add(static_cast<std::uint64_t>(context[i]));
    text.add(static_cast<std::uint64_t>(feasible[i] ? 1 : 0));
    text.add(reasons[i]);
    text.add(static_cast<std::uint64_t>(evaluation_id[i]));
  }
  text.add(objective);
  text.add(constraints);
  if (margins.cols() > 0) text.add(margins.cast<double>().eval());
  if (reason_rows) {
    text.add(std::string("reason rows"));
    text.add(reason_rows->levels);
    for (std::size_t i = 0; i < reason_rows->size(); ++i) {
      text.add(static_cast<std::uint64_t>(reason_rows->context[i]));
      text.add(reason_rows->missed[i]);
      text.add(reason_rows->kept[i]);
      text.add(static_cast<std::uint64_t>(reason_rows->evaluation_id[i]));
    }
    text.add(reason_rows->margins.cast<double>().eval());
  }
  return sha256_hex(text.bytes());
}

void require_trainable(const Dataset& data, Every every) {
  if (data.size() == 0) {
    throw Error(ErrorKind::usage, "the data has no rows (there is nothing to learn from). Widen the selection");
  }
  const std::vector<ObjectiveRange> ranges = objective_ranges(data);
  std::vector<std::string> without_feasible;
  bool varies = false;
  for (std::size_t c = 0; c < ranges.size(); ++c) {
    if (ranges[c].rows == 0) {
      without_feasible.push_back(printable(data.contexts[c].name));
    }
    varies = varies || ranges[c].high > ranges[c].low;
  }
  const bool none = without_feasible.size() == ranges.size();
  if (none || (every == Every::application && !without_feasible.empty())) {
    throw Error(
        ErrorKind::usage,
        fmt::format("no feasible row for {} (a surrogate needs feasible designs of every application it learns). "
                    "Log more designs, relax the conditions, or leave the application out",
                    join(without_feasible, ", ")));
  }
  if (!varies) {
    throw Error(ErrorKind::usage, fmt::format("the objective {} is the same for all feasible rows (there is no better "
                                              "or worse to learn). Choose another objective",
                                              data.objective_text));
  }
}

}  // namespace hindsight::dataset
