/// Reads every row of a log once, in the order of its numbers.
#include "report/study_scan.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <string_view>
#include <unordered_map>

#include "hindsight/core/pareto.h"
#include "hindsight/core/random.h"
#include "hindsight/core/text.h"
#include "report/study_sql.h"

namespace hindsight::report {

std::string sql_metric(const std::string& name) {
  const std::vector<std::string>& standard = log::standard_metrics();
  if (std::find(standard.begin(), standard.end(), name) != standard.end()) return "e." + name;
  return fmt::format(
      "(SELECT m.value FROM evaluation_metrics m WHERE m.evaluation_id = e.evaluation_id AND m.name = {})",
      sql_quoted(name));
}

namespace {

// [chosen] Points on a page in all, and per workload at least; a front as long as a reader can follow.
constexpr std::size_t kFeasiblePoints = 3600, kInfeasiblePoints = 1350, kFewestPoints = 60, kFrontPoints = 400;
/// Designs whose values are kept to count rows by parameter. [chosen] 40 MB for 20 parameters
constexpr std::uint64_t kMostProfiled = 1'000'000;
constexpr std::size_t kNoPlace = std::numeric_limits<std::size_t>::max();

/// The points with the smallest keys: a sample that does not depend on the order of rows.
class KeySample {
 public:
  explicit KeySample(std::size_t most) : most_(most) {}
  [[nodiscard]] bool wants(std::uint64_t key) const { return points_.size() < most_ || key < points_.front().key; }
  void add(ScanPoint point) {
    if (points_.size() == most_) {
      std::pop_heap(points_.begin(), points_.end(), by_key);
      points_.pop_back();
    }
    points_.push_back(std::move(point));
    std::push_heap(points_.begin(), points_.end(), by_key);
  }
  [[nodiscard]] std::vector<ScanPoint> take() {
    std::sort(points_.begin(), points_.end(), by_key);
    return std::move(points_);
  }

 private:
  static bool by_key(const ScanPoint& a, const ScanPoint& b) {
    return std::pair(a.key, a.design_id) < std::pair(b.key, b.design_id);
  }
  std::size_t most_;
  std::vector<ScanPoint> points_;
};

/// Points that no other beats, of equal ones the first; smaller is better after `signs`. A front may be as long as its
/// log: points are compared as often as there are twice as many as were left.
class Archive {
 public:
  explicit Archive(std::vector<double> signs) : signs_(std::move(signs)) {}
  void add(const ScanPoint& point) {
    for (std::size_t k = 0; k < signs_.size(); ++k) {
      if (std::isnan(point.metrics[k])) return;
    }
    points_.push_back(point);
    if (points_.size() >= next_) compare();
  }
  [[nodiscard]] std::vector<ScanPoint> take() {
    compare();
    std::sort(points_.begin(), points_.end(), [&](const ScanPoint& a, const ScanPoint& b) {
      return std::pair(signs_[0] * a.metrics[0], a.design_id) < std::pair(signs_[0] * b.metrics[0], b.design_id);
    });
    return std::move(points_);
  }

 private:
  static constexpr std::size_t kFewest = 4096;  // [chosen] points that are compared in a millisecond

  void compare() {
    std::vector<double> coordinates;
    for (const ScanPoint& point : points_) {
      for (std::size_t k = 0; k < signs_.size(); ++k) coordinates.push_back(signs_[k] * point.metrics[k]);
    }
    const auto of = [&](std::size_t i) { return std::span(coordinates).subspan(i * signs_.size(), signs_.size()); };
    std::vector<std::size_t> front;
    for (const std::size_t i : pareto_positions(coordinates, signs_.size())) {
      if (front.empty() || !std::ranges::equal(of(front.back()), of(i))) front.push_back(i);
    }
    std::sort(front.begin(), front.end());  // as they came
    std::vector<ScanPoint> kept;
    for (const std::size_t i : front) kept.push_back(std::move(points_[i]));
    points_ = std::move(kept);
    next_ = std::max(kFewest, 2 * points_.size());
  }

