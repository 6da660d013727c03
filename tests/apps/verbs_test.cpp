/// Does every verb do its job from end to end, for people and for scripts?
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "apps/app_fixture.h"
#include "hindsight/core/terminal.h"
#include "repository.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

class Verbs : public AppTest {
 protected:
  /// A log of the whole space `tiny` on two networks.
  std::string small_log() const {
    const Outcome outcome = hindsight({"sweep", "--space", "tiny", "--sampler", "grid", "--workloads",
                                       "m6,mobilenet_v2", "--log", file("small.sqlite"), "--quiet"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out + outcome.err, "");
    return file("small.sqlite");
  }
};

Json json_of(const Outcome& outcome) {
  EXPECT_EQ(outcome.err, "");
  return Json::parse(outcome.out, nullptr, false);
}

TEST_F(Verbs, ListAndShowSpaces) {
  EXPECT_THAT(hindsight({"space", "list"}).out, HasSubstr("452,760,000"));
  const Json edge = json_of(hindsight({"space", "show", "edge", "--json"}));
  EXPECT_EQ(edge.at("designs"), 452760000);
  EXPECT_EQ(edge.at("parameters").size(), 10U);
  EXPECT_THAT(hindsight({"space", "show", "tiny"}).out, HasSubstr("pes_x: 2 4 8"));
  EXPECT_EQ(json_of(hindsight({"space", "list", "--json"})).size(), 3U);
}

/// Combinations that a constraint forbids are no designs.
TEST_F(Verbs, SpacesAreAsLargeAsTheirConstraintsLeaveThem) {
  const std::string designs = "106,686,720,000";
  EXPECT_EQ(hindsight({"space", "count", "datacenter"}).out, designs + "\n");
  const std::string listed = hindsight({"space", "list"}).out;
  EXPECT_THAT(listed, HasSubstr(designs));
  EXPECT_THAT(listed, Not(HasSubstr("128,024,064,000")));
  EXPECT_THAT(hindsight({"space", "show", "datacenter"}).out,
              HasSubstr("space datacenter: " + designs + " designs of 128,024,064,000 combinations. "));
  const Json datacenter = json_of(hindsight({"space", "show", "datacenter", "--json"}));
  EXPECT_EQ(datacenter.at("designs"), 106686720000);
  EXPECT_EQ(datacenter.at("combinations"), 128024064000);
  EXPECT_EQ(datacenter.at("exact"), true);
  const Json edge = json_of(hindsight({"space", "show", "edge", "--json"}));
  EXPECT_EQ(edge.at("combinations"), edge.at("designs"));
}

TEST_F(Verbs, SamplesAreDesignsOfTheSpace) {
  for (const char* sampler : {"uniform", "lhs", "sobol", "grid"}) {
    const Outcome outcome = hindsight({"space", "sample", "tiny", "--count", "7", "--sampler", sampler});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 7);
    const std::string first = outcome.out.substr(0, outcome.out.find('\n'));
    const Outcome simulated = hindsight({"simulate", "--space", "tiny", "--workload", "m6", "--design", first});
    EXPECT_TRUE(simulated.exit_code == 0 || simulated.exit_code == 3) << simulated.err;
  }
  EXPECT_EQ(json_of(hindsight({"space", "sample", "--count", "3", "--json"})).at("designs").size(), 3U);
}

TEST_F(Verbs, ListAndShowWorkloads) {
  EXPECT_THAT(hindsight({"workload", "list"}).out, HasSubstr("mobilenet_v2"));
  const Json json = json_of(hindsight({"workload", "show", "mobilenet_v2", "--json"}));
  EXPECT_EQ(json.at("name"), "mobilenet_v2");
  double macs = 0;
  for (const Json& layer : json.at("layer_table")) {
    macs += layer.at("macs").get<double>() * layer.at("repeat").get<double>();
  }
  EXPECT_EQ(macs, json.at("macs").get<double>());
  EXPECT_FALSE(json.at("context").empty());
  const Json batched = json_of(hindsight({"workload", "show", "mobilenet_v2", "--batch", "2", "--json"}));
  EXPECT_EQ(batched.at("macs").get<double>(), 2 * macs);
  EXPECT_THAT(hindsight({"workload", "show", "unet"}).out, HasSubstr("context feature"));
}

