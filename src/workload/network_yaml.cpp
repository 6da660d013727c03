/// Workload files: reading, writing, and finding them by name.
///
/// One flow map per layer; the format is described in docs/workloads.md. Every value is bounded, unknown keys are
/// refused, and a problem of a layer is reported at the line of that layer.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "hindsight/core/ascii.h"
#include "hindsight/core/config.h"
#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"
#include "hindsight/workload/network.h"
#include "hindsight/workload/prime_applications.h"
#include "hindsight/workload/synthetic.h"
#include "hindsight/workload/zoo.h"

namespace hindsight::workload {
namespace {

constexpr const char* kFolder = "data/workloads";
constexpr std::int64_t kFormatVersion = 1;
constexpr std::array<std::string_view, 10> kZoo{
    "deepseek_v3_decode",   "deepseek_v3_prefill", "llama3_70b_decode", "llama3_70b_prefill", "mixtral_8x7b_decode",
    "mixtral_8x7b_prefill", "sd15_unet",           "whisper_base",      "whisper_large_v2",   "whisper_large_v3"};
/// [chosen] Batches of 1, 8 and 64 where a server collects requests; of the mixture of experts one token alone, because
/// models and logs were made of this list before a mixture's batches read more experts.
constexpr std::array<std::string_view, 12> kDatacenter{
    "llama3_8b_decode",    "llama3_8b_decode@8", "llama3_8b_decode@64", "llama3_8b_prefill",
    "llama3_70b_decode@8", "llama3_70b_prefill", "mixtral_8x7b_decode", "bert_base@8",
    "bert_base@64",        "resnet50@64",        "vit_b_16@64",         "sd15_unet"};
constexpr const char* kAttention = "attention";
constexpr const char* kScores = ".scores";
constexpr const char* kValues = ".values";

std::int64_t size_at(const ConfigNode& node, const std::string& key) { return node.at(key).as_int(1, kLargestSize); }

std::int64_t size_or(const ConfigNode& node, const std::string& key, std::int64_t fallback) {
  return node.get_int(key, fallback, 1, kLargestSize);
}

/// `key: 3` or `key: [3, 5]` (height, width).
std::pair<std::int64_t, std::int64_t> read_pair(const ConfigNode& layer, const std::string& key) {
  const std::optional<ConfigNode> node = layer.find(key);
  if (!node) return {1, 1};
  if (!node->is_list()) {
    const std::int64_t value = node->as_int(1, kLargestSize);
    return {value, value};
  }
  const std::vector<ConfigNode> items = node->items();
  if (items.size() != 2) {
    node->fail(fmt::format("{} has {} values, but takes one, or [height, width]", key, items.size()));
  }
  return {items[0].as_int(1, kLargestSize), items[1].as_int(1, kLargestSize)};
}

void set_padding(Layer& layer, Padding height, Padding width) {
  layer.pad_top = height.before;
  layer.pad_bottom = height.after;
  layer.pad_left = width.before;
  layer.pad_right = width.after;
}

Padding same_padding_height(const Layer& layer) {
  return same_padding(layer.type, layer.in_height, layer.kernel_height, layer.stride_height, layer.dilation_height);
}

Padding same_padding_width(const Layer& layer) {
  return same_padding(layer.type, layer.in_width, layer.kernel_width, layer.stride_width, layer.dilation_width);
}

/// `pad: same`, `pad: 1`, `pad: [height, width]` or `pad: [top, bottom, left, right]`; none when absent.
void read_padding(const ConfigNode& node, Layer& layer) {
  const std::optional<ConfigNode> pad = node.find("pad");
  if (!pad) return;
  if (pad->is_list()) {
    std::vector<std::int64_t> values;
    for (const ConfigNode& item : pad->items()) values.push_back(item.as_int(0, kLargestSize));
    if (values.size() == 2) {
      set_padding(layer, {values[0], values[0]}, {values[1], values[1]});
    } else if (values.size() == 4) {
      set_padding(layer, {values[0], values[1]}, {values[2], values[3]});
    } else {
      pad->fail(
          fmt::format("pad has {} values, but takes same, one number, [height, width] or "
                      "[top, bottom, left, right]",
                      values.size()));
    }
    return;
  }
  const std::string text = pad->as_string();
  if (text == "same") {
    const bool too_far = layer.type == LayerType::transposed_convolution &&
                         (layer.stride_height > (layer.kernel_height - 1) * layer.dilation_height + 1 ||
                          layer.stride_width > (layer.kernel_width - 1) * layer.dilation_width + 1);
    if (too_far) pad->fail("pad: same of a transposed convolution needs a kernel at least as large as the stride");
    set_padding(layer, same_padding_height(layer), same_padding_width(layer));
    return;
  }
  if (!parse_int(text)) pad->fail(fmt::format("pad is '{}', but takes same, a number or a list of numbers", text));
  const std::int64_t value = pad->as_int(0, kLargestSize);
  set_padding(layer, {value, value}, {value, value});
}

void read_parameters(const ConfigNode& node, Layer& layer) {
  const std::optional<ConfigNode> norm = node.find("batch_norm");
  layer.batch_norm = norm && norm->as_bool();
  const std::optional<ConfigNode> bias = node.find("bias");
  layer.has_bias = bias ? bias->as_bool() : !layer.batch_norm;
}

/// `after: [add, norm]`: what runs over the layer's outputs; nothing when absent.
VectorWorks read_after(const ConfigNode& node) {
  VectorWorks after;
  const std::optional<ConfigNode> list = node.find("after");
  if (!list) return after;
  for (const ConfigNode& item : list->items()) {
    const std::string name = item.as_string();
    const std::vector<std::string> known = vector_work_names();
    const auto found = std::ranges::find(known, name);
    if (found == known.end()) item.fail(unknown_name("work after a layer", name, known));
    const auto work = static_cast<VectorWork>(found - known.begin());
    if (after.has(work)) item.fail(fmt::format("'{}' stands twice (each runs once)", name));
    after.add(work);
  }
  return after;
}

Layer read_convolution(const ConfigNode& node, Layer layer) {
  node.require_only_keys({"name", "type", "repeat", "in", "out", "kernel", "stride", "dilation", "pad", "groups",
                          "bias", "batch_norm", "after"});
  const ConfigNode in = node.at("in");
  const std::vector<ConfigNode> sizes = in.items();
  if (sizes.size() != 3) in.fail(fmt::format("in has {} values, but is [height, width, channels]", sizes.size()));
  layer.in_height = sizes[0].as_int(1, kLargestSize);
  layer.in_width = sizes[1].as_int(1, kLargestSize);
  layer.in_channels = sizes[2].as_int(1, kLargestSize);
  const bool depthwise = layer.type == LayerType::depthwise_convolution;
  layer.out_channels = depthwise ? size_or(node, "out", layer.in_channels) : size_at(node, "out");
  layer.groups = size_or(node, "groups", depthwise ? layer.in_channels : 1);
  std::tie(layer.kernel_height, layer.kernel_width) = read_pair(node, "kernel");
  std::tie(layer.stride_height, layer.stride_width) = read_pair(node, "stride");
  std::tie(layer.dilation_height, layer.dilation_width) = read_pair(node, "dilation");
  // Bounded before padding is derived from it, so that no product leaves 64 bits.
  if (layer.dilation_height > kLargestSize / layer.kernel_height ||
      layer.dilation_width > kLargestSize / layer.kernel_width) {
    node.fail(fmt::format("layer '{}': the dilated kernel is larger than {} pixels", layer.name, kLargestSize));
  }
  read_padding(node, layer);
  read_parameters(node, layer);
  layer.after = read_after(node);
  return layer;
}

/// Scores: queries (query_length x head_dim) times transposed keys; values: scores times values. Both per head.
std::array<Layer, 2> expand_attention(const ConfigNode& node, const Layer& common) {
  node.require_only_keys({"name", "type", "repeat", "heads", "kv_heads", "query_length", "key_length", "head_dim"});
  Layer scores = common;
  scores.type = LayerType::matmul;
  scores.name = common.name + kScores;
  scores.has_bias = false;
  scores.heads = size_at(node, "heads");
  scores.kv_heads = node.has("kv_heads") ? size_at(node, "kv_heads") : 0;
  scores.rows = size_at(node, "query_length");
  scores.columns = size_or(node, "key_length", scores.rows);
  scores.reduction = size_at(node, "head_dim");
  Layer values = scores;
  values.name = common.name + kValues;
  std::swap(values.columns, values.reduction);
  return {scores, values};
}

LayerType read_type(const ConfigNode& node) {
  std::vector<std::string> names{kAttention};
  const std::string name = node.as_string();
  for (const LayerType type : {LayerType::convolution, LayerType::depthwise_convolution,
                               LayerType::transposed_convolution, LayerType::fully_connected, LayerType::matmul}) {
    names.push_back(to_string(type));
    if (names.back() == name) return type;
  }
  node.fail(unknown_name("layer type", name, names));
}

/// `experts: 8, experts_per_token: 2`: both, or neither for a layer that is in no group.
void read_experts(const ConfigNode& node, Layer& layer) {
  const bool grouped = node.has("experts");
  if (grouped != node.has("experts_per_token")) {
    node.fail(
        fmt::format("layer '{}' has {} (how many of a group's experts a token asks follows from both). Add {}, or "
                    "remove {}?",
                    layer.name, grouped ? "experts without experts_per_token" : "experts_per_token without experts",
                    grouped ? "experts_per_token" : "experts", grouped ? "experts" : "experts_per_token"));
  }
  if (!grouped) return;
  layer.experts = size_at(node, "experts");
  layer.experts_per_token = size_at(node, "experts_per_token");
}

/// Before the type tells which keys there may be: names a misspelt `name` or `type` as such.
void require_layer_keys(const ConfigNode& node) {
  static const std::array<std::string, 23> kKeys = {
      "name",   "type",     "repeat",       "in",         "out",     "kernel",
      "stride", "dilation", "pad",          "groups",     "bias",    "batch_norm",
      "after",  "rows",     "reduction",    "columns",    "experts", "experts_per_token",
      "heads",  "kv_heads", "query_length", "key_length", "head_dim"};
  if (!node.has("name") || !node.has("type")) node.require_only_keys(kKeys);
}

std::vector<Layer> read_layer(const ConfigNode& node) {
  require_layer_keys(node);
  Layer layer;
  layer.name = node.at("name").as_name();
  layer.repeat = size_or(node, "repeat", 1);
  if (node.at("type").as_string() == kAttention) {
    const auto [scores, values] = expand_attention(node, layer);
    return {scores, values};
  }
  layer.type = read_type(node.at("type"));
  if (layer.type == LayerType::fully_connected) {
    node.require_only_keys({"name", "type", "repeat", "rows", "reduction", "columns", "experts", "experts_per_token",
                            "bias", "batch_norm", "after"});
    read_parameters(node, layer);
    read_experts(node, layer);
    layer.rows = size_or(node, "rows", 1);
  } else if (layer.type == LayerType::matmul) {
    node.require_only_keys({"name", "type", "repeat", "rows", "reduction", "columns", "heads", "kv_heads", "after"});
    layer.has_bias = false;
    layer.rows = size_at(node, "rows");
    layer.heads = size_or(node, "heads", 1);
    layer.kv_heads = node.has("kv_heads") ? size_at(node, "kv_heads") : 0;
  } else {
    return {read_convolution(node, layer)};
  }
  layer.reduction = size_at(node, "reduction");
  layer.columns = size_at(node, "columns");
  layer.after = read_after(node);
  return {layer};
}

std::vector<Layer> read_layers(const ConfigNode& list, std::int64_t batch) {
  const std::vector<ConfigNode> items = list.items();
  if (items.empty()) list.fail("a network without layers. Add at least one");
  std::vector<Layer> layers;
  std::unordered_map<std::string, std::string> first_seen;
  for (const ConfigNode& item : items) {
    for (Layer& layer : read_layer(item)) {
      const auto [seen, is_new] = first_seen.emplace(layer.name, item.where());
      if (!is_new) item.fail(fmt::format("layer '{}' is already defined at {}", layer.name, seen->second));
      const std::string problem = find_problem(layer, batch);
      if (!problem.empty()) item.fail(fmt::format("layer '{}': {}", printable(layer.name), problem));
      layers.push_back(std::move(layer));
    }
  }
  return layers;
}

Network read_network(const ConfigNode& root) {
  root.require_only_keys(
      {"format", "name", "description", "source", "stand_in", "batch", "extra_parameters", "layers"});
  const std::int64_t format = root.get_int("format", kFormatVersion);
  if (format != kFormatVersion) {
    throw Error(ErrorKind::incompatible, fmt::format("{}: workload format {} (this version reads format {})",
                                                     root.at("format").where(), format, kFormatVersion));
  }
  const std::int64_t batch = size_or(root, "batch", 1);
  ExtraParameters extra;
  if (const std::optional<ConfigNode> node = root.find("extra_parameters")) {
    node->require_only_keys({"count", "what"});
    extra.count = node->at("count").as_int(1, kLargestExactInteger);
    extra.what = node->at("what").as_string();
  }
  const std::optional<ConfigNode> marked = root.find("stand_in");
  const bool stand_in = marked && marked->as_bool();
  std::string name = root.at("name").as_name();
  std::string description = root.get_string("description", ""), source = root.get_string("source", "");
  std::vector<Layer> layers = read_layers(root.at("layers"), batch);
  try {
    return {std::move(name), std::move(description), std::move(source), stand_in, batch, std::move(layers), extra};
  } catch (const Error& error) {
    root.fail(error.what());
  }
}

/// A plain scalar where YAML reads it back as the same string, else double-quoted.
std::string quoted(const std::string& text, bool always) {
  const bool plain = !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '-' || c == '/';
  });
  const bool starts_safely = plain && text[0] != '-' && text[0] != '.';
  if (!always && starts_safely && text != "null" && text != "Null" && text != "NULL") return text;
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::string pair_text(std::string_view key, std::int64_t height, std::int64_t width) {
  if (height == 1 && width == 1) return {};
  if (height == width) return fmt::format(", {}: {}", key, height);
  return fmt::format(", {}: [{}, {}]", key, height, width);
}

std::string padding_text(const Layer& layer) {
  const Padding height{layer.pad_top, layer.pad_bottom};
  const Padding width{layer.pad_left, layer.pad_right};
  if (height == Padding{} && width == Padding{}) return {};
  if (height == same_padding_height(layer) && width == same_padding_width(layer)) return ", pad: same";
  if (height.before != height.after || width.before != width.after) {
    return fmt::format(", pad: [{}, {}, {}, {}]", height.before, height.after, width.before, width.after);
  }
  if (height == width) return fmt::format(", pad: {}", height.before);
  return fmt::format(", pad: [{}, {}]", height.before, width.before);
}

std::string parameters_text(const Layer& layer) {
  std::string text;
  if (layer.has_bias == layer.batch_norm) text += layer.has_bias ? ", bias: true" : ", bias: false";
  if (layer.batch_norm) text += ", batch_norm: true";
  return text;
}

std::string after_text(const Layer& layer) {
  if (!layer.after.any()) return {};
  std::vector<std::string_view> names;
  for (const VectorWork work : layer.after.list()) names.push_back(to_string(work));
  return fmt::format(", after: [{}]", fmt::join(names, ", "));
}

std::string opening(const std::string& name, std::string_view type, std::int64_t repeat) {
  std::string text = fmt::format("  - {{name: {}, type: {}", quoted(name, false), type);
  if (repeat != 1) text += fmt::format(", repeat: {}", repeat);
  return text;
}

std::string heads_text(const Layer& layer) {
  std::string text;
  if (layer.heads != 1) text += fmt::format(", heads: {}", layer.heads);
  if (layer.kv_heads != 0) text += fmt::format(", kv_heads: {}", layer.kv_heads);
  return text;
}

std::string experts_text(const Layer& layer) {
  if (layer.experts == 0) return {};
  return fmt::format(", experts: {}, experts_per_token: {}", layer.experts, layer.experts_per_token);
}

std::string layer_text(const Layer& layer) {
  std::string text = opening(layer.name, to_string(layer.type), layer.repeat);
  if (layer.type == LayerType::fully_connected || layer.type == LayerType::matmul) {
    const bool matmul = layer.type == LayerType::matmul;
    if (matmul || layer.rows != 1) text += fmt::format(", rows: {}", layer.rows);
    text += fmt::format(", reduction: {}, columns: {}", layer.reduction, layer.columns);
    return text + (matmul ? heads_text(layer) : experts_text(layer) + parameters_text(layer)) + after_text(layer) +
           "}\n";
  }
  const bool depthwise = layer.type == LayerType::depthwise_convolution;
  text += fmt::format(", in: [{}, {}, {}]", layer.in_height, layer.in_width, layer.in_channels);
  if (!depthwise || layer.out_channels != layer.in_channels) text += fmt::format(", out: {}", layer.out_channels);
  text += pair_text("kernel", layer.kernel_height, layer.kernel_width);
  text += pair_text("stride", layer.stride_height, layer.stride_width);
  text += pair_text("dilation", layer.dilation_height, layer.dilation_width);
  text += padding_text(layer);
  if (!depthwise && layer.groups != 1) text += fmt::format(", groups: {}", layer.groups);
  return text + parameters_text(layer) + after_text(layer) + "}\n";
}

/// The attention layer that expands to exactly these two, if there is one.
std::optional<std::string> attention_text(const Layer& scores, const Layer& values) {
  if (scores.type != LayerType::matmul || !scores.name.ends_with(kScores)) return std::nullopt;
  const std::string name = scores.name.substr(0, scores.name.size() - std::string_view(kScores).size());
  Layer expected = scores;
  expected.name = name + kValues;
  std::swap(expected.columns, expected.reduction);
  if (name.empty() || values != expected || scores.after.any()) return std::nullopt;
  std::string text = opening(name, kAttention, scores.repeat);
  text += fmt::format(", heads: {}", scores.heads);
  if (scores.kv_heads != 0) text += fmt::format(", kv_heads: {}", scores.kv_heads);
  text += fmt::format(", query_length: {}", scores.rows);
  if (scores.columns != scores.rows) text += fmt::format(", key_length: {}", scores.columns);
  return text + fmt::format(", head_dim: {}}}\n", scores.reduction);
}

}  // namespace

