/// MAESTRO as a configuration of the shared terms.
///
/// Model: steps of one tile; a cluster is one step of the level above, and every level overlaps transfers with
/// work from its second step on.
/// Source: cost-model/include/cost-analysis/CA_cost-analysis-engine.hpp, AnalyzeClusterLevel_V2 [paper: maestro].
#include <cmath>

#include "hindsight/accel/peers.h"

namespace hindsight::accel::peers {
namespace {

/// What one step does.
struct Step {
  double macs_per_pe = 1;
  double cluster_ingress_elements = 0;  ///< into one cluster: what its PEs receive together
  double ingress_elements = 0;          ///< into all clusters
  double egress_elements = 0;
};

MaestroCost pipeline(const MaestroArchitecture& architecture, double steps, const Step& step) {
  const double noc = architecture.noc_elements_per_cycle;
  MaestroCost cost;
  cost.steps = steps;
  cost.ingress_elements = step.ingress_elements;
  cost.egress_elements = step.egress_elements;
  // A cluster runs one step at a time, so its load never hides behind its work: it is always a first step.
  cost.cluster_cycles = double_buffered_cycles(1.0, step.macs_per_pe,
                                               std::ceil(bandwidth_cycles(step.cluster_ingress_elements, noc)), 0.0);

  const double largest_elements = std::fmax(step.ingress_elements, step.egress_elements);
  // Integer division in the source: the remainder is dropped.
  const double offchip_cycles = std::floor(bandwidth_cycles(largest_elements, architecture.offchip_elements_per_cycle));
  const double ingress_cycles = std::ceil(bandwidth_cycles(step.ingress_elements, noc));
  const double egress_cycles = std::ceil(bandwidth_cycles(step.egress_elements, noc));
  const double first_cycles = pipelined_cycles(cost.cluster_cycles + ingress_cycles, offchip_cycles);
  cost.step_cycles = pipelined_cycles(cost.cluster_cycles, ingress_cycles, egress_cycles, offchip_cycles);
  cost.cycles = first_cycles + (steps - 1.0) * cost.step_cycles;
  cost.peak_noc_elements_per_cycle = std::floor(largest_elements / cost.cluster_cycles);
  return cost;
}

}  // namespace

MaestroCost maestro_gemm_cost(const MaestroArchitecture& architecture, MaestroDataflow dataflow, const Gemm& gemm) {
  const double clusters = std::floor(architecture.pes / architecture.cluster_pes);
  const double inner_size = dataflow == MaestroDataflow::m_then_k ? gemm.k : gemm.n;
  const double temporal_size = dataflow == MaestroDataflow::m_then_k ? gemm.n : gemm.k;
  const double active_clusters = std::fmin(gemm.m, clusters);
  const double active_pes = std::fmin(inner_size, architecture.cluster_pes);
  const double steps = tile_count(gemm.m, clusters) * tile_count(inner_size, architecture.cluster_pes) * temporal_size;

  Step step;
  if (dataflow == MaestroDataflow::m_then_k) {
    step.cluster_ingress_elements = active_pes + active_pes;            // input row part, weight column part
    step.ingress_elements = active_clusters * active_pes + active_pes;  // weights are multicast
    step.egress_elements = active_clusters;                             // reduced inside the cluster
  } else {
    step.cluster_ingress_elements = 1.0 + active_pes;  // one input, a weight row part
    step.ingress_elements = active_clusters + active_pes;
    step.egress_elements = active_clusters * active_pes;
  }
  return pipeline(architecture, steps, step);
}

MaestroCost maestro_convolution_cost(const MaestroArchitecture& architecture, const Convolution& convolution) {
  const double clusters = std::floor(architecture.pes / architecture.cluster_pes);
  const double out_height = std::floor((convolution.in_height - convolution.kernel_height) / convolution.stride) + 1.0;
  const double out_width = std::floor((convolution.in_width - convolution.kernel_width) / convolution.stride) + 1.0;
  const double window = convolution.kernel_height * convolution.kernel_width;
  const double active_clusters = std::fmin(convolution.out_channels, clusters);
  const double active_pes = std::fmin(convolution.in_channels, architecture.cluster_pes);
  const double steps = tile_count(convolution.out_channels, clusters) *
                       tile_count(convolution.in_channels, architecture.cluster_pes) * out_height * out_width;
  return pipeline(architecture, steps,
                  {.macs_per_pe = window,
                   .cluster_ingress_elements = 2.0 * active_pes * window,  // an input window and a filter per PE
                   .ingress_elements = (active_clusters + 1.0) * active_pes * window,
                   .egress_elements = active_clusters});
}

}  // namespace hindsight::accel::peers
