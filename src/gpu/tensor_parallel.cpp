/// Shares a network out over GPUs, and adds what they tell each other.
#include "hindsight/gpu/tensor_parallel.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "hindsight/core/config.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"

namespace hindsight::gpu {
namespace {

constexpr double kLinkEfficiency = 0.8;  // [data: nccl-busbw] 230 to 250 of 300 GB/s on eight A100
constexpr double kStepSeconds = 1.5e-6;  // [data: nvlink-latency] 1 to 2 us from GPU to GPU

/// Results that GPUs tell each other: those of 8-bit products as 16 bits.
double told_bytes(double elements, DType dtype) {
  constexpr double kTold8BitBytes = 2;  // [chosen] scaled back before they are added up or stored
  return elements * (input_bytes(dtype) == 1 ? kTold8BitBytes : output_bytes(dtype));
}

/// Follows which results are whole and which are shared out.
class Sharing {
 public:
  Sharing(const workload::Network& network, std::int64_t devices) : network_(network), devices_(devices) {}

  SharedNetwork run() {
    std::vector<workload::Layer> layers = network_.layers();
    for (std::size_t i = 0; i < layers.size(); ++i) {
      if (layers[i].type == workload::LayerType::matmul) {
        share_attention(layers[i]);
      } else if (layers[i].type == workload::LayerType::fully_connected) {
        share_linear(layers[i], i, attends_next(layers, i));
      } else {
        fail(layers[i], "is a convolution: only linear layers and attention are shared out");
      }
    }
    if (shared_) tell(layers.size() - 1, false);
    return {.network = workload::Network(
                network_.name(), network_.description(), network_.source(), network_.stand_in(), network_.batch(),
                std::move(layers),
                {.count = network_.extra_parameters().count / devices_, .what = network_.extra_parameters().what}),
            .collectives = std::move(collectives_)};
  }

 private:
  void share_attention(workload::Layer& layer) {
    if (layer.kv_heads > 0) layer.kv_heads = divided(layer, layer.kv_heads, "key/value heads");
    layer.heads = divided(layer, layer.heads, "heads");
    shared_ = attended_ = true;
  }

  /// Whether the next layer that is not linear is an attention: until then all read the same whole input.
  static bool attends_next(const std::vector<workload::Layer>& layers, std::size_t i) {
    while (i < layers.size() && layers[i].type == workload::LayerType::fully_connected) ++i;
    return i < layers.size() && layers[i].type == workload::LayerType::matmul;
  }

  /// What a layer reads, whole or shared out, by its length. Refuses what the lengths do not tell.
  [[nodiscard]] bool reads_shared(const workload::Layer& layer, bool attends_next) const {
    const bool whole = layer.reduction == first_reduction_, shared = shared_columns_.contains(layer.reduction);
    if (!shared_) {
      if (layer.repeat > 1 && layer.columns == layer.reduction && !attends_next) {
        fail(layer, "repeats a square product: its sizes do not tell what reads its results");
      }
      return false;
    }
    if (attended_) return true;
    if (whole && shared && !attends_next) fail(layer, "reads as many values as are whole and as are shared out");
    if (!whole && !shared) fail(layer, fmt::format("reads {} values, which no layer before it has", layer.reduction));
    return !whole;
  }

  void share_linear(workload::Layer& layer, std::size_t i, bool attends_next) {
    if (reads_shared(layer, attends_next)) {
      layer.reduction = divided(layer, layer.reduction, "products added");
      tell(i, true);
      shared_columns_.clear();
      shared_ = attended_ = false;
      return;
    }
    if (!shared_) first_reduction_ = layer.reduction;
    shared_columns_.insert(layer.columns);
    layer.columns = divided(layer, layer.columns, "columns");
    shared_ = true;
  }

  /// The results of every GEMM of a layer. What is shared out keeps its rows and so its GEMMs' places.
  void tell(std::size_t layer, bool reduces) {
    for (std::size_t i = 0; i < network_.gemms().size(); ++i) {
      if (network_.gemm_layers()[i] != layer) continue;
      const workload::GemmLayer& whole = network_.gemms()[i];
      collectives_.push_back(
          {.layer = i,
           .reduces = reduces,
           .elements = static_cast<double>(whole.m) * static_cast<double>(whole.n) * static_cast<double>(whole.count),
           .repeat = static_cast<double>(whole.repeat)});
    }
  }

  [[nodiscard]] std::int64_t divided(const workload::Layer& layer, std::int64_t size, const char* what) const {
    if (size % devices_ != 0) {
      fail(layer, fmt::format("has {} {}, no multiple of {} GPUs", size, what, devices_),
           "Choose another number of --devices, or 1");
    }
    return size / devices_;
  }
  /// Where the number is not what stands in the way, no other one helps.
  [[noreturn]] void fail(const workload::Layer& layer, const std::string& problem,
                         const char* remedy = "No number of GPUs shares it out: leave --devices out") const {
    throw Error(ErrorKind::usage, fmt::format("{}: layer '{}' {}. {}", network_.name(), layer.name, problem, remedy));
  }

