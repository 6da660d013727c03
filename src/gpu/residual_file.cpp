/// Reads and writes learned corrections: a YAML header and, in its last key, one line of text per tree.
///
/// The key before the trees is the hash of all other bytes of the file, so that no size, range or number of the header
/// can be edited unseen. A tree is in preorder: `F<T` is an inner node (feature F, threshold T; left child next), `=V`
/// a leaf in units of kLeafUnit.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "hindsight/core/config.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/text.h"
#include "hindsight/gpu/calibration.h"
#include "hindsight/gpu/residual.h"

namespace hindsight::gpu {
namespace {

constexpr std::string_view kTreesKey = "trees: |\n";
constexpr std::string_view kHashKey = "\nsha256: ";
constexpr std::size_t kMostTrees = 4096;  // [chosen] forty times those of the training
constexpr double kLeafUnit = 1e-5;        // [chosen] 100 leaves rounded so are off by less than 0.1 %

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& problem) {
  throw Error(ErrorKind::incompatible, fmt::format("{}: {}. Train it again with 'hindsight calibrate --residual'",
                                                   printable(file.string(), 400), problem));
}

/// One line of text as the nodes of a tree.
class TreeReader {
 public:
  TreeReader(const std::filesystem::path& file, std::vector<ResidualNode>& nodes) : file_(&file), nodes_(&nodes) {}

  void read(std::string_view line) {
    at_ = line.data();
    end_ = at_ + line.size();
    read_node(0);
    skip_blanks();
    if (at_ != end_) refuse(*file_, "a tree with nodes left over");
  }

 private:
  void skip_blanks() {
    while (at_ != end_ && *at_ == ' ') ++at_;
  }
  template <typename Number>
  Number number() {
    Number value{};
    const auto [next, error] = std::from_chars(at_, end_, value);
    if (error != std::errc{}) refuse(*file_, "a tree with text that is no number");
    at_ = next;
    return value;
  }
  void read_node(int depth) {
    constexpr int kDeepest = 64;  // [chosen] trees of the training have up to 9 levels
    skip_blanks();
    if (at_ == end_ || depth > kDeepest) refuse(*file_, "a tree that does not end");
    const std::size_t index = nodes_->size();
    nodes_->push_back({.value = 0, .feature = -1, .right = 0});
    if (*at_ == '=') {
      ++at_;
      (*nodes_)[index].value = static_cast<float>(kLeafUnit * number<int>());
      return;
    }
    const int feature = number<int>();
    if (feature < 0 || feature >= static_cast<int>(kResidualFeatures) || at_ == end_ || *at_ != '<') {
      refuse(*file_, "a tree with a feature that does not exist");
    }
    ++at_;
    (*nodes_)[index].feature = static_cast<std::int16_t>(feature);
    (*nodes_)[index].value = number<float>();
    read_node(depth + 1);
    (*nodes_)[index].right = static_cast<std::int32_t>(nodes_->size());
    read_node(depth + 1);
  }

