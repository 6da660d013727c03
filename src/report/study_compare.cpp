/// Two studies in one report: the same question of both, one after the other.
#include <fmt/format.h>

#include "hindsight/core/text.h"
#include "hindsight/report/study_report.h"

namespace hindsight::report {
namespace {

/// Sections of the second study with its designs behind those of the first.
void renumber(ReportSection& section, int offset) {
  section.id += "-b";
  for (ReportFigure& figure : section.figures) {
    figure.name += "-b";
    for (ReportPanel& panel : figure.panels) {
      for (ReportSeries& series : panel.series) {
        for (int& design : series.designs) design += design < 0 ? 0 : offset;
      }
    }
  }
}

}  // namespace

StudyReport compared(const StudyReport& first, const StudyReport& second) {
  StudyReport both{.log = first.log + " (A) and " + second.log + " (B)",
                   .headline = fmt::format("A: {} B: {}", first.headline, second.headline)};
  both.designs = first.designs;
  both.designs.insert(both.designs.end(), second.designs.begin(), second.designs.end());
  for (const auto& [name, report] : {std::pair("A", &first), std::pair("B", &second)}) {
    for (ReportFact fact : report->facts) {
      fact.label = fmt::format("{}: {}", name, fact.label);
      both.facts.push_back(std::move(fact));
    }
    for (const std::string& doubt : report->doubts) both.doubts.push_back(fmt::format("{}: {}", name, doubt));
  }
  for (std::size_t i = 0; i < first.sections.size(); ++i) {
    both.sections.push_back(first.sections[i]);
    both.sections.back().title = "A: " + first.sections[i].title;
    both.sections.push_back(second.sections[i]);
    renumber(both.sections.back(), static_cast<int>(first.designs.size()));
    both.sections.back().title = "B: " + second.sections[i].title;
  }
  return both;
}

}  // namespace hindsight::report
