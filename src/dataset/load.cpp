/// From the rows of a log to the arrays of a dataset.
#include "hindsight/dataset/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_map>

#include "dataset/level_reader.h"
#include "dataset/reasons.h"
#include "dataset/repeats.h"
#include "hindsight/core/error.h"
#include "hindsight/core/patience.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/network_context.h"
#include "hindsight/dataset/objective.h"
#include "hindsight/dataset/stored_space.h"
#include "hindsight/log/pulse.h"
#include "hindsight/log/query.h"

namespace hindsight::dataset {
namespace {

/// Where a quantity of a row is found.
struct Quantity {
  enum class Place { standard_metric, other_metric, parameter };
  Place place = Place::standard_metric;
  std::string name;
  std::size_t index = 0;  ///< of the standard metric or parameter
};

std::optional<std::size_t> position_of(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - names.begin());
}

/// Value of a metric of a record, NaN when it was not recorded.
double metric_of(const log::EvaluationRecord& record, const Quantity& quantity) {
  if (quantity.place == Quantity::Place::standard_metric) {
    return record.standard[quantity.index];
  }
  const auto found = std::find_if(record.other_metrics.begin(), record.other_metrics.end(),
                                  [&](const auto& metric) { return metric.first == quantity.name; });
  return found == record.other_metrics.end() ? kUnknown : found->second;
}

bool holds(double value, const std::string& comparison, double limit) {
  if (std::isnan(value)) return false;
  if (comparison == "<") return value < limit;
  if (comparison == "<=") return value <= limit;
  if (comparison == ">") return value > limit;
  if (comparison == ">=") return value >= limit;
  return (value == limit) == (comparison == "==");
}

/// One pass over a log.
class Loader {
 public:
  Loader(const log::Log& log, const Selection& selection)
      : log_(log),
        selection_(selection),
        space_(stored_space(log, selection.space)),
        reader_(space_),
        metric_names_(log::metric_names(log)) {
    if (log::pulse(log).last_evaluation_id == 0) {
      refuse("has no evaluations yet. Run `hindsight sweep` or `hindsight log import` first");
    }
    choose_workloads();
    choose_runs();
    resolve_objective();
    for (const std::string& name : selection.constraints) constraints_.push_back(metric(name, "constraint"));
    for (const Condition& condition : selection.where) conditions_.push_back(resolve_condition(condition));
  }

  Dataset load() {
    log::EvaluationFilter filter{.workload = {}, .evaluator = selection_.evaluator, .space = space_.name()};
    if (selection_.workloads.size() == 1) filter.workload = selection_.workloads.front();
    if (selection_.runs.size() == 1) filter.run_id = selection_.runs.front();
    const Steps steps("reading rows of the log");
    std::uint64_t done = 0;
    log::for_each_evaluation(log_, filter, log::Detail::all, [&](const log::EvaluationRecord& record) {
      steps.at(done++);
      add(record);
      return !several_evaluators_;
    });
    return finish();
  }

 private:
  /// A filter with the place of its quantity.
  struct ResolvedCondition {
    Condition condition;
    Quantity quantity;
  };

  [[noreturn]] void refuse(const std::string& problem) const {
    throw Error(ErrorKind::usage, fmt::format("{}: {}", printable(log_.path().string(), 200), problem));
  }
  [[noreturn]] void refuse_row(const log::EvaluationRecord& record, const std::string& problem) const {
    throw Error(ErrorKind::incompatible,
                fmt::format("{}: evaluation {} ({}): {}", printable(log_.path().string(), 200), record.evaluation_id,
                            printable(record.design_text_id, 100), problem));
  }

  [[nodiscard]] bool any_feasible() const {
    bool any = false;
    const log::EvaluationFilter filter{.evaluator = selection_.evaluator, .space = space_.name(), .feasible = true};
    log::for_each_evaluation(log_, filter, log::Detail::columns, [&](const log::EvaluationRecord& /*record*/) {
      any = true;
      return false;
    });
    return any;
  }

