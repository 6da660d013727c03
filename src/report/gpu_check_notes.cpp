/// What stands below the tables of designs beside GPUs: marks, notes and estimates.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "hindsight/check/caches.h"
#include "hindsight/check/design_memory.h"
#include "hindsight/core/text.h"
#include "report/fields.h"
#include "report/gpu_check_parts.h"

namespace hindsight::report {
namespace {

using check::GpuRuns;
using check::NetworkComparison;

std::string listed(const std::set<std::string>& names) {
  return join(std::vector<std::string>(names.begin(), names.end()), ", ");
}

/// What of all comparisons a reader must know about.
struct Doubts {
  std::set<std::string> uncalibrated, rooflines, full, exceeded, unmet_limits;
  std::set<std::string> products_alone, more_experts, unknown_memory, spared_caches;  ///< networks
  std::set<std::string> refused_there;                                                ///< reasons at the common node
  std::optional<check::NodeBasis> basis;  ///< one for all designs, as their technology is
  double other_frac = 0;
  bool several_networks = false;
  bool fp8 = false, vector_work = false, equal_latency = false;
  accel::PublishedRatios dies, power;
  std::optional<accel::ComparedArea> published_area;  ///< one design's: a chip is checked alone
  bool outside = false;  ///< of what was measured; no design was, so that its figures always are

  explicit Doubts(const GpuCheckReport& report) {
    std::set<std::string> names;
    for (const CheckedDesign& design : report.designs) {
      for (const NetworkComparison& network : design.networks) names.insert(network.network);
    }
    several_networks = names.size() > 1;
    for (const CheckedDesign& design : report.designs) {
      for (const NetworkComparison& network : design.networks) add(network);
    }
  }

 private:
  void add(const NetworkComparison& network) {
    fp8 = fp8 || network.precision == accel::Precision::fp8;
    vector_work = vector_work || network.counts_vector_work;
    if (network.dies.chips > 0) dies = network.dies;
    if (network.power.chips > 0) power = network.power;
    if (check::counts_products_alone(network)) products_alone.insert(network.network);
    if (network.more_experts) more_experts.insert(network.network);
    if (network.unknown_memory) unknown_memory.insert(network.network);
    if (network.spared_caches) spared_caches.insert(network.network);
    if (network.published_area) published_area = network.published_area;
    if (network.accelerator) {
      outside = true;
      basis = network.accelerator->basis;
      for (const std::string& reason : network.accelerator->reasons_there) refused_there.insert(reason);
    }
    for (const GpuRuns& gpu : network.gpus) add(network, gpu);
  }
  void add(const NetworkComparison& network, const GpuRuns& gpu) {
    if (gpu.exceeds_memory) exceeded.insert(fmt::format("{} ({})", gpu.gpu, network.network));
    if (gpu.least_limit_w > 0) {
      unmet_limits.insert(fmt::format("{} ({}: lowest {:.0f} W)", gpu.gpu, network.network, gpu.least_limit_w));
    }
    if (gpu.roofline_estimate) rooflines.insert(gpu.gpu);
    if (!gpu.calibrated && !gpu.roofline_estimate) uncalibrated.insert(gpu.gpu);
    if (gpu.memory_bound_batch && !gpu.exceeds_memory) {
      full.insert(several_networks ? fmt::format("{} ({})", gpu.gpu, network.network) : gpu.gpu);
    }
    equal_latency = equal_latency || gpu.at_equal_latency.has_value();
    const check::BatchRun* equal = gpu.at_equal_latency ? &*gpu.at_equal_latency : &gpu.single;
    for (const check::BatchRun* run : {&gpu.single, &gpu.saturated, equal}) {
      outside = outside || !run->validated || !run->energy_validated;
      other_frac = std::max(other_frac, run->other_frac);
    }
  }
};

/// Collects lines that begin with a head.
class NoteLines {
 public:
  explicit NoteLines(int columns) : columns_(columns) {}
  void say(const char* head, const std::string& text) { out_ += wrapped(head, text, columns_, 2); }
  void estimate(const std::string& text) { say("estimate: ", text); }
  [[nodiscard]] const std::string& text() const { return out_; }

