/// Does `hindsight check` judge designs from every source, keep its verdicts, and answer wrong turns usefully?
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/app_fixture.h"
#include "hindsight/core/files.h"
#include "hindsight/log/log.h"
#include "hindsight/log/query.h"
#include "hindsight/space/design_space.h"
#include "repository.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

const std::vector<std::string> kTwoGpus{"--gpu", "l4,h100-sxm5"};

class Check : public AppTest {
 protected:
  [[nodiscard]] static Outcome check(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "check");
    arguments.insert(arguments.end(), kTwoGpus.begin(), kTwoGpus.end());
    return hindsight(arguments);
  }
  [[nodiscard]] std::string log() const { return file("study.sqlite"); }

  /// A log as `propose --log` leaves it: two proposals for one network.
  void make_log(const std::string& network = "mobilenet_v2") const {
    log::Log log = log::Log::open(file("study.sqlite"), log::OpenMode::read_write_create);
    const space::DesignSpace tiny = space::load_space("tiny");
    const Provenance provenance{.command_line = "hindsight propose",
                                .version = "0",
                                .commit = "",
                                .host = "",
                                .user = "",
                                .started_at = "2026-01-01T00:00:00Z",
                                .cwd = ""};
    const std::int64_t run = log.begin_run(log::RunKind::propose, provenance, "{}");
    const std::int64_t space = log.add_space(tiny.name(), tiny.canonical_definition(), tiny.definition_hash());
    std::vector<log::ProposalRow> rows;
    for (std::int64_t rank = 1; rank <= 2; ++rank) {
      space::Design design = tiny.parse_design(kTinyDesign);
      design.levels.front() = static_cast<std::uint16_t>(rank - 1);
      rows.push_back({.design_text_id = tiny.text_id(design),
                      .design_hash = tiny.content_hash(design),
                      .rank = rank,
                      .objective = "latency_s",
                      .predicted_value = 1e-3,
                      .predicted_json = R"({"workloads":[{"name":")" + network + R"("}]})",
                      .verdict_json = R"({"feasible":true})"});
    }
    log.add_proposals(run, space, std::nullopt, rows);
    log.end_run(run, log::RunStatus::finished);
  }
};

TEST_F(Check, JudgesAReferenceChip) {
  const Outcome outcome = check({"--design", "edge_tpu_v1", "--workload", "mobilenet_v2"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("this design"));
  EXPECT_THAT(outcome.out, HasSubstr("h100-sxm5 int8"));
  EXPECT_THAT(outcome.out, HasSubstr("=> "));
  EXPECT_THAT(outcome.out, HasSubstr("at batch 1, at"));
  EXPECT_THAT(outcome.out, HasSubstr("kernels that are no GEMM (attention, normalisation, depthwise)"));

  const Json json = Json::parse(check({"--design", "edge_tpu_v1", "--workload", "mobilenet_v2", "--json"}).out);
  const Json& network = json.at("designs").at(0).at("networks").at(0);
  EXPECT_EQ(network.at("gpus").size(), 2U);
  for (const Json& gpu : network.at("gpus")) {
    const Json& single = gpu.at("batch_1");
    EXPECT_NEAR(single.at("power_w").get<double>() * single.at("latency_s").get<double>(),
                single.at("energy_j").get<double>(), 1e-9);
    EXPECT_GE(gpu.at("saturated").at("inferences_per_s").get<double>(), single.at("inferences_per_s").get<double>());
    EXPECT_TRUE(single.contains("in_validated_range"));
  }
  const Json simulated =
      Json::parse(hindsight({"simulate", "--design", "edge_tpu_v1", "--workload", "mobilenet_v2", "--json"}).out);
  EXPECT_THAT(simulated.dump(), HasSubstr(network.at("accelerator").at("latency_s").dump()));
}

/// Softmax, normalisations and pooling take the GPU's time, and none of a design without vector units.
TEST_F(Check, ADesignOfAnotherShippedSpaceIsAnsweredWithIt) {
  const space::DesignSpace datacenter = space::load_space("datacenter");
  const std::string design = datacenter.text_id(datacenter.design(0));
  for (const char* verb : {"check", "simulate"}) {
    const Outcome outcome = hindsight({verb, "--design", design, "--workload", "mobilenet_v2"});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("--space datacenter")) << verb;
    const Outcome unknown = hindsight({verb, "--design", "lanes=3", "--workload", "mobilenet_v2"});
    EXPECT_THAT(unknown.err, HasSubstr("lanes")) << verb;
    EXPECT_THAT(unknown.err, Not(HasSubstr("datacenter"))) << verb;
  }
}