  [[nodiscard]] Quantity metric(const std::string& name, const std::string& role) const {
    if (const auto index = position_of(log::standard_metrics(), name)) {
      return {.place = Quantity::Place::standard_metric, .name = name, .index = *index};
    }
    if (!position_of(metric_names_, name)) {
      if (!any_feasible()) {
        refuse(fmt::format("no row is feasible, so there is no metric '{}' ({}) to learn. Log feasible designs",
                           printable(name), role));
      }
      refuse(fmt::format("has no metric '{}' ({}).{}", printable(name), role,
                         did_you_mean(name, log::metrics_with_values(log_))));
    }
    return {.place = Quantity::Place::other_metric, .name = name};
  }

  void resolve_objective() {
    HINDSIGHT_EXPECT(!selection_.objective.factors.empty());
    bool skip_second_of_pair = false;
    for (const Objective::Factor& factor : selection_.objective.factors) {
      const bool own_metric = !factor.short_name.empty() && position_of(metric_names_, factor.short_name).has_value();
      if (own_metric && factor.short_name == "edp") {
        skip_second_of_pair = !skip_second_of_pair;
        if (!skip_second_of_pair) continue;
      }
      factors_.push_back({metric(own_metric ? factor.short_name : factor.metric, "objective"), factor.exponent});
    }
  }

  [[nodiscard]] ResolvedCondition resolve_condition(const Condition& condition) const {
    const auto parameter = space_.find(condition.metric);
    if (!parameter || position_of(metric_names_, condition.metric)) {
      if (!condition.label.empty()) {
        refuse(fmt::format("condition {}{}{}: '{}' is not a number (it is compared with a metric)", condition.metric,
                           condition.comparison, condition.label, printable(condition.label)));
      }
      if (!position_of(metric_names_, condition.metric)) {
        std::vector<std::string> known = log::metrics_with_values(log_);
        for (const space::Parameter& one : space_.parameters()) known.push_back(one.name);
        refuse(fmt::format("has no metric or parameter '{}' (condition).{}", printable(condition.metric),
                           did_you_mean(condition.metric, known)));
      }
      return {condition, metric(condition.metric, "condition")};
    }
    const space::Parameter& chosen = space_.parameters()[*parameter];
    ResolvedCondition resolved{condition, {Quantity::Place::parameter, chosen.name, *parameter}};
    if (chosen.kind == space::ParameterKind::categorical) {
      const std::string label = condition.label.empty() ? shortest(condition.value) : condition.label;
      const bool equality = condition.comparison == "==" || condition.comparison == "!=";
      const auto level = position_of(chosen.labels, label);
      if (!equality || !level) {
        refuse(fmt::format("condition on {}: {} (its levels are names without an order).{}", chosen.name,
                           equality ? "no level '" + printable(label) + "'" : "only == and != have a meaning",
                           did_you_mean(label, chosen.labels)));
      }
      resolved.condition.value = static_cast<double>(*level);
    } else if (!condition.label.empty()) {
      refuse(fmt::format("condition on {}: '{}' is not a number", chosen.name, printable(condition.label)));
    }
    return resolved;
  }

  void choose_workloads() {
    records_ = log::workloads(log_);
    std::vector<std::string> names;
    for (const log::WorkloadRecord& record : records_) names.push_back(record.name);
    if (selection_.workloads.empty()) {
      for (std::size_t i = 0; i < records_.size(); ++i) wanted_.push_back(i);
    }
    for (const std::string& name : selection_.workloads) {
      const auto index = position_of(names, name);
      if (!index) refuse(fmt::format("has no workload '{}'.{}", printable(name), in_place_of(name, names)));
      if (std::find(wanted_.begin(), wanted_.end(), *index) == wanted_.end()) wanted_.push_back(*index);
    }
    for (std::size_t position = 0; position < wanted_.size(); ++position) {
      position_of_workload_.emplace(records_[wanted_[position]].workload_id, position);
    }
  }

