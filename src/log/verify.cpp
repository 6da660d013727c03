/// The full check of a log.
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "hindsight/core/hash.h"
#include "hindsight/core/text.h"
#include "log/findings.h"
#include "log/impl.h"

namespace hindsight::log {
namespace {

/// [chosen] enough to see what is wrong; a damaged file can have millions.
constexpr std::size_t kMaxProblems = 100;

void check_integrity(SQLite::Database& database, std::vector<std::string>& problems) {
  SQLite::Statement query(database, fmt::format("PRAGMA integrity_check({})", kMaxProblems));
  while (query.executeStep()) {
    if (const std::string line = query.getColumn(0).getString(); line != "ok") {
      problems.push_back("integrity: " + line);
    }
  }
}

void check_references(SQLite::Database& database, std::vector<std::string>& problems) {
  SQLite::Statement query(database, "PRAGMA foreign_key_check");
  while (problems.size() < kMaxProblems && query.executeStep()) {
    problems.push_back(fmt::format("reference: a row of {} names a row of {} that does not exist",
                                   query.getColumn(0).getString(), query.getColumn(2).getString()));
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

void check_designs(SQLite::Database& database, Report& report) {
  SQLite::Statement query(database, "SELECT design_id, content_hash, text_id FROM designs");
  while (report.has_room() && query.executeStep()) {
    const auto hash = static_cast<std::uint64_t>(query.getColumn(1).getInt64());
    if (const std::string text_id = query.getColumn(2).getString(); hindsight::content_hash(text_id) != hash) {
      const std::int64_t id = query.getColumn(0).getInt64();
      report.add("design hash", "designs", id, fmt::format("design {}: its hash is not that of '{}'", id, text_id));
    }
  }
}

void check_feasibility(SQLite::Database& database, Report& report) {
  SQLite::Statement query(database,
                          "SELECT evaluation_id, feasible FROM evaluations e WHERE feasible = "
                          "EXISTS (SELECT 1 FROM evaluation_violations v WHERE v.evaluation_id = e.evaluation_id)");
  while (report.has_room() && query.executeStep()) {
    const bool feasible = query.getColumn(1).getInt() != 0;
    const std::int64_t id = query.getColumn(0).getInt64();
    report.add("feasibility", "evaluations", id,
               fmt::format("evaluation {}: {}", id,
                           feasible ? "feasible, yet with a violation" : "infeasible without a reason"));
  }
}

/// How far a decimal may be from the number that was rounded to it, as a share: half a unit of its last digit. A double
/// that a computation gave has all its digits, one of a table those that the table has.
double rounding_frac(double value) {
  if (value == 0) return 0;
  std::array<char, 32> text{};  // shortest digits that read back: d.ddde+xx
  const auto written = std::to_chars(text.begin(), text.end(), std::abs(value), std::chars_format::scientific);
  const auto* const exponent = std::find(text.begin(), written.ptr, 'e');
  const auto characters = static_cast<double>(exponent - text.begin());
  const double decimals = characters > 1 ? characters - 2 : 0;  // but for the first digit and the point
  const double mantissa = std::abs(value) / std::pow(10.0, std::floor(std::log10(std::abs(value))));
  return 0.5 * std::pow(10.0, -decimals) / mantissa;
}

/// Infinity is no outcome; an energy is not negative.
void check_finite(SQLite::Database& database, Report& report) {
  std::string metrics = "SELECT evaluation_id, name, value FROM evaluation_metrics";
  for (const std::string& metric : standard_metrics()) {
    metrics += fmt::format(" UNION ALL SELECT evaluation_id, '{0}', {0} FROM evaluations", metric);
  }
  SQLite::Statement infinite(
      database, fmt::format("SELECT * FROM ({}) WHERE abs(value) > {}", metrics, std::numeric_limits<double>::max()));
  while (report.has_room() && infinite.executeStep()) {
    const std::int64_t id = infinite.getColumn(0).getInt64();
    report.add("infinite value", "evaluations", id,
               fmt::format("evaluation {}: {} is infinite", id, printable(infinite.getColumn(1).getString())));
  }
  SQLite::Statement energies(database, "SELECT evaluation_id, energy_j FROM evaluations WHERE energy_j < 0");
  while (report.has_room() && energies.executeStep()) {
    const std::int64_t id = energies.getColumn(0).getInt64();
    report.add("negative energy", "evaluations", id,
               fmt::format("evaluation {}: energy_j is {}, and no design gives energy", id,
                           shortest(energies.getColumn(1).getDouble())));
  }
}

/// Values that contradict each other or cannot be: latency above 0, average power = energy / latency.
void check_values(SQLite::Database& database, Report& report) {
  SQLite::Statement latencies(database, "SELECT evaluation_id, latency_s FROM evaluations WHERE latency_s <= 0");
  while (report.has_room() && latencies.executeStep()) {
    const std::int64_t id = latencies.getColumn(0).getInt64();
    report.add("latency", "evaluations", id,
               fmt::format("evaluation {}: latency_s is {}, and nothing takes no time", id,
                           shortest(latencies.getColumn(1).getDouble())));
  }
  // [chosen] what a few roundings of a double leave; beyond it the digits decide.
  constexpr double kComputedFrac = 1e-9;
  // [chosen] a table of whole watts says 0 of less than half of one.
  constexpr double kRoundedToZeroW = 0.5;
  SQLite::Statement powers(
      database, fmt::format("SELECT evaluation_id, energy_j, latency_s, average_power_w FROM evaluations WHERE "
                            "latency_s > 0 AND abs(energy_j) <= {1} AND abs(average_power_w) <= {1} AND "
                            "abs(average_power_w - energy_j / latency_s) > {0} * abs(average_power_w)",
                            kComputedFrac, std::numeric_limits<double>::max()));
  while (report.has_room() && powers.executeStep()) {
    const double energy_j = powers.getColumn(1).getDouble(), latency_s = powers.getColumn(2).getDouble();
    const double power_w = powers.getColumn(3).getDouble(), expected_w = energy_j / latency_s;
    if (power_w == 0 && std::abs(expected_w) < kRoundedToZeroW) continue;
    const double rounded_frac =
        kComputedFrac + rounding_frac(energy_j) + rounding_frac(latency_s) + rounding_frac(power_w);
    const bool finite = std::isfinite(expected_w);
    if (finite && std::abs(power_w - expected_w) <= rounded_frac * std::max(std::abs(power_w), std::abs(expected_w)))
      continue;
    const std::int64_t id = powers.getColumn(0).getInt64();
    report.add("power", "evaluations", id,
               fmt::format("evaluation {}: average_power_w is {}, but energy_j / latency_s is {}", id,
                           shortest(power_w), shortest(expected_w)));
  }
}

}  // namespace

std::vector<Finding> find_problems(SQLite::Database& database, std::size_t most) {
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
      check_integrity(impl_->database, verification.problems);
      if (verification.sound()) {
        check_references(impl_->database, verification.problems);
        std::vector<std::string>& problems = verification.problems;
        for (Finding& finding : find_problems(impl_->database, kMaxProblems - problems.size())) {
          problems.push_back(std::move(finding.text));
        }
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