TEST_F(Check, AChipIsShownWithItsPublishedAreaAndAnEditedTechnologyWithItsFile) {
  const std::string technology = file("mine.yaml");
  std::string text = read_file(hindsight::test::repository() / "data/technology/7nm-silicon.yaml");
  const std::string from = "mac_int8_um2: 234.1";
  write_file_atomically(technology, text.replace(text.find(from), from.size(), "mac_int8_um2: 240"));
  for (const char* verb : {"check", "simulate"}) {
    std::vector<std::string> words{verb, "--design", "mtia_v1", "--workload", "resnet50", "--technology", technology};
    if (verb == std::string("check")) words.insert(words.end(), kTwoGpus.begin(), kTwoGpus.end());
    const Outcome outcome = hindsight(words);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("(published: 373)")) << verb;
    EXPECT_THAT(outcome.out, HasSubstr("mine.yaml)")) << verb;
  }
}

TEST_F(Check, SaysWhereTheTwoSidesDoNotCountTheSameWork) {
  const std::vector<std::string> words{"--design", "coral_edge_tpu", "--workload", "vit_b_16"};
  const Outcome text = check(words);
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("\nestimate: GPUs: up to "));
  EXPECT_THAT(text.out, HasSubstr("\nestimate: the design has no vector units and counts products alone, the GPUs also "
                                  "softmax"));
  EXPECT_THAT(text.out, HasSubstr("\n=> estimate: "));
  const Json network = Json::parse(check({"--design", "coral_edge_tpu", "--workload", "vit_b_16", "--json"}).out)
                           .at("designs")
                           .at(0)
                           .at("networks")
                           .at(0);
  EXPECT_EQ(network.at("estimates"), Json::array({"non_gemm_work", "products_alone"}));
}

/// The columns of the common node are the model's own at 5 nm, not those of 22 nm times a factor for logic.
TEST_F(Check, AtTheCommonNodeStandsWhatTheModelSaysThere) {
  const auto of = [](const std::string& technology) {
    const Outcome outcome =
        check({"--design", "coral_edge_tpu", "--workload", "mobilenet_v2", "--technology", technology, "--json"});
    return Json::parse(outcome.out).at("designs").at(0).at("networks").at(0).at("accelerator");
  };
  const Json at22 = of("22nm-silicon"), at5 = of("5nm-silicon"), version1 = of("22nm");
  EXPECT_EQ(at22.at("basis_at_5nm"), "evaluated");
  EXPECT_EQ(at22.at("inferences_per_j_at_5nm"), at5.at("inferences_per_j"));
  EXPECT_EQ(at22.at("inferences_per_s_per_mm2_at_5nm"), at5.at("inferences_per_s_per_mm2"));
  EXPECT_EQ(at5.at("basis_at_5nm"), "own");
  EXPECT_EQ(at5.at("inferences_per_j_at_5nm"), at5.at("inferences_per_j"));
  EXPECT_EQ(version1.at("basis_at_5nm"), "scaled");
  EXPECT_GT(version1.at("inferences_per_j_at_5nm"), version1.at("inferences_per_j"));
}

TEST_F(Check, NamesTheLargestBatchThatTakesNoLonger) {
  const std::vector<std::string> words{"--design", "coral_edge_tpu", "--workload", "mobilenet_v2"};
  const Outcome text = check(words);
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("\n= of the doubled batches the largest that takes no longer than the design"));
  std::vector<std::string> as_json = words;
  as_json.emplace_back("--json");
  const Json network = Json::parse(check(as_json).out).at("designs").at(0).at("networks").at(0);
  const double design_s = network.at("accelerator").at("latency_s");
  for (const Json& gpu : network.at("gpus")) {
    const Json& equal = gpu.at("at_equal_latency");
    EXPECT_LE(equal.at("latency_s").get<double>(), design_s);
    EXPECT_GE(equal.at("batch"), gpu.at("batch_1").at("batch"));
    EXPECT_LE(equal.at("batch"), gpu.at("saturated").at("batch"));
    EXPECT_GE(equal.at("inferences_per_s").get<double>(), gpu.at("batch_1").at("inferences_per_s").get<double>());
    for (const char* key : {"inferences_per_j", "inferences_per_s_per_mm2", "inferences_per_s_per_mm2_at_5nm"}) {
      EXPECT_GT(equal.at(key).get<double>(), 0) << key;
    }
    EXPECT_THAT(text.out, ::testing::ContainsRegex(gpu.at("gpu").get<std::string>() + " int8 +" +
                                                   std::to_string(equal.at("batch").get<int>()) + "= "));
  }
  EXPECT_THAT(hindsight({"check", "--help"}).out, HasSubstr("A batch with '=' is the largest that takes no longer"));
}

