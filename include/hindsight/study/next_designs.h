/// Which designs to evaluate next: what a surrogate of the log expects to be best, or a spread over the space while the
/// log cannot teach one yet. Asks no simulator.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/core/aggregate.h"
#include "hindsight/dataset/objective.h"
#include "hindsight/space/design_space.h"
#include "hindsight/study/limits.h"
#include "hindsight/surrogate/train.h"

namespace hindsight::study {

struct NextQuestion {
  std::filesystem::path log;  ///< it exists
  space::DesignSpace space;
  std::vector<std::string> applications;    ///< names of workloads of the log; at least one
  dataset::Objective objective;             ///< in the names of the log
  std::optional<Aggregate> aggregate = {};  ///< nothing: mean for an objective on a linear scale, else geomean
  LimitWords limits = {};
  std::vector<std::string> metrics = {};  ///< that evaluations have, besides those the log knows; --max may limit them
  /// Knows facts of designs, which --max may limit (the built-in model: area). Null: a limit of a metric is learned.
  KnownEvaluator facts = {};
  std::string evaluator;                    ///< whose rows count; empty: the log has one, or none
  std::string evaluator_definition = {};    ///< hash of its definition; empty: all of the name
  std::vector<space::Design> pending = {};  ///< asked for already
  std::string recipe = "margins";           ///< of the surrogate
  std::size_t count = 16;
  /// Of `count`, designs that are drawn although a model could choose them: a model that is sure of itself and wrong
  /// learns from nothing else.
  std::size_t drawn = 0;
  std::size_t least_feasible = 8;  ///< feasible rows of each application before a model is trained
  std::uint64_t seed = 1;
  unsigned threads = 0;
  std::function<void(const surrogate::TrainProgress&)> progress = {};  ///< of a training
  /// Where the model sees nothing to choose NextDesigns::why says what it could choose with, which was tried
  /// (optimize::ProposeOptions::explains).
  bool explains = true;
};

struct NextDesign {
  space::Design design;
  std::optional<double> predicted = {};   ///< the objective over all applications, in its unit; nothing: drawn
  std::optional<double> p_feasible = {};  ///< smallest of the applications; nothing: drawn
};
struct NextDesigns {
  std::vector<NextDesign> designs;  ///< best first, those that are drawn last; fewer when the space has no more
  std::string why;                  ///< a sentence: from which rows a model learnt, or why designs are drawn
  bool learned = false;             ///< a model chose
  /// Where none did: limits that only answers tell, "area_mm2=27", which what is drawn may be beyond.
  std::vector<std::string> unheeded = {};
  /// Where one did: a sentence on applications that it cannot tell apart (surrogate::remark_on_alike), or "".
  std::string alike = {};
  double seconds = 0;
};

/// No design that the log has rows of (space, evaluator and one of the applications), none that is pending. The same
/// question on the same log has the same answer.
///
/// Errors: Error{usage} for names that the log or the space does not have; Error{no_feasible} when no design that is
/// left meets the limits; Error{interrupted} after Ctrl-C. What a log cannot teach is no error: then designs are drawn.
[[nodiscard]] NextDesigns next_designs(const NextQuestion& question);

}  // namespace hindsight::study
