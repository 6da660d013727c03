/// Text and JSON of what an import took, refused and guessed.
#include "hindsight/report/import.h"

#include <fmt/format.h>

#include <algorithm>

#include "hindsight/core/plural.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/text.h"
#include "report/fields.h"
#include "report/json.h"

namespace hindsight::report {

namespace {

/// "read as Optuna study: 640 feasible, 360 infeasible (fail 300, pruned 60); left out: 10 still running".
std::string read_text(const dataset::ImportResult& result) {
  std::size_t infeasible = 0;
  std::vector<std::pair<std::size_t, std::string>> reasons;
  for (const auto& [reason, count] : result.infeasible) {
    infeasible += count;
    reasons.emplace_back(count, reason);
  }
  std::stable_sort(reasons.begin(), reasons.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> parts;
  constexpr std::size_t kShown = 8;  // [chosen] what a person reads
  for (const auto& [count, reason] : reasons) {
    if (parts.size() < kShown) parts.push_back(fmt::format("{} {}", printable(reason), with_commas(count)));
  }
  if (reasons.size() > kShown) parts.push_back(fmt::format("{} other reasons", reasons.size() - kShown));
  std::string text = fmt::format("{}: {} feasible, {} infeasible", result.format, with_commas(result.feasible),
                                 with_commas(infeasible));
  if (!parts.empty()) text += fmt::format(" ({})", join(parts, ", "));
  std::vector<std::string> left_out;
  for (const auto& [why, count] : result.left_out) left_out.push_back(fmt::format("{} {}", with_commas(count), why));
  if (!left_out.empty()) text += "; left out: " + join(left_out, ", ");
  return text;
}

/// Where the rows went.
std::string place_text(const dataset::ImportResult& result) {
  const std::string workloads =
      result.workloads.size() == 1 ? printable(result.workloads.front()) : counted(result.workloads.size(), "workload");
  return fmt::format("{}, space {}, evaluator {}", workloads, printable(result.space), printable(result.evaluator));
}

}  // namespace

std::string import_text(const dataset::ImportResult& result, const std::string& log, int columns) {
  std::string out =
      wrapped("",
              fmt::format("{}: {} written to {}, {} were there before, {} repeated, {} refused; {}",
                          counted(result.rows, "row"), with_commas(result.inserted), printable(log, 400),
                          with_commas(result.already_present), with_commas(result.repeated),
                          with_commas(result.rejected_count), counted(result.feasible_designs, "feasible design")),
              columns, 2);
  out += wrapped("read as ", read_text(result), columns, 2);
  out += wrapped("rows of ", place_text(result), columns, 2);
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
            {"feasible_designs", result.feasible_designs},
            {"contradictions", result.contradictions},
            {"rejected_count", result.rejected_count},
            {"rejected", result.rejected},
            {"remarks", result.remarks},
            {"format", result.format},
            {"space", result.space},
            {"evaluator", result.evaluator},
            {"workloads", result.workloads}};
  json["infeasible"] = Json::object();
  for (const auto& [reason, count] : result.infeasible) json["infeasible"][reason] = count;
  json["left_out"] = Json::object();
  for (const auto& [why, count] : result.left_out) json["left_out"][why] = count;
  json["names"] = Json::object();
  for (const auto& [column, name] : result.renamed) json["names"][column] = name;
  return to_text(json);
}

}  // namespace hindsight::report
