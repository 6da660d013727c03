/// Timeloop problems, v3 and v4: one layer per file; a folder of them is a network [paper: timeloop].
///
/// A problem states its loops (`dimensions`), which tensor each selects in (`data_spaces` with `projection`), and their
/// sizes (`instance`). Where the shape stands in an included file, which is never opened, it is the one of Timeloop's
/// convolutions: v4 calls output channels M, v3 calls them K.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "hindsight/core/ascii.h"
#include "hindsight/core/config.h"
#include "hindsight/core/files.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/text.h"
#include "workload/import/import_parts.h"
#include "workload/import/nest.h"

namespace hindsight::workload {
namespace {

/// The text with what YAML does not know, or our reader refuses, blanked out: {{include_text(...)}}, merges <<: and
/// <<<:, and the anchors that these would use.
struct PlainText {
  std::string text;
  bool includes = false;
};

std::string without_anchor(std::string line) {
  const std::size_t at = line.find(" &");
  if (at == std::string::npos) return line;
  const std::size_t end = std::min(line.find_first_of(" ,]}", at + 2), line.size());
  std::fill(line.begin() + static_cast<std::ptrdiff_t>(at), line.begin() + static_cast<std::ptrdiff_t>(end), ' ');
  return line;
}

PlainText plain_text(const std::string& content) {
  PlainText plain;
  std::size_t begin = 0;
  while (begin < content.size()) {
    const std::size_t end = std::min(content.find('\n', begin), content.size());
    const std::string line = content.substr(begin, end - begin);
    const std::string_view words = trimmed(line);
    const bool include = words.starts_with("{{") && words.ends_with("}}");
    const bool merge = words.starts_with("<<:") || words.starts_with("<<<:") || words.starts_with("<<<<:");
    plain.includes = plain.includes || include || merge;
    plain.text += include || merge ? std::string() : without_anchor(line);
    plain.text += '\n';
    begin = end + 1;
  }
  return plain;
}

/// Loops of a data space by name, and the windows among its axes.
struct DataSpace {
  std::string name;
  bool written = false;
  std::vector<std::string> loops;
  std::vector<std::vector<std::pair<std::string, std::string>>> sums;  ///< axes of several terms: (loop, coefficient)
};

struct ProblemShape {
  std::vector<std::string> loops;
  std::map<std::string, std::int64_t> coefficients;  ///< by name in small letters, with defaults
  std::vector<DataSpace> spaces;
};

std::string coefficient_key(const std::string& name) { return lower_case(name); }

/// A term `[P]` or `[P, Wstride]`, or the plain name.
std::pair<std::string, std::string> read_term(const ConfigNode& node) {
  if (!node.is_list()) return {node.as_name(), ""};
  const std::vector<ConfigNode> parts = node.items();
  if (parts.empty() || parts.size() > 2) node.fail("this is no term. Write [LOOP] or [LOOP, COEFFICIENT]");
  return {parts[0].as_name(), parts.size() == 2 ? parts[1].as_name() : ""};
}

DataSpace read_data_space(const ConfigNode& node) {
  DataSpace space;
  space.name = node.at("name").as_name();
  require_few(node.at("projection"));
  for (const char* key : {"read_write", "read-write"}) {
    if (node.has(key)) space.written = lower_case(node.at(key).as_string()) == "true";
  }
  for (const ConfigNode& axis : node.at("projection").items()) {
    std::vector<std::pair<std::string, std::string>> terms;
    require_few(axis);
    for (const ConfigNode& term : axis.items()) terms.push_back(read_term(term));
    for (const auto& [loop, coefficient] : terms) space.loops.push_back(loop);
    const bool scaled = terms.size() == 1 && !terms[0].second.empty();
    if (terms.size() > 1 || scaled) space.sums.push_back(std::move(terms));
  }
  return space;
}

ProblemShape read_shape(const ConfigNode& node) {
  ProblemShape shape;
  require_few(node.at("dimensions"));
  for (const ConfigNode& loop : node.at("dimensions").items()) shape.loops.push_back(loop.as_name());
  if (const std::optional<ConfigNode> list = node.find("coefficients")) {
    require_few(*list);
    for (const ConfigNode& each : list->items()) {
      shape.coefficients[coefficient_key(each.at("name").as_name())] = each.get_int("default", 1, 1, kLargestSize);
    }
  }
  const std::string key = node.has("data_spaces") ? "data_spaces" : "data-spaces";
  require_few(node.at(key));
  for (const ConfigNode& space : node.at(key).items()) shape.spaces.push_back(read_data_space(space));
  return shape;
}

/// Timeloop's own convolution; `m` is what it calls output channels.
ProblemShape convolution_shape(const std::string& m, bool grouped) {
  ProblemShape shape;
  shape.loops = {"C", m, "R", "S", "N", "P", "Q"};
  if (grouped) shape.loops.emplace_back("G");
  for (const char* name : {"wstride", "hstride", "wdilation", "hdilation"}) shape.coefficients[name] = 1;
  DataSpace weights{.name = "Weights", .written = false, .loops = {"C", m, "R", "S"}, .sums = {}};
  DataSpace inputs{.name = "Inputs", .written = false, .loops = {"N", "C", "R", "P", "S", "Q"}, .sums = {}};
  DataSpace outputs{.name = "Outputs", .written = true, .loops = {"N", m, "P", "Q"}, .sums = {}};
  inputs.sums = {{{"R", "Wdilation"}, {"P", "Wstride"}}, {{"S", "Hdilation"}, {"Q", "Hstride"}}};
  for (DataSpace* space : {&weights, &inputs, &outputs}) {
    if (grouped) space->loops.emplace_back("G");
  }
  shape.spaces = {weights, inputs, outputs};
  return shape;
}

ProblemShape matrix_shape() {
  ProblemShape shape;
  shape.loops = {"M", "N", "K"};
  shape.spaces = {{.name = "A", .written = false, .loops = {"M", "K"}, .sums = {}},
                  {.name = "B", .written = false, .loops = {"N", "K"}, .sums = {}},
                  {.name = "Z", .written = true, .loops = {"M", "N"}, .sums = {}}};
  return shape;
}

/// The shape that sizes by these names belong to, when the file has none.
ProblemShape usual_shape(const ConfigNode& sizes) {
  const bool pixels = sizes.has("P") || sizes.has("Q") || sizes.has("R") || sizes.has("S") || sizes.has("C");
  if (!pixels && sizes.has("M") && sizes.has("N") && sizes.has("K")) return matrix_shape();
  if (sizes.has("M") && !sizes.has("K")) return convolution_shape("M", true);
  if (sizes.has("K") && !sizes.has("M")) return convolution_shape("K", sizes.has("G"));
  sizes.fail("neither M nor K, so what its loops are is not known. Write the shape into the file?");
}

/// One problem.
class ProblemReader {
 public:
  ProblemReader(const std::filesystem::path& file, std::vector<std::string>& remarks)
      : file_(file),
        remarks_(remarks),
        plain_(plain_text(read_file(file))),
        root_(ConfigNode::parse(plain_.text, printable(file.string(), kWholeText))) {}

