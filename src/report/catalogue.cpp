/// Text and JSON of spaces, samples, workloads and the installation.
#include "hindsight/report/catalogue.h"

#include <fmt/format.h>

#include <algorithm>

#include "hindsight/core/plural.h"
#include "hindsight/core/table.h"
#include "hindsight/core/text.h"
#include "hindsight/workload/context.h"
#include "report/json.h"

namespace hindsight::report {
namespace {

std::string combinations_text(const space::DesignSpace& space) {
  return space.size() ? with_commas(*space.size()) : std::string("more than 2^63");
}

/// Of the designs that the constraints leave.
std::string size_text(const space::DesignSpace& space) {
  return space.is_constrained() ? count_text(space::count_designs(space)) : combinations_text(space);
}

Json parameter_json(const space::Parameter& parameter) {
  const bool ordinal = parameter.kind == space::ParameterKind::ordinal;
  Json json{{"name", parameter.name},
            {"unit", parameter.unit},
            {"description", parameter.description},
            {"kind", ordinal ? "ordinal" : "categorical"}};
  json["values"] = ordinal ? Json(parameter.values) : Json(parameter.labels);
  return json;
}

/// Conditions and constraints as texts, and the derived quantities; null where there are none.
Json rules_json(const space::DesignSpace& space) {
  if (space.rules() == nullptr) return nullptr;
  Json json{{"constraints", Json::array()}, {"conditions", Json::object()}, {"derived", Json::object()}};
  for (const space::Rules::Check& check : space.rules()->checks()) {
    if (check.conditional) {
      json["conditions"][space.parameters()[*check.conditional].name] = check.expression.canonical();
    } else {
      json["constraints"].push_back(check.expression.canonical());
    }
  }
  for (const space::Rules::Derived& derived : space.rules()->derived()) {
    json["derived"][derived.name] = derived.expression.canonical();
  }
  json["derived_hash"] = space.derived_hash();
  return json;
}

Json count_object(const space::LegalCount& count) {
  Json json{{"designs", count.designs}, {"exact", count.error == 0}, {"error", count.error}};
  if (count.exact) json["designs"] = *count.exact;
  return json;
}

Json space_object(const space::DesignSpace& space) {
  Json json{{"name", space.name()},
            {"description", space.description()},
            {"designs", nullptr},
            {"combinations", value_or_null(space.size())},
            {"definition_hash", space.definition_hash()}};
  if (space.is_constrained()) {
    json.update(count_object(space::count_designs(space)));
  } else {
    json["designs"] = json["combinations"];
  }
  json["parameters"] = Json::array();
  for (const space::Parameter& parameter : space.parameters()) json["parameters"].push_back(parameter_json(parameter));
  if (const Json rules = rules_json(space); !rules.is_null()) json["rules"] = rules;
  return json;
}

/// "12.3 %", and in more digits below 0.1 %.
std::string share_text(double share) {
  return share >= 0.001 || share == 0 ? fmt::format("{:.1f} %", 100 * share) : fmt::format("{:.2g} %", 100 * share);
}

Json totals_object(const workload::Network& network) {
  const workload::Totals& totals = network.totals();
  return {{"name", network.name()},
          {"description", network.description()},
          {"source", network.source()},
          {"stand_in", network.stand_in()},
          {"batch", network.batch()},
          {"layers", totals.layers},
          {"macs", totals.macs},
          {"parameters", totals.parameters},
          {"weight_bytes", totals.weight_bytes},
          {"input_bytes", totals.input_bytes},
          {"output_bytes", totals.output_bytes},
          {"definition_hash", network.definition_hash()}};
}

std::string layer_table(const workload::Network& network, int columns) {
  Table table;
  table.add_column("layer", Align::left);
  table.add_column("type", Align::left, 3);
  table.add_column("repeat", Align::right, 4);
  table.add_column("m", Align::right);
  table.add_column("n", Align::right);
  table.add_column("k", Align::right);
  table.add_column("count", Align::right, 2);
  table.add_column("MACs", Align::right);
  table.add_column("weights", Align::right, 1);
  table.add_column("input", Align::right, 5);
  table.add_column("output", Align::right, 5);
  for (std::size_t i = 0; i < network.gemms().size(); ++i) {
    const workload::Layer& layer = network.layer_of(i);
    const workload::GemmLayer& gemm = network.gemms()[i];
    table.add_row({layer.name, workload::to_string(layer.type), std::to_string(gemm.repeat), std::to_string(gemm.m),
                   std::to_string(gemm.n), std::to_string(gemm.k), std::to_string(gemm.count), si(gemm.macs, ""),
                   binary_bytes(gemm.weight_bytes), binary_bytes(gemm.input_bytes), binary_bytes(gemm.output_bytes)});
  }
  return table.render(columns);
}

/// Of each layer that is one of a group of experts: how many are read at this batch, and what of it each does.
std::string experts_line(const workload::Network& network) {
  std::vector<std::string> groups;
  for (const workload::Layer& layer : network.layers()) {
    if (layer.experts == 0) continue;
    std::int64_t experts_read = 0;
    std::vector<std::string> shares;
    const std::vector<workload::GemmLayer> gemms = workload::gemms_of(layer, network.batch());
    for (const workload::GemmLayer& gemm : gemms) {
      experts_read += gemm.repeat / layer.repeat;
      const std::string rows = counted(static_cast<std::uint64_t>(gemm.m), "row");
      shares.push_back(gemms.size() == 1 ? rows + " each" : fmt::format("{} of {}", gemm.repeat / layer.repeat, rows));
    }
    groups.push_back(
        fmt::format("{} reads {} of {}, {}", layer.name, experts_read, layer.experts, join(shares, " and ")));
  }
  return join(groups, "; ");
}

}  // namespace

std::string spaces_text(std::span<const space::DesignSpace> spaces, int columns) {
  Table table;
  table.add_column("space", Align::left);
  table.add_column("parameters", Align::right);
  table.add_column("designs", Align::right);
  table.add_column("description", Align::left, 1);
  for (const space::DesignSpace& space : spaces) {
    table.add_row({space.name(), std::to_string(space.parameters().size()), size_text(space), space.description()});
  }
  return table.render(columns);
}

std::string spaces_json(std::span<const space::DesignSpace> spaces) {
  Json json = Json::array();
  for (const space::DesignSpace& space : spaces) json.push_back(space_object(space));
  return to_text(json);
}

std::string space_text(const space::DesignSpace& space, int columns) {
  std::string out = wrapped(
      "",
      fmt::format("space {}: {} designs{}. {}", space.name(), size_text(space),
                  space.is_constrained() ? fmt::format(" of {} combinations", combinations_text(space)) : std::string(),
                  space.description()),
      columns, 2);
  Table table;
  table.add_column("parameter", Align::left);
  table.add_column("unit", Align::left);
  table.add_column("levels", Align::right);
  table.add_column("description", Align::left, 1);
  for (const space::Parameter& parameter : space.parameters()) {
    table.add_row({parameter.name, parameter.unit, std::to_string(parameter.level_count()), parameter.description});
  }
  out += "\n" + table.render(columns) + "\n";
  for (const space::Parameter& parameter : space.parameters()) {
    out += wrapped(parameter.name + ": ", join(parameter.labels, " "), columns, 2);
  }
  if (space.rules() == nullptr) return out;
  for (const space::Rules::Check& check : space.rules()->checks()) {
    out += wrapped(check.conditional ? "" : "constraint: ", check.text, columns, 2);
  }
  for (const space::Rules::Derived& derived : space.rules()->derived()) {
    out += wrapped(fmt::format("derived {}: ", derived.name), derived.expression.shown(), columns, 2);
  }
  return out;
}

std::string count_text(const space::LegalCount& count) {
  if (count.exact) return with_commas(*count.exact);
  if (count.error == 0) return fmt::format("{:.6g}", count.designs);
  if (count.designs == 0) return fmt::format("fewer than {:.2g} (an estimate: no draw was legal)", count.error);
  return fmt::format("about {:.3g} (+- {:.2g} %, an estimate)", count.designs, 100 * count.error / count.designs);
}

std::string count_json(const space::DesignSpace& space, const space::LegalCount& count) {
  Json json{{"space", space.name()}, {"definition_hash", space.definition_hash()}};
  json.update(count_object(count));
  return to_text(json);
}

std::string check_text(const space::DesignSpace& space, const space::SpaceCheck& check, int columns) {
  const double share = check.legal.designs / check.combinations;
  std::string out = wrapped("",
                            fmt::format("space {} is usable: {} designs{}", space.name(), count_text(check.legal),
                                        space.is_constrained() ? fmt::format(", {} of {:.6g} combinations",
                                                                             share_text(share), check.combinations)
                                                               : std::string()),
                            columns, 2);
  if (!check.rules.empty()) {
    Table table;
    table.add_column("constraint or condition", Align::left);
    table.add_column("leaves", Align::right);
    table.add_column("place", Align::left, 1);
    for (const space::RuleShare& rule : check.rules) {
      table.add_row({rule.text, rule.alone ? share_text(rule.share) : "-", rule.where});
    }
    out += "\n" + table.render(columns);
    const bool any_without =
        std::any_of(check.rules.begin(), check.rules.end(), [](const auto& one) { return !one.alone; });
    if (any_without) out += wrapped("", "-: has no value for designs that other rules leave out", columns, 2);
  }
  if (!check.derived.empty()) {
    Table table;
    table.add_column("derived", Align::left);
    table.add_column("smallest", Align::right);
    table.add_column("largest", Align::right);
    table.add_column("expression", Align::left, 1);
    for (const space::DerivedSpread& derived : check.derived) {
      table.add_row({derived.name, fmt::format("{:.6g}", derived.smallest), fmt::format("{:.6g}", derived.largest),
                     derived.expression});
    }
    out += "\n" + table.render(columns);
    out += wrapped("", fmt::format("among {} designs drawn", with_commas(check.drawn)), columns, 2);
  }
  return out;
}

std::string check_json(const space::DesignSpace& space, const space::SpaceCheck& check) {
  Json json{{"space", space.name()},
            {"definition_hash", space.definition_hash()},
            {"derived_hash", space.derived_hash()},
            {"combinations", check.combinations},
            {"legal", count_object(check.legal)},
            {"rules", Json::array()},
            {"derived", Json::object()}};
  for (const space::RuleShare& rule : check.rules) {
    json["rules"].push_back({{"text", rule.text}, {"place", rule.where}, {"share", nullptr}, {"exact", nullptr}});
    if (!rule.alone) continue;
    json["rules"].back()["share"] = rule.share;
    json["rules"].back()["exact"] = rule.alone->error == 0;
  }
  for (const space::DerivedSpread& derived : check.derived) {
    json["derived"][derived.name] = {
        {"expression", derived.expression}, {"smallest", derived.smallest}, {"largest", derived.largest}};
  }
  return to_text(json);
}

std::string space_json(const space::DesignSpace& space) { return to_text(space_object(space)); }

std::string designs_text(const space::DesignSpace& space, std::span<const space::Design> designs) {
  std::string out;
  for (const space::Design& design : designs) out += space.text_id(design) + "\n";
  return out;
}

std::string designs_json(const space::DesignSpace& space, std::span<const space::Design> designs) {
  Json json{{"space", space.name()}, {"definition_hash", space.definition_hash()}};
  json["designs"] = Json::array();
  for (const space::Design& design : designs) {
    Json values = Json::object();
    for (std::size_t i = 0; i < space.parameters().size(); ++i) {
      const space::Parameter& parameter = space.parameters()[i];
      const std::size_t level = design.levels[i];
      values[parameter.name] = parameter.kind == space::ParameterKind::ordinal ? Json(parameter.values[level])
                                                                               : Json(parameter.labels[level]);
    }
    json["designs"].push_back({{"text_id", space.text_id(design)}, {"parameters", values}});
  }
  return to_text(json);
}

std::string workloads_text(std::span<const workload::Network> networks, int columns) {
  Table table;
  table.add_column("workload", Align::left);
  table.add_column("batch", Align::right, 2);
  table.add_column("layers", Align::right, 1);
  table.add_column("MACs", Align::right);
  table.add_column("parameters", Align::right);
  table.add_column("weights", Align::right, 3);
  table.add_column("description", Align::left, 4);
  for (const workload::Network& network : networks) {
    const workload::Totals& totals = network.totals();
    table.add_row({network.name(), std::to_string(network.batch()), std::to_string(totals.layers), si(totals.macs, ""),
                   si(totals.parameters, ""), binary_bytes(totals.weight_bytes),
                   (network.stand_in() ? "(stand-in) " : "") + network.description()});
  }
  return table.render(columns);
}

std::string workloads_json(std::span<const workload::Network> networks) {
  Json json = Json::array();
  for (const workload::Network& network : networks) json.push_back(totals_object(network));
  return to_text(json);
}

std::string workload_text(const workload::Network& network, int columns) {
  const workload::Totals& totals = network.totals();
  std::string out = wrapped("",
                            fmt::format("workload {} (batch {}{}){}{}", network.name(), network.batch(),
                                        network.stand_in() ? ", stand-in" : "",
                                        network.description().empty() ? "" : ": ", network.description()),
                            columns, 2);
  if (!network.source().empty()) out += wrapped("source: ", network.source(), columns, 2);
  out += wrapped("",
                 fmt::format("totals: {} MACs, {} parameters, {} of weights, {} read and {} written by {} layers",
                             si(totals.macs, ""), si(totals.parameters, ""), binary_bytes(totals.weight_bytes),
                             binary_bytes(totals.input_bytes), binary_bytes(totals.output_bytes), totals.layers),
                 columns, 2);
  if (const std::string experts = experts_line(network); !experts.empty()) {
    out += wrapped("experts: ", experts, columns, 2);
  }
  out += "\n" + layer_table(network, columns);
  Table context;
  context.add_column("context feature", Align::left);
  context.add_column("value", Align::right);
  context.add_column("meaning", Align::left, 1);
  const std::vector<double> values = workload::context_vector(network);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const workload::ContextFeature& feature = workload::context_features()[i];
    context.add_row({std::string(feature.name), fmt::format("{:.6g}", values[i]), std::string(feature.description)});
  }
  return out + "\n" + context.render(columns);
}

