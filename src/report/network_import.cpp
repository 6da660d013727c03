/// Text and JSON of an imported network.
#include "hindsight/report/network_import.h"

#include <fmt/format.h>

#include "hindsight/core/plural.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/text.h"
#include "report/fields.h"
#include "report/json.h"

namespace hindsight::report {
namespace {

std::string operators_text(const std::vector<workload::OperatorCount>& operators) {
  std::vector<std::string> names;
  for (const workload::OperatorCount& each : operators) {
    names.push_back(fmt::format("{} {}", printable(each.name), with_commas(static_cast<std::uint64_t>(each.count))));
  }
  return join(names, ", ");
}

Json operators_json(const std::vector<workload::OperatorCount>& operators) {
  Json json = Json::object();
  for (const workload::OperatorCount& each : operators) json[each.name] = each.count;
  return json;
}

std::string sorts_text(const workload::LayerCounts& counts) {
  std::vector<std::string> sorts;
  const auto add = [&](std::int64_t count, std::string_view sort) {
    if (count > 0) sorts.push_back(fmt::format("{} {}", with_commas(static_cast<std::uint64_t>(count)), sort));
  };
  add(counts.convolution, "convolution");
  add(counts.depthwise, "depthwise");
  add(counts.fully_connected, "fully connected");
  add(counts.matmul, "matmul");
  return join(sorts, ", ");
}

}  // namespace

std::string network_import_text(const workload::ImportedNetwork& imported, const std::string& out, int columns) {
  const workload::Network& network = imported.network;
  const workload::Totals& totals = network.totals();
  std::string text = wrapped("",
                             fmt::format("{}: {}, {} MACs, {} parameters, batch {}", network.name(),
                                         counted(static_cast<std::uint64_t>(totals.layers), "layer"),
                                         with_commas(static_cast<std::uint64_t>(totals.macs)),
                                         with_commas(static_cast<std::uint64_t>(totals.parameters)), network.batch()),
                             columns, 2);
  text += wrapped("layers: ", sorts_text(workload::count_layers(network)), columns, 2);
  if (network.extra_parameters().count > 0) {
    text += wrapped("parameters outside the layers: ",
                    with_commas(static_cast<std::uint64_t>(network.extra_parameters().count)), columns, 2);
  }
  if (!imported.without_macs.empty()) {
    text += wrapped("ignored, without MACs: ", operators_text(imported.without_macs), columns, 2);
  }
  if (!imported.unknown.empty()) {
    text += wrapped("unknown, taken as free of MACs: ", operators_text(imported.unknown), columns, 2);
  }
  for (const std::string& remark : imported.remarks) text += wrapped("note: ", remark, columns, 2);
  return text + (out.empty() ? std::string("nothing written; --out FILE.yaml writes the workload\n")
                             : wrapped("written to ", printable(out, kWholeText), columns, 2));
}

std::string network_import_json(const workload::ImportedNetwork& imported, const std::string& out) {
  const workload::Network& network = imported.network;
  const workload::LayerCounts counts = workload::count_layers(network);
  const workload::Totals& totals = network.totals();
  Json json{{"hindsight_version", build_info().version},
            {"format", workload::to_string(imported.format)},
            {"name", network.name()},
            {"batch", network.batch()},
            {"layers", totals.layers},
            {"convolution_layers", counts.convolution},
            {"depthwise_layers", counts.depthwise},
            {"fully_connected_layers", counts.fully_connected},
            {"matmul_layers", counts.matmul},
            {"macs", totals.macs},
            {"parameters", totals.parameters},
            {"extra_parameters", network.extra_parameters().count},
            {"definition_hash", network.definition_hash()},
            {"without_macs", operators_json(imported.without_macs)},
            {"unknown", operators_json(imported.unknown)},
            {"remarks", imported.remarks},
            {"out", nullptr}};
  if (!out.empty()) json["out"] = out;
  return to_text(json);
}

}  // namespace hindsight::report