  std::vector<double> signs_;
  std::vector<ScanPoint> points_;  ///< in the order of add()
  std::size_t next_ = kFewest;     ///< so many are compared
};

/// Values of designs as numbers of labels, by the design's number.
class Profile {
 public:
  Profile(const log::Log& log, std::int64_t space_id, std::uint64_t designs) {
    every_ = designs / kMostProfiled + 1;
    read_parameters(log, space_id);
    read_designs(log, space_id);
  }
  /// Levels of a design, or null.
  [[nodiscard]] const std::uint16_t* find(std::int64_t design_id) const {
    const auto at = static_cast<std::size_t>(design_id - first_);
    if (design_id < first_ || at >= places_.size() || places_[at] == 0) return nullptr;
    return &levels_[(places_[at] - 1U) * names_.size()];
  }
  /// Which design's levels these are, below count().
  [[nodiscard]] std::size_t place_of(const std::uint16_t* levels) const {
    return static_cast<std::size_t>(levels - levels_.data()) / names_.size();
  }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] const std::vector<std::vector<std::string>>& labels() const { return labels_; }
  [[nodiscard]] std::uint64_t count() const { return names_.empty() ? 0 : levels_.size() / names_.size(); }

 private:
  void read_parameters(const log::Log& log, std::int64_t space_id) {
    log::SqlQuery query(
        log, fmt::format("SELECT name FROM space_parameters WHERE space_id = {} ORDER BY position", space_id));
    std::vector<log::SqlValue> row;
    while (query.next(row)) names_.push_back(sql_text(row[0]));
    labels_.resize(names_.size());
    known_.resize(names_.size());
  }
  void read_designs(const log::Log& log, std::int64_t space_id) {
    if (names_.empty()) return;
    log::SqlQuery query(log, fmt::format("SELECT design_id, text_id FROM designs WHERE space_id = {} AND "
                                         "(content_hash & 1048575) % {} = 0 ORDER BY design_id",
                                         space_id, every_));
    std::vector<log::SqlValue> row;
    while (query.next(row)) {
      const std::int64_t id = sql_int(row[0]);
      if (places_.empty()) first_ = id;
      places_.resize(static_cast<std::size_t>(id - first_) + 1, 0);
      if (!add(std::get<std::string>(row[1]))) continue;
      places_.back() = static_cast<std::uint32_t>(count());
    }
  }
  /// "a=1,b=2" in the order of the parameters; anything else is left out.
  bool add(std::string_view text) {
    const std::size_t before = levels_.size();
    for (std::size_t p = 0; p < names_.size(); ++p) {
      const std::size_t comma = text.find(','), equals = text.find('=');
      if (equals == std::string_view::npos || text.substr(0, equals) != names_[p]) {
        levels_.resize(before);
        return false;
      }
      levels_.push_back(
          level_of(p, text.substr(equals + 1, comma == std::string_view::npos ? comma : comma - equals - 1)));
      text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    }
    return true;
  }
  std::uint16_t level_of(std::size_t parameter, std::string_view label) {
    std::vector<std::string>& labels = labels_[parameter];
    scratch_.assign(label);
    const auto [at, is_new] = known_[parameter].try_emplace(scratch_, static_cast<std::uint16_t>(labels.size()));
    if (is_new) labels.push_back(scratch_);
    return at->second;
  }

  std::uint64_t every_ = 1;
  std::int64_t first_ = 0;
  std::vector<std::uint32_t> places_;  // 1 + place in levels_, 0: none
  std::vector<std::uint16_t> levels_;
  std::vector<std::string> names_;
  std::vector<std::vector<std::string>> labels_;
  std::vector<std::unordered_map<std::string, std::uint16_t>> known_;
  std::string scratch_;
};

/// One evaluation with all its reasons.
struct ScannedRow {
  std::int64_t evaluation_id = -1;
  std::size_t workload = 0;
  bool feasible = false;
  ScanPoint point = {};
};

class Scanner {
 public:
  Scanner(StudyScan& scan, const Profile& profile) : scan_(scan), profile_(profile), has_row_(profile.count(), false) {
    const std::size_t count = std::max<std::size_t>(scan.workloads.size(), 1);
    for (std::size_t k = 0; k < scan.metrics.size(); ++k) signs_.push_back(scan.maximised[k] ? -1 : 1);
    for (std::size_t w = 0; w < scan.workloads.size(); ++w) {
      scan.workloads[w].best.fill(std::numeric_limits<double>::quiet_NaN());
      feasible_.emplace_back(std::max(kFeasiblePoints / count, kFewestPoints));
      infeasible_.emplace_back(std::max(kInfeasiblePoints / count, kFewestPoints));
      fronts_.emplace_back(signs_);
    }
    for (std::size_t p = 0; p < profile.names().size(); ++p) {
      ScanParameter parameter{.name = profile.names()[p]};
      for (const std::string& label : profile.labels()[p]) {
        parameter.levels.push_back({.label = label});
        parameter.numeric = parameter.numeric && parse_double(label).has_value();
      }
      scan.parameters.push_back(std::move(parameter));
    }
  }

