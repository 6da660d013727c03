/// Fault: what survives in a model file, and is everything else refused?
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/random.h"
#include "repository.h"
#include "surrogate/model_pieces.h"
#include "surrogate/small_model.h"
#include "temporary_folder.h"

namespace hindsight::surrogate {
namespace {

namespace fs = std::filesystem;
using test::Pieces;
using test::sealed;
using test::small_parts;
using test::take_apart;
using test::with_description;
using test::with_length;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// Without the wait for the disk that makes thousands of damaged files slow.
void write_unsynced(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// A folder of its own per test that goes away.
class ModelFile : public ::testing::Test {
 protected:
  std::string saved() {
    save_model(Model(small_parts(2)), file_);
    return read_file(file_);
  }
  /// The message of the refusal; "accepted" when the bytes load.
  std::string refusal(const std::string& bytes) {
    write_unsynced(file_, bytes);
    try {
      static_cast<void>(load_model(file_));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::incompatible) << error.what();
      return error.what();
    }
    return "accepted";
  }

  hindsight::test::TemporaryFolder temporary_;
  fs::path folder_ = temporary_.path(), file_ = folder_ / "surrogate.safetensors";
};

void expect_same(const Model::Parts& a, const Model::Parts& b) {
  EXPECT_EQ(a.space.definition_hash(), b.space.definition_hash());
  EXPECT_EQ(a.space.name(), b.space.name());
  EXPECT_EQ(a.objective_text, b.objective_text);
  EXPECT_EQ(a.constraint_names, b.constraint_names);
  EXPECT_EQ(a.recipe_text, b.recipe_text);
  EXPECT_EQ(a.provenance, b.provenance);
  EXPECT_EQ(a.feasibility_temperature, b.feasibility_temperature);
  EXPECT_EQ(a.context_scaler.mean, b.context_scaler.mean);
  EXPECT_EQ(a.objective_scaler.deviation_weights, b.objective_scaler.deviation_weights);
  EXPECT_EQ(a.constraint_scaler.names, b.constraint_scaler.names);
  EXPECT_EQ(a.metrics.top_k_precision, b.metrics.top_k_precision);
  ASSERT_EQ(a.training_contexts.size(), b.training_contexts.size());
  EXPECT_EQ(a.training_contexts[1].features, b.training_contexts[1].features);
  ASSERT_EQ(a.members.size(), b.members.size());
  for (std::size_t m = 0; m < a.members.size(); ++m) {
    EXPECT_EQ(a.members[m].architecture(), b.members[m].architecture());
    for (const auto& [name, tensor] : a.members[m].weights()) {
      EXPECT_EQ(tensor.values, b.members[m].weights().at(name).values) << name;
    }
  }
}

TEST_F(ModelFile, GivesBackWhatWasSaved) {
  const Model model(small_parts(3));
  save_model(model, file_);
  const Model loaded = load_model(file_);
  expect_same(model.parts(), loaded.parts());
  const LevelMatrix levels = test::random_levels({4, 3, 2}, 40, 1);
  const auto before = model.predict(levels, model.parts().training_contexts[0]);
  const auto after = loaded.predict(levels, loaded.parts().training_contexts[0]);
  EXPECT_EQ(before.objective, after.objective);
  EXPECT_EQ(before.p_feasible, after.p_feasible);
  const std::string bytes = read_file(file_);
  save_model(loaded, file_);
  EXPECT_EQ(read_file(file_), bytes) << "the same model gives the same bytes";
  EXPECT_THAT(read_file(folder_ / "surrogate.md"), HasSubstr("# Surrogate of"));
}

TEST_F(ModelFile, KeepsTheWordsOfApplicationsAndIsOfAnOlderVersionWithoutAny) {
  EXPECT_EQ(take_apart(saved()).header.at("__metadata__").at("format_version"), "5")
      << "as it was before there were words";
  const Model model(test::parts_of_words(2));
  save_model(model, file_);
  EXPECT_EQ(take_apart(read_file(file_)).header.at("__metadata__").at("format_version"), "6");
  const Model loaded = load_model(file_);
  expect_same(model.parts(), loaded.parts());
  EXPECT_EQ(loaded.parts().context_scaler.words, model.parts().context_scaler.words);
  const LevelMatrix levels = test::random_levels({4, 3, 2}, 40, 1);
  for (const dataset::Context& context : loaded.parts().training_contexts) {
    EXPECT_EQ(loaded.predict(levels, context).objective, model.predict(levels, context).objective) << context.name;
  }
  EXPECT_THAT(read_file(folder_ / "surrogate.md"), HasSubstr("Known by words: app=bert, app=conv."));
  const std::string bytes = read_file(file_);
  const auto without = [](auto& description) { description["context_scaler"].erase("words"); };
  EXPECT_THAT(refusal(with_description(bytes, without)), HasSubstr("'words' is missing"));
  const auto fewer = [](auto& description) { description["context_scaler"]["words"].erase(1); };
  EXPECT_THAT(refusal(with_description(bytes, fewer)), HasSubstr("context features"));
}

TEST_F(ModelFile, IsSafetensorsByThePublishedLayout) {
  // github.com/huggingface/safetensors, "Format": u64 length; JSON that starts with '{', padded with blanks; tensors
  // with dtype, shape, data_offsets relative to the data, without holes; __metadata__ maps text to text.
  const std::string bytes = saved();
  const Pieces pieces = take_apart(bytes);
  EXPECT_EQ(bytes[8], '{');
  EXPECT_EQ((bytes.size() - pieces.data.size()) % 8, 0U) << "the data is aligned";
  for (const auto& [key, value] : pieces.header.at("__metadata__").items()) EXPECT_TRUE(value.is_string()) << key;
  std::vector<std::pair<std::size_t, std::size_t>> places;
  for (const auto& [name, tensor] : pieces.header.items()) {
    if (name == "__metadata__") continue;
    EXPECT_EQ(tensor.size(), 3U);
    EXPECT_EQ(tensor.at("dtype"), "F32");
    std::size_t count = 1;
    for (const auto& size : tensor.at("shape")) count *= size.get<std::size_t>();
    const auto begin = tensor.at("data_offsets").at(0).get<std::size_t>();
    const auto end = tensor.at("data_offsets").at(1).get<std::size_t>();
    EXPECT_EQ(end - begin, 4 * count) << name;
    places.emplace_back(begin, end);
  }
  std::ranges::sort(places);
  std::size_t position = 0;
  for (const auto& [begin, end] : places) {
    EXPECT_EQ(begin, position);
    position = end;
  }
  EXPECT_EQ(position, pieces.data.size());
  const auto& entry = pieces.header.at("member.1.position");
  float first = 0;
  std::memcpy(&first, pieces.data.data() + entry.at("data_offsets").at(0).get<std::size_t>(), sizeof first);
  EXPECT_EQ(first, small_parts(2).members[1].weights().at("position").values[0]);
}

TEST_F(ModelFile, ScalesAndUntaughtFeasibilitySurvive) {
  Model::Parts parts = small_parts(1);
  parts.objective_scaler.value_scale = dataset::ValueScale::linear;
  parts.constraint_scaler.value_scales = {dataset::ValueScale::log1p};
  parts.feasibility_learned = false;
  save_model(Model(parts), file_);
  const Model loaded = load_model(file_);
  EXPECT_EQ(loaded.parts().objective_scaler.value_scale, dataset::ValueScale::linear);
  EXPECT_EQ(loaded.parts().constraint_scaler.value_scales, parts.constraint_scaler.value_scales);
  EXPECT_FALSE(loaded.parts().feasibility_learned);
  EXPECT_THAT(refusal(with_description(read_file(file_), [](auto& m) { m["objective_scaler"]["scale"] = "log"; })),
              HasSubstr("unknown scale 'log'"));
  save_model(Model(parts), file_);
  EXPECT_THAT(refusal(with_description(read_file(file_), [](auto& m) { m["feasibility_learned"] = 1; })),
              HasSubstr("'feasibility_learned'"));
}

TEST_F(ModelFile, VersionTwoIsReadAsLogarithmic) {
  // A file of version 2 is one of version 3 without what that version added.
  Pieces pieces = take_apart(with_description(saved(), [](auto& model) {
    model["objective_scaler"].erase("scale");
    model["constraint_scaler"].erase("scales");
    model.erase("feasibility_learned");
  }));
  EXPECT_THAT(refusal(sealed(pieces)), HasSubstr("'scale' is missing")) << "version 3 needs them";
  pieces.header["__metadata__"]["format_version"] = "2";
  ASSERT_EQ(refusal(sealed(pieces)), "accepted");
  expect_same(load_model(file_).parts(), small_parts(2));
  EXPECT_EQ(load_model(file_).parts().objective_scaler.value_scale, dataset::ValueScale::logarithmic);
  EXPECT_EQ(load_model(file_).parts().constraint_scaler.value_scales, std::vector{dataset::ValueScale::logarithmic});
  EXPECT_TRUE(load_model(file_).parts().feasibility_learned);
}

TEST_F(ModelFile, VersionThreeIsReadAsNetworksOfExperts) {
  Pieces pieces = take_apart(with_description(saved(), [](auto& model) {
    for (auto& member : model["members"]) {
      for (const char* key : {"kind", "code_sizes", "paired"}) member.erase(key);
    }
  }));
  EXPECT_THAT(refusal(sealed(pieces)), HasSubstr("'kind' is missing")) << "version 4 needs it";
  pieces.header["__metadata__"]["format_version"] = "3";
  ASSERT_EQ(refusal(sealed(pieces)), "accepted");
  expect_same(load_model(file_).parts(), small_parts(2));
}

TEST_F(ModelFile, VersionFourIsReadAsNetworksThatSeeNoLayers) {
  Pieces pieces = take_apart(with_description(saved(), [](auto& model) {
    model.erase("layer_feature_version");
    for (auto& member : model["members"]) {
      for (const char* key : {"layer_features", "layered_reasons", "layered_constraints"}) member.erase(key);
    }
  }));
  EXPECT_THAT(refusal(sealed(pieces)), HasSubstr("'layer_feature_version' is missing")) << "version 5 needs it";
  pieces.header["__metadata__"]["format_version"] = "4";
  ASSERT_EQ(refusal(sealed(pieces)), "accepted");
  expect_same(load_model(file_).parts(), small_parts(2));
}

TEST_F(ModelFile, RefusesAnUnknownKindOfNetwork) {
  EXPECT_THAT(refusal(with_description(saved(), [](auto& model) { model["members"][0]["kind"] = "forest"; })),
              HasSubstr("unknown kind of network 'forest'"));
}

TEST_F(ModelFile, TheShippedModelOfVersionTwoLoads) {
  const Model model = load_model(hindsight::test::repository() / "models" / "edge-prime9.safetensors");
  EXPECT_EQ(model.parts().objective_scaler.value_scale, dataset::ValueScale::logarithmic);
  EXPECT_TRUE(model.parts().feasibility_learned);
  const LevelMatrix levels = LevelMatrix::Zero(1, static_cast<Eigen::Index>(model.parts().space.parameters().size()));
  EXPECT_GT(model.predict(levels, model.parts().training_contexts.front()).objective(0), 0);
}

TEST_F(ModelFile, UndefinedMetricsSurvive) {
  Model::Parts parts = small_parts(1);
  parts.metrics.feasibility_auc = std::nan("");
  save_model(Model(parts), file_);
  EXPECT_TRUE(std::isnan(load_model(file_).parts().metrics.feasibility_auc));
}

TEST_F(ModelFile, RefusesEveryTruncation) {
  const std::string bytes = saved();
  // Every length of the first and the last bytes; between them a prime, so that ends are aligned to nothing.
  constexpr std::size_t kEach = 300, kStep = 61;
  for (std::size_t size = 0; size < bytes.size();) {
    ASSERT_NE(refusal(bytes.substr(0, size)), "accepted") << size;
    size += size < kEach || size + kEach + kStep > bytes.size() ? 1 : kStep;
  }
  EXPECT_THAT(refusal(bytes.substr(0, bytes.size() - 1)), HasSubstr("surrogate.safetensors"));
  EXPECT_NE(refusal(bytes + '\0'), "accepted") << "bytes after the end";
  EXPECT_THAT(refusal(""), HasSubstr("too few"));
  for (const std::size_t size : {std::size_t{0}, std::size_t{1000}, bytes.size() - 1}) {
    EXPECT_THAT(refusal(bytes.substr(0, size)), HasSubstr("Copy it again, or train it again")) << size;
  }
  EXPECT_THAT(refusal(bytes.substr(0, bytes.size() - 1)), HasSubstr("(truncated?)"));
}

TEST_F(ModelFile, RefusesEveryFlippedBit) {
  const std::string bytes = saved();
  constexpr std::uint64_t kSeed = 20261121;
  const RandomStream random(kSeed, "flips");
  for (std::uint64_t i = 0; i < 2000; ++i) {
    std::string damaged = bytes;
    const std::uint64_t bit = i < 800 ? i : random.below(i, bytes.size() * 8);  // the first hundred bytes: every bit
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    ASSERT_NE(refusal(damaged), "accepted") << "bit " << bit << ", seed " << kSeed;
  }
}

TEST_F(ModelFile, SurvivesArbitraryChangesUnderValidChecksums) {
  // What checksums cannot catch: a hostile header. Run in a child, so that a crash is a failed test, not a dead one.
  const std::string bytes = saved();
  const fs::path attempt = folder_ / "attempt.safetensors";
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const RandomStream random(1, "hostile");
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), sizeof length);
    for (std::uint64_t i = 0; i < 1500; ++i) {
      std::string header = bytes.substr(8, length);
      const std::uint64_t start = 200;  // behind the checksum's own entry
      for (std::uint64_t change = 0; change <= random.below(3 * i, 3); ++change) {
        const std::uint64_t at = start + random.below(7 * i + change, header.size() - start);
        header[at] = static_cast<char>(random.below(11 * i + change, 2) == 0 ? '0' + random.below(13 * i + change, 10)
                                                                             : random.below(13 * i + change, 256));
      }
      try {
        write_unsynced(attempt, sealed(header, bytes.substr(8 + length)));
        static_cast<void>(load_model(attempt));
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::incompatible) _exit(3);
      } catch (...) {
        _exit(4);
      }
    }
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0) << "3: another kind of error, 4: another exception";
}

