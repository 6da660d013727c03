/// Shards of trainings as text and JSON.
#include "hindsight/report/training_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "hindsight/core/plural.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/text.h"

namespace hindsight::report {
namespace {

using PartJson = nlohmann::ordered_json;

/// What a shard trains some of.
const char* unit_of(const surrogate::Recipe& recipe) {
  const bool by_heads = surrogate::by_tables(recipe.method);
  return by_heads ? "head" : "member";
}

}  // namespace

std::string part_text(const surrogate::PartResult& result, const surrogate::TrainingShard& shard,
                      const surrogate::Recipe& recipe, const std::filesystem::path& file) {
  const auto done = static_cast<std::size_t>(std::ranges::count_if(result.units, &surrogate::MemberProgress::complete));
  std::string text =
      fmt::format("Shard {}/{}, recipe {}: {} trained in {}, {}\n", shard.index, shard.count, printable(recipe.name),
                  counted(done, unit_of(recipe)), duration_text(result.seconds), printable(file.string(), 400));
  if (result.units.empty())
    text += fmt::format("There are fewer {}s than shards: this one has none.\n", unit_of(recipe));
  if (done < result.units.size()) text += "The loss of the others stopped being finite.\n";
  return text;
}

std::string part_json(const surrogate::PartResult& result, const surrogate::TrainingShard& shard,
                      const surrogate::Recipe& recipe, const std::filesystem::path& file) {
  PartJson json{{"hindsight_version", build_info().version},
                {"commit", build_info().commit},
                {"status", result.interrupted ? "interrupted" : "finished"},
                {"file", nullptr},
                {"shard", shard.index},
                {"shards", shard.count},
                {"recipe", recipe.name},
                {"unit", unit_of(recipe)},
                {"seconds", result.seconds},
                {"units", PartJson::array()}};
  if (!result.interrupted) json["file"] = file.string();
  for (const surrogate::MemberProgress& unit : result.units) {
    json["units"].push_back({{"steps", unit.steps_done}, {"complete", unit.complete}});
  }
  return json.dump(2, ' ', false, PartJson::error_handler_t::replace) + "\n";
}

}  // namespace hindsight::report
