/// Renders adapted models as text and JSON.
#include "hindsight/report/transfer.h"

#include <fmt/format.h>

#include <cmath>

#include "hindsight/core/plural.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/table.h"
#include "hindsight/core/text.h"
#include "report/json.h"

namespace hindsight::report {
namespace {

std::string shown(double value) { return std::isfinite(value) ? fmt::format("{:.3f}", value) : std::string("-"); }

/// What became of the objective's networks.
std::string verdict(const surrogate::TransferResult& result) {
  if (result.scratch_is_better) return "transfer hurts: learning from these rows alone is better";
  if (result.objective_moves == "unadapted")
    return "the objective stays as it was: no move predicts rows held out better";
  return fmt::format("the objective moved by: {}", result.objective_moves);
}

}  // namespace

std::string transfer_text(const TransferSummary& summary, int columns) {
  const surrogate::TransferResult& result = *summary.result;
  std::string out = wrapped("",
                            fmt::format("adapted {} to {} ({} feasible) in {}", printable(summary.from, 200),
                                        counted(summary.data->size(), "row"),
                                        with_commas(summary.data->feasible_count()), duration_text(result.seconds)),
                            columns, 2);
  Table table;
  table.add_column("on rows held out", Align::left);
  for (const char* name : {"tau", "error", "AUC"}) table.add_column(name, Align::right);
  for (const surrogate::TransferScore& score : result.scores) {
    table.add_row({score.name, shown(score.kendall_tau), shown(score.error), shown(score.feasibility_auc)});
  }
  out += "\n" + table.render(columns) + "\n";
  out += wrapped("", verdict(result), columns, 2);
  for (const std::string& remark : result.remarks) out += wrapped("note: ", remark, columns, 2);
  if (summary.file.empty()) return out;
  const std::string known = summary.model_id ? fmt::format(", model {} of the log", *summary.model_id) : std::string();
  return out + wrapped("model: ", fmt::format("{}{}", printable(summary.file.string(), 200), known), columns, 2);
}

std::string transfer_json(const TransferSummary& summary) {
  const surrogate::TransferResult& result = *summary.result;
  Json json{{"hindsight_version", build_info().version},
            {"commit", build_info().commit},
            {"status", summary.file.empty() ? "refused" : "finished"},
            {"file", summary.file.empty() ? Json(nullptr) : Json(summary.file.string())},
            {"file_sha256", summary.file.empty() ? Json(nullptr) : Json(summary.file_sha256)},
            {"model_id", summary.model_id ? Json(*summary.model_id) : Json(nullptr)},
            {"from", summary.from},
            {"from_sha256", summary.from_sha256},
            {"rows", summary.data->size()},
            {"feasible", summary.data->feasible_count()},
            {"seconds", result.seconds},
            {"simulator_queries", summary.simulator_queries},
            {"objective_moves", result.objective_moves},
            {"scratch_is_better", result.scratch_is_better},
            {"remarks", result.remarks}};
  json["held_out"] = Json::array();
  for (const surrogate::TransferScore& score : result.scores) {
    json["held_out"].push_back({{"name", score.name},
                                {"kendall_tau", finite_or_null(score.kendall_tau)},
                                {"error", finite_or_null(score.error)},
                                {"feasibility_auc", finite_or_null(score.feasibility_auc)}});
  }
  return to_text(json);
}

}  // namespace hindsight::report
