/// Are the layers that a log has of a network those of the network itself, in older logs, too?
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "hindsight/dataset/network_context.h"
#include "hindsight/log/log.h"
#include "hindsight/log/query.h"
#include "hindsight/sweep/definitions.h"
#include "hindsight/workload/network.h"
#include "temporary_folder.h"

namespace hindsight::study {
namespace {

using Json = nlohmann::json;

/// What a log has of `network`.
log::WorkloadRecord logged(const workload::Network& network) {
  const hindsight::test::TemporaryFolder folder;
  log::Log log = log::Log::open(folder / "one.sqlite", log::OpenMode::read_write_create);
  sweep::register_workload(log, network);
  return log::workloads(log).at(0);
}

/// A list of layers without a key, as logs have it that were written before the key was.
std::string without(const std::string& layers_json, const char* key) {
  Json layers = Json::parse(layers_json);
  for (Json& layer : layers) layer.erase(key);
  return layers.dump();
}

TEST(LoggedLayers, AreThoseOfTheNetwork) {
  // Convolutions of rows, depthwise ones, products that are none, a batch; maps of one row; transposed convolutions.
  for (const char* name : {"mobilenet_v2@8", "whisper_base", "unet", "t_rnn_dec", "mixtral_8x7b_decode@8"}) {
    const workload::Network network = workload::load_network(name);
    const log::WorkloadRecord record = logged(network);
    const dataset::LayerList layers = dataset::logged_layers(record.layers_json, "");
    ASSERT_GT(layers.features.rows(), 0) << name;
    EXPECT_TRUE(layers == dataset::context_of(network).layers) << name;
  }
}

TEST(LoggedLayers, OfOlderLogsHaveTheirRowsFromTheDefinition) {
  for (const char* name : {"mobilenet_v2@8", "whisper_base", "unet", "mixtral_8x7b_decode@8"}) {
    const workload::Network network = workload::load_network(name);
    const log::WorkloadRecord record = logged(network);
    const std::string older = without(record.layers_json, "out_width");
    const dataset::LayerList layers = dataset::logged_layers(older, record.definition);
    ASSERT_GT(layers.features.rows(), 0) << name;
    EXPECT_TRUE(layers == dataset::context_of(network).layers) << name;
  }
}

/// A log says which layers are experts; what it says of the others, and what a log of before says, stays.
TEST(LoggedLayers, OfAMixtureSayThatTheyAreExperts) {
  const log::WorkloadRecord record = logged(workload::load_network("mixtral_8x7b_decode@8"));
  int experts = 0;
  for (const Json& layer : Json::parse(record.layers_json)) {
    const bool is_expert = layer.at("name").get<std::string>().starts_with("expert.");
    ASSERT_EQ(layer.contains("experts"), is_expert);
    ASSERT_EQ(layer.contains("experts_per_token"), is_expert);
    if (!is_expert) continue;
    ++experts;
    EXPECT_EQ(layer.at("experts"), 8);
    EXPECT_EQ(layer.at("experts_per_token"), 2);
    const int rows = layer.at("m").get<int>();
    EXPECT_EQ(rows, experts % 2 == 1 ? 3 : 2) << "of both layers first the experts with a row more";
    EXPECT_EQ(layer.at("repeat").get<int>() % (rows == 3 ? 2 : 5), 0) << "experts that are read";
  }
  EXPECT_EQ(experts, 4);
  EXPECT_EQ(dataset::layers_unlike_definition(record.layers_json, record.definition), std::nullopt);
  const std::string older = without(without(record.layers_json, "experts"), "experts_per_token");
  EXPECT_EQ(dataset::layers_unlike_definition(older, record.definition), std::nullopt);
  EXPECT_TRUE(dataset::logged_layers(older, "") == dataset::logged_layers(record.layers_json, ""));
}

TEST(LoggedLayers, AreNoneWhereSomethingThatTheyNeedIsNowhere) {
  const log::WorkloadRecord record = logged(workload::load_network("m6"));
  const std::string older = without(record.layers_json, "out_width");
  const auto rows = [](const std::string& layers_json, const std::string& definition) {
    return dataset::logged_layers(layers_json, definition).features.rows();
  };
  EXPECT_GT(rows(older, record.definition), 0);
  EXPECT_EQ(rows(older, "what another tool wrote"), 0);
  const std::string shorter = record.definition.substr(0, record.definition.rfind("m "));
  EXPECT_EQ(rows(older, shorter), 0) << "the definition has a layer less";
  EXPECT_EQ(rows(without(record.layers_json, "stride_width"), record.definition), 0);
  Json none = Json::parse(record.layers_json);
  none[0]["out_width"] = 0;
  EXPECT_EQ(rows(none.dump(), record.definition), 0) << "a row without pixels";
}

/// What a log of `network` says otherwise than its definition once `edit` went over its list of layers.
std::string difference(const workload::Network& network, const std::function<void(Json&)>& edit) {
  const log::WorkloadRecord record = logged(network);
  Json layers = Json::parse(record.layers_json);
  edit(layers);
  return dataset::layers_unlike_definition(layers.dump(), record.definition).value_or("none");
}

TEST(LayersUnlikeDefinition, AreNoneInALogAsItWasWritten) {
  // Depthwise ones, transposed ones, products of activations, what runs behind layers, a batch.
  for (const char* name : {"mobilenet_v2@8", "whisper_base", "unet", "t_rnn_dec", "sd15_unet", "llama3_8b_decode@64"}) {
    const workload::Network network = workload::load_network(name);
    EXPECT_EQ(difference(network, [](Json&) {}), "none") << name;
    EXPECT_EQ(difference(network,
                         [](Json& layers) {
                           for (Json& layer : layers) layer.erase("out_width");  // an older log
                         }),
              "none")
        << name;
  }
}

TEST(LayersUnlikeDefinition, NameWhatWasChanged) {
  const workload::Network network = workload::load_network("m4");
  EXPECT_EQ(difference(network, [](Json& layers) { layers[0]["macs"] = 3; }),
            "layer 1 ('stem'): macs is 3, and the definition gives 22118400");
  for (const char* key : {"m", "n", "k", "count", "repeat", "kernel_height", "stride_width", "out_width", "parameters",
                          "weight_bytes", "input_bytes", "output_bytes"}) {
    EXPECT_NE(difference(network, [&](Json& layers) { layers[1][key] = layers[1][key].get<double>() + 1; }), "none")
        << key;
  }
  EXPECT_NE(difference(network, [](Json& layers) { layers[0]["depthwise"] = true; }), "none");
  EXPECT_NE(difference(network, [](Json& layers) { layers[0]["type"] = "matmul"; }), "none");
  EXPECT_NE(difference(network, [](Json& layers) { layers[0]["after"] = Json::array({"pool", "pool"}); }), "none");
  EXPECT_NE(difference(network, [](Json& layers) { layers[0]["k"] = "27"; }), "none");
  EXPECT_NE(difference(network, [](Json& layers) { layers[2] = 7; }), "none");
  EXPECT_EQ(difference(network, [](Json& layers) { layers.erase(0); }),
            "it lists 46 layers, and the definition has 47");
  EXPECT_EQ(difference(network, [](Json& layers) { layers[0]["name"] = "first"; }), "none")
      << "a definition has no names";
  for (const char* key : {"after", "type", "macs"}) {
    EXPECT_EQ(difference(network,
                         [&](Json& layers) {
                           for (Json& layer : layers) layer.erase(key);
                         }),
              "none")
        << "a log that lacks " << key;
  }
}

/// A sequence with a vertical stride says so in its definition (workload/network.cpp).
TEST(LayersUnlikeDefinition, HoldASequenceAgainstADefinitionThatSaysSo) {
  const workload::Network network = workload::parse_network(
      "name: net\nlayers:\n"
      "  - {name: a, type: convolution, in: [1, 64, 8], out: 8, kernel: [1, 3], stride: 2, after: [activation]}\n",
      "net.yaml");
  EXPECT_EQ(difference(network, [](Json&) {}), "none");
  EXPECT_EQ(difference(network, [](Json& layers) { layers[0][workload::kOfSequence] = false; }),
            "layer 1 ('a'): of_sequence is false, and the definition gives 1");
  const log::WorkloadRecord record = logged(network);
  EXPECT_TRUE(dataset::logged_layers(without(record.layers_json, "out_width"), record.definition) ==
              dataset::context_of(network).layers);
}

TEST(LayersUnlikeDefinition, AreNoneWhereThereIsNothingToHoldAgainst) {
  const log::WorkloadRecord record = logged(workload::load_network("m4"));
  std::string older = record.definition;
  const std::string key = " weights_are_activations 0";
  for (auto at = older.find(key); at != std::string::npos; at = older.find(key)) older.erase(at, key.size());
  EXPECT_EQ(dataset::layers_unlike_definition(record.layers_json, older), std::nullopt);
  for (const char* definition : {"", "what another tool wrote", "m 8 n 4", "m 8 n four k 9 count 1"}) {
    EXPECT_EQ(dataset::layers_unlike_definition(record.layers_json, definition), std::nullopt) << definition;
  }
  for (const char* layers : {"[]", "", "{}", "no JSON"}) {
    EXPECT_EQ(dataset::layers_unlike_definition(layers, record.definition), std::nullopt) << layers;
  }
}

}  // namespace
}  // namespace hindsight::study
