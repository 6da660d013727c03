/// Compatibility: models whose networks see the layers' features of an older version.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/random.h"
#include "hindsight/surrogate/model.h"
#include "hindsight/surrogate/novelty.h"
#include "hindsight/surrogate/transfer.h"
#include "hindsight/workload/layer_features.h"
#include "surrogate/layer_model.h"
#include "surrogate/model_pieces.h"
#include "surrogate/small_model.h"
#include "surrogate/training_fixture.h"
#include "temporary_folder.h"

namespace hindsight::surrogate {
namespace {

using ::testing::HasSubstr;

/// Of every version before this one.
const std::vector<std::int64_t> kOlder = [] {
  std::vector<std::int64_t> counts;
  for (int version = 1; version < workload::kLayerFeatureVersion; ++version) {
    counts.push_back(static_cast<std::int64_t>(workload::layer_feature_count(version)));
  }
  return counts;
}();
const auto kOld = static_cast<std::int64_t>(workload::layer_feature_count(1));
const auto kNow = static_cast<std::int64_t>(workload::layer_feature_count(workload::kLayerFeatureVersion));

/// An application of three layers with `features` each.
dataset::Context application(const std::string& name, std::uint64_t seed, std::int64_t features = kNow) {
  const RandomStream random(seed, "layers of versions");
  dataset::Context context{.name = name,
                           .feature_names = {"macs", "weight_bytes"},
                           .features = Eigen::Vector2d(3, static_cast<double>(seed))};
  context.layers = {.features = Eigen::MatrixXf(3, features), .repeats = Eigen::Vector3f(1, 2, 1)};
  for (Eigen::Index l = 0; l < 3; ++l) {
    for (Eigen::Index f = 0; f < features; ++f) {
      context.layers.features(l, f) = static_cast<float>(random.uniform(static_cast<std::uint64_t>(64 * l + f)));
    }
  }
  return context;
}

/// The parts of a model of random networks by layers that see `features` of each.
Model::Parts parts_of(std::int64_t features) {
  Model::Parts parts = test::small_parts(0);
  parts.space = hindsight::test::small_space();
  parts.constraint_names.clear();
  parts.constraint_scaler = {};
  parts.reason_names = {"too_wide"};
  for (const std::uint64_t seed : {1, 2}) {
    parts.members.push_back(test::random_layers_network(parts.space, features, seed));
  }
  parts.training_contexts = {application("alpha", 1, features), application("beta", 2, features)};
  return parts;
}

std::string refusal(Model::Parts parts) {
  try {
    static_cast<void>(Model(std::move(parts)));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::incompatible);
    return error.what();
  }
  return "accepted";
}

TEST(LayerVersions, AnOlderModelSeesTheFeaturesOfItsVersion) {
  ASSERT_EQ(kOlder.size(), 5U);
  for (const std::int64_t features : kOlder) {
    SCOPED_TRACE(features);
    const Model model(parts_of(features));
    const LevelMatrix levels = test::random_levels({6, 6, 6, 6}, 30, 1);
    dataset::Context now = application("gamma", 7), old = now, other = now;
    old.layers.features = now.layers.features.leftCols(features).eval();
    other.layers.features.col(features - 1).array() += 1;
    const EnsemblePrediction as_old = model.predict(levels, old);
    EXPECT_EQ(model.predict(levels, now).objective, as_old.objective);
    EXPECT_NE(model.predict(levels, other).objective, as_old.objective) << "its last feature counts";
    EXPECT_TRUE(model.seen_alike(now, old));
    EXPECT_FALSE(model.seen_alike(now, other));
    ASSERT_TRUE(layer_distance(model, now).has_value());
    EXPECT_EQ(layer_distance(model, now), layer_distance(model, old));
    const auto found = novelties(model, {now, old});
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].nearest_layer, found[1].nearest_layer);
  }
}