/// Whatever the width, every figure is there and none has an exponent.
TEST_F(Check, LosesNoColumnInANarrowTerminal) {
  const std::vector<std::string> arguments{"check", "--design",    "edge_tpu_v1", "--workload", "unet@16,mobilenet_v2",
                                           "--gpu", "l4,h100-sxm5"};
  for (const int columns : {80, 120}) {
    const Outcome outcome =
        hindsight(arguments, {.environment = {{"COLUMNS", std::to_string(columns)}}, .terminal = true});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    for (const char* header : {"power", "inf./J", "inf./J @5nm", "inf./s/mm2", "inf./s/mm2 @5nm"}) {
      EXPECT_THAT(outcome.out, HasSubstr(header)) << columns;
    }
    EXPECT_THAT(outcome.out, ::testing::Not(HasSubstr("Not shown")));
    EXPECT_THAT(outcome.out, ::testing::Not(HasSubstr("e+0")));
    EXPECT_THAT(outcome.out, HasSubstr("One row, because this batch saturates it"));
  }
}

TEST_F(Check, TheLatestProposalsAreNotThoseOfAnOptimum) {
  make_log();
  ASSERT_EQ(hindsight({"optimum", "--space", "tiny", "--workloads", "m4", "--log", log(), "-q"}).exit_code, 0);
  const Outcome proposed = check({"--log", log(), "--json"});
  ASSERT_EQ(proposed.exit_code, 0) << proposed.err;
  const Json network = Json::parse(proposed.out).at("designs").at(0).at("networks").at(0);
  EXPECT_EQ(network.at("network"), "mobilenet_v2");
  const Outcome optimum = check({"--log", log(), "--proposals", "2", "--json"});
  ASSERT_EQ(optimum.exit_code, 0) << optimum.err;
  EXPECT_EQ(Json::parse(optimum.out).at("designs").at(0).at("networks").at(0).at("network"), "m4")
      << "an optimum has its networks, too";
}

TEST_F(Check, KeepsVerdictsBesideTheProposals) {
  make_log();
  const Outcome outcome = check({"--log", log(), "--top", "2", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(Json::parse(outcome.out).at("designs").size(), 2U);
  const auto stored = log::proposals(log::Log::open(log(), log::OpenMode::read_only), std::nullopt);
  ASSERT_EQ(stored.size(), 2U);
  for (const log::ProposalRecord& proposal : stored) {
    const Json verdict = Json::parse(proposal.verdict_json.value());
    EXPECT_EQ(verdict.at("feasible"), true) << "what was there stays";
    EXPECT_EQ(verdict.at("gpus").at("networks").at(0).at("network"), "mobilenet_v2");
    EXPECT_EQ(verdict.at("gpus").at("rank"), proposal.rank);
  }
  EXPECT_EQ(hindsight({"log", "verify", log()}).exit_code, 0);
}

TEST_F(Check, ADesignOfAnotherNetworkIsSaidToBeOne) {
  make_log();
  EXPECT_THAT(check({"--log", log(), "--workload", "mobilenet_v2"}).err, ::testing::Not(HasSubstr("was proposed for")));
  EXPECT_THAT(check({"--log", log(), "--workload", "resnet50"}).err,
              HasSubstr("the design of rank 1 was proposed for mobilenet_v2. Other runs' designs: --proposals RUN"));
}

TEST_F(Check, ANetworkOfAFileIsAskedFor) {
  make_log("camera");
  expect_one_line_error(check({"--log", log()}), 2, "Give its file: --workload FILE");
  const std::string network = (hindsight::test::repository() / "data/workloads/mobilenet_v2.yaml").string();
  EXPECT_EQ(check({"--log", log(), "--workload", network}).exit_code, 0);
}

TEST_F(Check, ReadsTheOutputOfPropose) {
  const std::string proposals = write("p.json", R"({"space":"tiny","proposals":[{"rank":1,"design":")" + kTinyDesign +
                                                    R"(","predicted":{"workloads":[{"name":"m6"}]}}]})");
  const Outcome outcome = check({"--file", proposals});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("\nm6"));
  EXPECT_THAT(check({"--file", proposals, "--workload", "mobilenet_v2"}).out, HasSubstr("\nmobilenet_v2"));
}

TEST_F(Check, JudgesAFileAtTheTechnologyThatItSays) {
  const auto technology = [&](const std::string& says) {
    const std::string proposals =
        write("p.json", R"({"space":"tiny",)" + says + R"("proposals":[{"design":")" + kTinyDesign +
                            R"(","predicted":{"workloads":[{"name":"m6"}]}}]})");
    return Json::parse(check({"--file", proposals, "--json"}).out).at("technology").get<std::string>();
  };
  EXPECT_EQ(technology(R"("technology":"7nm",)"), "7nm");
  EXPECT_EQ(technology(R"("technology":null,)"), "22nm") << "the space's, as another simulator judged them";
}

