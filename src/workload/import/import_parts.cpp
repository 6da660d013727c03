/// From gathered layers to a network: batches, names, checks.
#include "workload/import/import_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight::workload {
namespace {

constexpr std::size_t kLongestLayerName = 200;  // [chosen] longer ones fill reports

bool has_positions(const Layer& layer) {
  return layer.type != LayerType::fully_connected && layer.type != LayerType::matmul;
}

/// A dense convolution of one pixel at a time is a product over all pixels of all images.
bool is_pointwise(const Layer& layer) {
  return layer.type == LayerType::convolution && layer.groups == 1 && layer.kernel_height == 1 &&
         layer.kernel_width == 1 && layer.stride_height == 1 && layer.stride_width == 1 && layer.pad_top == 0 &&
         layer.pad_bottom == 0 && layer.pad_left == 0 && layer.pad_right == 0;
}

GatheredLayer as_product(GatheredLayer gathered, std::int64_t rows) {
  const Layer& from = gathered.layer;
  Layer product;
  product.name = from.name;
  product.type = LayerType::fully_connected;
  product.repeat = from.repeat;
  product.rows = rows;
  product.reduction = from.in_channels * from.kernel_height * from.kernel_width;
  product.columns = from.out_channels;
  product.has_bias = from.has_bias;
  product.batch_norm = from.batch_norm;
  product.after = from.after;
  return {.layer = std::move(product), .images = 1, .where = std::move(gathered.where)};
}

/// Divides a product by the batch of the network; says whether that goes.
bool divide_by(Layer& layer, std::int64_t batch) {
  if (layer.type == LayerType::fully_connected) {
    if (layer.rows % batch != 0) return false;
    layer.rows /= batch;
    return true;
  }
  const std::int64_t kv_heads = layer.kv_heads == 0 ? layer.heads : layer.kv_heads;
  if (kv_heads % batch != 0) return false;
  layer.heads /= batch;
  if (layer.kv_heads != 0) layer.kv_heads /= batch;
  return true;
}

/// The one number of images that all convolutions have; those that differ are turned into products where that is the
/// same work.
std::int64_t common_batch(std::vector<GatheredLayer>& layers) {
  std::int64_t batch = 0;
  const GatheredLayer* first = nullptr;
  for (const GatheredLayer& gathered : layers) {
    if (!has_positions(gathered.layer) || is_pointwise(gathered.layer)) continue;
    if (first == nullptr) {
      first = &gathered;
      batch = gathered.images;
    } else if (gathered.images != batch) {
      fail_import(gathered.where, about_layer(gathered.layer.name,
                                              fmt::format("{} images, but layer '{}' has {} (a network has one batch). "
                                                          "Split it into two networks?",
                                                          gathered.images, printable(first->layer.name), batch)));
    }
  }
  if (first == nullptr) batch = 1;
  for (GatheredLayer& gathered : layers) {
    if (!has_positions(gathered.layer) || gathered.images == batch) continue;
    const std::int64_t pixels = gathered.layer.in_height * gathered.layer.in_width;
    gathered = as_product(gathered, gathered.images * pixels);
  }
  return batch;
}

void make_names_unique(std::vector<GatheredLayer>& layers, std::vector<std::string>& remarks) {
  std::unordered_set<std::string> taken;
  for (GatheredLayer& gathered : layers) {
    gathered.layer.name = gathered.layer.name.empty() ? "layer" : printable(gathered.layer.name, kLongestLayerName);
    taken.insert(gathered.layer.name);
  }
  std::unordered_map<std::string, std::int64_t> seen;
  std::int64_t renamed = 0;
  std::string example;
  for (GatheredLayer& gathered : layers) {
    Layer& layer = gathered.layer;
    std::int64_t& number = seen[layer.name];
    if (++number == 1) continue;
    const std::string base = layer.name;
    do {
      layer.name = fmt::format("{}.{}", base, number);
    } while (!taken.insert(layer.name).second && ++number > 0);
    if (++renamed == 1) example = fmt::format("'{}' is '{}' now", printable(base), printable(layer.name));
  }
  if (renamed > 0) remarks.push_back(fmt::format("{} renamed, because names were given twice: {}", renamed, example));
}

}  // namespace

void OperatorCounts::add(std::string_view name) {
  const auto [place, fresh] = places_.try_emplace(std::string(name), list_.size());
  if (fresh) list_.push_back({.name = std::string(name), .count = 0});
  ++list_[place->second].count;
}

void Gathered::add(GatheredLayer layer) {
  constexpr std::size_t kMostLayers = 65'535;  // [chosen] items of a list in a workload file, which keeps the network
  if (layers.size() == kMostLayers) {
    fail_import(layer.where, fmt::format("more than {} layers, the most that a workload file holds. Write layers that "
                                         "repeat as one with a count, or split the network in two?",
                                         with_commas(kMostLayers)));
  }
  layers.push_back(std::move(layer));
}

void fail_import(std::string_view where, std::string_view problem) {
  throw Error(ErrorKind::usage, fmt::format("{}: {}", where, problem));
}

std::string about_layer(std::string_view name, std::string_view problem) {
  return fmt::format("layer '{}': {}", printable(name), problem);
}

GatheredLayer simplified(GatheredLayer gathered) {
  const Layer& layer = gathered.layer;
  const bool whole = layer.type == LayerType::convolution && layer.groups == 1 &&
                     layer.kernel_height == layer.in_height && layer.kernel_width == layer.in_width &&
                     layer.dilation_height == 1 && layer.dilation_width == 1 && layer.pad_top == 0 &&
                     layer.pad_bottom == 0 && layer.pad_left == 0 && layer.pad_right == 0;
  const bool in_range = layer.in_channels <= kLargestSize / std::max<std::int64_t>(layer.kernel_height, 1) /
                                                 std::max<std::int64_t>(layer.kernel_width, 1);
  return whole && in_range ? as_product(gathered, gathered.images) : gathered;
}

Network assembled(Gathered gathered, const std::string& name, const std::string& source,
                  std::vector<std::string>& remarks) {
  for (GatheredLayer& layer : gathered.layers) {
    const std::string problem = find_problem(layer.layer, layer.images);
    if (!problem.empty()) fail_import(layer.where, about_layer(layer.layer.name, problem));
    layer = simplified(std::move(layer));
  }
  const std::int64_t batch = common_batch(gathered.layers);
  make_names_unique(gathered.layers, gathered.remarks);
  remarks = std::move(gathered.remarks);
  std::vector<Layer> layers;
  layers.reserve(gathered.layers.size());
  for (GatheredLayer& each : gathered.layers) {
    if (!has_positions(each.layer) && !divide_by(each.layer, batch)) {
      fail_import(each.where, about_layer(each.layer.name, fmt::format("its rows or heads are no multiple of the {} "
                                                                       "images of the convolutions (a network has one "
                                                                       "batch). Import it with a batch of 1?",
                                                                       batch)));
    }
    const std::string problem = find_problem(each.layer, batch);
    if (!problem.empty()) fail_import(each.where, about_layer(each.layer.name, problem));
    layers.push_back(std::move(each.layer));
  }
  return {name, "", source, false, batch, std::move(layers), gathered.extra_parameters};
}

}  // namespace hindsight::workload
