/// Renders what an import of a table did.
#pragma once

#include <string>

#include "hindsight/dataset/csv_import.h"

namespace hindsight::report {

[[nodiscard]] std::string import_text(const dataset::ImportResult& result, const std::string& log, int columns);
[[nodiscard]] std::string import_json(const dataset::ImportResult& result, const std::string& log);

}  // namespace hindsight::report