  void choose_runs() {
    if (selection_.runs.empty()) return;
    std::set<std::int64_t> known;
    constexpr std::size_t kAllRuns = 1'000'000'000;  // [chosen] more than a log holds
    for (const log::RunInfo& run : log::recent_runs(log_, kAllRuns)) known.insert(run.run_id);
    for (const std::int64_t run : selection_.runs) {
      if (!known.contains(run)) {
        refuse(fmt::format("has no run {}. `hindsight log show {} --runs {}` lists the runs.", run,
                           pasted_path(log_.path().string()), std::max<std::size_t>(known.size(), 1)));
      }
      runs_.insert(run);
    }
  }

  [[nodiscard]] bool passes(const log::EvaluationRecord& record, const std::vector<double>& values) const {
    return std::all_of(conditions_.begin(), conditions_.end(), [&](const ResolvedCondition& one) {
      const double value = one.quantity.place == Quantity::Place::parameter ? values[one.quantity.index]
                                                                            : metric_of(record, one.quantity);
      return holds(value, one.condition.comparison, one.condition.value);
    });
  }

  [[noreturn]] void refuse_several_evaluators() const {
    const std::vector<log::EvaluatorSummary> all = log::evaluators(log_);
    std::vector<std::string> names;
    for (const log::EvaluatorSummary& one : all) {
      names.push_back(fmt::format("'{}'", printable(log::evaluator_reference(all, one), 60)));
    }
    refuse(
        fmt::format("the selection has evaluations of several evaluators (their numbers do not compare): {}. Choose "
                    "one with --evaluator, or by its runs",
                    join(names, ", ")));
  }

  [[noreturn]] void refuse_without(const log::EvaluationRecord& record, const std::string& metric, bool plain) const {
    const auto other =
        std::ranges::find_if(record.other_metrics, [&](const auto& one) { return differ_in_unit(one.first, metric); });
    if (other != record.other_metrics.end()) {
      const std::string name = printable(other->first, 100);
      refuse(
          fmt::format("evaluation {} is feasible but has no {} (every feasible row needs every metric of the "
                      "objective). It has {}: {}",
                      record.evaluation_id, metric, name,
                      plain ? fmt::format("--objective {}?", name)
                            : fmt::format("name that in --objective, in place of {}", metric)));
    }
    refuse(
        fmt::format("evaluation {} ({}) is feasible but has no {} (every feasible row needs every metric of the "
                    "objective). {}",
                    record.evaluation_id, printable(record.design_text_id, 100), metric, rows_with(record, metric)));
  }

  /// Which applications have a metric, and what the one of a record has instead.
  [[nodiscard]] std::string rows_with(const log::EvaluationRecord& record, const std::string& metric) const {
    constexpr std::size_t kListed = 3;   // [chosen] names in a message
    constexpr std::size_t kAsked = 100;  // [chosen] applications that are looked at in a moment
    const std::string others = "Choose other runs, or another objective";
    if (wanted_.size() > kAsked) return others;
    std::vector<std::string> with, instead;
    for (const std::size_t index : wanted_) {
      const std::string& name = records_[index].name;
      const auto counts = log::metric_counts(log_, name, {.evaluator = selection_.evaluator, .space = space_.name()});
      if (records_[index].workload_id != record.workload_id) {
        if (counts.contains(metric)) with.push_back(printable(name, 30));
        continue;
      }
      for (const auto& one : counts) {
        if (instead.size() < kListed) instead.push_back(printable(one.first, 30));
      }
    }
    std::string text = instead.empty() ? "" : fmt::format("Its application has {}. ", join(instead, ", "));
    if (!with.empty() && with.size() <= kListed) {
      return text + fmt::format("Choose those that have it, --workloads {}, or another objective",
                                shell_quoted(join(with, ",")));
    }
    return text + others;
  }