  void read(const log::Log& log, std::int64_t evaluator_id) {
    std::string sql = "SELECT e.evaluation_id, e.design_id, e.workload_id, e.feasible, v.code, e.repeat";
    for (const std::string& metric : scan_.metrics) sql += ", " + sql_metric(metric);
    sql += fmt::format(
        " FROM evaluations e LEFT JOIN evaluation_violations v ON v.evaluation_id = e.evaluation_id "
        "WHERE e.evaluator_id = {} ORDER BY e.evaluation_id",
        evaluator_id);
    {
      log::SqlQuery query(log, sql);
      std::vector<log::SqlValue> values;
      ScannedRow row;
      while (query.next(values)) {
        if (const std::int64_t id = sql_int(values[0]); id != row.evaluation_id) {
          finish(row);
          begin(row, values);
        }
        if (const auto* code = std::get_if<std::string>(&values[4])) {
          row.point.reasons |= 1U << reason_of(*code);
        }
      }
      finish(row);
    }
    if (scan_.repeated) read_means(log, evaluator_id);
    for (std::size_t w = 0; w < scan_.workloads.size(); ++w) settle(w);
    sort_levels();
  }

 private:
  /// Of a workload by its number; the number of workloads where it is none of them.
  std::size_t place_of(std::int64_t workload) {
    if (workload == last_workload_) return last_place_;
    const auto at = std::find_if(scan_.workloads.begin(), scan_.workloads.end(),
                                 [&](const ScanWorkload& one) { return one.id == workload; });
    last_place_ = static_cast<std::size_t>(at - scan_.workloads.begin());
    last_workload_ = workload;
    return last_place_;
  }

  void begin(ScannedRow& row, const std::vector<log::SqlValue>& values) {
    row.evaluation_id = sql_int(values[0]);
    row.workload = place_of(sql_int(values[2]));
    scan_.repeated = scan_.repeated || sql_int(values[5]) > 0;
    row.feasible = sql_int(values[3]) != 0;
    row.point = {.design_id = sql_int(values[1]),
                 .key = keys_.word(static_cast<std::uint64_t>(row.evaluation_id)),
                 .evaluation_id = row.evaluation_id};
    row.point.metrics.fill(std::numeric_limits<double>::quiet_NaN());
    for (std::size_t k = 0; k < scan_.metrics.size(); ++k) row.point.metrics[k] = sql_number(values[6 + k]);
  }

  void finish(ScannedRow& row) {
    if (row.evaluation_id < 0 || row.workload >= scan_.workloads.size()) return;
    ScanWorkload& workload = scan_.workloads[row.workload];
    ++workload.rows;
    ++scan_.rows;
    workload.feasible += row.feasible ? 1 : 0;
    scan_.feasible += row.feasible ? 1 : 0;
    for (std::size_t r = 0; r < kScanReasons; ++r) workload.reasons[r] += row.point.reasons >> r & 1U;
    count_levels(row);
    KeySample& sample = (row.feasible ? feasible_ : infeasible_)[row.workload];
    if (sample.wants(row.point.key)) sample.add(row.point);
    if (!row.feasible) return;
    for (std::size_t k = 0; k < scan_.metrics.size(); ++k) {
      workload.lacking[k] += std::isnan(row.point.metrics[k]) ? 1 : 0;
    }
    compete(row.workload, row.point);
  }

