/// Text and JSON of repairs and backups.
#include "hindsight/report/log_repair.h"

#include <fmt/format.h>

#include "hindsight/core/plural.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/table.h"
#include "hindsight/core/text.h"
#include "report/fields.h"
#include "report/json.h"

namespace hindsight::report {
namespace {

constexpr std::size_t kShownPath = 400;

std::string lost_text(const log::RepairedTable& table) {
  if (!table.lost) return table.lost_pages == 0 && table.whole() ? "0" : "not known";
  return with_commas(*table.lost);
}

bool says_something(const log::RepairedTable& table) {
  return table.recovered + table.damaged + table.refused + table.without_parent + table.lost_pages > 0;
}

}  // namespace

std::string repair_text(const log::RepairResult& result, const std::string& damaged, const std::string& output,
                        bool rehearsed, int columns) {
  Table table;
  table.add_column("table", Align::left);
  for (const char* name : {"recovered", "lost", "damaged", "refused", "no parent", "lost pages"}) {
    table.add_column(name, Align::right);
  }
  for (const log::RepairedTable& one : result.tables) {
    if (!says_something(one)) continue;
    table.add_row({one.name, with_commas(one.recovered), lost_text(one), with_commas(one.damaged),
                   with_commas(one.refused), with_commas(one.without_parent), with_commas(one.lost_pages)});
  }
  std::string out = table.render(columns);
  for (const std::string& note : result.notes) out += wrapped("", note, columns, 2);
  if (result.unknown_pages > 0) {
    out += wrapped("",
                   fmt::format("{} that may hold rows could be those of two tables, and were left out",
                               counted(result.unknown_pages, "page")),
                   columns, 2);
  }
  out += wrapped("",
                 fmt::format("{}: {}, {} {}", printable(damaged, kShownPath),
                             result.whole() ? "every row was recovered" : "what is readable and sound was recovered",
                             rehearsed ? "not written (dry run) to" : "written to", printable(output, kShownPath)),
                 columns, 2);
  return out;
}

std::string repair_json(const log::RepairResult& result, const std::string& damaged, const std::string& output) {
  Json tables = Json::array();
  for (const log::RepairedTable& one : result.tables) {
    tables.push_back({{"table", one.name},
                      {"recovered", one.recovered},
                      {"lost", one.lost ? Json(*one.lost) : Json(nullptr)},
                      {"damaged", one.damaged},
                      {"refused", one.refused},
                      {"without_parent", one.without_parent},
                      {"lost_pages", one.lost_pages}});
  }
  return to_text({{"hindsight_version", build_info().version},
                  {"damaged", damaged},
                  {"log", output},
                  {"whole", result.whole()},
                  {"pages", result.pages},
                  {"unknown_pages", result.unknown_pages},
                  {"tables", tables},
                  {"notes", result.notes}});
}

std::string backup_text(const log::BackupResult& result, const std::string& log, const std::string& output,
                        int columns) {
  return wrapped("",
                 fmt::format("{}: {} and {} ({}) copied to {}", printable(log, kShownPath),
                             counted(result.evaluations, "evaluation"), counted(result.designs, "design"),
                             binary_bytes(static_cast<double>(result.bytes)), printable(output, kShownPath)),
                 columns, 2);
}

std::string backup_json(const log::BackupResult& result, const std::string& log, const std::string& output) {
  return to_text({{"hindsight_version", build_info().version},
                  {"log", log},
                  {"copy", output},
                  {"evaluations", result.evaluations},
                  {"designs", result.designs},
                  {"runs", result.runs},
                  {"bytes", result.bytes}});
}

}  // namespace hindsight::report