  [[nodiscard]] double objective_of(const log::EvaluationRecord& record) const {
    const bool plain = factors_.size() == 1 && factors_.front().second == 1.0;
    double product = 1;
    for (const auto& [quantity, exponent] : factors_) {
      const double value = metric_of(record, quantity);
      if (std::isnan(value)) refuse_without(record, quantity.name, plain);
      if (value <= 0.0 && !plain) {
        refuse_row(
            record,
            fmt::format("{} is {} (the objective {} is a product of powers, or the reciprocal of what is "
                        "maximised: it needs values above 0). Import a column above 0, such as {} plus a constant, "
                        "or one with the other sign, to be minimised",
                        quantity.name, shortest(value), selection_.objective.text, quantity.name));
      }
      product *= exponent == 1.0 ? value : std::pow(value, exponent);
    }
    if (!std::isfinite(product) || (product <= 0.0 && !plain)) {
      refuse_row(record, fmt::format("the objective {} is {} (beyond the range of numbers). Use smaller exponents",
                                     selection_.objective.text, product));
    }
    return product;
  }

  void add(const log::EvaluationRecord& record) {
    const auto position = position_of_workload_.find(record.workload_id);
    if (position == position_of_workload_.end() || (!runs_.empty() && !runs_.contains(record.run_id))) return;
    const std::size_t parameters = space_.parameters().size();
    if (record.design_id != last_design_) {
      last_levels_.clear();
      try {
        reader_.append(record.design_text_id, last_levels_);
      } catch (const Error& error) {
        refuse_row(record, error.what());
      }
      last_values_.resize(parameters);
      space_.values(last_levels_, last_values_);
      last_design_ = record.design_id;
    }
    if (!passes(record, last_values_)) return;
    several_evaluators_ = record.evaluator_id != evaluator_id_.value_or(record.evaluator_id);
    evaluator_id_ = record.evaluator_id;
    levels_.insert(levels_.end(), last_levels_.begin(), last_levels_.end());
    rows_.context.push_back(static_cast<std::int32_t>(position->second));
    rows_.feasible.push_back(record.feasible);
    rows_.objective.push_back(record.feasible ? objective_of(record) : kUnknown);
    rows_.evaluation_id.push_back(record.evaluation_id);
    rows_.design.push_back(record.design_id);
    has_repeats_ = has_repeats_ || record.repeat > 0;
    for (const Quantity& constraint : constraints_) {
      const double value = metric_of(record, constraint);
      rows_.constraints.push_back(record.feasible || value > 0.0 ? value : kUnknown);
    }
    reasons_.add_row(record.violations);
  }

  /// Layers that were changed after they were written would be learnt as the network's.
  [[nodiscard]] LayerList own_layers(const log::WorkloadRecord& record) const {
    ComparedLayers compared = compared_layers(record.layers_json, record.definition);
    if (!compared.difference) return std::move(compared.layers);
    throw Error(
        ErrorKind::incompatible,
        fmt::format("{}: workload '{}': {} (changed after it was written). Restore the log from a copy, or sweep again "
                    "into a new one",
                    printable(log_.path().string(), 100), printable(record.name, 30), *compared.difference));
  }

  /// Contexts that have rows, or were asked for by name; renumbers the rows.
  void set_contexts(Dataset& data) {
    std::vector<bool> used(wanted_.size(), false);
    for (const std::int32_t position : rows_.context) used[static_cast<std::size_t>(position)] = true;
    std::vector<std::int32_t> number(wanted_.size(), 0);
    const log::WorkloadRecord* first = nullptr;
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      const log::WorkloadRecord& record = records_[wanted_[i]];
      if (!used[i]) {
        if (!selection_.workloads.empty()) {
          refuse(fmt::format("no evaluation of workload '{}' matches the selection. Widen it, or leave '{}' out",
                             record.name, record.name));
        }
        continue;
      }
      number[i] = static_cast<std::int32_t>(data.contexts.size());
      Context& context = data.contexts.emplace_back();
      context.name = record.name;
      context.features.resize(static_cast<Eigen::Index>(record.context.size()));
      for (const auto& [name, value] : record.context) {
        context.features[static_cast<Eigen::Index>(context.feature_names.size())] = value;
        context.feature_names.push_back(name);
      }
      context.layers = own_layers(record);
      first = first == nullptr ? &record : first;
      if (first->context_version != record.context_version ||
          data.contexts.front().feature_names != context.feature_names) {
        throw Error(
            ErrorKind::incompatible,
            fmt::format("{}: workloads '{}' and '{}' have different context features (versions {} and {}, {} and "
                        "{} features). Select workloads of one kind, or run the sweep again with this version",
                        printable(log_.path().string(), 200), first->name, record.name, first->context_version,
                        record.context_version, first->context.size(), record.context.size()));
      }
    }
    for (const std::int32_t position : rows_.context)
      data.context.push_back(number[static_cast<std::size_t>(position)]);
  }