  /// Nothing when the file states no sizes (it is there to be included).
  std::optional<GatheredLayer> read() {
    const ConfigNode problem = root_.has("problem") ? root_.at("problem") : root_;
    if (!problem.is_map()) {
      problem.fail("a problem is a map, with its sizes. Write e.g. problem: {instance: {C: 3, M: 64, ...}}");
    }
    const std::optional<ConfigNode> instance = problem.find("instance");
    const ConfigNode sizes = instance ? *instance : problem;
    const std::optional<ConfigNode> written = problem.find("shape");
    const bool inline_shape = written && written->is_map();
    if (!instance && !has_sizes(problem)) return std::nullopt;
    if (!sizes.is_map()) sizes.fail("sizes are a map. Write e.g. {C: 3, M: 64}");
    const ProblemShape shape = inline_shape ? read_shape(*written) : usual_shape(sizes);
    return layer_of(nest_of(shape, sizes));
  }

 private:
  static bool has_sizes(const ConfigNode& problem) {
    for (const char* loop : {"C", "K", "M", "N", "P", "Q", "R", "S"}) {
      if (problem.has(loop)) return true;
    }
    return false;
  }

  Nest nest_of(ProblemShape shape, const ConfigNode& sizes) {
    Nest nest;
    nest.name = file_.stem().string();
    nest.where = sizes.where();
    require_few(sizes);
    read_coefficients(shape, sizes);
    std::vector<std::string> missing;
    for (const std::string& loop : shape.loops) {
      NestLoop entry{.name = loop};
      if (sizes.has(loop)) {
        entry.size = sizes.at(loop).as_int(1, kLargestSize);
      } else {
        missing.push_back(loop);
      }
      nest.loops.push_back(entry);
    }
    say_missing(sizes, missing);
    place_loops(shape, nest);
    return nest;
  }

  /// Strides and dilations in any case: files write HStride where the shape says Hstride.
  void read_coefficients(ProblemShape& shape, const ConfigNode& sizes) {
    for (const std::string& key : sizes.keys()) {
      if (std::ranges::find(shape.loops, key) != shape.loops.end()) continue;
      const auto found = shape.coefficients.find(coefficient_key(key));
      if (found != shape.coefficients.end()) {
        found->second = sizes.at(key).as_int(1, kLargestSize);
      } else if (key != "shape" && key != "version" && key != "instance" && key != "name") {
        remark(fmt::format("'{}' of a problem is ignored", printable(key)));
      }
    }
  }

  void say_missing(const ConfigNode& sizes, const std::vector<std::string>& missing) {
    if (missing.empty()) return;
    if (!plain_.includes) {
      const std::vector<std::string> grouped{"G"};
      if (missing == grouped) return;
      sizes.fail(fmt::format("{} has no size. Add {}: 1 if it is not used", missing.front(), missing.front()));
    }
    remark(fmt::format("loops without a size are 1 (an included file may say otherwise, and is not opened): {}",
                       join(missing, ", ")));
  }