 private:
  int columns_;
  std::string out_;
};

void say_marks(const Doubts& doubts, NoteLines& lines) {
  if (doubts.outside) {
    lines.say("* ",
              "outside what measurements cover: designs were never made; GPUs were measured in other formats or ways "
              "of running");
  }
  if (doubts.equal_latency) lines.say("= ", "of the doubled batches the largest that takes no longer than the design");
}

void say_estimates_of_gpus(const Doubts& doubts, NoteLines& lines) {
  if (!doubts.exceeded.empty()) {
    lines.estimate("the network does not fit the memory of one GPU; the figures are as if it did: " +
                   listed(doubts.exceeded));
  }
  if (!doubts.unmet_limits.empty()) {
    lines.estimate(
        "a GPU draws more than its power limit even at its lowest clock, with the lowest limit that it meets: " +
        listed(doubts.unmet_limits));
  }
  if (doubts.other_frac > 0) {
    lines.estimate(
        fmt::format("GPUs: up to {} of the time is in kernels that are no GEMM (attention, normalisation, depthwise), "
                    "from equations that were measured on Hopper alone",
                    percent(doubts.other_frac)));
  }
}

void say_estimates_of_designs(const Doubts& doubts, NoteLines& lines) {
  if (doubts.fp8) {
    lines.estimate("fp8: GPUs without the kernels that quantise activations, a MAC between published ratios");
  }
  if (doubts.vector_work) {
    lines.estimate("what the design does besides products (softmax, normalisations, ...) by counts of operations");
  }
  if (!doubts.products_alone.empty()) {
    lines.estimate(
        "the design has no vector units and counts products alone, the GPUs also softmax, normalisations and what "
        "else runs behind layers, which favours the design: " +
        listed(doubts.products_alone));
  }
  if (!doubts.more_experts.empty()) lines.estimate(check::more_experts_sentence(listed(doubts.more_experts)));
  if (!doubts.unknown_memory.empty()) lines.estimate(check::unknown_memory_sentence(listed(doubts.unknown_memory)));
  if (!doubts.spared_caches.empty()) lines.estimate(check::spared_caches_sentence(listed(doubts.spared_caches)));
  if (doubts.published_area) {
    const accel::ComparedArea& area = *doubts.published_area;
    lines.estimate(
        fmt::format("area: the chip's published area is {}{:.2g} times what the model says of the same parts; {}",
                    area.published.at_most ? "at most " : "", area.published_over_modelled(),
                    area.published.scope == accel::AreaScope::die
                        ? "divide throughput per area by as much"
                        : "nothing is published of the rest of the die, which throughput per area counts"));
  } else if (doubts.dies.chips > 0) {
    lines.estimate(
        fmt::format("area: {} published dies of such chips are {:.2g} to {:.2g} times what the model says of "
                    "them; divide throughput per area by as much",
                    doubts.dies.chips, doubts.dies.least_ratio, doubts.dies.most_ratio));
  }
  if (doubts.power.chips > 0) {
    lines.estimate(
        fmt::format("energy: published watts of {} such chips, without DRAM, are {:.2g} to {:.2g} times what the model "
                    "says of them; divide inferences per joule by as much",
                    doubts.power.chips, doubts.power.least_ratio, doubts.power.most_ratio));
  }
}

/// What the columns of the common node are.
std::string common_node_text(const Doubts& doubts) {
  if (!doubts.basis) return "";
  if (*doubts.basis == check::NodeBasis::own) {
    return ". '@5nm': the design is at that node; older GPUs are scaled to it";
  }
  if (*doubts.basis == check::NodeBasis::evaluated) {
    return fmt::format(
        ". '@5nm': the design as the model has it at {}, its clock and latency kept; older GPUs are scaled",
        check::kCommonTechnology);
  }
  return ". '@5nm': logic and SRAM scaled to the GPUs' node class, DRAM and its PHY as they are";
}

}  // namespace

std::string gpu_check_notes(const GpuCheckReport& report, int columns) {
  const Doubts doubts(report);
  NoteLines lines(columns);
  say_marks(doubts, lines);
  if (!doubts.rooflines.empty()) lines.say("note: ", "roofline estimate, no kernel model: " + listed(doubts.rooflines));
  if (!doubts.uncalibrated.empty()) {
    lines.say("note: ", "runtime constants of another GPU, power limit or clock: " + listed(doubts.uncalibrated));
  }
  if (!doubts.full.empty()) lines.say("note: ", "the batch stops where the memory is full: " + listed(doubts.full));
  say_estimates_of_gpus(doubts, lines);
  say_estimates_of_designs(doubts, lines);
  if (!doubts.refused_there.empty()) {
    lines.say("note: ", fmt::format("at {} a design is infeasible ({}): '-' in its columns '@5nm'",
                                    check::kCommonTechnology, listed(doubts.refused_there)));
  }
  lines.say("note: ", fmt::format("accelerator: chip and DRAM at {}; GPU: whole board{}",
                                  with_reason(with_reason(report.technology, printable(report.technology_file, 200)),
                                              report.why_technology),
                                  common_node_text(doubts)));
  return lines.text();
}

}  // namespace hindsight::report
