/// The list of shipped networks, their files and their table.
#include "hindsight/workload/generator.h"

#include <fmt/format.h>

#include <algorithm>

#include "hindsight/core/error.h"
#include "hindsight/core/table.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"
#include "hindsight/workload/context.h"
#include "hindsight/workload/prime_applications.h"
#include "workload/generator/network_builder.h"

namespace hindsight::workload {
namespace {

std::string millions(double value) { return fmt::format("{:.3f}", value / units::kMega); }

}  // namespace

std::vector<Network> generate_networks() {
  std::vector<Network> networks;
  generate_mobile_networks(networks);
  generate_stand_ins(networks);
  generate_large_vision_networks(networks);
  generate_language_networks(networks);
  generate_large_language_networks(networks);
  generate_speech_networks(networks);
  generate_diffusion_networks(networks);
  return networks;
}

std::string workload_file_text(const Network& network) {
  const LayerCounts counts = count_layers(network);
  std::string text = "# Written by `cmake --build BUILD --target regenerate-workloads`; format: docs/workloads.md.\n";
  text += fmt::format(
      "# {} M multiply-accumulates, {} parameters; layers: {} convolution, {} depthwise, "
      "{} fully connected, {} matmul.\n",
      millions(network.totals().macs), with_commas(static_cast<std::uint64_t>(network.totals().parameters)),
      counts.convolution, counts.depthwise, counts.fully_connected, counts.matmul);
  return text + to_yaml(network);
}

std::string workload_table(const std::vector<Network>& networks) {
  Table table;
  table.add_column("network", Align::left);
  for (const char* header :
       {"conv", "depthwise", "fully conn.", "matmul", "M MACs", "parameters", "weights", "stand-in"}) {
    table.add_column(header, Align::right);
  }
  for (const Network& network : networks) {
    const LayerCounts counts = count_layers(network);
    const Totals& totals = network.totals();
    table.add_row({network.name(), std::to_string(counts.convolution), std::to_string(counts.depthwise),
                   std::to_string(counts.fully_connected), std::to_string(counts.matmul), millions(totals.macs),
                   with_commas(static_cast<std::uint64_t>(totals.parameters)), binary_bytes(totals.weight_bytes),
                   network.stand_in() ? "yes" : "no"});
  }
  return table.markdown();
}

std::string prime_table(const std::vector<Network>& networks) {
  Table table;
  table.add_column("application", Align::left);
  for (const char* header : {"conv, depthwise, fully conn.", "weights in MiB: PRIME", "ours", "difference",
                             "M MACs: PRIME", "ours", "difference"}) {
    table.add_column(header, Align::right);
  }
  const auto difference = [](double ours, double published) {
    return fmt::format("{:+.2f} %", 100.0 * (ours / published - 1.0));
  };
  for (const PrimeApplication& application : prime_applications()) {
    const auto network = std::ranges::find(networks, application.name, &Network::name);
    HINDSIGHT_EXPECT(network != networks.end());
    const LayerCounts counts = count_layers(*network);
    const double weights_mib = network->totals().weight_bytes / units::kMib;
    const double published_macs = application.compute_ops / kOpsPerMac;
    table.add_row({network->name() + (network->stand_in() ? " (stand-in)" : ""),
                   fmt::format("{}, {}, {}", counts.convolution, counts.depthwise, counts.fully_connected),
                   fmt::format("{:.2f}", application.weights_mib), fmt::format("{:.2f}", weights_mib),
                   difference(weights_mib, application.weights_mib), millions(published_macs),
                   millions(network->totals().macs), difference(network->totals().macs, published_macs)});
  }
  return table.markdown();
}

std::string context_table() {
  Table table;
  table.add_column("feature", Align::left);
  table.add_column("meaning", Align::left);
  for (const ContextFeature& feature : context_features()) {
    table.add_row({fmt::format("`{}`", feature.name), std::string(feature.description)});
  }
  return table.markdown();
}

}  // namespace hindsight::workload
