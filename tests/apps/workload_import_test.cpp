/// Does `workload import` turn another tool's network into a file that every verb takes, and leave nothing
/// half-written?
#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/app_fixture.h"
#include "workload/onnx_writer.h"

namespace hindsight::app::test {
namespace {

using hindsight::test::onnx_node;
using hindsight::test::onnx_tensor;
using ::testing::HasSubstr;
using Json = nlohmann::json;

class WorkloadImport : public AppTest {
 protected:
  std::string model() const {
    hindsight::test::OnnxModel onnx;
    onnx.input("x", {"batch", "3", "16", "16"}).initializer(onnx_tensor("w", {8, 3, 3, 3}));
    onnx.initializer(onnx_tensor("fc", {8, 10}));
    onnx.node(onnx_node("Conv", {"x", "w"}, {"y"}))
        .node(onnx_node("GlobalAveragePool", {"y"}, {"p"}))
        .node(onnx_node("Flatten", {"p"}, {"f"}))
        .node(onnx_node("MatMul", {"f", "fc"}, {"o"}));
    return write("model.onnx", onnx.text());
  }
};

TEST_F(WorkloadImport, TheWorkloadIsTakenByOtherVerbs) {
  const Outcome imported =
      hindsight({"workload", "import", model(), "--dim", "batch=1", "--name", "mine", "--out", file("mine.yaml")});
  EXPECT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_THAT(imported.out, HasSubstr("mine: 2 layers, 42,416 MACs, 296 parameters, batch 1"));
  EXPECT_THAT(imported.out, HasSubstr("ignored, without MACs: GlobalAveragePool 1, Flatten 1"));
  EXPECT_THAT(imported.out, HasSubstr("written to "));
  const Json shown = Json::parse(hindsight({"workload", "show", file("mine.yaml"), "--json"}).out);
  EXPECT_EQ(shown.at("macs"), 42416);
  const Outcome simulated =
      hindsight({"simulate", "--space", "tiny", "--workload", file("mine.yaml"), "--design", kTinyDesign});
  EXPECT_EQ(simulated.exit_code, 0) << simulated.err;
  const Outcome swept = hindsight({"sweep", "--space", "tiny", "--samples", "5", "--workloads", file("mine.yaml"),
                                   "--log", file("log.sqlite"), "--quiet"});
  EXPECT_EQ(swept.exit_code, 0) << swept.err;
}

TEST_F(WorkloadImport, VerbsThatTakeAWorkloadSayHowToMakeOne) {
  const std::string layers = write("net.csv", "Layer, M, N, K,\na, 8, 4, 2,\n");
  const std::string remedy = layers +
                             ": is no workload file. Make one of another tool's network: hindsight workload "
                             "import " +
                             layers + " --out net.yaml\n";
  for (const std::string& name : {layers, layers + "@8"}) {
    expect_one_line_error(hindsight({"workload", "show", name}), 2, remedy);
    expect_one_line_error(hindsight({"propose", "--workload", name}), 2, remedy);
  }
  expect_one_line_error(hindsight({"workload", "show", model()}), 2, "hindsight workload import " + model());
  EXPECT_EQ(hindsight({"workload", "import", layers, "--out", file("net.yaml")}).exit_code, 0);
}

TEST_F(WorkloadImport, AsJsonAndOnStandardOutput) {
  const Json json = Json::parse(hindsight({"workload", "import", model(), "--dim", "batch=2", "--json"}).out);
  EXPECT_EQ(json.at("format"), "onnx");
  EXPECT_EQ(json.at("batch"), 2);
  EXPECT_EQ(json.at("without_macs").at("Flatten"), 1);
  EXPECT_EQ(json.at("out"), nullptr);
  const Outcome yaml = hindsight({"workload", "import", model(), "--dim", "batch=1", "--out", "-"});
  EXPECT_THAT(yaml.out, HasSubstr("layers:\n  - {name: n_y, type: convolution"));
}

TEST_F(WorkloadImport, BadInputWritesNothing) {
  const std::string out = file("out.yaml");
  const auto import = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"workload", "import"});
    arguments.insert(arguments.end(), {"--out", out});
    return hindsight(arguments);
  };
  expect_one_line_error(import({model()}), 2, "Give --dim batch=...");
  expect_one_line_error(import({model(), "--dim", "batch"}), 2, "is not NAME=NUMBER");
  expect_one_line_error(import({model(), "--dim", "batch=-1"}), 2, "is not NAME=NUMBER");
  expect_one_line_error(import({model(), "--dim", "batch=1", "--dim", "batch=2"}), 2, "given twice");
  expect_one_line_error(import({model(), "--format", "onx"}), 2, "Did you mean 'onnx'?");
  expect_one_line_error(import({write("a.onnx", "broken")}), 2, "a.onnx: byte 0");
  expect_one_line_error(import({write("a.csv", "Layer, M, N, K,\na, 1, 2,\n")}), 2, "a.csv:2:9: K is missing");
  expect_one_line_error(import({file("none.onnx")}), 2, "none.onnx: no such file");
  expect_one_line_error(import({write("a.txt", "what?")}), 2, "--format");
  EXPECT_FALSE(std::filesystem::exists(out));
  const std::string input = model();
  expect_one_line_error(hindsight({"workload", "import", input, "--dim", "batch=1", "--out", input}), 2, "--out");
}

}  // namespace
}  // namespace hindsight::app::test
