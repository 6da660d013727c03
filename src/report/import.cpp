/// Text and JSON of what an import took, refused and guessed.
#include "hindsight/report/import.h"

#include <fmt/format.h>

#include "hindsight/core/plural.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/text.h"
#include "report/fields.h"
#include "report/json.h"

namespace hindsight::report {

std::string import_text(const dataset::ImportResult& result, const std::string& log, int columns) {
  std::string out =
      wrapped("",
              fmt::format("{}: {} written to {}, {} were there before, {} repeated, {} refused; {}",
                          counted(result.rows, "row"), with_commas(result.inserted), printable(log, 400),
                          with_commas(result.already_present), with_commas(result.repeated),
                          with_commas(result.rejected_count), counted(result.feasible, "feasible design")),
              columns, 2);
  if (result.contradictions > 0) {
    out += wrapped(
        "", fmt::format("{} refused for another outcome of the same design", counted(result.contradictions, "row")),
        columns, 2);
  }
  std::vector<std::string> names;
  for (const auto& [column, name] : result.renamed) names.push_back(fmt::format("{} is {}", column, name));
  if (!names.empty()) out += wrapped("names in the log: ", join(names, ", "), columns, 2);
  for (const std::string& reason : result.rejected) out += wrapped("refused: ", reason, columns, 2);
  if (result.rejected_count > result.rejected.size()) {
    out += fmt::format("and {} more\n", with_commas(result.rejected_count - result.rejected.size()));
  }
  return out;
}

std::string import_json(const dataset::ImportResult& result, const std::string& log) {
  Json json{{"hindsight_version", build_info().version},
            {"log", log},
            {"rows", result.rows},
            {"inserted", result.inserted},
            {"already_present", result.already_present},
            {"repeated", result.repeated},
            {"feasible", result.feasible},
            {"contradictions", result.contradictions},
            {"rejected_count", result.rejected_count},
            {"rejected", result.rejected},
            {"remarks", result.remarks}};
  json["names"] = Json::object();
  for (const auto& [column, name] : result.renamed) json["names"][column] = name;
  return to_text(json);
}

}  // namespace hindsight::report