TEST_F(ModelFile, SaysWhichVersionItNeeds) {
  const std::string bytes = saved();
  Pieces pieces = take_apart(bytes);
  for (const char* other : {"1", "7", "x"}) {
    pieces.header["__metadata__"]["format_version"] = other;
    EXPECT_THAT(refusal(sealed(pieces)),
                AllOf(HasSubstr(std::string("format version ") + other), HasSubstr("reads versions 2 to 6")));
  }
  EXPECT_THAT(refusal(with_description(bytes, [](auto& model) { model["encoding_version"] = 7; })),
              HasSubstr("encodes designs by version 7"));
  EXPECT_EQ(refusal(with_description(bytes, [](auto& model) { model["layer_feature_version"] = 7; })), "accepted")
      << "its networks see no layers";
}

TEST_F(ModelFile, RefusesMalformedHeadersWithValidChecksums) {
  const std::string bytes = saved();
  const auto changed = [&](const std::function<void(Pieces&)>& change) {
    Pieces pieces = take_apart(bytes);
    change(pieces);
    return refusal(sealed(std::move(pieces)));
  };
  EXPECT_EQ(changed([](Pieces&) {}), "accepted") << "the helper itself changes nothing";
  EXPECT_THAT(changed([](Pieces& p) { p.header["member.0.position"]["dtype"] = "F16"; }), HasSubstr("not of type F32"));
  EXPECT_THAT(changed([](Pieces& p) { p.header["member.0.position"] = 3; }),
              HasSubstr("'member.0.position' is not described by dtype, shape and data_offsets"));
  EXPECT_THAT(changed([](Pieces& p) { p.header["member.0.position"]["more"] = 1; }), HasSubstr("is not described by"));
  EXPECT_THAT(changed([](Pieces& p) { p.header["member.0.position"]["data_offsets"] = std::vector<int>{0}; }),
              HasSubstr("malformed"));
  EXPECT_THAT(changed([](Pieces& p) { p.header["member.0.position"]["shape"] = {4, 3}; }), HasSubstr("'position'"));
  EXPECT_THAT(changed([](Pieces& p) { p.header["member.0.position"]["shape"] = {3, 5}; }), HasSubstr("do not fit"));
  EXPECT_THAT(changed([](Pieces& p) {
                p.header["member.0.position"]["shape"] = {-3, -4};
              }),
              HasSubstr("no sane shape"));
  EXPECT_THAT(changed([](Pieces& p) {
                p.header["member.0.position"]["shape"] = {std::int64_t{1} << 62, std::int64_t{1} << 62};
              }),
              HasSubstr("no sane shape"));
  EXPECT_THAT(changed([](Pieces& p) {
                p.header["member.0.position"]["data_offsets"] = {8, 4};
              }),
              HasSubstr("malformed"));
  EXPECT_THAT(changed([](Pieces& p) {
                p.header["member.0.position"]["data_offsets"] = {0, 1.5};
              }),
              HasSubstr("whole number"));
  EXPECT_THAT(changed([](Pieces& p) { p.header.erase("member.0.position"); }), HasSubstr("hole"));
  EXPECT_THAT(changed([](Pieces& p) { p.data += "1234"; }), HasSubstr("the file has"));
  EXPECT_THAT(changed([](Pieces& p) { p.header["__metadata__"].erase("model"); }), HasSubstr("'model' is missing"));
  EXPECT_THAT(changed([](Pieces& p) { p.header["__metadata__"]["model"] = 3; }), HasSubstr("'model' is not text"));
  EXPECT_THAT(changed([](Pieces& p) {
                const float nan = std::nanf("");
                std::memcpy(p.data.data(), &nan, sizeof nan);
              }),
              HasSubstr("nan"));
}

