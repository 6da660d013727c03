/// The results file of the offline study: one JSON object per line.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "check/json_or_null.h"
#include "hindsight/check/offline.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/json_bounds.h"
#include "hindsight/core/json_whole.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/text.h"

namespace hindsight::check {
namespace {

using Json = nlohmann::ordered_json;

std::optional<double> number(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<double>());
}

Json to_json(const OfflineResult& result) {
  Json json{{"task", result.task},
            {"method", result.method},
            {"seed", result.seed},
            {"samples", result.samples},
            {"settings_hash", result.settings_hash},
            {"latency_s", or_null(result.value)},
            {"best_latency_s", or_null(result.best_value)},
            {"predicted_latency_s", or_null(result.predicted_value)},
            {"infeasible_frac", result.infeasible_frac},
            {"queries", result.queries},
            {"seconds", result.seconds},
            {"design", result.design},
            {"improvements", result.improvements},
            {"hindsight_version", build_info().version},
            {"commit", build_info().commit}};
  if (!result.recipe.empty()) json["recipe"] = result.recipe;
  return json;
}

OfflineResult from_json(const Json& json) {
  OfflineResult result;
  result.task = json.at("task").get<std::string>();
  result.method = json.at("method").get<std::string>();
  result.seed = whole_number(json.at("seed"));
  result.samples = whole_number(json.at("samples"));
  result.settings_hash = json.at("settings_hash").get<std::string>();
  if (json.contains("recipe")) json.at("recipe").get_to(result.recipe);
  result.value = number(json.at("latency_s"));
  result.best_value = number(json.at("best_latency_s"));
  result.predicted_value = number(json.at("predicted_latency_s"));
  result.infeasible_frac = json.at("infeasible_frac").get<double>();
  result.queries = whole_number(json.at("queries"));
  result.seconds = json.at("seconds").get<double>();
  result.design = json.at("design").get<std::string>();
  for (const Json& step : json.at("improvements").get_ref<const Json::array_t&>()) {
    result.improvements.emplace_back(whole_number(step.at(0)), step.at(1).get<double>());
  }
  return result;
}

}  // namespace

std::vector<OfflineResult> read_results(const std::filesystem::path& file) {
  std::vector<OfflineResult> results;
  if (!std::filesystem::exists(file)) return results;
  constexpr std::uint64_t kLargestFile = std::uint64_t{1} << 30;
  const std::vector<std::string> lines = split(read_file(file, kLargestFile), '\n');
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    try {
      results.push_back(from_json(Json::parse(bounded_json(lines[i]))));
    } catch (const nlohmann::json::exception&) {
      if (i + 1 == lines.size()) break;  // the end of a line that was being written
      throw Error(
          ErrorKind::incompatible,
          fmt::format("{}:{}: is no result of this study: a JSON object with task, method, seed and what came of "
                      "them. Use another folder?",
                      printable(file.string(), 200), i + 1));
    }
  }
  return results;
}

void write_results(const std::filesystem::path& file, const std::vector<OfflineResult>& results) {
  std::string text;
  for (const OfflineResult& result : results) text += to_json(result).dump() + "\n";
  write_file_atomically(file, text);
}

}  // namespace hindsight::check
