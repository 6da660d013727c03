#include "hindsight/report/import.h"

#include <fmt/format.h>

#include "hindsight/core/provenance.h"
#include "hindsight/core/text.h"
#include "report/fields.h"
#include "report/json.h"

namespace hindsight::report {

std::string import_text(const dataset::ImportResult& result, const std::string& log, int columns) {
  std::string out = wrapped(
      "",
      fmt::format("{} rows: {} written to {}, {} were there before, {} refused; {} feasible", with_commas(result.rows),
                  with_commas(result.inserted), log, with_commas(result.already_present),
                  with_commas(result.rejected_count), with_commas(result.feasible)),
      columns, 2);
  for (const std::string& reason : result.rejected) out += wrapped("refused: ", reason, columns, 2);
  if (result.rejected_count > result.rejected.size()) {
    out += fmt::format("and {} more\n", with_commas(result.rejected_count - result.rejected.size()));
  }
  return out;
}

std::string import_json(const dataset::ImportResult& result, const std::string& log) {
  const Json json{{"hindsight_version", build_info().version},
                  {"log", log},
                  {"rows", result.rows},
                  {"inserted", result.inserted},
                  {"already_present", result.already_present},
                  {"feasible", result.feasible},
                  {"rejected_count", result.rejected_count},
                  {"rejected", result.rejected}};
  return to_text(json);
}

}  // namespace hindsight::report