TEST_F(Verbs, SyntheticNetworksAreListedShownExportedAndSwept) {
  EXPECT_EQ(json_of(hindsight({"workload", "list", "synthetic:12", "--json"})).size(), 12U);
  const Json shown = json_of(hindsight({"workload", "show", "synthetic:12/5", "--json"}));
  const std::string exported = write("mine.yaml", hindsight({"workload", "export", "synthetic:12/5"}).out);
  EXPECT_EQ(json_of(hindsight({"workload", "show", exported, "--json"})), shown);
  const std::string log = file("synthetic.sqlite");
  const Json swept =
      json_of(hindsight({"sweep", "--space", "tiny", "--workloads", "synthetic:12", "--networks-per-design", "3",
                         "--samples", "20", "--log", log, "--quiet", "--json"}));
  EXPECT_EQ(swept.at("rows_inserted"), 60);
  EXPECT_EQ(swept.at("workloads").size(), 12U);
  expect_one_line_error(hindsight({"workload", "list", "synthetic:0"}), 2, "the count 0 is not in 1..10000");
  expect_one_line_error(hindsight({"workload", "show", "synthetic:x"}), 2, "'x' is not a count");
  expect_one_line_error(hindsight({"sweep", "--space", "tiny", "--workloads", "synthetic:12", "--networks-per-design",
                                   "13", "--samples", "20", "--log", log}),
                        2, "there are 12 networks to choose from");
}

TEST_F(Verbs, SimulateNamesValuesThatPassWhenFollowedLiterally) {
  // README's own example.
  std::string design =
      "pes_x=4,pes_y=4,pe_memory_bytes=2097152,cores_per_pe=64,core_memory_bytes=32768,compute_lanes=32,"
      "instruction_memory_entries=8192,parameter_memory_entries=2048,activation_memory_entries=1024,"
      "dram_bandwidth_gb_per_s=16";
  std::size_t followed = 0;
  while (followed < 20) {
    const Outcome outcome = hindsight({"simulate", "--workload", "resnet50", "--design", design});
    ASSERT_TRUE(outcome.exit_code == 0 || outcome.exit_code == 3) << outcome.err;
    std::smatch hint;
    const std::string text = std::regex_replace(outcome.out, std::regex("\\s+"), " ");
    const std::regex pattern("- ([a-z_]+): [^-]*?; ([a-z_]+) = ([0-9.e+]+) would pass");
    if (!std::regex_search(text, hint, pattern)) break;
    EXPECT_THAT(outcome.out, Not(HasSubstr("a number")));
    const std::string reason = hint[1], parameter = hint[2], value = hint[3];
    design = std::regex_replace(design, std::regex(parameter + "=[^,]*"), parameter + "=" + value);
    const Outcome after = hindsight({"simulate", "--workload", "resnet50", "--design", design});
    ASSERT_TRUE(after.exit_code == 0 || after.exit_code == 3) << after.err;
    EXPECT_THAT(after.out, Not(HasSubstr("- " + reason + ":"))) << parameter << " = " << value;
    ++followed;
  }
  EXPECT_GT(followed, 1U);
}