TEST_F(ModelFile, RefusesDuplicateKeysAndDeepNesting) {
  const std::string bytes = saved();
  const Pieces pieces = take_apart(bytes);
  std::string twice = pieces.header.dump();
  twice.insert(twice.size() - 1, R"(,"member.0.position":{})");
  EXPECT_THAT(refusal(sealed(twice, pieces.data)), HasSubstr("'member.0.position' twice"));
  for (const std::size_t depth : {20U, 1'000'000U}) {
    std::string deep = pieces.header.dump();
    deep.insert(deep.size() - 1, R"(,"deep":)" + std::string(depth, '[') + std::string(depth, ']'));
    EXPECT_THAT(refusal(sealed(deep, pieces.data)), HasSubstr("nested deeper")) << depth;
  }
  EXPECT_THAT(refusal(with_description(bytes, [](auto& model) { model["recipe"] = nullptr; })), HasSubstr("'recipe'"));
}

TEST_F(ModelFile, RefusesDescriptionsThatContradictTheWeights) {
  const std::string bytes = saved();
  const auto changed = [&](const std::function<void(nlohmann::ordered_json&)>& change) {
    return refusal(with_description(bytes, change));
  };
  EXPECT_EQ(changed([](auto&) {}), "accepted");
  EXPECT_THAT(changed([](auto& m) { m["members"][0]["experts"] = 3; }), HasSubstr("is missing"));
  EXPECT_THAT(changed([](auto& m) { m["members"][0]["d_model"] = 8; }), HasSubstr("has shape"));
  EXPECT_THAT(changed([](auto& m) { m["members"][0]["experts"] = 1'000'000'000; }), HasSubstr("experts = 1000000000"));
  EXPECT_THAT(changed([](auto& m) { m["members"].erase(1); }), HasSubstr("no member"));
  EXPECT_THAT(changed([](auto& m) { m["members"] = nlohmann::json::array(); }), HasSubstr("no member"));
  EXPECT_THAT(changed([](auto& m) { m["space"]["hash"] = "00"; }), HasSubstr("hash"));
  EXPECT_NE(changed([](auto& m) { m["space"]["definition"] = "nonsense"; }), "accepted");
  EXPECT_THAT(changed([](auto& m) { m["context_scaler"]["mean"] = {1, 2, 3}; }), HasSubstr("context features"));
  EXPECT_THAT(changed([](auto& m) { m["objective_scaler"]["mean"] = {1, "x"}; }), HasSubstr("finite number"));
  EXPECT_THAT(changed([](auto& m) { m["feasibility_temperature"] = -1; }), HasSubstr("temperature"));
  EXPECT_THAT(changed([](auto& m) { m.erase("metrics"); }), HasSubstr("'metrics' is missing"));
}

TEST_F(ModelFile, RefusesForeignFiles) {
  EXPECT_THAT(refusal(std::string(200, 'x')), HasSubstr("is text, not a model"));
  EXPECT_THAT(refusal(std::string(200, '\2')), HasSubstr("no safetensors file"));  // a length of 0x0202020202020202
  EXPECT_THAT(refusal(with_length(
                  R"({"weight":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})" + std::string(100, ' '), "1234")),
              HasSubstr("another program"));
  EXPECT_THROW(static_cast<void>(load_model(folder_ / "missing.safetensors")), Error);
  EXPECT_THROW(static_cast<void>(load_model(folder_)), Error);
}

TEST_F(ModelFile, AFailedSaveKeepsTheOldFile) {
  const std::string bytes = saved();
  EXPECT_THROW(save_model(Model(small_parts(1)), folder_ / "missing" / "surrogate.safetensors"), Error);
  EXPECT_EQ(read_file(file_), bytes);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 2) << "the model and its card";
}

}  // namespace
}  // namespace hindsight::surrogate
