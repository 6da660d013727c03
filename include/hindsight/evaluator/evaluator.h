/// What designs of a space cost on workloads: one question, whoever answers it, and every question is counted.
///
/// Nothing here knows what answers: a model that is built in, a process, a table. Everything that wants the truth about
/// designs (sweeps, proposals that are simulated, searches that may ask, studies) asks through this interface.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hindsight/log/log.h"
#include "hindsight/space/design_space.h"
#include "hindsight/workload/network.h"

namespace hindsight::evaluator {

/// One design on one workload: metrics by their names in a log, or violations. Who asks fills in the identities
/// (workload_id, design_text_id, design_hash) when the row goes to a log.
using Row = log::EvaluationRow;
/// The value of a row's metric; nothing when it has none of that name.
[[nodiscard]] std::optional<double> metric_of(const Row& row, const std::string& name);

class Evaluator;
/// The value of a feasible row's metric. Error{failure} naming evaluator and metric when it has none, where the
/// evaluator did not say before what it gives (Evaluator::metrics()).
[[nodiscard]] double required_metric(const Evaluator& evaluator, const Row& row, const std::string& name);

/// Questions to all evaluators of this process so far, from every thread.
struct Count {
  std::uint64_t evaluations = 0;  ///< one design on one workload each: the queries of a simulator
  std::uint64_t facts = 0;        ///< one design each: cheap facts, which need no workload
  std::uint64_t bounds = 0;  ///< one design on one workload each: what no design can beat, found without evaluating
};
/// Reading it before and after shows whether something asked: a verb that learns from logs must find no evaluation.
[[nodiscard]] Count count_so_far();

/// The largest value of a fact beyond which no design is feasible, and the code of the violation that says so.
struct StatedLimit {
  std::string fact;
  double most = 0;
  std::string reason;
};

/// Evaluates designs of one space. May be used by several threads at once.
class Evaluator {
 public:
  explicit Evaluator(space::DesignSpace space) : space_(std::move(space)) {}
  virtual ~Evaluator() = default;
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  [[nodiscard]] const space::DesignSpace& space() const { return space_; }
  /// Its name in a log, and the canonical text of everything that decides a row besides design and workload.
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual std::string definition() const = 0;
  /// What it was set to, as (name, value) for the record of a run: {"technology", "22nm"}.
  [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>> settings() const = 0;
  /// Metrics that every feasible row has; empty: not known before it answers.
  [[nodiscard]] virtual const std::vector<std::string>& metrics() const = 0;
  /// Those of them that the design alone decides and that are cheap enough to be asked for every candidate of a search;
  /// empty for an evaluator that knows none. Every row has them, infeasible ones too.
  [[nodiscard]] virtual const std::vector<std::string>& fact_names() const = 0;
  /// The smallest value of a fact among all designs of the space, where that is known without trying them.
  [[nodiscard]] virtual std::optional<double> smallest_fact(const std::string& name) const = 0;
  /// What it was set to states, beyond which no design is feasible: of the built-in model the exposure field and the
  /// watts of the cooling class. None for most.
  [[nodiscard]] virtual std::vector<StatedLimit> stated_limits() const { return {}; }
  /// Ends of a range that holds the fact of every design of a box: one of the given levels per parameter, none given
  /// means all. Nothing where that is not known without trying them. No evaluation.
  [[nodiscard]] virtual std::optional<std::pair<double, double>> fact_range(
      const std::string& name, const std::vector<std::vector<std::uint16_t>>& box) const;
  /// Codes of violations that it is known to give, for summaries that list those which did not occur. Others may come.
  [[nodiscard]] virtual const std::vector<std::string>& reasons() const = 0;
  /// How many designs it works on side by side, where answers take so long that each should be kept as soon as it is
  /// there; 0: they come quickly, in batches as large as you like.
  [[nodiscard]] virtual std::size_t designs_at_once() const { return 0; }
  /// What it said besides its answers so far, as (name, text) for the record of a run; nothing while it said nothing.
  [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>> remarks() const { return {}; }

  /// Says which rows evaluate() will be asked for next, as a whole or in parts, so that an evaluator with
  /// designs_at_once() may begin; others do nothing. Counts nothing.
  void announce(std::span<const std::uint16_t> levels, std::span<const workload::Network> workloads) const {
    begin(levels, workloads);
  }
  /// Rows of all designs (`levels`: n x p, row by row) on all workloads: n x w, the workloads of a design side by side.
  /// Infeasible is data, never an error. At most `threads` designs at a time (0 = all that this process may use); the
  /// rows do not depend on it. Errors: of what answers, if it can fail (external.h).
  [[nodiscard]] std::vector<Row> evaluate(std::span<const std::uint16_t> levels,
                                          std::span<const workload::Network> workloads, unsigned threads = 1) const;
  /// Values of `metric` that no evaluation of the designs (n x p) on `workload` is below: n; nothing where it knows no
  /// such bound. No evaluation.
  [[nodiscard]] std::optional<std::vector<double>> lower_bounds(std::span<const std::uint16_t> levels,
                                                                const workload::Network& workload,
                                                                const std::string& metric, unsigned threads = 1) const;
  /// Whether lower_bounds() knows one of `metric`; an evaluator need not.
  [[nodiscard]] virtual bool bounds(const std::string& metric) const;
  /// Facts of all designs (n x p): n x f in the order of `names`, each one of fact_names(). No evaluation.
  [[nodiscard]] std::vector<double> facts(std::span<const std::uint16_t> levels, std::span<const std::string> names,
                                          unsigned threads = 1) const;
  /// The same for who wants only designs within all `limits` (one per name, or none: facts()). Theirs are facts(). Of
  /// another one fact is beyond its limit, and no more than it is; the others may be -infinity: not worked out.
  [[nodiscard]] std::vector<double> facts_within(std::span<const double> limits, std::span<const std::uint16_t> levels,
                                                 std::span<const std::string> names, unsigned threads = 1) const;

 protected:
  /// What `other` answers, for evaluators that stand before another; counted once, where the first was asked.
  [[nodiscard]] static std::vector<Row> ask(const Evaluator& other, std::span<const std::uint16_t> levels,
                                            std::span<const workload::Network> workloads, unsigned threads) {
    return other.answer(levels, workloads, threads);
  }
  [[nodiscard]] static std::vector<double> ask_facts(const Evaluator& other, std::span<const double> limits,
                                                     std::span<const std::uint16_t> levels,
                                                     std::span<const std::string> names, unsigned threads) {
    return other.answer_facts(limits, levels, names, threads);
  }
  static void begin_at(const Evaluator& other, std::span<const std::uint16_t> levels,
                       std::span<const workload::Network> workloads) {
    other.begin(levels, workloads);
  }

 private:
  virtual void begin(std::span<const std::uint16_t> /*levels*/,
                     std::span<const workload::Network> /*workloads*/) const {}
  [[nodiscard]] virtual std::vector<Row> answer(std::span<const std::uint16_t> levels,
                                                std::span<const workload::Network> workloads,
                                                unsigned threads) const = 0;
  /// As facts_within(); without limits as facts().
  [[nodiscard]] virtual std::vector<double> answer_facts(std::span<const double> limits,
                                                         std::span<const std::uint16_t> levels,
                                                         std::span<const std::string> names,
                                                         unsigned threads) const = 0;
  /// Asked only for metrics that it bounds.
  [[nodiscard]] virtual std::vector<double> answer_bounds(std::span<const std::uint16_t> levels,
                                                          const workload::Network& workload, const std::string& metric,
                                                          unsigned threads) const;

  space::DesignSpace space_;
};

}  // namespace hindsight::evaluator