TEST_F(Verbs, SimulateSaysThatAChipOfNoSpaceHasNoValuesToChooseFrom) {
  const std::string chip = file("chip.yaml");
  std::ofstream(chip) << "name: narrow\ndescription: too few accumulators\nsource: test\nconfig:\n"
                         "  pe_memory_bytes: 262144\n  core_memory_bytes: 32768\n  cores_per_pe: 16\n"
                         "  compute_lanes: 10\n  instruction_memory_entries: 65536\n"
                         "  parameter_memory_entries: 4096\n  activation_memory_entries: 64\n"
                         "  dram_bandwidth_gb_per_s: 10\n";
  const Outcome outcome = hindsight({"simulate", "--workload", "m6", "--design", chip});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  const std::string text = std::regex_replace(outcome.out, std::regex("\\s+"), " ");
  EXPECT_THAT(text, HasSubstr("activation_memory_entries = 320 would pass (a number: the design is of no space"));
}

TEST_F(Verbs, AChipIsEvaluatedAtItsOwnNodeUnlessAnotherIsNamed) {
  const std::vector<std::string> own{"simulate", "--workload", "mobilenet_v2", "--design", "nvdla_1024"};
  const auto with = [&own](std::vector<std::string> more) {
    more.insert(more.begin(), own.begin(), own.end());
    return hindsight(more);
  };
  EXPECT_THAT(with({}).out, HasSubstr("; 16nm-silicon (the chip's node): area "));
  EXPECT_EQ(with({"--json"}).out, with({"--json", "--technology", "16nm-silicon"}).out);
  EXPECT_THAT(with({"--technology", "7nm-silicon"}).out, HasSubstr("; 7nm-silicon: area "));
  EXPECT_THAT(hindsight({"simulate", "--workload", "m6", "--design", "edge_tpu_v1"}).out,
              HasSubstr("; 22nm-silicon (the default): area "));
  // At 22 nm its clock is too fast and its die larger than an exposure field.
  EXPECT_EQ(hindsight({"simulate", "--workload", "bert_base", "--design", "tpu_v4i"}).exit_code, 0);
  const std::vector<std::string> check{"check", "--workload", "m6", "--design", "nvdla_1024", "--gpu", "l4"};
  const Outcome checked = hindsight(check);
  EXPECT_THAT(checked.out, HasSubstr("chip and DRAM at 16nm-silicon (the chip's node);"));
  write("16nm-silicon", "no technology\n");
  EXPECT_EQ(hindsight(own, {.folder = folder_}).out, with({}).out) << "what ships is no file of the working folder";
  EXPECT_EQ(hindsight(check, {.folder = folder_}).out, checked.out);
}

TEST_F(Verbs, ATechnologyOfAChipThatIsNotThereIsSaid) {
  const std::string chip = file("chip.yaml");
  std::string yaml = read_file(hindsight::test::repository() / "configs/designs/nvdla_1024.yaml");
  yaml.replace(yaml.find("16nm-silicon"), 12, "13nm-silicon");
  std::ofstream(chip) << yaml;
  std::vector<std::string> words{"simulate", "--workload", "m6", "--design", chip};
  expect_one_line_error(hindsight(words), 2, "with --technology");
  words.insert(words.end(), {"--technology", "16nm-silicon"});
  EXPECT_EQ(hindsight(words).exit_code, 0);
}

TEST_F(Verbs, ACoolingClassThatIsNamedIsTheChips) {
  const auto simulated = [](const char* technology) {
    return Json::parse(hindsight({"simulate", "--workload", "mobilenet_v2", "--design", "coral_edge_tpu",
                                  "--technology", technology, "--json"})
                           .out);
  };
  const Json own = simulated("22nm-silicon"), air = simulated("22nm-silicon@air");
  EXPECT_EQ(own.at("config").at("cooling"), "phone");
  EXPECT_EQ(own.at("area").at("interfaces_mm2"), 0);
  EXPECT_EQ(air.at("config").at("cooling"), "air");
  EXPECT_EQ(air.at("area").at("interfaces_mm2"), 23);
  EXPECT_EQ(air.at("technology"), "22nm-silicon@air");
  // The technology's own class is named, too: 2.5 W are less than the chip's 2.7 W.
  const Outcome passive = hindsight(
      {"simulate", "--workload", "mobilenet_v2", "--design", "coral_edge_tpu", "--technology", "22nm-silicon@passive"});
  EXPECT_EQ(passive.exit_code, 3);
  EXPECT_THAT(passive.out, HasSubstr("its cooling class removes 2.5 W"));
  EXPECT_THAT(passive.out, HasSubstr("22nm-silicon (passive, not the chip's own phone): area "));
  const Outcome checked = hindsight({"check", "--workload", "mobilenet_v2", "--design", "coral_edge_tpu", "--gpu", "l4",
                                     "--technology", "22nm-silicon@card"});
  EXPECT_THAT(checked.out, HasSubstr("22nm-silicon@card (card, not the chip's own phone);"));
}

