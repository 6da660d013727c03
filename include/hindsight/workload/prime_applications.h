/// The nine applications of PRIME's study, as its paper describes them; the networks of the same names in
/// `data/workloads` are held against this table.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "hindsight/workload/network.h"

namespace hindsight::workload {

/// One row of the application table of PRIME (Kumar et al. 2022).
struct PrimeApplication {
  std::string_view name;  ///< of the network in `data/workloads`
  LayerCounts layers;
  double weights_mib;         ///< int8 weights; the paper prints MB and means MiB
  double instructions_bytes;  ///< compiled program on the paper's simulator
  double compute_ops;         ///< two per multiply-accumulate, pointwise operations included
};

/// In the paper's order. `load_networks("prime9")` loads them all.
[[nodiscard]] std::span<const PrimeApplication> prime_applications();

}  // namespace hindsight::workload
