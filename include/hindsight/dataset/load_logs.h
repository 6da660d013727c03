/// Rows of several logs as one dataset, those of older design spaces taken over where a newer one has their values.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hindsight/core/provenance.h"
#include "hindsight/dataset/dataset.h"
#include "hindsight/dataset/selection.h"

namespace hindsight::dataset {

/// What rows of an older space are taken to have of a parameter that it lacks: "NAME=VALUE".
struct Assumption {
  std::string name, value;
};
/// Error{usage} showing the form.
[[nodiscard]] Assumption parse_assumption(const std::string& text);

/// What became of the rows of one space that is not the one asked for.
struct TakenOver {
  std::string space;                                         ///< its name
  std::string logs;                                          ///< that it came from
  std::size_t rows = 0;                                      ///< taken over
  std::vector<std::pair<std::string, std::size_t>> dropped;  ///< "pes_x=3", and rows that have it; the first of a row
  std::vector<std::string> assumed;                          ///< "bits=8"
  std::vector<std::string> lost;                             ///< parameters that the space asked for has not
  [[nodiscard]] std::size_t dropped_rows() const;
};

struct UnitedRows {
  Dataset data;
  std::size_t counted_once = 0;   ///< rows that another log has, too
  std::size_t contradicting = 0;  ///< of those, rows of an older space that say something else; the first are kept
  std::vector<TakenOver> taken = {};
  std::filesystem::path log_of_space;  ///< first log that has the space; empty: none has
};

/// Reads `logs`. The space is the one that `selection.space` names (in a log, or a file), else the one that all logs
/// have. Logs that have it give their rows of it, united by content: an evaluation that several have counts once. A log
/// that has it not gives those rows of its only space whose values the space has; a parameter that it lacks needs an
/// assumption. One log that has the space is read as load_dataset() does.
///
/// Rows of older spaces have no parameter that the space lacks: where they differ in nothing else, the first counts,
/// and the others are counted as contradicting.
///
/// Errors: those of load_dataset(); Error{usage} for logs of different spaces where none is named, a parameter without
/// an assumption (named with the remedy), an assumption of an unknown parameter or value (nearest), an older space of
/// which no row fits, evaluators or context features that differ between logs, `selection.runs` with several logs; and
/// those of log::merge_logs() for evaluations that contradict each other.
[[nodiscard]] UnitedRows load_logs(const std::vector<std::filesystem::path>& logs, const Selection& selection,
                                   const std::vector<Assumption>& assumptions, const Provenance& provenance);

/// Values of parameters that no row has, "pes_x=64", in the order of the space.
[[nodiscard]] std::vector<std::string> unseen_levels(const Dataset& data);

}  // namespace hindsight::dataset
