/// Text and JSON of merges and contents of logs.
#include "hindsight/report/log_content.h"

#include <fmt/format.h>

#include "hindsight/core/plural.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/table.h"
#include "hindsight/core/text.h"
#include "report/fields.h"
#include "report/json.h"

namespace hindsight::report {

std::string merge_text(const log::MergeResult& result, const std::string& output, int columns) {
  Table table;
  table.add_column("log", Align::left);
  table.add_column("rows", Align::right);
  table.add_column("designs", Align::right);
  for (const log::MergedLog& input : result.inputs) {
    table.add_row({printable(input.file.string(), 400), with_commas(input.evaluations), with_commas(input.designs)});
  }
  std::string left_out;
  if (result.contradicting > 0)
    left_out = fmt::format(", {} contradicted and left out", with_commas(result.contradicting));
  return table.render(columns) +
         wrapped("",
                 fmt::format("{} {}: {} and {} added, {} were there already{}", printable(output, 400),
                             result.created ? "created" : "extended", counted(result.inserted, "row"),
                             counted(result.designs, "design"), with_commas(result.already_present), left_out),
                 columns, 2);
}

std::string merge_json(const log::MergeResult& result, const std::string& output) {
  Json json{{"hindsight_version", build_info().version},
            {"log", output},
            {"created", result.created},
            {"rows", result.read()},
            {"inserted", result.inserted},
            {"already_present", result.already_present},
            {"contradicting", result.contradicting},
            {"designs_inserted", result.designs},
            {"inputs", Json::array()}};
  for (const log::MergedLog& input : result.inputs) {
    json["inputs"].push_back({{"log", input.file.string()}, {"rows", input.evaluations}, {"designs", input.designs}});
  }
  return to_text(json);
}

std::string content_text(const log::Content& content, const std::string& file) {
  return fmt::format("{}  {}\n", content.sha256, printable(file, kWholeText));
}

std::string content_json(const std::vector<NamedContent>& contents) {
  Json list = Json::array();
  for (const auto& [file, content] : contents) {
    list.push_back({{"log", file},
                    {"content_sha256", content.sha256},
                    {"spaces", content.spaces},
                    {"workloads", content.workloads},
                    {"evaluators", content.evaluators},
                    {"designs", content.designs},
                    {"evaluations", content.evaluations},
                    {"reasons", content.reasons}});
  }
  return to_text(list.size() == 1 ? list.front() : list);
}

}  // namespace hindsight::report