Network parse_network(const std::string& text, const std::string& file_name) {
  return read_network(ConfigNode::parse(text, file_name));
}

namespace {

/// The network's name, without the "@BATCH" of its own batch: one that was exported at a batch and runs at another.
std::string name_without_batch(const Network& network) {
  const std::string own = fmt::format("@{}", network.batch());
  return network.name().ends_with(own) ? network.name().substr(0, network.name().size() - own.size()) : network.name();
}

/// "NAME@BATCH", with the '@' at this place; the network gets that name, of a file its own in place of the path.
Network at_batch(const std::string& text, std::size_t at) {
  const std::string digits = text.substr(at + 1);
  const std::optional<std::int64_t> batch = parse_int(digits);
  if (!batch || *batch < 1 || *batch > kLargestBatch) {
    throw Error(ErrorKind::usage,
                fmt::format("workload '{}': '{}' is no batch. Write NAME@BATCH with a whole number from 1 to {}.",
                            printable(text), printable(digits), kLargestBatch));
  }
  const Network network = load_network(text.substr(0, at));
  return network.with_batch(*batch).with_name(fmt::format("{}@{}", name_without_batch(network), *batch));
}

/// Refuses a list or a named set of networks, where no file is called so.
void require_one(const std::string& text) {
  std::error_code error;
  if (text.empty() || std::filesystem::exists(text, error)) return;
  const std::vector<std::string> names = names_in_list(text);
  if (names.size() == 1) return;
  throw Error(ErrorKind::usage, fmt::format("'{}' is {} networks, and one is wanted. Name one of them, e.g. {}",
                                            printable(text), names.size(), names.front()));
}

/// Files of other tools are told by their endings, as `workload import` tells them.
void require_workload_file(const std::filesystem::path& file) {
  constexpr std::array<std::string_view, 4> kOfOthers{".csv", ".tsv", ".onnx", ".m"};
  const std::string ending = lower_case(file.extension().string());
  if (std::find(kOfOthers.begin(), kOfOthers.end(), ending) == kOfOthers.end()) return;
  constexpr std::size_t kShown = 100;  // [chosen] a path that is cut would not work
  const bool fits = file.string().size() <= kShown;
  const auto word = [&](const std::string& text, const char* instead) {
    return fits ? shell_quoted(printable(text)) : std::string(instead);
  };
  throw Error(ErrorKind::usage,
              fmt::format("{}: is no workload file. Make one of another tool's network: hindsight workload import {} "
                          "--out {}",
                          printable(file.string(), kShown), word(file.string(), "FILE"),
                          word(file.stem().string() + ".yaml", "NET.yaml")));
}

}  // namespace