  const std::filesystem::path* file_;
  std::vector<ResidualNode>* nodes_;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
};

Architecture read_architecture(const ConfigNode& node) {
  for (const Architecture one : kAllArchitectures) {
    if (node.as_string() == to_string(one)) return one;
  }
  node.fail("not an architecture");
}

std::vector<std::pair<double, double>> read_size_pairs(const ConfigNode& node) {
  std::vector<std::pair<double, double>> sizes;
  for (const std::string& text : split(node.as_string(), ' ')) {
    const std::vector<std::string> pair = split(text, 'x');
    const std::optional<std::int64_t> n = pair.size() == 2 ? parse_int(pair[0]) : std::nullopt;
    const std::optional<std::int64_t> k = pair.size() == 2 ? parse_int(pair[1]) : std::nullopt;
    if (!n || !k || *n < 1 || *k < 1) node.fail(fmt::format("'{}' is no pair of sizes NxK", printable(text)));
    sizes.emplace_back(std::log2(static_cast<double>(*n)), std::log2(static_cast<double>(*k)));
  }
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

/// The bytes that the hash is of: header and trees, without the key of the hash.
std::string hash_of(std::string_view header, std::string_view trees) {
  return sha256_hex(std::string(header) + std::string(trees)).substr(0, 16);
}

/// The parts of a file. Refuses another version, and what differs from its hash.
struct FileParts {
  std::string_view header;  ///< YAML
  std::string_view trees;
};
FileParts parts_of(std::string_view text, const std::filesystem::path& file) {
  constexpr std::string_view kVersionKey = "\nversion: ";
  const std::size_t version_at = text.find(kVersionKey), trees_at = text.find("\n" + std::string(kTreesKey));
  if (version_at == std::string_view::npos || trees_at == std::string_view::npos) {
    refuse(file, "no keys 'version' and 'trees': not a residual, or cut off");
  }
  std::string_view version = text.substr(version_at + kVersionKey.size());
  version = version.substr(0, version.find('\n'));
  if (version != std::to_string(kResidualVersion)) {
    refuse(file, fmt::format("a residual of version {}, this program reads {}", printable(version), kResidualVersion));
  }
  const FileParts parts{.header = text.substr(0, trees_at + 1), .trees = text.substr(trees_at + 1 + kTreesKey.size())};
  const std::size_t hash_at = parts.header.find(kHashKey);
  if (hash_at == std::string_view::npos) refuse(file, "no key 'sha256'");
  if (parts.header.substr(hash_at + kHashKey.size()) !=
      fmt::format("'{}'\n", hash_of(parts.header.substr(0, hash_at + 1), parts.trees))) {
    refuse(file, "header or trees differ from their hash (edited, or cut off)");
  }
  return parts;
}

void read_header(const ConfigNode& root, const std::filesystem::path& file, Residual& residual) {
  root.require_only_keys({"version", "gpu", "architecture", "dtype_class", "sms", "sheet", "constants", "data", "split",
                          "rows", "date", "command", "held_out_without", "held_out_with", "range", "features", "sizes",
                          "sha256"});
  residual.gpu = root.at("gpu").as_string();
  residual.architecture = read_architecture(root.at("architecture"));
  residual.dtype_class = read_dtype_class(root.at("dtype_class"));
  residual.sms = root.at("sms").as_double(kPositive);
  residual.sheet = root.at("sheet").as_string();
  residual.constants = root.at("constants").as_string();
  residual.data = root.at("data").as_string();
  residual.row_count = static_cast<std::size_t>(root.at("rows").as_int(1));
  if (root.has("date")) static_cast<void>(root.at("date").as_day());  // of the training: for a reader
  residual.range = read_range(root.at("range"));
  residual.sizes = read_size_pairs(root.at("sizes"));
  const std::vector<std::string> names(kResidualFeatureNames.begin(), kResidualFeatureNames.end());
  if (root.at("features").as_string() != join(names, " ")) refuse(file, "a residual of other features");
  const auto errors = [&](const char* key, double& mape_frac, double& median_frac) {
    const ConfigNode node = root.at(key);
    node.require_only_keys({"mape_frac", "median_frac"});
    mape_frac = node.at("mape_frac").as_double(kNonNegative);
    median_frac = node.at("median_frac").as_double(kNonNegative);
  };
  errors("held_out_without", residual.without_mape_frac, residual.without_median_frac);
  errors("held_out_with", residual.with_mape_frac, residual.with_median_frac);
}

void write_node(const Residual& residual, std::int32_t at, std::string& text) {
  const ResidualNode& node = residual.trees.nodes()[static_cast<std::size_t>(at)];
  if (node.feature < 0) {
    text += fmt::format(" ={}", std::lround(static_cast<double>(node.value) / kLeafUnit));
    return;
  }
  text += fmt::format(" {}<{}", node.feature, node.value);  // fmt: the shortest text that reads back
  write_node(residual, at + 1, text);
  write_node(residual, node.right, text);
}

}  // namespace

std::shared_ptr<const Residual> read_residual(const std::filesystem::path& file) {
  const std::string text = read_file(file);
  const auto [header, trees] = parts_of(text, file);
  auto residual = std::make_shared<Residual>();
  read_header(ConfigNode::parse(std::string(header), file.string()), file, *residual);
  std::vector<std::int32_t> roots;
  std::vector<ResidualNode> nodes;
  TreeReader reader(file, nodes);
  std::size_t from = 0;
  while (from < trees.size()) {
    const std::size_t end = std::min(trees.find('\n', from), trees.size());
    if (roots.size() == kMostTrees) refuse(file, fmt::format("more than {} trees", kMostTrees));
    roots.push_back(static_cast<std::int32_t>(nodes.size()));
    reader.read(trees.substr(from, end - from));
    from = end + 1;
  }
  if (roots.empty()) refuse(file, "no tree");
  residual->trees = ResidualTrees(std::move(roots), std::move(nodes));
  return residual;
}

std::string to_yaml(const Residual& residual, const std::string& command, const std::string& date) {
  std::string trees;
  for (const std::int32_t root : residual.trees.roots()) {
    trees += " ";
    write_node(residual, root, trees);
    trees += "\n";
  }
  std::vector<std::string> sizes;
  for (const auto& [n, k] : residual.sizes) {
    sizes.push_back(fmt::format("{}x{}", std::llround(std::exp2(n)), std::llround(std::exp2(k))));
  }
  const std::vector<std::string> names(kResidualFeatureNames.begin(), kResidualFeatureNames.end());
  const auto errors = [](double mape_frac, double median_frac) {
    return fmt::format("{{mape_frac: {:.4f}, median_frac: {:.4f}}}", mape_frac, median_frac);
  };
  const std::string header =
      fmt::format(
          "# Learned correction of the GEMM model, by `hindsight calibrate --residual`; docs/gpu.md says how it is "
          "gated.\nversion: {}\ngpu: {}\narchitecture: {}\ndtype_class: {}\nsms: {}\nsheet: '{}'\nconstants: '{}'\n"
          "data: {}\nsplit: five folds, grouped by (n, k)\nrows: {}\ndate: {}\ncommand: {}\n",
          kResidualVersion, yaml_quoted(residual.gpu), to_string(residual.architecture),
          to_string(residual.dtype_class), shortest(residual.sms), residual.sheet, residual.constants,
          yaml_quoted(residual.data), residual.row_count, date, yaml_quoted(command)) +
      fmt::format("held_out_without: {}\nheld_out_with: {}\nrange: {}\nfeatures: {}\nsizes: {}\n",
                  errors(residual.without_mape_frac, residual.without_median_frac),
                  errors(residual.with_mape_frac, residual.with_median_frac), to_yaml(residual.range),
                  yaml_quoted(join(names, " ")), yaml_quoted(join(sizes, " ")));
  return fmt::format("{}{}'{}'\n{}{}", header, kHashKey.substr(1), hash_of(header, trees), kTreesKey, trees);
}

}  // namespace hindsight::gpu
