/// A network shared out over several GPUs of one kind, tensor-parallel: an estimate, not validated.
///
/// Model [paper: megatron-2019]: between two all-reduces every GPU computes 1 / N of the work. Columns of a linear
/// layer are shared out while its inputs are whole; heads of an attention likewise; a layer that reads what is shared
/// out shares out its reduction instead, and its partial results are added up over all GPUs. A layer reads shared-out
/// data behind an attention, or where its reduction is as long as an earlier layer of the group has columns and differs
/// from the length that the group began with; layers in front of an attention read what is whole. Where lengths do not
/// tell, the network is refused. What is shared out at the end is gathered.
///   all-reduce of B bytes: launch + S * step + 2 (N - 1) / N * B / (efficiency * bandwidth),
///   all-gather likewise with half of both. S: 2 steps through a switch, 2 (N - 1) around a ring.
/// Results are told in 16 bits where products have 8.
/// Ignores: that experts of one block could add up before one all-reduce, that collectives and GEMMs may overlap, the
/// links' energy, pipeline and expert parallelism.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "hindsight/gpu/network.h"

namespace hindsight::gpu {

/// Largest number of GPUs in one machine. [chosen] an NVL72 rack is one switched domain
inline constexpr std::int64_t kMostDevices = 72;

/// How GPUs of one kind reach each other.
struct Link {
  double bytes_per_s = 0;  ///< one direction, all links of a GPU together
  bool switched = false;   ///< each reaches each other at that rate
  std::int64_t most = 1;   ///< GPUs that machines with such links have
  std::string what;        ///< "NVLink 4"
};
/// From data/links/gpus.yaml. Error{usage} for a GPU that it does not have, naming those it has.
[[nodiscard]] Link load_link(const std::string& gpu);
[[nodiscard]] bool has_link(const std::string& gpu);

/// What one of the GPUs computes, and what they tell each other.
struct SharedNetwork {
  workload::Network network;
  struct Collective {
    std::size_t layer = 0;  ///< index into Network::gemms(): whose results they are
    bool reduces = true;    ///< false: gathers
    double elements = 0;    ///< of the whole result
    double repeat = 1;
  };
  std::vector<Collective> collectives;  ///< in the network's order
};
/// Error{usage} naming a layer that is no linear layer or attention, or whose columns, heads or reduction are no
/// multiple of `devices`.
[[nodiscard]] SharedNetwork share_out(const workload::Network& network, std::int64_t devices);

/// Time of an all-reduce (or all-gather) of `bytes` on `devices` GPUs, s.
[[nodiscard]] double collective_s(const Link& link, bool reduces, double bytes, std::int64_t devices, double launch_s);

/// Bytes that a GPU holds at least: all parameters, keys and values of a cache, input and output of the largest layer.
[[nodiscard]] double resident_bytes(const workload::Network& network, DType dtype);

/// As predict_network() of one GPU's share: latency of an inference with its collectives (among `others`), energy and
/// DRAM bytes of all GPUs together, layers of one. `devices` = 1: the network itself. Errors: those of share_out() and
/// predict_network().
[[nodiscard]] NetworkPrediction predict_shared(const GpuSpec& spec, const Calibration& calibration,
                                               const workload::Network& network, DType dtype, const NetworkRun& run,
                                               std::int64_t devices, const Link& link);

}  // namespace hindsight::gpu
