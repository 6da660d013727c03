#include "checks/layering.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checks/source_text.h"

namespace hindsight::checks {
namespace {

namespace fs = std::filesystem;

/// Left to right: how data flows (docs/architecture.md).
constexpr std::array<std::string_view, 14> kLayers = {"core",     "space", "workload", "accel",   "gpu",
                                                      "measure",  "log",   "sweep",    "dataset", "surrogate",
                                                      "optimize", "check", "report",   "apps"};

/// A third-party library: the prefix of its headers and the layers that may name it (comma-separated; "*" = any).
struct Library {
  std::string_view prefix;
  std::string_view layers;
  bool in_public_headers = false;
  std::string_view folder = "";  ///< the only folder that may name it, when that is narrower than a layer
};
constexpr std::array<Library, 16> kLibraries = {{
    {.prefix = "Eigen/", .layers = "*", .in_public_headers = true},
    {.prefix = "fmt/", .layers = "*"},
    {.prefix = "yaml-cpp/", .layers = "core"},
    {.prefix = "openssl/", .layers = "core"},
    {.prefix = "boost/", .layers = "space"},
    {.prefix = "SQLiteCpp/", .layers = "log"},
    {.prefix = "sqlite3.h", .layers = "log"},
    {.prefix = "nlohmann/", .layers = "log,sweep,dataset,surrogate,check,report,apps"},
    {.prefix = "zlib.h", .layers = "dataset"},
    {.prefix = "torch/", .layers = "surrogate", .folder = "src/surrogate/torch/"},
    {.prefix = "ATen/", .layers = "surrogate", .folder = "src/surrogate/torch/"},
    {.prefix = "c10/", .layers = "surrogate", .folder = "src/surrogate/torch/"},
    {.prefix = "cuda_", .layers = "measure", .folder = "src/measure/cuda/"},
    {.prefix = "cublasLt.h", .layers = "measure", .folder = "src/measure/cuda/"},
    {.prefix = "CLI/", .layers = "apps"},
    {.prefix = "CLI11.hpp", .layers = "apps"},
}};

/// Headers of the platform (POSIX, Linux, the compiler): allowed in implementation files.
constexpr std::array<std::string_view, 18> kPlatformHeaders = {
    "sys/",   "linux/",    "dirent.h", "dlfcn.h", "fcntl.h",  "getopt.h", "immintrin.h", "langinfo.h", "malloc.h",
    "poll.h", "pthread.h", "pwd.h",    "sched.h", "signal.h", "spawn.h",  "termios.h",   "unistd.h",   "cxxabi.h"};

std::string layer_list() {
  std::string text;
  for (const std::string_view layer : kLayers) text += (text.empty() ? "" : " < ") + std::string(layer);
  return text;
}

std::optional<std::size_t> rank(std::string_view layer) {
  const auto* found = std::find(kLayers.begin(), kLayers.end(), layer);
  if (found == kLayers.end()) return std::nullopt;
  return static_cast<std::size_t>(found - kLayers.begin());
}

/// Where a file stands in the pipeline.
struct Place {
  std::string layer;
  bool is_public = false;  ///< include/hindsight/LAYER rather than src/LAYER or apps
};

/// Place of a path relative to the root; nothing when it is in no layer folder.
std::optional<Place> place_of(const fs::path& file) {
  std::vector<std::string> parts;
  for (const fs::path& part : file) parts.push_back(part.string());
  if (parts.size() >= 2 && parts[0] == "apps") return Place{.layer = "apps"};
  if (parts.size() >= 3 && parts[0] == "src") return Place{.layer = parts[1]};
  if (parts.size() >= 4 && parts[0] == "include" && parts[1] == "hindsight") {
    return Place{.layer = parts[2], .is_public = true};
  }
  return std::nullopt;
}

bool lists(std::string_view comma_separated, std::string_view word) {
  return ("," + std::string(comma_separated) + ",").find("," + std::string(word) + ",") != std::string::npos;
}

/// What is wrong with the edge from a file at `from` to a file at `to`, or nothing.
std::string project_problem(const Place& from, const Place& to, const std::string& target) {
  const auto to_rank = rank(to.layer);
  if (!to_rank) return "includes \"" + target + "\" of unknown layer '" + to.layer + "'. Layers: " + layer_list();
  if (from.is_public && !to.is_public) {
    return "public header includes the private header \"" + target + "\", which is not installed";
  }
  if (!to.is_public && to.layer != from.layer) {
    return "includes \"" + target + "\", which is private to layer " + to.layer + ". Use a public header of " +
           to.layer + ", or make one";
  }
  if (to.layer != from.layer && to.layer != "core" && *to_rank > rank(from.layer)) {
    return "layer " + from.layer + " includes \"" + target + "\" of layer " + to.layer + ", which is to its right (" +
           layer_list() + "). Move the shared part left";
  }
  return "";
}

/// What is wrong with a header that is not the project's, or nothing.
std::string library_problem(const fs::path& file, const Place& from, const std::string& target) {
  if (target.find_first_of("./") == std::string::npos) return "";  // the standard library: <vector>
  const auto prefixes_target = [&](std::string_view prefix) { return target.starts_with(prefix); };
  if (std::any_of(kPlatformHeaders.begin(), kPlatformHeaders.end(), prefixes_target)) {
    if (!from.is_public) return "";
    return "public header includes the platform header <" + target + "> (users would need it). Include it in the .cpp";
  }
  const auto* library = std::find_if(kLibraries.begin(), kLibraries.end(),
                                     [&](const Library& candidate) { return prefixes_target(candidate.prefix); });
  if (library == kLibraries.end()) {
    return "includes <" + target + ">, a library no layer owns. Add it to kLibraries in tests/checks/layering.cpp";
  }
  if (from.is_public && !library->in_public_headers) {
    return "public header includes <" + target + "> (its users would need that library). Include it in the .cpp";
  }
  if (library->layers != "*" && !lists(library->layers, from.layer)) {
    return "layer " + from.layer + " includes <" + target + ">, which belongs to " + std::string(library->layers);
  }
  if (!file.string().starts_with(library->folder)) {
    return "includes <" + target + ">, which belongs to " + std::string(library->folder);
  }
  return "";
}

std::string include_problem(const fs::path& root, const fs::path& file, const Place& from, const Include& include) {
  const fs::path target = include.target;
  const auto place = [](const fs::path& path) { return place_of(path.lexically_normal()); };
  if (target.begin() != target.end() && *target.begin() == "hindsight") {
    const auto to = place("include" / target);
    if (!to) return "includes \"" + include.target + "\", which is in no layer folder";
    return project_problem(from, *to, include.target);
  }
  for (const fs::path& candidate : {file.parent_path() / target, "src" / target}) {
    if (!fs::exists(root / candidate)) continue;
    if (const auto to = place(candidate)) return project_problem(from, *to, include.target);
  }
  return library_problem(file, from, include.target);
}

bool is_source(const fs::path& file) {
  const std::string extension = file.extension().string();
  return extension == ".h" || extension == ".cpp" || extension == ".cu" || extension == ".cuh" || extension == ".inc";
}

}  // namespace

Findings check_layering(const fs::path& root) {
  Findings findings;
  for (const char* folder : {"include", "src", "apps"}) {
    for (const fs::path& file : files_under(root, folder)) {
      if (!is_source(file)) continue;
      const auto from = place_of(file);
      if (!from || !rank(from->layer)) {
        findings.push_back({file.string(), 0, "is in no layer folder. Layers: " + layer_list()});
        continue;
      }
      for (const Include& include : includes_of(read_text(root / file))) {
        std::string problem = include_problem(root, file, *from, include);
        if (!problem.empty()) findings.push_back({file.string(), include.line, std::move(problem)});
      }
    }
  }
  return findings;
}

}  // namespace hindsight::checks
