/// Does a trained model adapt to the rows of another technology, and say where it should not?
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "apps/learn_fixture.h"
#include "hindsight/surrogate/model.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;

TEST_F(Learn, AdaptsAModelToFewRowsOfAnotherTechnology) {
  ASSERT_EQ(sweep("mobilenet_v2,m6", "400").exit_code, 0);
  ASSERT_EQ(train({"--recipe", "layers", "--constraint", "energy_j", "--set", "steps=150"}).exit_code, 0);
  const std::string few = file("few.sqlite"), adapted = file("adapted.safetensors");
  ASSERT_EQ(hindsight({"sweep", "--space", "tiny", "--workloads", "unet", "--samples", "60", "--technology", "45nm",
                       "--log", few, "--quiet"})
                .exit_code,
            0);
  const Outcome done = hindsight({"train", "--from", model(), "--log", few, "--out", adapted, "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const Json json = Json::parse(done.out);
  EXPECT_EQ(json.at("status"), "finished");
  EXPECT_EQ(json.at("from_sha256"), hash_of(model()));
  EXPECT_EQ(json.at("simulator_queries"), 0);
  EXPECT_EQ(json.at("file_sha256"), hash_of(adapted));
  EXPECT_EQ(json.at("held_out").front().at("name"), "unadapted");
  EXPECT_EQ(json.at("held_out").back().at("name"), "from scratch");
  const Json shown = Json::parse(hindsight({"model", "show", adapted, "--json"}).out);
  EXPECT_EQ(shown.at("provenance").at("from"), model());
  EXPECT_EQ(shown.at("provenance").at("evaluator"), "hindsight-accel 1 45nm");
  EXPECT_EQ(shown.at("provenance").at("log"), few);
  EXPECT_THAT(shown.at("training_contexts"), ::testing::Contains("unet"));
  const Outcome proposed = hindsight({"propose", "--model", adapted, "--workload", "unet", "--technology", "45nm",
                                      "--evaluations", "2000", "--min-feasible", "0.1"});
  EXPECT_EQ(proposed.exit_code, 0) << proposed.err;
  const Outcome text = hindsight({"train", "--from", model(), "--log", few, "--out", adapted});
  EXPECT_THAT(text.out, HasSubstr("on rows held out"));
}

TEST_F(Learn, SaysThatTransferHurtsAndWritesNothing) {
  ASSERT_EQ(sweep("t_rnn_enc", "400").exit_code, 0);  // few layers: trainings from scratch are short
  ASSERT_EQ(train({"--recipe", "layers", "--set", "steps=300"}).exit_code, 0);
  surrogate::Model::Parts parts = surrogate::load_model(model()).parts();
  surrogate::Weights weights = parts.members.front().weights();
  for (auto& [name, tensor] : weights) {  // an objective that is noise
    if (!name.starts_with("objective.") || name == "objective.factor") continue;
    for (std::size_t i = 0; i < tensor.values.size(); ++i)
      tensor.values[i] = static_cast<float>(4 * std::sin(7.3 * static_cast<double>(i)));
  }
  parts.members = {surrogate::Network(parts.members.front().architecture(), weights)};
  surrogate::save_model(surrogate::Model(std::move(parts)), file("noise.safetensors"));
  const Surroundings here{.folder = folder_};  // short names, so that a line has room for the command
  const auto from_noise = [&](const std::string& out, const std::vector<std::string>& more) {
    std::vector<std::string> words{"train", "--from", "noise.safetensors", "--log", "study.sqlite", "--out", out};
    words.insert(words.end(), more.begin(), more.end());
    return hindsight(words, here);
  };
  const Outcome refused = from_noise("my adapted.safetensors",
                                     {"--workloads", "t_rnn_enc", "--where", "pes_x>=2", "--seed", "1", "--quiet"});
  expect_one_line_error(refused, 1, "transfer hurts: on rows held out the adapted model has tau ");
  const std::string mark = "train on these rows alone: ";
  const std::size_t at = refused.err.find(mark);
  ASSERT_NE(at, std::string::npos) << refused.err;
  const std::string command = refused.err.substr(at + mark.size(), refused.err.find('\n') - at - mark.size());
  EXPECT_THAT(command,
              ::testing::StartsWith("hindsight train --log study.sqlite --workloads t_rnn_enc --objective latency"));
  EXPECT_THAT(command, HasSubstr(" --where 'pes_x>=2' --recipe layers --out 'my adapted.safetensors'"));
  const std::string line = "cd '" + folder_.string() + "' && PATH='" + program_path().parent_path().string() +
                           "':$PATH && " + command + " --dry-run > /dev/null";
  EXPECT_EQ(std::system(line.c_str()), 0) << command;
  EXPECT_FALSE(std::filesystem::exists(file("my adapted.safetensors")));
  const Outcome lengthy = from_noise(std::string(180, 'o') + ".safetensors", {"--workloads", "t_rnn_enc", "--json"});
  EXPECT_THAT(lengthy.err, HasSubstr("the training of these rows alone: hindsight train --log study.sqlite"));
  EXPECT_THAT(lengthy.err, HasSubstr("alone: give --recipe layers --objective latency"));
  EXPECT_EQ(Json::parse(lengthy.out).at("status"), "refused");
}

TEST_F(Learn, RefusesToAdaptWhatDoesNotFit) {
  ASSERT_EQ(sweep("m6", "400").exit_code, 0);
  ASSERT_EQ(train({"--recipe", "layers"}).exit_code, 0);
  const auto from = [&](const std::string& base, std::vector<std::string> more) {
    std::vector<std::string> arguments{"train", "--from", base, "--log", log(), "--out", file("adapted.safetensors")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return hindsight(arguments);
  };
  for (const auto& given : std::vector<std::vector<std::string>>{{"--recipe", "layers"},
                                                                 {"--method", "margins"},
                                                                 {"--set", "steps=3"},
                                                                 {"--resume"},
                                                                 {"--tune"},
                                                                 {"--constraint", "energy_j"},
                                                                 {"--ensemble", "2"}}) {
    expect_one_line_error(from(model(), given), 2, given.front() + " is about training new ones");
  }
  expect_one_line_error(from(model(), {"--objective", "energy"}), 2, "the model predicts latency, not energy");
  expect_one_line_error(from(model(), {"--maximise"}), 2, "Leave --objective and --maximise out");
  expect_one_line_error(from("edge-any", {}), 4, "has value 1 in the model where it has");
  const std::string table = file("table.sqlite");
  ASSERT_EQ(hindsight({"log", "import", "--csv", write("t.csv", "tile,unroll,time_ms\n1,1,5\n2,1,4\n1,2,3\n2,2,7\n"),
                       "--objective", "time_ms", "--log", table})
                .exit_code,
            0);
  for (const auto& more : std::vector<std::vector<std::string>>{{}, {"--objective", "time_ms"}, {"--dry-run"}}) {
    std::vector<std::string> words{"train", "--from", model(), "--log", table, "--out", file("adapted.safetensors")};
    words.insert(words.end(), more.begin(), more.end());
    expect_one_line_error(hindsight(words), 4, "parameter 1 is 'pes_x' in the model, 'tile' here");
  }
  expect_one_line_error(hindsight({"propose", "--model", model(), "--workload", "m6", "--log", table}), 4,
                        "parameter 1 is 'pes_x' in the model, 'tile' here");
  const std::string conservative = file("conservative.safetensors");
  ASSERT_EQ(hindsight({"train", "--log", log(), "--out", conservative, "--recipe", "v0.1", "--set", "steps=20", "--set",
                       "final_steps=5", "--set", "ensemble=1", "--quiet"})
                .exit_code,
            0);
  expect_one_line_error(from(conservative, {}), 4, "only networks of the recipes layers and margins can");
  expect_one_line_error(from(model(), {"--where", "latency_s<0"}), 2, "no evaluation");
  expect_one_line_error(from("no-such-model", {}), 2, "no-such-model");
  const std::string in_ms = file("ms.sqlite");
  const std::string csv = write("ms.csv",
                                "pes_x,pes_y,pe_memory_bytes,cores_per_pe,core_memory_bytes,compute_lanes,"
                                "instruction_memory_entries,parameter_memory_entries,activation_memory_entries,"
                                "dram_bandwidth_gb_per_s,latency_ms\n"
                                "2,2,524288,4,16384,4,16384,8192,512,10,5\n"
                                "4,2,524288,4,16384,4,16384,8192,512,10,3\n");
  ASSERT_EQ(hindsight({"log", "import", csv, "--space", "tiny", "--objective", "latency_ms", "--log", in_ms}).exit_code,
            0);
  for (const auto& more : std::vector<std::vector<std::string>>{{}, {"--objective", "latency_ms"}, {"--dry-run"}}) {
    std::vector<std::string> words{"train", "--from", model(), "--log", in_ms, "--out", file("adapted.safetensors")};
    words.insert(words.end(), more.begin(), more.end());
    expect_one_line_error(hindsight(words), 2,
                          "has latency_ms in its place. Import the table into a new log with a "
                          "column latency_s, in that unit");
  }
  EXPECT_FALSE(std::filesystem::exists(file("adapted.safetensors")));
}

}  // namespace
}  // namespace hindsight::app::test