std::string workload_json(const workload::Network& network) {
  Json json = totals_object(network);
  json["context_version"] = workload::kContextVersion;
  json["context"] = Json::object();
  const std::vector<double> values = workload::context_vector(network);
  for (std::size_t i = 0; i < values.size(); ++i) {
    json["context"][std::string(workload::context_features()[i].name)] = values[i];
  }
  json["layer_table"] = Json::array();
  for (std::size_t i = 0; i < network.gemms().size(); ++i) {
    const workload::Layer& layer = network.layer_of(i);
    const workload::GemmLayer& gemm = network.gemms()[i];
    json["layer_table"].push_back({{"name", layer.name},
                                   {"type", workload::to_string(layer.type)},
                                   {"repeat", gemm.repeat},
                                   {"m", gemm.m},
                                   {"n", gemm.n},
                                   {"k", gemm.k},
                                   {"count", gemm.count},
                                   {"depthwise", gemm.depthwise},
                                   {workload::kFromEarlierPasses, gemm.from_earlier_passes},
                                   {workload::kOfSequence, gemm.of_sequence},
                                   {"macs", gemm.macs},
                                   {"parameters", gemm.parameters},
                                   {"weight_bytes", gemm.weight_bytes},
                                   {"input_bytes", gemm.input_bytes},
                                   {"output_bytes", gemm.output_bytes}});
    if (layer.experts > 0) {
      json["layer_table"].back()["experts"] = layer.experts;
      json["layer_table"].back()["experts_per_token"] = layer.experts_per_token;
      json["layer_table"].back()["experts_read"] = gemm.repeat / layer.repeat;
    }
  }
  return to_text(json);
}

std::string facts_text(const Facts& facts, int columns) {
  std::size_t widest = 0;
  for (const auto& fact : facts) widest = std::max(widest, fact.first.size());
  std::string out;
  for (const auto& [name, value] : facts) {
    out += wrapped(name + std::string(widest + 2 - name.size(), ' '), value, columns, static_cast<int>(widest) + 2);
  }
  return out;
}

std::string facts_json(const Facts& facts) {
  Json json = Json::object();
  for (const auto& [name, value] : facts) json[name] = value;
  return to_text(json);
}

std::string json_library_version() {
  return fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH);
}

}  // namespace hindsight::report
