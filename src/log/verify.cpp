/// The full check of a log.
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hindsight/core/hash.h"
#include "hindsight/core/text.h"
#include "hindsight/log/metric_values.h"
#include "log/findings.h"
#include "log/impl.h"
#include "log/interruptible.h"
#include "log/read_transaction.h"

namespace hindsight::log {
namespace {

/// [chosen] enough to see what is wrong; a damaged file can have millions.
constexpr std::size_t kMaxProblems = 100;

/// Pages and references of a file. A server keeps its pages by checksums (data_checksums) and references by itself.
void check_integrity(SQLite::Database& database, std::vector<std::string>& problems) {
  Statement query(database, fmt::format("PRAGMA integrity_check({})", kMaxProblems));
  while (query.step()) {
    if (const std::string line = query.column(0).text(); line != "ok") {
      problems.push_back("integrity: " + line);
    }
  }
}

void check_references(SQLite::Database& database, std::vector<std::string>& problems) {
  Statement query(database, "PRAGMA foreign_key_check");
  while (problems.size() < kMaxProblems && query.step()) {
    problems.push_back(fmt::format("reference: a row of {} names a row of {} that does not exist",
                                   query.column(0).text(), query.column(2).text()));
  }
}

/// Findings of one kind, as far as there is room.
class Report {
 public:
  Report(std::vector<Finding>& findings, std::size_t most) : findings_(findings), most_(most) {}
  [[nodiscard]] bool has_room() const { return findings_.size() < most_; }
  void add(const char* kind, const char* table, std::int64_t id, std::string text) {
    findings_.push_back({.kind = kind, .table = table, .id = id, .text = std::move(text)});
  }

 private:
  std::vector<Finding>& findings_;
  std::size_t most_;
};

void check_designs(Database database, Report& report) {
  Statement query(database, "SELECT design_id, content_hash, text_id FROM designs");
  while (report.has_room() && query.step()) {
    const auto hash = static_cast<std::uint64_t>(query.column(1).integer());
    if (const std::string text_id = query.column(2).text(); hindsight::content_hash(text_id) != hash) {
      const std::int64_t id = query.column(0).integer();
      report.add("design hash", "designs", id, fmt::format("design {}: its hash is not that of '{}'", id, text_id));
    }
  }
}

void check_feasibility(Database database, Report& report) {
  Statement query(database,
                  "SELECT evaluation_id, feasible FROM evaluations e WHERE (feasible = 1) = "
                  "EXISTS (SELECT 1 FROM evaluation_violations v WHERE v.evaluation_id = e.evaluation_id)");
  while (report.has_room() && query.step()) {
    const bool feasible = query.column(1).integer() != 0;
    const std::int64_t id = query.column(0).integer();
    report.add("feasibility", "evaluations", id,
               fmt::format("evaluation {}: {}", id,
                           feasible ? "feasible, yet with a violation" : "infeasible without a reason"));
  }
}

/// Infinity is no outcome; an energy is not negative.
void check_finite(Database database, Report& report) {
  std::string metrics = "SELECT evaluation_id, name, value FROM evaluation_metrics";
  for (const std::string& metric : standard_metrics()) {
    metrics += fmt::format(" UNION ALL SELECT evaluation_id, '{0}', {0} FROM evaluations", metric);
  }
  Statement infinite(
      database, fmt::format("SELECT * FROM ({}) t WHERE abs(value) > {}", metrics, std::numeric_limits<double>::max()));
  while (report.has_room() && infinite.step()) {
    const std::int64_t id = infinite.column(0).integer();
    report.add("infinite value", "evaluations", id,
               fmt::format("evaluation {}: {} is infinite", id, printable(infinite.column(1).text())));
  }
  Statement energies(database, "SELECT evaluation_id, energy_j FROM evaluations WHERE energy_j < 0");
  while (report.has_room() && energies.step()) {
    const std::int64_t id = energies.column(0).integer();
    report.add("negative energy", "evaluations", id,
               fmt::format("evaluation {}: {}", id, impossible_value("energy_j", energies.column(1).number())));
  }
}

/// Values that contradict each other or cannot be: latency above 0, average power = energy / latency.
void check_values(Database database, Report& report) {
  Statement latencies(database, "SELECT evaluation_id, latency_s FROM evaluations WHERE latency_s <= 0");
  while (report.has_room() && latencies.step()) {
    const std::int64_t id = latencies.column(0).integer();
    report.add("latency", "evaluations", id,
               fmt::format("evaluation {}: {}", id, impossible_value("latency_s", latencies.column(1).number())));
  }
  // [chosen] what a few roundings of a double leave; beyond it the digits decide.
  constexpr double kComputedFrac = 1e-9;
  // [chosen] a table of whole watts says 0 of less than half of one.
  constexpr double kRoundedToZeroW = 0.5;
  Statement powers(database,
                   fmt::format("SELECT evaluation_id, energy_j, latency_s, average_power_w FROM evaluations WHERE "
                               "latency_s > 0 AND abs(energy_j) <= {1} AND abs(average_power_w) <= {1} AND "
                               "abs(average_power_w - energy_j / latency_s) > {0} * abs(average_power_w)",
                               kComputedFrac, std::numeric_limits<double>::max()));
  while (report.has_room() && powers.step()) {
    const double energy_j = powers.column(1).number(), latency_s = powers.column(2).number();
    const double power_w = powers.column(3).number(), expected_w = energy_j / latency_s;
    if (power_w == 0 && std::abs(expected_w) < kRoundedToZeroW) continue;
    const double rounded_frac =
        kComputedFrac + rounding_frac(energy_j) + rounding_frac(latency_s) + rounding_frac(power_w);
    const bool finite = std::isfinite(expected_w);
    if (finite && std::abs(power_w - expected_w) <= rounded_frac * std::max(std::abs(power_w), std::abs(expected_w)))
      continue;
    const std::int64_t id = powers.column(0).integer();
    report.add("power", "evaluations", id,
               fmt::format("evaluation {}: average_power_w is {}, but energy_j / latency_s is {}", id,
                           shortest(power_w), shortest(expected_w)));
  }
}

}  // namespace

std::vector<Finding> find_problems(Database database, std::size_t most) {
  std::vector<Finding> findings;
  Report report(findings, most);
  check_designs(database, report);
  check_feasibility(database, report);
  check_finite(database, report);
  check_values(database, report);
  return findings;
}

Verification Log::verify() const {
  return impl_->guarded("checking it", [&] {
    Verification verification;
    try {
      const ReadTransaction snapshot(impl_->database);
      const Interruptible until_interrupted(impl_->database);
      if (impl_->file) check_integrity(*impl_->file, verification.problems);
      if (verification.sound()) {
        if (impl_->file) check_references(*impl_->file, verification.problems);
        std::vector<std::string>& problems = verification.problems;
        for (Finding& finding : find_problems(impl_->database, kMaxProblems - problems.size())) {
          problems.push_back(std::move(finding.text));
        }
        if (impl_->server) return verification;
        for (std::string& wrong : wrong_blocks(impl_->database, kMaxProblems - problems.size())) {
          problems.push_back(std::move(wrong));
        }
      }
    } catch (const SQLite::Exception& error) {
      const int code = error.getErrorCode() & 0xff;
      if (code != SQLITE_CORRUPT && code != SQLITE_NOTADB) {
        throw;
      }
      verification.problems.push_back(fmt::format("integrity: {}", error.what()));
    }
    return verification;
  });
}

}  // namespace hindsight::log
