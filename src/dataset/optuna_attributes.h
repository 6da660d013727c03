/// User attributes by which `log import` knows what `log export` wrote to an Optuna study. Private to the dataset
/// layer.
#pragma once

namespace hindsight::dataset {

/// Of a study: definitions of the log, as one JSON object.
inline constexpr const char* kOwnAttribute = "hindsight";
/// Of a trial: the text id of its design. Trials without it went on after the export.
inline constexpr const char* kOwnDesign = "design";
/// Of an infeasible trial: its reasons, as JSON lines of an export have them.
inline constexpr const char* kOwnReasons = "hindsight_reasons";
/// Of a trial: the number of the measurement, where it is not the first.
inline constexpr const char* kOwnRepeat = "repeat";

}  // namespace hindsight::dataset
