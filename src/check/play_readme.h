/// The text that a player reads first.
#pragma once

#include <string>

#include "hindsight/check/play_export.h"
#include "hindsight/check/play_score.h"

namespace hindsight::check {

[[nodiscard]] std::string play_readme(const PlayTask& task, const PlayExport& options, const PlayExported& written);

}  // namespace hindsight::check