TEST(LayerVersions, APresentModelSeesAllFeatures) {
  const Model model(parts_of(kNow));
  dataset::Context now = application("gamma", 7), other = now;
  other.layers.features.col(kNow - 1).array() += 1;
  const LevelMatrix levels = test::random_levels({6, 6, 6, 6}, 30, 1);
  EXPECT_NE(model.predict(levels, now).objective, model.predict(levels, other).objective);
  EXPECT_FALSE(model.seen_alike(now, other));
}

TEST(LayerVersions, FilesKeepTheVersion) {
  const hindsight::test::TemporaryFolder folder;
  const LevelMatrix levels = test::random_levels({6, 6, 6, 6}, 30, 1);
  std::vector<std::int64_t> all = kOlder;
  all.push_back(kNow);
  for (const std::int64_t features : all) {
    const Model model(parts_of(features));
    save_model(model, folder.path() / "m.safetensors");
    const Model loaded = load_model(folder.path() / "m.safetensors");
    const std::string version = std::to_string(*workload::layer_feature_version(features));
    EXPECT_THAT(read_file(folder.path() / "m.safetensors"), HasSubstr(R"(\"layer_feature_version\":)" + version + ","));
    EXPECT_EQ(loaded.parts().members.front().architecture().layer_features, features);
    EXPECT_EQ(loaded.predict(levels, application("gamma", 7)).objective,
              model.predict(levels, application("gamma", 7)).objective);
  }
}

TEST(LayerVersions, AFileWhoseNetworksSeeAnotherVersionThanItSaysIsRefused) {
  const hindsight::test::TemporaryFolder folder;
  const auto file = folder.path() / "m.safetensors";
  save_model(Model(parts_of(kOld)), file);
  const auto refused = [&](int version) -> std::string {
    write_file_atomically(
        file, test::with_description(read_file(file), [&](auto& model) { model["layer_feature_version"] = version; }));
    try {
      static_cast<void>(load_model(file));
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refused(1), "accepted");
  EXPECT_THAT(refused(2), HasSubstr("a network sees 21 features of a layer, and version 2 of them has 23"));
  EXPECT_THAT(refused(0), HasSubstr("sees layers by version 0"));
  EXPECT_THAT(refused(workload::kLayerFeatureVersion + 1),
              HasSubstr("knows versions 1 to " + std::to_string(workload::kLayerFeatureVersion)));
}

TEST(LayerVersions, RowsOfTodayAdaptAnOlderModel) {
  dataset::Dataset data = hindsight::test::small_table(2, 60);
  data.constraint_names.clear();
  data.constraints.resize(data.levels.rows(), 0);
  for (std::size_t c = 0; c < data.contexts.size(); ++c) {
    data.contexts[c] = application("user_" + std::to_string(c), 10 + c);
  }
  const Model base(parts_of(kOld));
  const TransferResult result =
      adapt(base, data, {.name = "old.safetensors", .sha256 = "abc", .compare_scratch = false, .threads = 1});
  const Model::Parts& parts = result.model.parts();
  ASSERT_EQ(parts.training_contexts.size(), 4U);
  EXPECT_EQ(parts.members.front().architecture().layer_features, kOld);
  const hindsight::test::TemporaryFolder folder;
  save_model(result.model, folder.path() / "m.safetensors");
  EXPECT_EQ(load_model(folder.path() / "m.safetensors").predict(data.levels, data.contexts[1]).objective,
            result.model.predict(data.levels, data.contexts[1]).objective);
}

TEST(LayerVersions, NetworksOfNoVersionAndApplicationsOfAnotherAreRefused) {
  EXPECT_THAT(refusal(parts_of(kOld - 1)), HasSubstr("see 20 features of a layer"));
  Model::Parts parts = parts_of(kNow);
  parts.training_contexts[1] = application("beta", 2, kOld);
  EXPECT_THAT(refusal(parts),
              HasSubstr("21 for features of the layers of context 'beta', not " + std::to_string(kNow)));
}

}  // namespace
}  // namespace hindsight::surrogate
