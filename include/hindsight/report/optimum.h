/// Renders an exact optimum with its certificate.
#pragma once

#include <string>

#include "hindsight/accel/optimum/landscape.h"
#include "hindsight/report/design_table.h"
#include "hindsight/study/optimum.h"

namespace hindsight::report {

/// Table of the designs, metrics per workload of the best one, and how all designs are accounted for.
[[nodiscard]] std::string optimum_text(const study::OptimumTask& task, const study::Optimum& optimum, DesignStyle style,
                                       int columns);
[[nodiscard]] std::string optimum_json(const study::OptimumTask& task, const study::Optimum& optimum);

/// A front: one row per point, by the first metric.
[[nodiscard]] std::string front_text(const study::OptimumTask& task, const study::ExactFront& found, DesignStyle style,
                                     int columns);
[[nodiscard]] std::string front_json(const study::OptimumTask& task, const study::ExactFront& found);

/// What a landscape came to.
[[nodiscard]] std::string landscape_text(const accel::optimum::LandscapeSummary& summary, const std::string& file,
                                         int columns);
[[nodiscard]] std::string landscape_json(const accel::optimum::LandscapeSummary& summary, const std::string& file);

/// A survey: how many designs run each workload, the best of them, and how the others compare with it.
[[nodiscard]] std::string survey_text(const study::OptimumTask& task, const accel::optimum::LandscapeSurvey& survey,
                                      DesignStyle style, int columns);
[[nodiscard]] std::string survey_json(const study::OptimumTask& task, const accel::optimum::LandscapeSurvey& survey);

}  // namespace hindsight::report