TEST_F(Check, ASpaceOfAFileOfProposalsIsAskedFor) {
  std::string yaml = read_file(hindsight::test::repository() / "configs/spaces/tiny.yaml");
  yaml.replace(yaml.find("name: tiny"), 10, "name: mine");
  const std::string space = write("mine.yaml", yaml);
  const std::string proposals = write("p.json", R"({"space":"mine","proposals":[{"design":")" + kTinyDesign +
                                                    R"(","predicted":{"workloads":[{"name":"m6"}]}}]})");
  expect_one_line_error(check({"--file", proposals}), 2, "Give its file: --space FILE");
  const Outcome outcome = check({"--file", proposals, "--space", space});
  EXPECT_EQ(outcome.exit_code, 0) << "as the message says: " << outcome.err;
  const std::string of_tiny = write("tiny.json", R"({"space":"tiny","proposals":[{"design":")" + kTinyDesign +
                                                     R"(","predicted":{"workloads":[{"name":"m6"}]}}]})");
  EXPECT_THAT(check({"--file", of_tiny, "--space", space}).err, HasSubstr("is not read, as the designs of "));
}

TEST_F(Check, ANetworkMayComeThroughAPipe) {
  const std::string pipe = file("pipe.yaml");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::string text = read_file(hindsight::test::repository() / "data/workloads/m6.yaml");
  std::thread writer([&] {
    std::ofstream(pipe) << text;
    std::ofstream{pipe};  // whoever reads it again finds nothing
  });
  const Outcome outcome = check({"--design", "edge_tpu_v1", "--workload", pipe});
  const int end = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);  // lets the second writer go
  writer.join();
  ::close(end);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("\nm6, "));
}

TEST_F(Check, WrongTurnsGetOneLine) {
  const std::string chip = "edge_tpu_v1";
  expect_one_line_error(check({"--workload", "unet"}), 2, "name one source of designs");
  expect_one_line_error(check({"--design", chip}), 2, "Name one with --workload");
  expect_one_line_error(check({"--design", chip, "--workload", "unett"}), 2, "unet");
  expect_one_line_error(hindsight({"check", "--design", chip, "--workload", "unet", "--gpu", "h2000"}), 2, "'h200'");
  expect_one_line_error(check({"--design", "pes_x=3", "--workload", "unet"}), 2, "pes_x");
  expect_one_line_error(check({"--design", chip, "--file", "x.json", "--workload", "unet"}), 2, "name one source");
  expect_one_line_error(check({"--log", file("none.sqlite")}), 2, "none.sqlite");
  expect_one_line_error(check({"--file", write("bad.json", "{")}), 2, "not JSON");
  expect_one_line_error(check({"--file", write("empty.json", "{}")}), 2, "no list 'proposals'");
  expect_one_line_error(check({"--file", write("odd.json", R"({"proposals":[{"rank":1}]})")}), 2, "proposal 1");
  const std::string foreign = write("foreign.json", R"({"space":"tiny","proposals":[{"design":"pes_x=77"}]})");
  expect_one_line_error(check({"--file", foreign, "--workload", "unet"}), 2, "foreign.json: proposal 1: design:");
  expect_one_line_error(check({"--design", chip, "--workload", "unet", "--proposals", "3"}), 2,
                        "--proposals 3: names a run of a log whose designs are checked, and --design names them here");
  EXPECT_THAT(check({"--design", chip, "--workload", "mobilenet_v2", "--space", "tiny"}).err,
              HasSubstr("--space tiny: is not read, as edge_tpu_v1 is a reference chip and no design of a space"));
  expect_one_line_error(check({"--design", chip, "--workload", "unet", "--top", "1"}), 2,
                        "--top 1: counts the proposals of a log or file that are checked, and --design names one");
}

TEST_F(Check, WrongRunsGetOneLineAndChangeNothing) {
  make_log();
  expect_one_line_error(check({"--log", log(), "--proposals", "7"}), 2, "run 7 proposed nothing");
  expect_one_line_error(check({"--log", log(), "--proposals", "newest"}), 2, "'newest'");
  const auto stored = log::proposals(log::Log::open(log(), log::OpenMode::read_only), std::nullopt);
  EXPECT_EQ(stored.front().verdict_json, R"({"feasible":true})");
}

TEST_F(Check, ADesignThatCannotRunEndsWithThree) {
  const Outcome outcome = check({"--design", kTinyDesign, "--space", "tiny", "--workload", "resnet50"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.out, HasSubstr("resnet50: infeasible, "));
  EXPECT_THAT(outcome.out, HasSubstr("l4 int8"));
  EXPECT_THAT(outcome.out, ::testing::Not(HasSubstr("=> ")));
}

}  // namespace
}  // namespace hindsight::app::test
