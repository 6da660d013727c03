/// Does a wrong, endless or hostile input get one short line with the file and a remedy, and nothing else?
#include <gmock/gmock.h>

#include "apps/app_fixture.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class HostileInput : public AppTest {};

TEST_F(HostileInput, OneLongLineGivenAsATableIsNotQuotedWhole) {
  const std::string json = write("one_line.csv", "{\"designs\":\"" + std::string(900'000, 'x') + "\"}\n");
  const std::string words = write("words.csv", std::string(900'000, 'y') + "\n1\n");
  const std::string rows = write("rows.csv", "a,b\n" + std::string(900'000, 'z') + ",1\n");
  for (const std::string& table : {json, words, rows}) {
    expect_one_line_error(
        hindsight({"log", "import", "--csv", table, "--objective", "latency", "--log", file("a.sqlite")}), 2,
        table.substr(table.rfind('/')));
  }
  expect_one_line_error(hindsight({"gemm", "--gpu", "l4", "--csv", json}), 2,
                        "one_line.csv:1:2: a quote inside a cell");
  EXPECT_FALSE(std::filesystem::exists(file("a.sqlite")));
}

TEST_F(HostileInput, ADeviceThatNeverEndsIsRefusedAtOnce) {
  const std::string zero = "/dev/zero";
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"log", "import", "--csv", zero, "--objective", "y", "--log", file("a.sqlite")},
        {"space", "infer", zero, "--objective", "y"},
        {"gemm", "--gpu", "l4", "--csv", zero},
        {"gemm", "--gpu", zero, "-m", "8", "-n", "8", "-k", "8"},
        {"calibrate", "--gpu", "l4", "--measurements", zero},
        {"space", "show", zero},
        {"workload", "show", zero},
        {"simulate", "--design", zero, "--workload", "m4"},
        {"simulate", "--design", "edge_tpu_v1", "--workload", "m4", "--technology", zero},
        {"check", "--file", zero, "--gpus", "l4"},
        {"measure", "import", zero},
        {"model", "show", zero}}) {
    const Outcome outcome = hindsight(command);
    SCOPED_TRACE(command[0] + " " + command[1]);
    expect_one_line_error(outcome, 2, "/dev/zero: is a device (it may never end). Give a file?");
  }
}

TEST_F(HostileInput, AFolderIsSaidToBeOne) {
  const std::string folder = file("folder");
  std::filesystem::create_directory(folder);
  for (const std::vector<std::string>& command : {std::vector<std::string>{"space", "show", folder},
                                                  {"simulate", "--design", folder, "--workload", "m4"},
                                                  {"workload", "show", folder},
                                                  {"model", "show", folder},
                                                  {"gemm", "--gpu", folder, "-m", "8", "-n", "8", "-k", "8"}}) {
    expect_one_line_error(hindsight(command), 2, folder + ": is a folder. Give a file in it?");
  }
}

TEST_F(HostileInput, AModelFileThatIsSomethingElseIsSaidToBeThat) {
  const auto model = [&](const std::string& name, const std::string& content) {
    return hindsight({"model", "show", write(name, content)});
  };
  const std::string remedy = "Give the .safetensors file that `hindsight train --out` wrote?";
  expect_one_line_error(model("runs.sqlite", std::string("SQLite format 3\0\x10\0", 18) + std::string(4096, '\0')), 4,
                        "runs.sqlite: is a SQLite database, not a model. " + remedy);
  expect_one_line_error(model("edge.yaml", "name: edge\nparameters:\n  - {name: pes_x, values: [1, 2]}\n"), 4,
                        "edge.yaml: is text, not a model. " + remedy);
  expect_one_line_error(model("model.gz", "\x1f\x8b\x08" + std::string(500, '\1')), 4, "model.gz: is a gzip file");
}

TEST_F(HostileInput, NoNameBringsAnEscapeSequenceOrTextThatRunsBackwards) {
  const std::string layer = "layers:\n  - {name: fc, type: fully_connected, rows: 1, reduction: 8, columns: 8}\n";
  expect_one_line_error(hindsight({"workload", "show", write("a.yaml", "name: \"\\e[31mnet\"\n" + layer)}), 2,
                        "a.yaml:1:7: a text with the control character U+001B");
  expect_one_line_error(hindsight({"workload", "show", write("b.yaml", "name: \"\xe2\x80\xaenet\"\n" + layer)}), 2,
                        "b.yaml:1:8: character U+202E");
  expect_one_line_error(hindsight({"workload", "show", write("c.yaml", "name: \"two\\nlines\"\n" + layer)}), 2,
                        "c.yaml:1:7: 'name' is the text 'two\\x0alines', but a name has one line");
  const Outcome outcome = hindsight({"space", "show", "edge\x1b[31m\xe2\x80\xae"});
  expect_one_line_error(outcome, 2, "'edge\\x1b[31m\\u202e'");
}

TEST_F(HostileInput, AnEmptyRangeIsATypingMistake) {
  expect_one_line_error(hindsight({"propose", "--workload", "m6", "--set", "pes_x=8..4"}), 2,
                        "--set pes_x=8..4: the range is empty, its ends are swapped. Use --set pes_x=4..8?");
  EXPECT_EQ(hindsight({"propose", "--workload", "m6", "--set", "pes_x=4..8", "--evaluations", "1000"}).exit_code, 0);
}

TEST_F(HostileInput, AnOptionGivenTwiceIsSaidToBe) {
  expect_one_line_error(hindsight({"space", "sample", "edge", "--seed", "1", "--seed", "2"}), 2,
                        "hindsight space sample: --seed is given twice. Keep one.");
  expect_one_line_error(hindsight({"space", "sample", "edge", "--seed", "1", "--seed", "2", "--seed", "3"}), 2,
                        "--seed is given 3 times. Keep one.");
  expect_one_line_error(hindsight({"propose", "--workload", "m6", "--model", "a", "--model", "b"}), 2,
                        "--model is given twice. Keep one.");
}

TEST_F(HostileInput, ANetworkOfTooManyLayersNamesItsLayers) {
  std::string text = "name: net\nlayers:\n";
  for (int i = 0; i < 91'000; ++i) {
    text += "  - {name: l" + std::to_string(i) + ", type: fully_connected, rows: 1, reduction: 8, columns: 8}\n";
  }
  expect_one_line_error(hindsight({"workload", "show", write("deep.yaml", text)}), 2,
                        "deep.yaml:65538:5: 'layers' has more than 65,535 items, the most that a list may have.");
}

TEST_F(HostileInput, ALongErrorKeepsItsPlaceAndItsRemedy) {
  const std::string name(250, 'n');
  const std::string folder = file(name);
  std::filesystem::create_directories(folder + "/" + name);
  const Outcome outcome = hindsight({"space", "show", folder + "/" + name});
  expect_one_line_error(outcome, 2, file("").substr(0, 10));
  EXPECT_THAT(outcome.err, HasSubstr("is a folder. Give a file in it?"));
  EXPECT_THAT(outcome.err, HasSubstr("n…n"));
}

}  // namespace
}  // namespace hindsight::app::test
