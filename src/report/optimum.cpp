/// Text and JSON of an exact optimum.
#include "hindsight/report/optimum.h"

#include <fmt/format.h>

#include <algorithm>

#include "hindsight/core/hash.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/table.h"
#include "hindsight/core/text.h"
#include "hindsight/report/design_table.h"
#include "hindsight/space/short_id.h"
#include "report/optimum_parts.h"

namespace hindsight::report {
namespace {

using accel::optimum::Certificate;
using accel::optimum::Ranked;
using study::Optimum;
using study::OptimumTask;

std::string value_of(const OptimumTask& task, double value) {
  return task.metric().empty() ? fmt::format("{:.6g}", value) : metric_text(task.metric(), value);
}

/// What is known where the exact search has no bounds: the best of a search, and a floor.
std::string gap_headline(const OptimumTask& task, const Optimum& optimum, const std::string& names,
                         const std::string& several) {
  const std::optional<std::uint64_t> size = accel::optimum::level_combinations(task.question());
  const std::string designs = size ? counted(*size, "combination") : "more than 2^63 combinations";
  const bool found = !optimum.answer.best.empty();
  return fmt::format("{} of {} for {}; smallest {}{}{}; {}",
                     optimum.answer.interrupted ? found ? "interrupted: best found" : "interrupted: no design found yet"
                     : optimum.gap->closed      ? "exact optimum"
                                                : "best found",
                     designs, names, several, task.objective(), limits_text(task), duration_text(optimum.seconds));
}

std::string gap_text(const OptimumTask& task, const Optimum& optimum, int columns) {
  const study::Gap& gap = *optimum.gap;
  const std::string rests = fmt::format("the search evaluated {}, the floor rests on {} of the space",
                                        counted(gap.queries, "design"), counted(gap.splits, "halved part"));
  if (optimum.answer.best.empty()) {
    return wrapped("", fmt::format("no design is below {}; {}", value_of(task, gap.floor), rests), columns, 2);
  }
  const double best = optimum.answer.best.front().value;
  const std::string known = gap.closed ? "no design is better"
                                       : fmt::format(
                                             "no design is below {}: the best found is at most x{:.4g} of the "
                                             "optimum",
                                             value_of(task, gap.floor), best / gap.floor);
  return wrapped("gap: ", known + "; " + rests, columns, 2);
}

std::string headline(const OptimumTask& task, const Optimum& optimum) {
  std::vector<std::string> names;
  for (const workload::Network& network : task.networks()) names.push_back(network.name());
  const Certificate& c = optimum.answer.certificate;
  const std::string several = names.size() > 1 ? to_string(task.question().aggregate) + " of " : std::string();
  if (optimum.gap) return gap_headline(task, optimum, join(names, ", "), several);
  const accel::optimum::Slice& slice = task.question().slice;
  const std::string part = slice.is_whole() ? "" : fmt::format("shard {}/{}, ", slice.index, slice.count);
  const std::string out = fmt::format(
      "{}{} of {} for {}; smallest {}{}", part,
      !optimum.answer.interrupted   ? (optimum.answer.best.empty() ? "no design within the limits" : "exact optimum")
      : optimum.answer.best.empty() ? "interrupted: no design found yet"
                                    : "interrupted: best found",
      counted(c.designs, "design"), join(names, ", "), several, task.objective());
  return out + limits_text(task) +
         fmt::format("; {}, {} mapped", duration_text(optimum.seconds), counted(c.network_costs, "chip"));
}

Table ranking_table(const OptimumTask& task, const Optimum& optimum) {
  Table table;
  table.add_column("rank", Align::right);
  table.add_column("design", Align::right);
  table.add_column(task.metric().empty() ? "value" : task.metric(), Align::right);
  table.add_column("of best", Align::right);
  table.add_column("area", Align::right);
  table.add_column("peak power", Align::right);
  for (std::size_t i = 0; i < optimum.answer.best.size(); ++i) {
    const Ranked& ranked = optimum.answer.best[i];
    const accel::Evaluation& chip = ranked.evaluations.front();
    table.add_row({std::to_string(i + 1), space::short_id(task.space(), ranked.design), value_of(task, ranked.value),
                   fmt::format("x{:.4g}", ranked.value / optimum.answer.best.front().value),
                   metric_text("area_mm2", chip.area.total_mm2()), metric_text("peak_power_w", chip.peak_power_w)});
  }
  return table;
}

Table network_table(const OptimumTask& task, const Ranked& best) {
  Table table;
  table.add_column("workload", Align::left);
  table.add_column("latency", Align::right);
  table.add_column("energy", Align::right);
  table.add_column("power", Align::right, 1);
  table.add_column("utilisation", Align::right, 2);
  table.add_column("weights cached", Align::right, 2);
  table.add_column("instructions", Align::right, 2);
  for (std::size_t a = 0; a < best.evaluations.size(); ++a) {
    const accel::Metrics& metrics = best.evaluations[a].metrics.value();
    table.add_row({task.networks()[a].name(), metric_text("latency_s", metrics.latency_s),
                   metric_text("energy_j", metrics.energy_j), metric_text("average_power_w", metrics.average_power_w),
                   percent(metrics.utilisation_frac), percent(metrics.weights_cached_frac),
                   fmt::format("{:.0f}", metrics.instructions)});
  }
  return table;
}

std::string accounts_text(const OptimumTask& task, const Certificate& c, int columns) {
  Table table;
  table.add_column("certificate", Align::left);
  table.add_column("designs", Align::right);
  table.add_row({"limit or hardware check fails", with_commas(c.refused)});
  table.add_row({"cannot run a workload within limits", with_commas(c.infeasible)});
  table.add_row({"no better by a lower bound", with_commas(c.bounded)});
  table.add_row({"evaluated", with_commas(c.evaluated)});
  if (c.open > 0) table.add_row({"not decided (interrupted)", with_commas(c.open)});
  table.add_rule();
  table.add_row({task.space().is_constrained() ? "all that meet the constraints" : "all", with_commas(c.designs)});
  return table.render(columns);
}

std::string certificate_text(const OptimumTask& task, const Optimum& optimum, int columns) {
  const Certificate& c = optimum.answer.certificate;
  std::string out = accounts_text(task, c, columns);
  if (c.bounded + c.open == 0) return out;
  std::string bound = fmt::format("no design that {} has less than {}", c.open > 0 ? "is left" : "a bound left out",
                                  value_of(task, c.least_left_out));
  if (!optimum.answer.best.empty()) {
    bound += fmt::format(" (x{:.6g} of the best)", c.least_left_out / optimum.answer.best.front().value);
  }
  return out + wrapped("", bound, columns, 2);
}

Json ranked_json(const OptimumTask& task, const Ranked& ranked) {
  Json json{{"id", space::short_id(task.space(), ranked.design)},
            {"design", task.space().text_id(ranked.design)},
            {"value", ranked.value},
            {"area_mm2", ranked.evaluations.front().area.total_mm2()},
            {"peak_power_w", ranked.evaluations.front().peak_power_w}};
  json["workloads"] = Json::array();
  for (std::size_t a = 0; a < ranked.evaluations.size(); ++a) {
    Json one{{"name", task.networks()[a].name()}};
    for (const accel::Metric& metric : accel::metrics()) {
      if (!metric.known_before_evaluation()) one[std::string(metric.name)] = metric.value(ranked.evaluations[a]);
    }
    json["workloads"].push_back(std::move(one));
  }
  return json;
}

/// What has to be the same in all shards of an optimum, and which of them this is (joined.h).
void add_shard(const OptimumTask& task, Json& json) {
  const accel::optimum::Question& question = task.question();
  json["shard"] = {{"index", question.slice.index}, {"count", question.slice.count}};
  Json& same = json["shard"]["of"];
  same = {{"evaluator_hash", sha256_hex(accel::evaluator_definition(task.technology()))},
          {"top", question.top},
          {"weights", question.weights},
          {"set", task.request().limits.set},
          {"min", task.request().limits.min},
          {"max", task.request().limits.max}};
  same["workloads"] = Json::object();
  for (const workload::Network& network : task.networks()) {
    same["workloads"][network.name()] = network.definition_hash();
  }
}

Json accounts_json(const Certificate& c) {
  return {{"designs", c.designs},     {"refused", c.refused}, {"infeasible", c.infeasible},      {"bounded", c.bounded},
          {"evaluated", c.evaluated}, {"open", c.open},       {"network_costs", c.network_costs}};
}

}  // namespace

Json question_json(const OptimumTask& task) {
  Json json{{"space", task.space().name()},
            {"space_hash", task.space().definition_hash()},
            {"evaluator", accel::evaluator_name(task.technology())}};
  json["limits"] = Json::object();
  for (const accel::optimum::Limit& limit : task.question().limits) {
    json["limits"][std::string(limit.metric->name)] = limit.most;
  }
  for (const accel::optimum::DerivedLimit& limit : task.question().derived_limits) {
    json["limits"][limit.rules->derived()[limit.place].name] = limit.most;
  }
  return json;
}

std::string limits_text(const OptimumTask& task) {
  std::string text;
  for (const accel::optimum::Limit& limit : task.question().limits) {
    text += fmt::format(", {} <= {}", limit.metric->name, readable(limit.most));
  }
  for (const accel::optimum::DerivedLimit& limit : task.question().derived_limits) {
    text += fmt::format(", {} <= {}", limit.rules->derived()[limit.place].name, readable(limit.most));
  }
  return text;
}

std::string optimum_text(const OptimumTask& task, const Optimum& optimum, DesignStyle style, int columns) {
  std::string out = wrapped("", headline(task, optimum), columns, 2) + "\n";
  if (!optimum.answer.best.empty()) {
    std::vector<std::string> designs;
    for (const Ranked& ranked : optimum.answer.best) designs.push_back(task.space().text_id(ranked.design));
    out += ranking_table(task, optimum).render(columns) + "\n" +
           design_table(designs, DesignHeads::numbers, style, columns);
    out += "\n" + network_table(task, optimum.answer.best.front()).render(columns) + "\n";
  }
  return out + (optimum.gap ? gap_text(task, optimum, columns) : certificate_text(task, optimum, columns));
}

std::string optimum_json(const OptimumTask& task, const Optimum& optimum) {
  const Certificate& c = optimum.answer.certificate;
  Json json = question_json(task);
  json["objective"] = task.objective();
  json["aggregate"] = to_string(task.question().aggregate);
  json["proof"] = study::proof_of(optimum);
  json["interrupted"] = optimum.answer.interrupted;
  if (!task.question().slice.is_whole()) add_shard(task, json);
  json["seconds"] = optimum.seconds;
  json["designs"] = Json::array();
  for (const Ranked& ranked : optimum.answer.best) {
    json["designs"].push_back(ranked_json(task, ranked));
    if (!task.question().slice.is_whole()) json["designs"].back()["levels"] = ranked.design.levels;
  }
  if (optimum.gap) {
    const std::optional<std::uint64_t> size = accel::optimum::level_combinations(task.question());
    json["gap"] = {{"combinations", size ? Json(*size) : Json(nullptr)},
                   {"floor", optimum.gap->floor},
                   {"closed", optimum.gap->closed},
                   {"splits", optimum.gap->splits},
                   {"queries", optimum.gap->queries}};
    return to_text(json);
  }
  json["certificate"] = accounts_json(c);
  json["certificate"]["least_left_out"] = c.bounded + c.open > 0 ? Json(c.least_left_out) : Json(nullptr);
  return to_text(json);
}

std::string front_text(const OptimumTask& task, const study::ExactFront& found, DesignStyle style, int columns) {
  std::vector<std::string> names;
  for (const workload::Network& network : task.networks()) names.push_back(network.name());
  const accel::optimum::Front& front = found.front;
  std::string head = fmt::format("{} front of {} for {}: {} of {}", front.interrupted ? "interrupted:" : "exact",
                                 counted(front.certificate.designs, "design"), join(names, ", "),
                                 counted(front.points.size(), "point"), join(task.front(), ", "));
  if (names.size() > 1) head += fmt::format(" ({} of the applications)", to_string(task.question().aggregate));
  head += limits_text(task);
  if (task.request().epsilon > 0) {
    head += fmt::format("; every design has a point at most {} worse in each", percent(task.request().epsilon));
  }
  Table table;
  table.add_column("point", Align::right);
  table.add_column("design", Align::right);
  for (const std::string& metric : task.front()) table.add_column(metric, Align::right);
  std::vector<std::string> designs;
  for (std::size_t i = 0; i < front.points.size(); ++i) {
    designs.push_back(task.space().text_id(front.points[i].ranked.design));
    std::vector<std::string> cells{std::to_string(i + 1), space::short_id(designs.back())};
    for (std::size_t k = 0; k < task.front().size(); ++k) {
      cells.push_back(metric_text(task.front()[k], front.points[i].values[k]));
    }
    table.add_row(std::move(cells));
  }
  const std::string list =
      front.points.empty()
          ? ""
          : table.render(columns) + "\n" + design_table(designs, DesignHeads::numbers, style, columns) + "\n";
  return wrapped("", head + "; " + duration_text(found.seconds), columns, 2) + "\n" + list +
         accounts_text(task, front.certificate, columns);
}

std::string front_json(const OptimumTask& task, const study::ExactFront& found) {
  Json json = question_json(task);
  json["workloads"] = Json::array();
  for (const workload::Network& network : task.networks()) json["workloads"].push_back(network.name());
  json["metrics"] = task.front();
  json["aggregate"] = to_string(task.question().aggregate);
  json["epsilon"] = task.request().epsilon;
  json["interrupted"] = found.front.interrupted;
  json["seconds"] = found.seconds;
  json["points"] = Json::array();
  for (const accel::optimum::FrontPoint& point : found.front.points) {
    Json one{{"id", space::short_id(task.space(), point.ranked.design)},
             {"design", task.space().text_id(point.ranked.design)}};
    for (std::size_t k = 0; k < task.front().size(); ++k) one[task.front()[k]] = point.values[k];
    json["points"].push_back(std::move(one));
  }
  json["certificate"] = accounts_json(found.front.certificate);
  return to_text(json);
}

}  // namespace hindsight::report
