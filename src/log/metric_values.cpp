/// Tells quantities that have no values below 0 by the units in their names.
#include "hindsight/log/metric_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "hindsight/core/ascii.h"
#include "hindsight/core/text.h"

namespace hindsight::log {
namespace {

using namespace std::string_view_literals;

constexpr std::array kTimes{"s"sv, "ms"sv, "us"sv, "ns"sv, "ps"sv, "cycles"sv};
constexpr std::array kEnergies{"kj"sv, "j"sv, "mj"sv, "uj"sv, "nj"sv, "pj"sv, "fj"sv};
constexpr std::array kPowers{"kw"sv, "w"sv, "mw"sv, "uw"sv, "nw"sv};
constexpr std::array kAreas{"mm2"sv, "um2"sv};
/// [chosen] Words of what may be below 0 whatever its unit; wns and tns are a timing report's slacks.
constexpr std::array kDifferences{"slack"sv,    "wns"sv,       "tns"sv,   "delta"sv,  "diff"sv,    "difference"sv,
                                  "change"sv,   "gain"sv,      "saved"sv, "saving"sv, "savings"sv, "margin"sv,
                                  "skew"sv,     "offset"sv,    "error"sv, "drift"sv,  "excess"sv,  "residual"sv,
                                  "overhead"sv, "deviation"sv, "log"sv,   "log2"sv,   "log10"sv,   "ln"sv};

template <std::size_t kCount>
bool is_word_of(const std::array<std::string_view, kCount>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// "time" of a name that ends in a unit of time; empty for what has no such quantity.
std::string_view quantity_of(std::string_view metric) {
  const std::vector<std::string> words = split(lower_case(metric), '_');
  if (words.size() < 2 || words[words.size() - 2] == "per") return {};
  if (std::any_of(words.begin(), words.end(), [](const auto& word) { return is_word_of(kDifferences, word); })) {
    return {};
  }
  const std::string& unit = words.back();
  if (is_word_of(kTimes, unit)) return "time";
  if (is_word_of(kEnergies, unit)) return "energy";
  if (is_word_of(kPowers, unit)) return "power";
  return is_word_of(kAreas, unit) ? "area"sv : std::string_view();
}

}  // namespace

std::string impossible_value(std::string_view metric, double value) {
  if (value > 0) return "";
  if (metric == "latency_s") return fmt::format("latency_s is {}, and nothing takes no time", shortest(value));
  if (!(value < 0)) return "";
  const std::string_view quantity = quantity_of(metric);
  if (quantity.empty()) return "";
  return fmt::format("{} is {}, and no {} is below 0", printable(metric), shortest(value), quantity);
}

}  // namespace hindsight::log