  /// Which tensor each loop selects in. The written one is the output; weights are called so, or have no windows, or
  /// come second.
  static void place_loops(const ProblemShape& shape, Nest& nest) {
    std::vector<const DataSpace*> read;
    const DataSpace* outputs = nullptr;
    for (const DataSpace& space : shape.spaces) {
      if (space.written) {
        outputs = &space;
      } else {
        read.push_back(&space);
      }
    }
    if (outputs == nullptr || read.size() != 2) {
      fail_import(nest.where, "a problem has two data spaces that are read and one with read_write: true");
    }
    const auto is_weights = [](const DataSpace* space) {
      const std::string name = lower_case(space->name);
      return name.find("weight") != std::string::npos || name.find("filter") != std::string::npos;
    };
    const bool first = is_weights(read[0]) || (!is_weights(read[1]) && read[0]->sums.empty() && !read[1]->sums.empty());
    const DataSpace& weights = *read[first ? 0 : 1];
    const DataSpace& inputs = *read[first ? 1 : 0];
    const auto has = [](const DataSpace& space, const std::string& loop) {
      return std::ranges::find(space.loops, loop) != space.loops.end();
    };
    bool shared = false;
    for (NestLoop& loop : nest.loops) {
      loop.of_weights = has(weights, loop.name);
      loop.of_inputs = has(inputs, loop.name);
      loop.of_outputs = has(*outputs, loop.name);
      shared = shared || (loop.size > 1 && loop.of_weights && loop.of_inputs && loop.of_outputs);
    }
    add_windows(shape, inputs, weights, nest);
    nest.trained = is_weights(&weights) || !nest.windows.empty() || !shared;
  }

  static void add_windows(const ProblemShape& shape, const DataSpace& inputs, const DataSpace& weights, Nest& nest) {
    const auto coefficient = [&](const std::string& name) {
      if (name.empty()) return std::int64_t{1};
      const auto found = shape.coefficients.find(coefficient_key(name));
      if (found == shape.coefficients.end()) {
        fail_import(
            nest.where,
            fmt::format("the coefficient '{0}' is not declared. Add it to coefficients: - {{name: {0}, default: 1}}",
                        printable(name)));
      }
      return found->second;
    };
    for (const auto& terms : inputs.sums) {
      NestWindow window;
      for (const auto& [loop, name] : terms) {
        const bool of_kernel = std::ranges::find(weights.loops, loop) != weights.loops.end();
        (of_kernel ? window.kernel : window.output) = loop;
        (of_kernel ? window.dilation : window.stride) = coefficient(name);
        if (lower_case(name).starts_with("w")) window.is_width = true;
      }
      if (window.kernel.empty() || window.output.empty() || terms.size() != 2) {
        fail_import(nest.where, "an axis of the inputs is no sum of an output loop and a kernel loop");
      }
      nest.windows.push_back(window);
    }
    if (nest.windows.size() == 2 && nest.windows[0].is_width == nest.windows[1].is_width) {
      nest.windows[0].is_width = false;
      nest.windows[1].is_width = true;
    }
  }

  void remark(const std::string& text) {
    if (std::ranges::find(remarks_, text) == remarks_.end()) remarks_.push_back(text);
  }

  std::filesystem::path file_;
  std::vector<std::string>& remarks_;
  PlainText plain_;
  ConfigNode root_;
};

std::vector<std::filesystem::path> problem_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string extension = lower_case(entry.path().extension().string());
    if (entry.is_regular_file() && (extension == ".yaml" || extension == ".yml")) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  if (files.empty()) {
    fail_import(printable(folder.string(), kWholeText),
                "a folder without YAML files. Name one with problems of Timeloop?");
  }
  return files;
}

}  // namespace

Gathered gather_timeloop(const std::filesystem::path& file) {
  Gathered gathered;
  std::error_code error;
  const bool folder = std::filesystem::is_directory(file, error);
  std::uint64_t without_sizes = 0;
  for (const std::filesystem::path& each : folder ? problem_files(file) : std::vector{file}) {
    std::optional<GatheredLayer> layer = ProblemReader(each, gathered.remarks).read();
    if (layer) {
      gathered.add(*std::move(layer));
    } else if (folder) {
      ++without_sizes;
    } else {
      fail_import(printable(file.string(), kWholeText),
                  "a problem without sizes. Add e.g. instance: {C: 3, M: 64, ...}");
    }
  }
  if (without_sizes > 0) {
    gathered.remarks.push_back(
        fmt::format("{} without sizes left out (parts that others include)", counted(without_sizes, "file")));
  }
  if (folder) gathered.name = std::filesystem::absolute(file).lexically_normal().parent_path().filename().string();
  if (folder && file.has_filename()) gathered.name = file.filename().string();
  return gathered;
}

}  // namespace hindsight::workload
