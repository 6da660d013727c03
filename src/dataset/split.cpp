/// Which rows train and which validate.
#include "hindsight/dataset/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hindsight/core/error.h"
#include "hindsight/core/random.h"
#include "hindsight/core/text.h"

namespace hindsight::dataset {
namespace {

using Rows = std::vector<std::size_t>;

/// Rows of `count` that train. PRIME's released rule is floor(0.8 n) of the worst; here at least one trains.
std::size_t training_count(std::size_t count, double validation_frac) {
  constexpr double kRounding = 1e-9;  // [chosen] (1 - 0.1) * 10 must not fall to 8
  const double exact = (1.0 - validation_frac) * static_cast<double>(count);
  const auto train = static_cast<std::size_t>(std::floor(exact + kRounding * static_cast<double>(count)));
  return std::clamp<std::size_t>(train, std::min<std::size_t>(count, 1), count);
}

/// The rows of one context, apart by feasibility.
struct ContextRows {
  Rows feasible;
  Rows infeasible;
};

std::vector<ContextRows> rows_by_context(const Dataset& data) {
  std::vector<ContextRows> result(data.contexts.size());
  for (std::size_t i = 0; i < data.size(); ++i) {
    ContextRows& rows = result[static_cast<std::size_t>(data.context[i])];
    (data.feasible[i] ? rows.feasible : rows.infeasible).push_back(i);
  }
  return result;
}

/// The first training_count() rows train, the others validate.
void divide(const Rows& rows, double validation_frac, Split& split) {
  const auto middle = rows.begin() + static_cast<std::ptrdiff_t>(training_count(rows.size(), validation_frac));
  split.train.insert(split.train.end(), rows.begin(), middle);
  split.validation.insert(split.validation.end(), middle, rows.end());
}

void shuffle(Rows& rows, const RandomStream& stream) {
  std::sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
    const std::uint64_t word_a = stream.word(a), word_b = stream.word(b);
    return word_a != word_b ? word_a < word_b : a < b;
  });
}

/// Worst first; equal objectives in the order of the shuffle.
void sort_worst_first(Rows& rows, const Dataset& data, const RandomStream& stream) {
  shuffle(rows, stream);
  std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
    return data.objective[static_cast<Eigen::Index>(a)] > data.objective[static_cast<Eigen::Index>(b)];
  });
}

void divide_contexts(const Dataset& data, const SplitOptions& options, Split& split) {
  const RandomStream stream(options.seed, "dataset split");
  for (ContextRows& rows : rows_by_context(data)) {
    if (options.kind == SplitKind::worst_for_training) {
      sort_worst_first(rows.feasible, data, stream);
    } else {
      shuffle(rows.feasible, stream);
    }
    shuffle(rows.infeasible, stream);
    divide(rows.feasible, options.validation_frac, split);
    divide(rows.infeasible, options.validation_frac, split);
  }
}

void hold_out_contexts(const Dataset& data, const SplitOptions& options, Split& split) {
  std::vector<std::string> names;
  for (const Context& context : data.contexts) names.push_back(context.name);
  std::vector<bool> held(names.size(), false);
  if (options.held_out.empty()) {
    throw Error(ErrorKind::usage,
                "split: no workload to leave out is named. Name at least one, or choose another split");
  }
  for (const std::string& name : options.held_out) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      throw Error(ErrorKind::usage, fmt::format("split: the data has no workload '{}' to leave out.{}", printable(name),
                                                did_you_mean(name, names)));
    }
    held[static_cast<std::size_t>(found - names.begin())] = true;
  }
  for (std::size_t i = 0; i < data.size(); ++i) {
    (held[static_cast<std::size_t>(data.context[i])] ? split.validation : split.train).push_back(i);
  }
  if (split.train.empty()) {
    throw Error(ErrorKind::usage, "split: every workload is left out (nothing remains to train on). Keep one");
  }
}

std::string percent(double frac) { return fmt::format("{:.4g} %", 100.0 * frac); }

std::string rule_of(const SplitOptions& options) {
  const double f = options.validation_frac;
  switch (options.kind) {
    case SplitKind::worst_for_training:
      return fmt::format(
          "per workload the worst {} of the feasible rows train and the best {} validate, of the "
          "infeasible rows a random {} validates (seed {})",
          percent(1.0 - f), percent(f), percent(f), options.seed);
    case SplitKind::random:
      return fmt::format("per workload a random {} of the feasible and of the infeasible rows validates (seed {})",
                         percent(f), options.seed);
    case SplitKind::leave_workloads_out:
      return fmt::format("all rows of {} validate", join(options.held_out, ", "));
  }
  return "";
}

std::string rows_with_feasible(const Dataset& data, const Rows& rows) {
  const auto feasible = std::count_if(rows.begin(), rows.end(), [&](std::size_t row) { return data.feasible[row]; });
  return fmt::format("{} rows ({} feasible)", with_commas(rows.size()),
                     with_commas(static_cast<std::uint64_t>(feasible)));
}

}  // namespace

SplitKind parse_split_kind(const std::string& name) { return parse_enum("split", name, kSplitKinds); }

std::string to_string(SplitKind kind) { return std::string(name_in(kSplitKinds, kind)); }

Split split(const Dataset& data, const SplitOptions& options) {
  if (!(options.validation_frac >= 0.0 && options.validation_frac < 1.0)) {
    throw Error(ErrorKind::usage, fmt::format("split: validation_frac is {} (it is a share of the rows). Use a number "
                                              "from 0 to below 1, e.g. 0.2",
                                              options.validation_frac));
  }
  Split result;
  if (options.kind == SplitKind::leave_workloads_out) {
    hold_out_contexts(data, options, result);
  } else {
    divide_contexts(data, options, result);
  }
  std::sort(result.train.begin(), result.train.end());
  std::sort(result.validation.begin(), result.validation.end());
  result.description =
      fmt::format("{}: {}; training on {}, validating on {}", to_string(options.kind), rule_of(options),
                  rows_with_feasible(data, result.train), rows_with_feasible(data, result.validation));
  return result;
}

}  // namespace hindsight::dataset