  /// For the front, and for the best of each metric.
  void compete(std::size_t w, const ScanPoint& point) {
    fronts_[w].add(point);
    ScanWorkload& workload = scan_.workloads[w];
    for (std::size_t k = 0; k < scan_.metrics.size(); ++k) {
      const double value = point.metrics[k];
      workload.best[k] = scan_.maximised[k] ? std::fmax(workload.best[k], value) : std::fmin(workload.best[k], value);
    }
  }

  /// Lets designs compete anew, each by the mean of its measurements.
  void read_means(const log::Log& log, std::int64_t evaluator_id) {
    for (std::size_t w = 0; w < scan_.workloads.size(); ++w) {
      scan_.workloads[w].best.fill(std::numeric_limits<double>::quiet_NaN());
      fronts_[w] = Archive(signs_);
    }
    std::string sql = "SELECT e.workload_id, e.design_id, CASE WHEN count(*) = 1 THEN min(e.evaluation_id) ELSE -1 END";
    for (const std::string& metric : scan_.metrics) sql += ", " + sql_feasible_mean(sql_metric(metric));
    sql += fmt::format(
        " FROM evaluations e WHERE e.evaluator_id = {} GROUP BY e.design_id, e.workload_id HAVING {} ORDER BY "
        "min(e.evaluation_id)",
        evaluator_id, kSqlMostlyFeasible);
    log::SqlQuery query(log, sql);
    std::vector<log::SqlValue> values;
    while (query.next(values)) {
      const std::size_t w = place_of(sql_int(values[0]));
      if (w >= scan_.workloads.size()) continue;
      ScanPoint point{.design_id = sql_int(values[1]), .evaluation_id = sql_int(values[2])};
      point.metrics.fill(std::numeric_limits<double>::quiet_NaN());
      for (std::size_t k = 0; k < scan_.metrics.size(); ++k) point.metrics[k] = sql_number(values[3 + k]);
      compete(w, point);
    }
  }

  void count_levels(const ScannedRow& row) {
    const std::uint16_t* levels = profile_.find(row.point.design_id);
    if (levels == nullptr) {
      ++scan_.other_space_rows;
      return;
    }
    if (const std::size_t design = profile_.place_of(levels); !has_row_[design]) {
      has_row_[design] = true;
      ++scan_.profiled_designs;
    }
    for (std::size_t p = 0; p < scan_.parameters.size(); ++p) {
      ScanLevel& level = scan_.parameters[p].levels[levels[p]];
      ++level.rows;
      level.feasible += row.feasible ? 1 : 0;
      for (std::uint32_t rest = row.point.reasons, r = 0; rest != 0; rest >>= 1U, ++r) level.reasons[r] += rest & 1U;
    }
  }

  std::uint32_t reason_of(const std::string& code) {
    for (std::size_t r = 0; r < scan_.reason_names.size(); ++r) {
      if (scan_.reason_names[r] == code) return static_cast<std::uint32_t>(r);
    }
    if (scan_.reason_names.size() + 1 == kScanReasons) {
      scan_.reason_names.emplace_back("other");
    } else if (scan_.reason_names.size() < kScanReasons) {
      scan_.reason_names.push_back(code);
    }
    return static_cast<std::uint32_t>(scan_.reason_names.size() - 1);
  }

  void settle(std::size_t w) {
    ScanWorkload& workload = scan_.workloads[w];
    workload.feasible_sample = feasible_[w].take();
    workload.infeasible_sample = infeasible_[w].take();
    workload.front = fronts_[w].take();
    workload.front_points = workload.front.size();
    if (workload.front.size() <= kFrontPoints) return;
    std::vector<ScanPoint> kept;  // evenly along the first metric, both ends included
    for (std::size_t i = 0; i < kFrontPoints; ++i) {
      kept.push_back(workload.front[i * (workload.front.size() - 1) / (kFrontPoints - 1)]);
    }
    workload.front = std::move(kept);
  }