Network load_network(const std::string& name_or_path) {
  if (names_synthetic_set(name_or_path)) {
    const std::vector<std::string> names = synthetic_names(name_or_path);
    if (names.size() == 1) return load_network(names.front());
    throw Error(ErrorKind::usage, fmt::format("'{0}' is {1} networks, and one is wanted. Name one of them, e.g. {0}/0",
                                              printable(name_or_path), names.size()));
  }
  require_one(name_or_path);
  if (const std::size_t at = name_or_path.rfind('@'); at != std::string::npos && !std::filesystem::exists(name_or_path))
    return at_batch(name_or_path, at);
  if (std::optional<Network> synthetic = find_synthetic(name_or_path)) return *std::move(synthetic);
  const std::filesystem::path file = find_data_file(name_or_path, kFolder, "workload");
  require_workload_file(file);
  return read_network(ConfigNode::load(file));
}

std::span<const std::string_view> zoo_networks() { return kZoo; }

std::vector<std::string> names_of(const std::string& piece) {
  if (piece == "zoo") return list_data_files(kFolder);
  if (piece == "all") {
    std::vector<std::string> names = list_data_files(kFolder);
    std::erase_if(names, [](const std::string& name) { return std::ranges::find(kZoo, name) != kZoo.end(); });
    return names;
  }
  if (names_synthetic_set(piece)) return synthetic_names(piece);
  if (piece == "datacenter") return {kDatacenter.begin(), kDatacenter.end()};
  if (piece != "prime9") return {piece};
  std::vector<std::string> names;
  for (const PrimeApplication& application : prime_applications()) names.emplace_back(application.name);
  return names;
}

