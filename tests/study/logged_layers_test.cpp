/// Are the layers that a log has of a network those of the network itself, in older logs, too?
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
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
  for (const char* name : {"mobilenet_v2@8", "whisper_base", "unet", "t_rnn_dec"}) {
    const workload::Network network = workload::load_network(name);
    const log::WorkloadRecord record = logged(network);
    const dataset::LayerList layers = dataset::logged_layers(record.layers_json, "");
    ASSERT_GT(layers.features.rows(), 0) << name;
    EXPECT_TRUE(layers == dataset::context_of(network).layers) << name;
  }
}

TEST(LoggedLayers, OfOlderLogsHaveTheirRowsFromTheDefinition) {
  for (const char* name : {"mobilenet_v2@8", "whisper_base", "unet"}) {
    const workload::Network network = workload::load_network(name);
    const log::WorkloadRecord record = logged(network);
    const std::string older = without(record.layers_json, "out_width");
    const dataset::LayerList layers = dataset::logged_layers(older, record.definition);
    ASSERT_GT(layers.features.rows(), 0) << name;
    EXPECT_TRUE(layers == dataset::context_of(network).layers) << name;
  }
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

}  // namespace
}  // namespace hindsight::study