/// A name with an '@' in a folder of data, and a file that is called as a technology with its class.
TEST_F(Verbs, ATechnologyMayBeCalledWithAnAt) {
  std::string text = read_file(hindsight::test::repository() / "data/technology/7nm-silicon.yaml");
  text.replace(text.find("name: 7nm-silicon"), 17, "name: my@node");
  std::filesystem::create_directories(file("own/data/technology"));
  static_cast<void>(write("own/data/technology/my@node.yaml", text));
  static_cast<void>(write("7nm-silicon@liquid", text));
  const Surroundings there{.environment = {{"HINDSIGHT_DATA_DIR", file("own")}}, .folder = folder_};
  const auto simulated = [&](const std::string& technology) {
    return hindsight(
        {"simulate", "--workload", "m6", "--design", "coral_edge_tpu", "--technology", technology, "--json"}, there);
  };
  for (const auto& [asked, name] : {std::pair("my@node", "my@node"), std::pair("my@node@liquid", "my@node@liquid"),
                                    std::pair("./7nm-silicon@liquid", "my@node")}) {
    const Outcome outcome = simulated(asked);
    ASSERT_NE(outcome.exit_code, 2) << outcome.err;
    EXPECT_EQ(Json::parse(outcome.out).at("technology"), name);
  }
  expect_one_line_error(simulated("7nm-silicon@liquid"), 2, "Write ./7nm-silicon@liquid for the file, or rename");
}

