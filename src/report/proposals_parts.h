/// Parts of the text about proposals that lists and fronts share.
#pragma once

#include <string>
#include <string_view>

#include "hindsight/core/table.h"
#include "hindsight/study/proposals.h"

namespace hindsight::report {

[[nodiscard]] std::string text_id_of(const study::Proposals& proposals, std::size_t index);

/// In the unit of the metric; "-" for what is no number.
[[nodiscard]] std::string value_text(const std::string& metric, double value);
/// Codes of all applications, each once.
[[nodiscard]] std::string reasons_of(const study::Verdict& verdict);
[[nodiscard]] double least_p_feasible(const optimize::Proposal& proposal);
/// Parameters in which a proposal differs from the nearest logged design.
[[nodiscard]] std::string changes_text(const optimize::Proposal& proposal);
[[nodiscard]] bool simulated(const study::Proposals& proposals);

/// Columns of a table of proposals.
enum class ColumnSet {
  useful,    ///< without those that would say the same of every proposal
  possible,  ///< all that the request can fill; known before the search
};

/// What was asked, before the table of a front.
[[nodiscard]] std::string front_headline(const study::Proposals& proposals);
[[nodiscard]] Table front_table(const study::Proposals& proposals, ColumnSet set);
/// What the points are, and what simulations say about them; lines of at most `columns`.
[[nodiscard]] std::string front_remarks(const study::Proposals& proposals, int columns);
/// The names of its metrics.
[[nodiscard]] std::string front_names(const study::Proposals& proposals);

/// The log has this design.
[[nodiscard]] bool is_logged(const optimize::Proposal& proposal);
/// The metric behind an objective of one factor, for its unit; empty for a product, which has none.
[[nodiscard]] std::string metric_of(const study::Proposals& proposals);
/// Names of the applications that were asked for.
[[nodiscard]] std::string applications(const study::Proposals& proposals, std::string_view separator = ", ");

}  // namespace hindsight::report