std::vector<std::string> pieces_of_list(const std::string& list, const std::vector<std::string>& known) {
  const std::set<std::string_view> names(known.begin(), known.end());
  const auto is_file = [](const std::string& text) {
    std::error_code error;
    return std::filesystem::is_regular_file(text, error);
  };
  const auto is_name = [&](const std::string& text) {
    if (names.contains(text) || is_file(text)) return true;
    const std::size_t at = text.rfind('@');
    return at != std::string::npos && text.find(',', at) == std::string::npos && is_file(text.substr(0, at));
  };
  std::vector<std::string> pieces = split_names(list, std::max(kMostCommasOfFile, most_commas_in(known)), is_name);
  if (std::ranges::find(pieces, "") != pieces.end()) {
    throw Error(ErrorKind::usage,
                fmt::format("empty name in workload list '{}'. Remove the extra comma?", printable(list)));
  }
  return pieces;
}

std::vector<std::string> names_in_list(const std::string& list, const std::vector<std::string>& known) {
  std::vector<std::string> names;
  std::set<std::string> once;
  for (const std::string& piece : pieces_of_list(list, known)) {
    for (const std::string& name : names_of(piece)) {
      if (once.insert(name).second) names.push_back(name);
    }
  }
  return names;
}

std::vector<Network> load_networks(const std::string& list) {
  const std::vector<std::string> names = names_in_list(list);
  std::vector<Network> networks;
  std::map<std::string, std::string> origin;
  for (const std::string& name : names) {
    networks.push_back(load_network(name));
    const auto [first, is_new] = origin.emplace(networks.back().name(), name);
    if (!is_new) {
      throw Error(ErrorKind::usage,
                  fmt::format("'{}' and '{}' both define a network named '{}' (results are told apart "
                              "by name). Rename one?",
                              first->second, name, first->first));
    }
  }
  return networks;
}

std::string to_yaml(const Network& network) {
  std::string text = fmt::format("format: {}\nname: {}\n", kFormatVersion, quoted(network.name(), false));
  text +=
      fmt::format("description: {}\nsource: {}\n", quoted(network.description(), true), quoted(network.source(), true));
  if (network.stand_in()) text += "stand_in: true\n";
  text += fmt::format("batch: {}\n", network.batch());
  if (network.extra_parameters().count > 0) {
    text += fmt::format("extra_parameters: {{count: {}, what: {}}}\n", network.extra_parameters().count,
                        quoted(network.extra_parameters().what, true));
  }
  text += "layers:\n";
  const std::vector<Layer>& layers = network.layers();
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::optional<std::string> attention =
        i + 1 < layers.size() ? attention_text(layers[i], layers[i + 1]) : std::nullopt;
    text += attention ? *attention : layer_text(layers[i]);
    if (attention) ++i;
  }
  return text;
}

}  // namespace hindsight::workload