  void sort_levels() {
    for (ScanParameter& parameter : scan_.parameters) {
      std::erase_if(parameter.levels, [](const ScanLevel& level) { return level.rows == 0; });
      std::sort(parameter.levels.begin(), parameter.levels.end(), [&](const ScanLevel& a, const ScanLevel& b) {
        return parameter.numeric ? *parse_double(a.label) < *parse_double(b.label) : a.label < b.label;
      });
    }
  }

  StudyScan& scan_;
  const Profile& profile_;
  std::vector<bool> has_row_;  // by design of the profile
  RandomStream keys_{0, "points of a report"};
  std::vector<double> signs_;
  std::vector<KeySample> feasible_, infeasible_;
  std::vector<Archive> fronts_;
  std::int64_t last_workload_ = -1;
  std::size_t last_place_ = kNoPlace;
};

/// "1,2,3" of some numbers, for IN (...).
std::string id_list(std::span<const std::int64_t> ids) { return fmt::format("{}", fmt::join(ids, ",")); }
constexpr std::size_t kTogether = 500;  // [chosen] a statement of a few kilobytes

/// Calls `visit(list)` for lists of at most kTogether numbers.
template <class Visit>
void in_lists(const std::vector<std::int64_t>& ids, const Visit& visit) {
  const std::span<const std::int64_t> all(ids);
  for (std::size_t from = 0; from < ids.size(); from += kTogether) {
    visit(id_list(all.subspan(from, std::min(kTogether, ids.size() - from))));
  }
}

/// Of the sampled infeasible points alone: what the first reason says.
void read_messages(const log::Log& log, StudyScan& scan) {
  std::unordered_map<std::int64_t, ScanPoint*> points;
  std::vector<std::int64_t> ids;
  for (ScanWorkload& workload : scan.workloads) {
    for (ScanPoint& point : workload.infeasible_sample) {
      points[point.evaluation_id] = &point;
      ids.push_back(point.evaluation_id);
    }
  }
  in_lists(ids, [&](const std::string& list) {
    log::SqlQuery query(log,
                        "SELECT evaluation_id, message FROM evaluation_violations WHERE position = 0 AND "
                        "evaluation_id IN (" +
                            list + ")");
    std::vector<log::SqlValue> row;
    while (query.next(row)) points.at(sql_int(row[0]))->why = sql_text(row[1]);
  });
}

}  // namespace

StudyScan scan_log(const log::Log& log, const ScanRows& rows) {
  StudyScan scan{.metrics = rows.metrics, .maximised = rows.maximised};
  std::vector<log::SqlValue> row;
  {
    log::SqlQuery query(log, "SELECT workload_id, name, batch FROM workloads ORDER BY name");
    while (query.next(row)) {
      scan.workloads.push_back({.id = sql_int(row[0]), .name = sql_text(row[1]), .batch = sql_int(row[2])});
    }
  }
  std::int64_t space_id = -1;
  {
    log::SqlQuery query(log,
                        "SELECT s.space_id, s.name, count(*) AS n FROM designs d JOIN spaces s USING (space_id) "
                        "GROUP BY s.space_id ORDER BY n DESC, s.space_id LIMIT 1");
    if (query.next(row)) {
      space_id = sql_int(row[0]);
      scan.space = sql_text(row[1]);
      scan.designs = static_cast<std::uint64_t>(sql_int(row[2]));
    }
  }
  const Profile profile(log, space_id, scan.designs);
  Scanner(scan, profile).read(log, rows.evaluator_id);
  scan.designs -= profile.count() - scan.profiled_designs;  // only proposed, or rows of others alone
  std::erase_if(scan.workloads, [](const ScanWorkload& workload) { return workload.rows == 0; });
  read_messages(log, scan);
  return scan;
}

std::map<std::int64_t, std::string> design_texts(const log::Log& log, const std::vector<std::int64_t>& ids) {
  std::map<std::int64_t, std::string> texts;
  in_lists(ids, [&](const std::string& list) {
    log::SqlQuery query(log, "SELECT design_id, text_id FROM designs WHERE design_id IN (" + list + ")");
    std::vector<log::SqlValue> row;
    while (query.next(row)) texts[sql_int(row[0])] = sql_text(row[1]);
  });
  return texts;
}

}  // namespace hindsight::report
