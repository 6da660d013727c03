/// Judges the include graph: each edge by its layers, and each learner by every chain that starts at it.
#include "checks/layering.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checks/source_text.h"

namespace hindsight::checks {
namespace {

namespace fs = std::filesystem;

/// Left to right: how data flows (docs/architecture.md).
constexpr std::array<std::string_view, 16> kLayers = {
    "core",  "space",   "workload",  "accel",    "gpu",   "measure", "log",    "evaluator",
    "sweep", "dataset", "surrogate", "optimize", "study", "check",   "report", "apps"};

/// A third-party library: the prefix of its headers and the layers that may name it (comma-separated; "*" = any).
struct Library {
  std::string_view prefix;
  std::string_view layers;
  bool in_public_headers = false;
  std::string_view folder = "";  ///< the only folder that may name it, when that is narrower than a layer
};
constexpr std::array<Library, 18> kLibraries = {{
    {.prefix = "Eigen/", .layers = "*", .in_public_headers = true},
    {.prefix = "fmt/", .layers = "*"},
    {.prefix = "yaml-cpp/", .layers = "core"},
    {.prefix = "openssl/", .layers = "core"},
    {.prefix = "boost/", .layers = "space"},
    {.prefix = "SQLiteCpp/", .layers = "log"},
    {.prefix = "sqlite3.h", .layers = "log"},
    {.prefix = "libpq-fe.h", .layers = "log"},
    {.prefix = "nlohmann/", .layers = "log,evaluator,sweep,dataset,surrogate,study,check,report,apps"},
    {.prefix = "zlib.h", .layers = "dataset"},
    {.prefix = "torch/", .layers = "surrogate", .folder = "src/surrogate/torch/"},
    {.prefix = "ATen/", .layers = "surrogate", .folder = "src/surrogate/torch/"},
    {.prefix = "c10/", .layers = "surrogate", .folder = "src/surrogate/torch/"},
    {.prefix = "cuda_", .layers = "measure", .folder = "src/measure/cuda/"},
    {.prefix = "cublasLt.h", .layers = "measure", .folder = "src/measure/cuda/"},
    {.prefix = "CLI/", .layers = "apps"},
    {.prefix = "CLI11.hpp", .layers = "apps"},
    {.prefix = "httplib.h", .layers = "apps"},
}};

/// Headers of the platform (POSIX, Linux, the compiler): allowed in implementation files.
constexpr std::array<std::string_view, 19> kPlatformHeaders = {
    "sys/",       "linux/",   "dirent.h",  "dlfcn.h",  "fcntl.h",   "getopt.h", "immintrin.h",
    "langinfo.h", "malloc.h", "netdb.h",   "poll.h",   "pthread.h", "pwd.h",    "sched.h",
    "signal.h",   "spawn.h",  "termios.h", "unistd.h", "cxxabi.h"};

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

/// The file of the project that an include means, relative to the root; nothing for a library's. A public header need
/// not exist.
std::optional<fs::path> project_file(const fs::path& root, const fs::path& file, const std::string& include) {
  const fs::path target = include;
  if (target.begin() != target.end() && *target.begin() == "hindsight") return ("include" / target).lexically_normal();
  for (const fs::path& candidate : {file.parent_path() / target, "src" / target}) {
    if (fs::exists(root / candidate) && place_of(candidate.lexically_normal())) return candidate.lexically_normal();
  }
  return std::nullopt;
}

std::string include_problem(const fs::path& root, const fs::path& file, const Place& from, const Include& include) {
  const auto target = project_file(root, file, include.target);
  if (!target) return library_problem(file, from, include.target);
  const auto to = place_of(*target);
  if (!to) return "includes \"" + include.target + "\", which is in no layer folder";
  return project_problem(from, *to, include.target);
}

/// Rooms that learn from logs, and those that know what a design costs: a learner reaches no simulator, so that "no
/// simulator was asked" is a property of the house. It is handed functions instead.
constexpr std::array<std::string_view, 3> kLearners = {"dataset", "surrogate", "optimize"};
constexpr std::array<std::string_view, 3> kSimulators = {"accel", "evaluator", "sweep"};

template <std::size_t n>
bool holds(const std::array<std::string_view, n>& layers, const std::optional<Place>& place) {
  return place && std::find(layers.begin(), layers.end(), place->layer) != layers.end();
}

/// Which files of the project a file leads to: those that it includes, and from a public header the file that
/// implements it.
class IncludeGraph {
 public:
  explicit IncludeGraph(fs::path root) : root_(std::move(root)) {}

  const std::vector<fs::path>& next(const fs::path& file) {
    const auto [entry, fresh] = next_.try_emplace(file);
    if (!fresh || !fs::exists(root_ / file)) return entry->second;
    for (const Include& include : includes_of(read_text(root_ / file))) {
      if (auto target = project_file(root_, file, include.target)) entry->second.push_back(std::move(*target));
    }
    if (const auto place = place_of(file); place && place->is_public) {
      const fs::path implementation = ("src" / file.lexically_relative("include/hindsight")).replace_extension(".cpp");
      if (fs::exists(root_ / implementation)) entry->second.push_back(implementation);
    }
    return entry->second;
  }

  /// The shortest chain from behind `file` to a room of kSimulators, as "a.h -> b.h", or `file` itself where it is
  /// there; empty when there is none.
  std::string chain_to_simulator(const fs::path& file) {
    std::map<fs::path, fs::path> came_from{{file, {}}};
    std::deque<fs::path> open{file};
    while (!open.empty()) {
      const fs::path here = open.front();
      open.pop_front();
      if (holds(kSimulators, place_of(here))) {
        std::string chain = here.string();
        for (fs::path at = came_from[here]; at != file && !at.empty(); at = came_from[at]) {
          chain = at.string() + " -> " + chain;
        }
        return chain;
      }
      for (const fs::path& target : next(here)) {
        if (came_from.try_emplace(target, here).second) open.push_back(target);
      }
    }
    return "";
  }

 private:
  fs::path root_;
  std::map<fs::path, std::vector<fs::path>> next_;
};

/// The include of a learner's `file` that leads to a simulator, if one does.
std::optional<Finding> leads_to_simulator(const fs::path& root, const fs::path& file, IncludeGraph& graph) {
  for (const Include& include : includes_of(read_text(root / file))) {
    const auto target = project_file(root, file, include.target);
    if (!target || holds(kLearners, place_of(*target))) continue;  // the learner's own file is judged by itself
    const std::string chain = graph.chain_to_simulator(*target);
    if (chain.empty()) continue;
    return Finding{file.string(), include.line,
                   "reaches a simulator, which a learner must not: " + target->string() +
                       (chain == target->string() ? "" : " -> " + chain) +
                       ". Take a function as an argument, or move the composition to study"};
  }
  return std::nullopt;
}

}  // namespace

Findings check_layering(const fs::path& root) {
  Findings findings;
  IncludeGraph graph(root);
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
      if (!holds(kLearners, from)) continue;
      if (auto finding = leads_to_simulator(root, file, graph)) findings.push_back(std::move(*finding));
    }
  }
  return findings;
}

}  // namespace hindsight::checks
