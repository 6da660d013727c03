/// Counting the rows of a block, and its text.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "hindsight/core/error.h"
#include "hindsight/core/json_bounds.h"
#include "hindsight/core/json_whole.h"
#include "hindsight/log/log.h"
#include "hindsight/log/metric_direction.h"
#include "log/blocks.h"

namespace hindsight::log {
namespace {

using BlockJson = nlohmann::json;

/// Kinds of rows that a block counts. [chosen] a sweep has one a workload; its text stays below a megabyte.
constexpr std::size_t kMostGroups = 256;
/// Reasons of one of them, and further metrics of a block. [chosen] ten times what a model has.
constexpr std::size_t kMostReasons = 128, kMostNames = 256;

const std::vector<bool>& more_is_better() {
  static const std::vector<bool> flags = [] {
    std::vector<bool> result;
    for (const std::string& name : standard_metrics()) result.push_back(direction_of(name) == Direction::maximise);
    return result;
  }();
  return flags;
}

/// Keeps the best of a metric: by value, design and number.
void keep_best(std::vector<BlockBest>& best, double value, bool more, const CountedRow& row) {
  const auto is_before = [&](const BlockBest& one) {
    if (one.value != value) return more ? value > one.value : value < one.value;
    return row.text_id < one.text_id;  // numbers grow: the row is behind those of its design
  };
  if (best.size() == kBestKept && !is_before(best.back())) return;
  const auto place = std::find_if(best.begin(), best.end(), is_before);
  best.insert(place, {.value = value, .evaluation_id = row.evaluation_id, .text_id = std::string(row.text_id)});
  if (best.size() > kBestKept) best.pop_back();
}

BlockJson group_json(const BlockGroup& group) {
  BlockJson reasons = BlockJson::array(), best = BlockJson::array();
  for (const BlockReason& reason : group.reasons) reasons.push_back({reason.code, reason.evaluations});
  for (const std::vector<BlockBest>& metric : group.best) {
    BlockJson list = BlockJson::array();
    for (const BlockBest& one : metric) list.push_back({one.value, one.evaluation_id});
    best.push_back(std::move(list));
  }
  return {group.workload_id, group.evaluator_id, group.run_id,       group.rows,     group.feasible,
          group.repeats,     group.has_latency,  std::move(reasons), std::move(best)};
}

/// Whether a counter could have counted it: a log may come from anybody.
bool could_be_counted(const BlockGroup& group) {
  return group.feasible <= group.rows && group.reasons.size() <= kMostReasons &&
         group.best.size() <= standard_metrics().size() &&
         std::ranges::all_of(group.best, [](const auto& list) { return list.size() <= kBestKept; });
}

BlockGroup group_of_json(const BlockJson& json) {
  BlockGroup group{.workload_id = integer_number(json.at(0)),
                   .evaluator_id = integer_number(json.at(1)),
                   .run_id = integer_number(json.at(2)),
                   .rows = whole_number(json.at(3)),
                   .feasible = whole_number(json.at(4)),
                   .repeats = whole_number(json.at(5)),
                   .has_latency = json.at(6).get<bool>()};
  for (const BlockJson& reason : json.at(7)) {
    group.reasons.push_back({.code = reason.at(0).get<std::string>(), .evaluations = whole_number(reason.at(1))});
  }
  for (const BlockJson& metric : json.at(8)) {
    std::vector<BlockBest>& list = group.best.emplace_back();
    for (const BlockJson& one : metric) {
      list.push_back({.value = one.at(0).get<double>(), .evaluation_id = integer_number(one.at(1))});
    }
  }
  return group;
}

}  // namespace

BlockCounter::BlockCounter(std::int64_t number) { block_.number = number; }

BlockGroup& BlockCounter::group_of(const CountedRow& row) {
  const auto same = [&](const BlockGroup& group) {
    return group.workload_id == row.workload_id && group.evaluator_id == row.evaluator_id && group.run_id == row.run_id;
  };
  // Workloads follow each other in turn: the next group is the likely one.
  if (++group_ >= block_.groups.size()) group_ = 0;
  if (group_ < block_.groups.size() && same(block_.groups[group_])) return block_.groups[group_];
  const auto found = std::find_if(block_.groups.begin(), block_.groups.end(), same);
  group_ = static_cast<std::size_t>(found - block_.groups.begin());
  if (found != block_.groups.end()) return *found;
  BlockGroup& group = block_.groups.emplace_back(
      BlockGroup{.workload_id = row.workload_id, .evaluator_id = row.evaluator_id, .run_id = row.run_id});
  group.best.resize(standard_metrics().size());
  return group;
}

void BlockCounter::add(const CountedRow& row) {
  last_id_ = row.evaluation_id;
  if (!block_.counted) return;
  BlockGroup& group = group_of(row);
  ++group.rows;
  group.repeats += row.repeat > 0 ? 1 : 0;
  const std::span<const double> standard = row.standard;
  group.has_latency = group.has_latency || !std::isnan(standard[0]);
  if (row.feasible) {
    ++group.feasible;
    for (std::size_t i = 0; i < standard.size(); ++i) {
      if (!std::isnan(standard[i])) keep_best(group.best[i], standard[i], more_is_better()[i], row);
    }
  }
  block_.counted = block_.groups.size() <= kMostGroups;
}

void BlockCounter::add_metric(std::string_view name) {
  if (!block_.counted) return;
  ++block_.metrics;
  std::vector<std::string>& names = block_.metric_names;
  const auto place = std::lower_bound(names.begin(), names.end(), name);
  if (place != names.end() && *place == name) return;
  names.emplace(place, name);
  block_.counted = names.size() <= kMostNames;
}

void BlockCounter::add_reason(std::string_view code) {
  if (!block_.counted) return;
  ++block_.violations;
  std::vector<BlockReason>& reasons = block_.groups[group_].reasons;
  auto found =
      std::find_if(reasons.begin(), reasons.end(), [&](const BlockReason& reason) { return reason.code == code; });
  if (found == reasons.end()) found = reasons.insert(found, {.code = std::string(code), .last_evaluation = -1});
  if (found->last_evaluation != last_id_) ++found->evaluations;
  found->last_evaluation = last_id_;
  block_.counted = reasons.size() <= kMostReasons;
}

Block BlockCounter::take() {
  if (!block_.counted) block_ = {.number = block_.number, .counted = false};
  return std::move(block_);
}

std::string block_json(const Block& block) {
  BlockJson designs = BlockJson::array(), groups = BlockJson::array();
  for (const auto& [space, count] : block.designs) designs.push_back({space, count});
  for (const BlockGroup& group : block.groups) groups.push_back(group_json(group));
  return BlockJson{{"version", 1},
                   {"counted", block.counted},
                   {"designs_to", block.designs_to},
                   {"designs", std::move(designs)},
                   {"metrics", block.metrics},
                   {"violations", block.violations},
                   {"metric_names", block.metric_names},
                   {"groups", std::move(groups)}}
      .dump(-1, ' ', false, BlockJson::error_handler_t::replace);
}

std::optional<Block> block_of(std::int64_t number, const std::string& json) {
  try {
    const BlockJson object = BlockJson::parse(bounded_json(json));
    if (object.at("version") != 1) return std::nullopt;
    Block block{.number = number,
                .counted = object.at("counted").get<bool>(),
                .designs_to = integer_number(object.at("designs_to"))};
    for (const BlockJson& one : object.at("designs")) {
      block.designs.emplace_back(integer_number(one.at(0)), whole_number(one.at(1)));
    }
    block.metrics = whole_number(object.at("metrics"));
    block.violations = whole_number(object.at("violations"));
    object.at("metric_names").get_to(block.metric_names);
    for (const BlockJson& group : object.at("groups")) {
      block.groups.push_back(group_of_json(group));
      if (!could_be_counted(block.groups.back())) return std::nullopt;
      block.groups.back().best.resize(standard_metrics().size());
    }
    if (block.groups.size() > kMostGroups || block.metric_names.size() > kMostNames) return std::nullopt;
    return block;
  } catch (const BlockJson::exception&) {
    return std::nullopt;
  }
}

}  // namespace hindsight::log
