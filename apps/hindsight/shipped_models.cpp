/// Lists the models that come along, and finds one by its name.
#include "shipped_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/text.h"
#include "hindsight/optimize/propose.h"
#include "hindsight/space/design_space.h"
#include "hindsight/study/front.h"

namespace hindsight::app {
namespace {

namespace fs = std::filesystem;
constexpr const char* kExtension = ".safetensors";
constexpr const char* kDatacenterModel = "datacenter-any";

/// Whether both predict the same quantity of the same designs, by the same evaluator.
bool answers_like(const surrogate::Model& other, const surrogate::Model& model) {
  const auto evaluator_of = [](const surrogate::Model& one) {
    const auto found = one.parts().provenance.find("evaluator");
    return found == one.parts().provenance.end() ? std::string() : found->second;
  };
  return other.parts().space.definition_hash() == model.parts().space.definition_hash() &&
         !evaluator_of(other).empty() && evaluator_of(other) == evaluator_of(model) &&
         study::objective_name(other) == study::objective_name(model);
}

}  // namespace

std::vector<std::string> shipped_models() {
  std::set<std::string> names;
  for (const fs::path& root : data_roots()) {
    std::error_code error;
    for (fs::directory_iterator entry(root / "models", error), end; !error && entry != end; entry.increment(error)) {
      if (entry->path().extension() == kExtension) names.insert(entry->path().stem().string());
    }
  }
  return {names.begin(), names.end()};
}

std::string shipped_model_of(const std::string& space) {
  return space::load_space(space).name() == "datacenter" ? kDatacenterModel : kShippedModel;
}

std::string any_model_like(const surrogate::Model& model, const std::vector<std::string>& labels) {
  for (const char* name : {kShippedModel, kDatacenterModel}) {
    try {
      const surrogate::Model other = surrogate::load_model(model_file(name));
      const bool has_labels = std::ranges::all_of(
          labels, [&](const std::string& label) { return optimize::learned_quantity(other, label).has_value(); });
      const bool is_itself = other.parts().provenance == model.parts().provenance;
      if (answers_like(other, model) && has_labels && !is_itself) return name;
    } catch (const Error&) {
      continue;  // no data at hand
    }
  }
  return "";
}

std::string model_file(const std::string& name_or_path) {
  std::error_code error;
  if (fs::exists(name_or_path, error)) return name_or_path;
  for (const fs::path& root : data_roots()) {
    const fs::path file = root / "models" / (name_or_path + kExtension);
    if (!name_or_path.empty() && fs::is_regular_file(file, error)) return file.string();
  }
  throw Error(ErrorKind::usage, fmt::format("{}: no such model file.{}", printable(name_or_path),
                                            did_you_mean(name_or_path, shipped_models())));
}

}  // namespace hindsight::app