  const workload::Network& network_;
  std::int64_t devices_;
  bool shared_ = false;               ///< results of the last layer are shared out
  bool attended_ = false;             ///< since the last all-reduce
  std::int64_t first_reduction_ = 0;  ///< of the first layer since then
  std::set<std::int64_t> shared_columns_;
  std::vector<SharedNetwork::Collective> collectives_;
};

std::map<std::string, Link> read_links() {
  const ConfigNode root = ConfigNode::load(find_data_file("gpus", "data/links", "links"));
  root.require_only_keys({"links"});
  std::map<std::string, Link> links;
  for (const ConfigNode& node : root.at("links").items()) {
    node.require_only_keys({"gpu", "gb_per_s", "switched", "most", "source", "what"});
    links[node.at("gpu").as_name()] = {.bytes_per_s = node.at("gb_per_s").as_double(kPositive) * units::kGiga,
                                       .switched = node.at("switched").as_bool(),
                                       .most = node.at("most").as_int(1, kMostDevices),
                                       .what = node.at("what").as_string()};
  }
  return links;
}

}  // namespace

Link load_link(const std::string& gpu) {
  const std::map<std::string, Link> links = read_links();
  if (const auto link = links.find(gpu); link != links.end()) return link->second;
  std::vector<std::string> known;
  for (const auto& [name, link] : links) known.push_back(name);
  throw Error(ErrorKind::usage, fmt::format("{}: no links between GPUs of this kind are known. --devices takes: {}",
                                            printable(gpu), join(known, ", ")));
}

bool has_link(const std::string& gpu) { return read_links().contains(gpu); }

SharedNetwork share_out(const workload::Network& network, std::int64_t devices) {
  HINDSIGHT_EXPECT(devices >= 1 && devices <= kMostDevices);
  return Sharing(network, devices).run();
}

double collective_s(const Link& link, bool reduces, double bytes, std::int64_t devices, double launch_s) {
  const auto n = static_cast<double>(devices);
  const double rounds = (reduces ? 2 : 1) * (link.switched ? 1 : n - 1);
  const double passes = (reduces ? 2 : 1) * (n - 1) / n;
  return launch_s + rounds * kStepSeconds + passes * bytes / (kLinkEfficiency * link.bytes_per_s);
}

double resident_bytes(const workload::Network& network, DType dtype) {
  double activations = 0, cached = 0;  // elements; int8: one byte is one
  for (const workload::GemmLayer& gemm : network.gemms()) {
    activations = std::max(activations, gemm.input_bytes + gemm.output_bytes);
    if (gemm.from_earlier_passes) cached += static_cast<double>(gemm.repeat) * gemm.weight_bytes;
  }
  return (network.totals().parameters + cached + activations) * input_bytes(dtype);
}

NetworkPrediction predict_shared(const GpuSpec& spec, const Calibration& calibration, const workload::Network& network,
                                 DType dtype, const NetworkRun& run, std::int64_t devices, const Link& link) {
  if (devices == 1) return predict_network(spec, calibration, network, dtype, run);
  const SharedNetwork shared = share_out(network, devices);
  NetworkPrediction sum = predict_network(spec, calibration, shared.network, dtype, run);
  const double launch_s = calibration.constants.launch_cycles / spec.boost_hz, idle_w = spec.idle_w(spec.boost_hz);
  for (const SharedNetwork::Collective& one : shared.collectives) {
    OtherLayer told{.kind = one.reduces ? OtherKind::all_reduce : OtherKind::all_gather,
                    .layer = one.layer,
                    .repeat = one.repeat,
                    .prediction = {}};
    OtherPrediction& p = told.prediction;
    p.terms.launch_s = launch_s;
    p.latency_s = collective_s(link, one.reduces, told_bytes(one.elements, dtype), devices, launch_s);
    p.terms.link_s = p.latency_s - launch_s;
    p.bound = p.terms.link_s > launch_s ? Bound::latency : Bound::launch;
    p.average_power_w = idle_w;
    p.energy_j = idle_w * p.latency_s;
    sum.latency_s += told.repeat * p.latency_s;
    sum.other_latency_s += told.repeat * p.latency_s;
    sum.energy_j += told.repeat * p.energy_j;
    sum.others.push_back(told);
  }
  const auto n = static_cast<double>(devices);
  sum.energy_j *= n;
  sum.dram_bytes *= n;
  sum.ops *= n;
  sum.other_ops *= n;
  sum.in_validated_range = sum.power_in_validated_range = false;
  return sum;
}

}  // namespace hindsight::gpu