TEST_F(Verbs, SimulateAgreesWithTheLog) {
  const std::string log = small_log();
  const Json stats = json_of(hindsight({"log", "stats", log, "--json", "--workload", "mobilenet_v2", "--top", "1"}));
  const Json best = stats.at("workloads").at(0).at("best").at(0);
  const Outcome outcome = hindsight({"simulate", "--space", "tiny", "--workload", "mobilenet_v2", "--design",
                                     best.at("design").get<std::string>(), "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json simulated = Json::parse(outcome.out);
  const Json& metrics = simulated.at("workloads").at(0).at("metrics");
  EXPECT_EQ(metrics.at("latency_s").get<double>(), best.at("latency_s").get<double>());
  double energy_j = 0;
  for (const Json& part : metrics.at("energy")) energy_j += part.get<double>();
  EXPECT_NEAR(energy_j, metrics.at("energy_j").get<double>(), 1e-9 * energy_j);
}

TEST_F(Verbs, SimulateExplainsLayersEnergyAndTraffic) {
  const std::string log = small_log();
  const Json stats = json_of(hindsight({"log", "stats", log, "--json", "--workload", "mobilenet_v2", "--top", "1"}));
  const std::string design = stats.at("workloads").at(0).at("best").at(0).at("design");
  const Outcome outcome =
      hindsight({"simulate", "--space", "tiny", "--workload", "mobilenet_v2", "--design", design, "--explain"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* part : {"area by component", "dram phy", "binds", "GEMM m x n x k", " PE ", "energy by component",
                           "traffic per inference", "dram read weight", "TOPS"}) {
    EXPECT_THAT(outcome.out, HasSubstr(part));
  }
}

TEST_F(Verbs, SimulateSaysEveryReasonWhyNot) {
  const Json log_stats = json_of(hindsight({"log", "stats", small_log(), "--json"}));
  // The most ambitious corner of the space: too large for its memories, its wires or its heat.
  std::string design;
  const Json space = json_of(hindsight({"space", "show", "edge", "--json"}));
  for (const Json& parameter : space.at("parameters")) {
    design += (design.empty() ? "" : ",") + parameter.at("name").get<std::string>() + "=" +
              parameter.at("values").back().dump();
  }
  const Outcome text = hindsight({"simulate", "--workload", "mobilenet_v2", "--design", design});
  EXPECT_EQ(text.exit_code, 3);
  EXPECT_EQ(text.err, "");
  EXPECT_THAT(text.out, HasSubstr("cannot run on this design"));
  const Outcome outcome = hindsight({"simulate", "--workload", "mobilenet_v2", "--design", design, "--json"});
  EXPECT_EQ(outcome.exit_code, 3);
  const Json violations = Json::parse(outcome.out).at("workloads").at(0).at("violations");
  ASSERT_FALSE(violations.empty());
  for (const Json& violation : violations) {
    EXPECT_THAT(text.out, HasSubstr("- " + violation.at("code").get<std::string>() + ":"));
    EXPECT_NE(violation.at("value"), violation.at("limit"));
  }
}

TEST_F(Verbs, LogShowAndStatsAgreeWithEachOther) {
  const std::string log = small_log();
  const Json show = json_of(hindsight({"log", "show", log, "--json"}));
  EXPECT_EQ(show.at("rows").at("evaluations"), 768);
  EXPECT_EQ(show.at("runs").at(0).at("status"), "finished");
  EXPECT_EQ(show.at("runs").at(0).at("options").at("sampler"), "grid");
  const Json stats = json_of(hindsight({"log", "stats", log, "--json", "--pareto", "latency_s,area_mm2"}));
  ASSERT_EQ(stats.at("workloads").size(), 2U);
  for (const Json& workload : stats.at("workloads")) {
    EXPECT_EQ(workload.at("evaluations"), 384);
    EXPECT_GT(workload.at("feasible"), 0);
    EXPECT_FALSE(workload.at("pareto").empty());
    // The fastest design is on the front.
    EXPECT_EQ(workload.at("pareto").at(0).at("latency_s"), workload.at("best").at(0).at("latency_s"));
  }
  const std::string text = hindsight({"log", "stats", log, "--pareto", "latency_s,area_mm2"}).out;
  EXPECT_THAT(text, HasSubstr("Pareto front of latency_s, area_mm2"));
  EXPECT_THAT(hindsight({"log", "show", log}).out, HasSubstr("best by latency_s"));
  EXPECT_THAT(hindsight({"log", "show", "--log", log, "--metric", "utilisation_frac"}).out,
              HasSubstr("best by utilisation_frac"));
  expect_one_line_error(hindsight({"log", "stats", log, "--workload", "m66"}), 2, "m6");
  EXPECT_EQ(hindsight({"log", "stats", log, "--metric", "latency", "--pareto", "latency,area_mm2"}).out,
            hindsight({"log", "stats", log, "--metric", "latency_s", "--pareto", "latency_s,area_mm2"}).out);
  expect_one_line_error(hindsight({"log", "stats", log, "--metric", "latencyy_s"}), 2, "latency_s");
  EXPECT_EQ(hindsight({"log", "verify", log}).exit_code, 0);
  EXPECT_EQ(json_of(hindsight({"log", "verify", log, "--json"})).at("sound"), true);
}

TEST_F(Verbs, TheNameOfALogNeverReachesTheTerminalRaw) {
  const std::string log = file("a\x1b[31mb.sqlite");
  std::filesystem::copy_file(small_log(), log);
  const std::vector<std::vector<std::string>> commands{
      {"log", "show", log},
      {"log", "stats", log},
      {"log", "verify", log},
      {"log", "show", log + "x"},
      {"sweep", "--space", "tiny", "--workloads", "m6", "--samples", "2", "--log", log}};
  for (const std::vector<std::string>& command : commands) {
    SCOPED_TRACE(command[1]);
    const Outcome outcome = hindsight(command);
    EXPECT_EQ((outcome.out + outcome.err).find('\x1b'), std::string::npos) << outcome.out << outcome.err;
  }
  EXPECT_THAT(hindsight({"log", "verify", log}).out, HasSubstr("a\\x1b[31mb.sqlite: sound"));
}

TEST_F(Verbs, TablesFitTheTerminal) {
  const std::string log = small_log();
  const std::vector<std::vector<std::string>> commands{
      {"simulate", "--design", "edge_tpu_v1", "--workload", "mobilenet_v2,unet", "--explain"},
      {"log", "show", log},
      {"log", "stats", log, "--pareto", "latency_s,area_mm2"},
      {"space", "show", "edge"},
      {"space", "list"},
      {"workload", "list"},
      {"workload", "show", "mobilenet_v2"},
      {"doctor"},
      {"sweep", "--space", "tiny", "--sampler", "grid", "--workloads", "m6,mobilenet_v2", "--log", log}};
  for (const std::size_t columns : {80U, 120U}) {
    for (const auto& command : commands) {
      const Outcome outcome =
          hindsight(command, {.environment = {{"COLUMNS", std::to_string(columns)}}, .terminal = true});
      EXPECT_FALSE(outcome.out.empty()) << outcome.err;
      std::istringstream lines(outcome.out);
      for (std::string line; std::getline(lines, line);) {
        // A path or a single word may be longer than a line can be broken.
        const bool has_path = line.find('/') != std::string::npos;
        EXPECT_TRUE(has_path || display_width(line) <= columns) << line;
      }
    }
  }
}

TEST_F(Verbs, ASecondLimitOfTheSameIsRefusedByAllThatTakeLimits) {
  const std::string log = file("a.sqlite");
  const std::vector<std::vector<std::string>> commands{
      {"sweep", "--space", "tiny", "--workloads", "m6", "--samples", "5", "--log", log},
      {"search", "--space", "tiny", "--workloads", "m6", "--queries", "5", "--log", log},
      {"campaign", "--space", "tiny", "--workloads", "m6", "--rounds", "1", "--log", log},
      {"ask", "--space", "tiny", "--application", "m6", "--objective", "latency_s", "--log", log},
      {"optimum", "--space", "tiny", "--workloads", "m6"},
      {"propose", "--model", "edge-any", "--workload", "m6"}};
  for (std::vector<std::string> command : commands) {
    SCOPED_TRACE(command.front());
    command.insert(command.end(), {"--max", "area_mm2=20", "--max", "area_mm2=27"});
    expect_one_line_error(hindsight(command), 2,
                          "--max: the limit of 'area_mm2' is given twice. Leave one of them out?");
    if (command.front() == "sweep") continue;  // has no --min
    command.resize(command.size() - 4);
    command.insert(command.end(), {"--min", "pes_x=2", "--min", "pes_x=4"});
    expect_one_line_error(hindsight(command), 2, "--min: the limit of 'pes_x' is given twice");
  }
  EXPECT_FALSE(std::filesystem::exists(log));
}

TEST_F(Verbs, PipedOutputHoldsNoEscapeCodes) {
  const Outcome outcome =
      hindsight({"sweep", "--space", "tiny", "--samples", "20", "--workloads", "m6", "--log", file("a.sqlite")},
                {.environment = {{"TERM", "xterm-256color"}}});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ((outcome.out + outcome.err).find('\x1b'), std::string::npos);
  EXPECT_EQ((outcome.out + outcome.err).find('\r'), std::string::npos);
}

}  // namespace
}  // namespace hindsight::app::test
