/// Tells quantities that have no values below 0 by their names.
#include "hindsight/log/metric_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <vector>

#include "hindsight/core/ascii.h"
#include "hindsight/core/text.h"
#include "hindsight/log/log.h"

namespace hindsight::log {
namespace {

using namespace std::string_view_literals;

/// What is never below 0, by the names that it has alone or before a unit.
struct PlainQuantity {
  std::string_view word;
  std::vector<std::string_view> names, units;
};

const std::vector<PlainQuantity>& plain_quantities() {
  static const std::vector<PlainQuantity> all{
      {"time", {"time", "latency", "runtime", "duration"}, {"s", "ms", "us", "ns", "ps", "cycles"}},
      {"energy", {"energy"}, {"kj", "j", "mj", "uj", "nj", "pj", "fj"}},
      {"power", {"power"}, {"kw", "w", "mw", "uw", "nw"}},
      {"area", {"area"}, {"mm2", "um2"}}};
  return all;
}

bool is_of(const std::vector<std::string_view>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// "time" of latency_s and latency_cycles; empty for what is no metric of every log, or may be anything.
std::string_view standard_quantity(std::string_view metric) {
  const auto& standard = standard_metrics();
  if (std::find(standard.begin(), standard.end(), metric) == standard.end()) return {};
  const std::string_view unit = metric.substr(metric.find_last_of('_') + 1);  // npos + 1 is 0
  for (const PlainQuantity& one : plain_quantities()) {
    if (is_of(one.units, unit)) return one.word;
  }
  return {};
}

/// "time" of runtime and of runtime_ms, in any case; empty for a name that says more.
std::string_view plain_quantity(std::string_view metric) {
  const std::vector<std::string> words = split(lower_case(metric), '_');
  if (words.size() > 2) return {};
  for (const PlainQuantity& one : plain_quantities()) {
    if (is_of(one.names, words.front()) && (words.size() == 1 || is_of(one.units, words.back()))) return one.word;
  }
  return {};
}

std::string below_zero(std::string_view metric, double value, std::string_view quantity) {
  return quantity.empty() ? ""
                          : fmt::format("{} is {}, and no {} is below 0", printable(metric), shortest(value), quantity);
}

}  // namespace

std::string impossible_value(std::string_view metric, double value) {
  if (metric == "latency_s" && value <= 0) {
    return fmt::format("latency_s is {}, and nothing takes no time", shortest(value));
  }
  return value < 0 ? below_zero(metric, value, standard_quantity(metric)) : "";
}

std::string impossible_cell(std::string_view metric, double value) {
  if (std::string problem = impossible_value(metric, value); !problem.empty()) return problem;
  return value < 0 ? below_zero(metric, value, plain_quantity(metric)) : "";
}

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

}  // namespace hindsight::log
