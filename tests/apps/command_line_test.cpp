/// Does the program explain itself, and does a mistyped command get a useful answer?
#include <nlohmann/json.hpp>
#include <sstream>

#include "apps/app_fixture.h"
#include "hindsight/core/terminal.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class CommandLine : public AppTest {};

std::size_t widest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, display_width(line));
  return widest;
}

const std::vector<std::vector<std::string>> kVerbs{{"simulate"},
                                                   {"sweep"},
                                                   {"log", "show"},
                                                   {"log", "stats"},
                                                   {"log", "verify"},
                                                   {"log", "merge"},
                                                   {"log", "hash"},
                                                   {"log", "export"},
                                                   {"log", "query"},
                                                   {"space", "list"},
                                                   {"space", "show"},
                                                   {"space", "sample"},
                                                   {"workload", "list"},
                                                   {"workload", "show"},
                                                   {"workload", "import"},
                                                   {"log", "import"},
                                                   {"space", "infer"},
                                                   {"train"},
                                                   {"check"},
                                                   {"backtest"},
                                                   {"report"},
                                                   {"model", "show"},
                                                   {"model", "score"},
                                                   {"model", "calibrate"},
                                                   {"propose"},
                                                   {"bench", "w50"},
                                                   {"bench", "offline"},
                                                   {"gemm"},
                                                   {"kernel", "attention"},
                                                   {"kernel", "grouped"},
                                                   {"kernel", "compare"},
                                                   {"calibrate"},
                                                   {"measure", "gemm"},
                                                   {"measure", "device"},
                                                   {"measure", "import"},
                                                   {"doctor"}};

TEST_F(CommandLine, PrintsHelpForEveryVerbWithAnExample) {
  for (std::vector<std::string> arguments : kVerbs) {
    arguments.emplace_back("--help");
    const Outcome outcome = hindsight(arguments);
    SCOPED_TRACE(outcome.out);
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.err, "");
    EXPECT_THAT(outcome.out, HasSubstr("Example: hindsight "));
    EXPECT_LE(widest_line(outcome.out), 80U);
    EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos);
  }
}

TEST_F(CommandLine, HelpIsAVerbAndTheAnswerToNothing) {
  const std::string help = hindsight({"--help"}).out;
  for (const auto& verb : kVerbs) EXPECT_THAT(help, HasSubstr(verb.front()));
  EXPECT_EQ(hindsight({}).out, help);
  EXPECT_EQ(hindsight({}).exit_code, 0);
  EXPECT_TRUE(hindsight({"help"}).out.starts_with(help));  // and the documents
  EXPECT_EQ(hindsight({"help", "sweep"}).out, hindsight({"sweep", "--help"}).out);
  EXPECT_EQ(hindsight({"help", "log", "show"}).out, hindsight({"log", "show", "--help"}).out);
  EXPECT_LE(widest_line(help), 80U);
}

TEST_F(CommandLine, VersionNamesTheBuild) {
  const Outcome outcome = hindsight({"--version"});
  EXPECT_EQ(outcome.exit_code, 0);
  for (const char* part : {"hindsight 0.", "commit ", "compiler ", "build ", "features "}) {
    EXPECT_THAT(outcome.out, HasSubstr(part));
  }
}

TEST_F(CommandLine, DoctorFindsTheData) {
  const Outcome outcome = hindsight({"doctor", "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_THAT(json.at("workloads").get<std::string>(), HasSubstr("mobilenet_v2"));
  EXPECT_THAT(json.at("design spaces").get<std::string>(), HasSubstr("edge"));
  EXPECT_THAT(json.at("GPU").get<std::string>(),
              ::testing::AnyOf(::testing::StartsWith("not built in: "), ::testing::StartsWith("CUDA ")));
  EXPECT_THAT(hindsight({"doctor"}).out, HasSubstr("technologies"));
}

TEST_F(CommandLine, OffersTheNearestWord) {
  expect_one_line_error(hindsight({"swep"}), 2, "Did you mean 'sweep'?");
  expect_one_line_error(hindsight({"log", "stat"}), 2, "Did you mean 'stats'?");
  expect_one_line_error(hindsight({"bench"}), 2, "name what to do: offline, optima, w50");
  expect_one_line_error(hindsight({"sweep", "--workloads", "m4", "--log", "a", "--smples", "3"}), 2,
                        "Did you mean '--samples'?");
  expect_one_line_error(hindsight({"simulate", "--design", kTinyDesign, "--space", "tinny", "--workload", "m4"}), 2,
                        "tiny");
  expect_one_line_error(hindsight({"workload", "show", "mobilnet_v2"}), 2, "mobilenet_v2");
  expect_one_line_error(hindsight({"simulate", "--design", "edge_tpu_v11", "--workload", "m4"}), 2, "edge_tpu_v1");
  expect_one_line_error(hindsight({"simulate", "--design", "edge_tpu_v1", "--workload", "m4", "--technology", "22n"}),
                        2, "22nm");
  expect_one_line_error(hindsight({"space", "sample", "tiny", "--sampler", "sobel"}), 2, "sobol");
}

TEST_F(CommandLine, SaysWhatIsMissingOrOutOfRange) {
  expect_one_line_error(hindsight({"sweep", "--workloads", "m4"}), 2, "--log");
  expect_one_line_error(hindsight({"log"}), 2, "hindsight log");
  expect_one_line_error(hindsight({"log", "show"}), 2, "log");
  const std::vector<std::string> sweep{"sweep", "--workloads", "m4", "--log", file("a.sqlite")};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), sweep.begin(), sweep.end());
    return hindsight(more);
  };
  expect_one_line_error(with({}), 2, "--samples");
  expect_one_line_error(with({"--samples", "0"}), 2, "--samples");
  expect_one_line_error(with({"--samples", "-5"}), 2, "--samples");
  expect_one_line_error(with({"--samples", "many"}), 2, "--samples");
  expect_one_line_error(with({"--samples", "1", "--max", "aera_mm2=5"}), 2, "Did you mean 'area_mm2'?");
  expect_one_line_error(with({"--samples", "1", "--max", "area_mm2=-5"}), 2, "above 0");
  expect_one_line_error(with({"--samples", "1", "--max", "area=-5"}), 2, "'-5' is not a limit of area_mm2");
  expect_one_line_error(with({"--samples", "1", "--shard", "3/3"}), 2, "'3/3'");
  expect_one_line_error(with({"--samples", "1", "--threads", "-1"}), 2, "--threads");
  expect_one_line_error(with({"--sampler", "grid"}), 2, "452,760,000");
  EXPECT_FALSE(std::filesystem::exists(file("a.sqlite")));
}

TEST_F(CommandLine, NamesTheParameterAndItsNearestValue) {
  std::string design = kTinyDesign;
  design.replace(design.find("pes_x=2"), 7, "pes_x=3");
  const Outcome outcome = hindsight({"simulate", "--design", design, "--space", "tiny", "--workload", "m4"});
  expect_one_line_error(outcome, 2, "pes_x");
  EXPECT_THAT(outcome.err, HasSubstr("3"));
}

}  // namespace
}  // namespace hindsight::app::test
