/// Sentences and facts on rows of several logs.
#include "hindsight/report/take_over.h"

#include <fmt/format.h>

#include <algorithm>

#include "hindsight/core/plural.h"
#include "hindsight/core/text.h"

namespace hindsight::report {
namespace {

/// "pes_x=64 20, mode=os 3 and 2 other values".
std::string dropped_text(const dataset::TakenOver& taken) {
  std::vector<std::pair<std::string, std::size_t>> dropped = taken.dropped;
  std::ranges::stable_sort(dropped, [](const auto& a, const auto& b) { return a.second > b.second; });
  constexpr std::size_t kShown = 6;  // [chosen] what a person reads
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min(dropped.size(), kShown); ++i) {
    parts.push_back(fmt::format("{}: {}", dropped[i].first, with_commas(dropped[i].second)));
  }
  std::string text = join(parts, ", ");
  if (dropped.size() > kShown) text += fmt::format(" and {} other values", dropped.size() - kShown);
  return text;
}

std::string source_text(const dataset::TakenOver& taken) { return fmt::format("{} ({})", taken.logs, taken.space); }

}  // namespace

std::vector<std::string> take_over_texts(const dataset::UnitedRows& united) {
  std::vector<std::string> texts;
  for (const dataset::TakenOver& taken : united.taken) {
    std::string text = fmt::format("{}: {} taken over", source_text(taken), counted(taken.rows, "row"));
    if (!taken.assumed.empty()) text += ", assumed to have " + join(taken.assumed, ", ");
    if (!taken.lost.empty()) text += ", without " + join(taken.lost, ", ");
    if (taken.dropped_rows() > 0) {
      text += fmt::format("; {} dropped, whose values the space has not ({})", counted(taken.dropped_rows(), "row"),
                          dropped_text(taken));
    }
    texts.push_back(std::move(text));
  }
  if (united.counted_once > 0) {
    std::string text = fmt::format("{} of several logs counted once", counted(united.counted_once, "row"));
    if (united.contradicting > 0) {
      text += fmt::format("; {} said something else of the design, and the first are kept",
                          counted(united.contradicting, "row"));
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

std::map<std::string, std::string> take_over_facts(const dataset::UnitedRows& united) {
  std::map<std::string, std::string> facts;
  const auto add = [&](const std::string& key, const std::string& text) {
    std::string& fact = facts[key];
    fact += (fact.empty() ? "" : "; ") + text;
  };
  for (const dataset::TakenOver& taken : united.taken) {
    add("taken_over", fmt::format("{}: {}", source_text(taken), counted(taken.rows, "row")));
    if (!taken.assumed.empty()) add("assumed", fmt::format("{}: {}", source_text(taken), join(taken.assumed, ", ")));
    if (!taken.lost.empty()) add("parameters_lost", fmt::format("{}: {}", source_text(taken), join(taken.lost, ", ")));
    if (taken.dropped_rows() > 0) {
      add("dropped",
          fmt::format("{}: {}: {}", source_text(taken), counted(taken.dropped_rows(), "row"), dropped_text(taken)));
    }
  }
  if (united.counted_once > 0) facts["rows_counted_once"] = std::to_string(united.counted_once);
  return facts;
}

}  // namespace hindsight::report