  [[nodiscard]] log::EvaluatorSummary evaluator_of_rows() const {
    for (const log::EvaluatorSummary& evaluator : log::evaluators(log_)) {
      if (evaluator.evaluator_id == evaluator_id_) return evaluator;
    }
    return {};
  }

  Dataset finish() {
    if (several_evaluators_) refuse_several_evaluators();
    if (rows_.feasible.empty()) {
      refuse("no evaluation matches the selection (workloads, runs, evaluator and conditions together). Widen it");
    }
    const log::EvaluatorSummary evaluator = evaluator_of_rows();
    const auto rows = static_cast<Eigen::Index>(rows_.feasible.size());
    const auto parameters = static_cast<Eigen::Index>(space_.parameters().size());
    const auto labels = static_cast<Eigen::Index>(constraints_.size());
    using RowMajorMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    Dataset data{.space = space_,
                 .contexts = {},
                 .objective_text = selection_.objective.text,
                 .constraint_names = selection_.constraints,
                 .reason_names = {},
                 .levels = Eigen::Map<const decltype(Dataset::levels)>(levels_.data(), rows, parameters),
                 .context = {},
                 .feasible = std::move(rows_.feasible),
                 .objective = Eigen::Map<const Eigen::VectorXd>(rows_.objective.data(), rows),
                 .constraints = Eigen::Map<const RowMajorMatrix>(rows_.constraints.data(), rows, labels),
                 .reasons = {},
                 .evaluation_id = std::move(rows_.evaluation_id),
                 .margins = {},
                 .evaluator = evaluator.name,
                 .evaluator_definition = evaluator.definition_hash};
    if (data.objective_text.empty()) data.objective_text = to_string(selection_.objective);
    set_contexts(data);
    reasons_.finish(data);
    return has_repeats_ ? mean_of_repeats(data, rows_.design) : data;
  }

  const log::Log& log_;
  const Selection& selection_;
  space::DesignSpace space_;
  LevelReader reader_;
  std::vector<std::string> metric_names_;
  std::vector<log::WorkloadRecord> records_;
  std::vector<std::size_t> wanted_;                                     ///< positions in records_
  std::unordered_map<std::int64_t, std::size_t> position_of_workload_;  ///< in wanted_
  std::set<std::int64_t> runs_;
  std::vector<std::pair<Quantity, double>> factors_;
  std::vector<Quantity> constraints_;
  std::vector<ResolvedCondition> conditions_;

  std::optional<std::int64_t> evaluator_id_;
  bool several_evaluators_ = false;
  std::int64_t last_design_ = -1;
  std::vector<std::uint16_t> last_levels_;
  std::vector<double> last_values_;
  std::vector<std::uint16_t> levels_;  ///< n x p, row after row
  struct {
    std::vector<std::int32_t> context;  ///< position in wanted_
    std::vector<bool> feasible;
    std::vector<double> objective;
    std::vector<double> constraints;  ///< n x k, row after row
    std::vector<std::int64_t> evaluation_id;
    std::vector<std::int64_t> design;  ///< id in the log
  } rows_;
  bool has_repeats_ = false;
  ReasonCollector reasons_;
};

}  // namespace

Dataset load_dataset(const std::filesystem::path& log, const Selection& selection) {
  const log::Log opened = log::Log::open(log, log::OpenMode::read_only);
  return Loader(opened, selection).load();
}

}  // namespace hindsight::dataset
