/// Lists the models that come along, and finds one by its name.
#include "shipped_models.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/text.h"
#include "hindsight/space/design_space.h"

namespace hindsight::app {
namespace {

namespace fs = std::filesystem;
constexpr const char* kExtension = ".safetensors";

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
  return space::load_space(space).name() == "datacenter" ? "datacenter-any" : kShippedModel;
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
