/// Renders what an import of a network took, counted, ignored and assumed.
#pragma once

#include <string>

#include "hindsight/workload/import.h"

namespace hindsight::report {

/// `out`: the workload file that was written; empty when none was.
[[nodiscard]] std::string network_import_text(const workload::ImportedNetwork& imported, const std::string& out,
                                              int columns);
[[nodiscard]] std::string network_import_json(const workload::ImportedNetwork& imported, const std::string& out);

}  // namespace hindsight::report
