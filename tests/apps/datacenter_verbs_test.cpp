/// Can a user design a chip for a data centre: look at the space, find a good design and how good it can get, propose
/// one, and hold it against GPUs in the same format at the same batch?
#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>

#include "apps/app_fixture.h"
#include "hindsight/space/short_id.h"
#include "repository.h"

namespace hindsight::app::test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

class DatacenterVerbs : public AppTest {
 protected:
  static constexpr const char* kNode = "7nm-silicon@air";
  /// A small part of the space, so that a search goes over all of it.
  static std::vector<std::string> optimum(std::vector<std::string> more) {
    std::vector<std::string> words{"optimum",      "--space", "datacenter", "--workloads", "bert_base@8",
                                   "--technology", kNode,     "--quiet",    "--set",       "precision=fp8"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
};

TEST_F(DatacenterVerbs, TheBestOfASearchComesWithAFloorAndAGap) {
  const Outcome text = hindsight(optimum({"--max", "area_mm2=300"}));
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("best found of 42,674,688,000 combinations for bert_base@8"));
  EXPECT_THAT(text.out, ContainsRegex("gap: no design is below [^:]+s: the best found is at most x[0-9.]+ of the"));
  const Json json = Json::parse(hindsight(optimum({"--max", "area_mm2=300", "--json"})).out);
  const Json& gap = json.at("gap");
  const double best = json.at("designs").at(0).at("value");
  EXPECT_EQ(gap.at("combinations"), 42674688000);
  EXPECT_EQ(gap.at("closed"), false);
  EXPECT_LT(gap.at("floor").get<double>(), best);
  EXPECT_GT(gap.at("floor").get<double>(), best / 20);
  EXPECT_FALSE(json.contains("certificate"));
  EXPECT_EQ(json.at("proof"), "search, and a floor of the latency");
  EXPECT_LE(json.at("designs").at(0).at("area_mm2").get<double>(), 300);
  const std::string design = json.at("designs").at(0).at("design");
  EXPECT_THAT(design, HasSubstr("precision=fp8"));
  const Json simulated = Json::parse(hindsight({"simulate", "--space", "datacenter", "--design", design, "--workload",
                                                "bert_base@8", "--technology", kNode, "--json"})
                                         .out);
  EXPECT_EQ(simulated.at("workloads").at(0).at("metrics").at("latency_s"), best);
}

TEST_F(DatacenterVerbs, KeepsTheBestWithWhatIsKnownOfItInALog) {
  const std::string log = file("optimum.sqlite");
  ASSERT_EQ(hindsight(optimum({"--max", "area_mm2=200", "--log", log})).exit_code, 0);
  const Outcome shown = hindsight({"log", "show", log});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(hindsight({"log", "query", log, "SELECT options_json FROM runs"}).out, HasSubstr("\"gap\""));
  EXPECT_EQ(hindsight({"log", "verify", log}).exit_code, 0);
}

TEST_F(DatacenterVerbs, WhatNeedsExactBoundsIsRefusedWithAWayOut) {
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--objective", "energy"}, {"--top", "3"}, {"--pareto", "latency,energy"}, {"--all"}}) {
    const Outcome outcome = hindsight(optimum(more));
    EXPECT_EQ(outcome.exit_code, 2) << more.front() << outcome.out;
    EXPECT_THAT(outcome.err, HasSubstr("hindsight search")) << more.front();
  }
  const Outcome impossible = hindsight(optimum({"--max", "area_mm2=1"}));
  EXPECT_EQ(impossible.exit_code, 3);
  EXPECT_THAT(impossible.err, HasSubstr("area_mm2 <= 1"));
  const Outcome version1 =
      hindsight({"optimum", "--space", "datacenter", "--workloads", "bert_base", "--technology", "22nm"});
  EXPECT_EQ(version1.exit_code, 2);
  EXPECT_THAT(version1.err, HasSubstr("--technology"));
}

/// NAME=VALUE of "that a search met is NAME <= VALUE", which --max takes.
std::string met_limit(const Outcome& outcome) {
  static const std::regex kLimit("a search met[a-z ]* is ([a-z0-9_]+) <= ([-+.0-9e]+)");
  std::smatch found;
  return std::regex_search(outcome.err, found, kLimit) ? found.str(1) + "=" + found.str(2) : "";
}

/// A part of the space that a search goes over in a second.
std::vector<std::string> of_one_small_pe(std::vector<std::string> words) {
  for (const char* const fixed :
       {"pes_x=1", "pes_y=1", "clock_mhz=700", "vector_lanes=32", "noc_link_bytes=64", "dram_type=lpddr5",
        "shared_memory_bytes=16777216", "instruction_memory_entries=16384"}) {
    words.insert(words.end(), {"--set", fixed});
  }
  return words;
}

TEST_F(DatacenterVerbs, ALimitThatASearchMetIsMetWhenAskedFor) {
  // Some designs are within 5 mm2, and none of these has room for the network's mappings.
  for (const std::string limit : {"area_mm2=5", "latency_s=1e-9", "utilisation_frac=1e-9"}) {
    SCOPED_TRACE(limit);
    std::vector<std::string> words =
        of_one_small_pe(optimum({"--set", "cores_per_pe=4", "--set", "dram_devices=1", "--max", limit}));
    const Outcome missed = hindsight(words);
    EXPECT_EQ(missed.exit_code, 3);
    EXPECT_THAT(missed.err, HasSubstr("The nearest limit that a search met is "));
    *std::ranges::find(words, limit) = met_limit(missed);
    const Outcome met = hindsight(words);
    EXPECT_EQ(met.exit_code, 0) << met.err;
  }
  const Outcome both = hindsight(of_one_small_pe(optimum(
      {"--set", "cores_per_pe=4", "--set", "dram_devices=1", "--max", "area_mm2=5", "--max", "latency_s=1e-9"})));
  EXPECT_THAT(both.err, ContainsRegex("Each by itself can be met: area_mm2 <= [0-9.]+, latency_s <= 0.0[0-9]+"));
}

TEST_F(DatacenterVerbs, ALimitThatHardlyAnyDesignMeetsIsFoundAgain) {
  const auto within = [](const std::string& limit) {
    return hindsight(optimum({"--json", "--set", "pes_x=1", "--max", limit}));
  };
  const std::string limit = met_limit(within("latency_s=1e-9"));
  const Outcome met = within(limit);
  ASSERT_EQ(met.exit_code, 0) << limit << met.err;
  EXPECT_EQ(Json::parse(met.out).at("gap").at("queries"), 60'000) << "the search for the best found none";
}

TEST_F(DatacenterVerbs, NamesACoolingClassOnlyWhereOneHelps) {
  const auto on = [](const std::string& technology, const std::vector<std::string>& more) {
    std::vector<std::string> words =
        of_one_small_pe({"optimum", "--space", "datacenter", "--workloads", "m6", "--quiet", "--set", "precision=fp8",
                         "--set", "cores_per_pe=8", "--set", "dram_devices=1", "--technology", technology});
    words.insert(words.end(), more.begin(), more.end());
    return hindsight(words);
  };
  const Outcome passive = on("7nm-silicon@passive", {});
  EXPECT_EQ(passive.exit_code, 3);
  EXPECT_THAT(passive.err, HasSubstr("Another cooling class helps: --technology 7nm-silicon@liquid"));
  EXPECT_EQ(on("7nm-silicon@liquid", {}).exit_code, 0) << "as the message says";
  const Outcome hopeless = on("7nm-silicon@passive", {"--max", "area_mm2=5"});
  EXPECT_EQ(hopeless.exit_code, 3);
  EXPECT_THAT(hopeless.err, Not(HasSubstr("--technology"))) << "no class helps within 5 mm2";
}

TEST_F(DatacenterVerbs, ChecksAtTheDesignsFormatAndBatchPerToken) {
  const std::string design =
      "pes_x=2,pes_y=6,cores_per_pe=32,compute_lanes=4,macs_per_lane=32,precision=fp8,clock_mhz=1700,"
      "pe_memory_bytes=524288,core_memory_bytes=8192,activation_memory_entries=1024,parameter_memory_entries=8192,"
      "instruction_memory_entries=16384,shared_memory_bytes=268435456,noc_link_bytes=512,vector_lanes=128,"
      "dram_type=hbm3,dram_devices=6";
  const std::vector<std::string> words{"check",
                                       "--space",
                                       "datacenter",
                                       "--design",
                                       design,
                                       "--workloads",
                                       "llama3_8b_decode@8,llama3_70b_decode@8,resnet50@64",
                                       "--gpu",
                                       "h100-sxm5,l40s",
                                       "--technology",
                                       "5nm-silicon@liquid"};
  const Outcome text = hindsight(words);
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("token/J"));
  EXPECT_THAT(text.out, HasSubstr("h100-sxm5 fp8"));
  EXPECT_THAT(text.out, HasSubstr("estimate: fp8:"));
  EXPECT_THAT(text.out, HasSubstr("l40s (llama3_70b_decode@8)"));
  std::vector<std::string> as_json = words;
  as_json.emplace_back("--json");
  const Json networks = Json::parse(hindsight(as_json).out).at("designs").at(0).at("networks");
  const Json& llama = networks.at(0);
  EXPECT_EQ(llama.at("precision"), "fp8");
  EXPECT_EQ(llama.at("tokens_per_inference"), 1);
  EXPECT_EQ(llama.at("accelerator").at("batch"), 8);
  EXPECT_EQ(llama.at("gpus").at(0).at("dtype"), "fp8");
  EXPECT_EQ(llama.at("gpus").at(0).at("batch_8").at("batch"), 8);
  EXPECT_EQ(llama.at("estimates"), Json::array({"fp8", "non_gemm_work", "die_area", "chip_power"}));
  EXPECT_EQ(networks.at(1).at("estimates"),
            Json::array({"fp8", "non_gemm_work", "exceeds_gpu_memory", "die_area", "chip_power"}));
  const Json dies = llama.at("accelerator").at("published_over_modelled_area");
  EXPECT_LT(dies.at(0), 1) << "Warboy";
  EXPECT_GT(dies.at(1), 1.5) << "NNP-T";
  EXPECT_THAT(text.out, HasSubstr("estimate: area: 4 published dies"));
  const Json power = llama.at("accelerator").at("published_over_modelled_power");
  EXPECT_LT(power.at(0), 1) << "MTIA v1";
  EXPECT_GT(power.at(1), 1.3) << "TPU v1 at work";
  EXPECT_THAT(text.out, HasSubstr("estimate: energy: published watts of 2 such chips"));
  EXPECT_EQ(llama.at("accelerator").at("basis_at_5nm"), "own");
  EXPECT_EQ(llama.at("accelerator").at("inferences_per_j_at_5nm"), llama.at("accelerator").at("inferences_per_j"));
  EXPECT_TRUE(networks.at(2).at("tokens_per_inference").is_null()) << "a network of images has no tokens";
}

/// What a remedy looks through is not the slice that was asked for.
TEST_F(DatacenterVerbs, ASliceThatIsEnumeratedIsRefusedWithARemedyFromTheWholeSpace) {
  std::vector<std::string> words{"propose", "--space", "datacenter",     "--workloads", "resnet50",   "--min-feasible",
                                 "0",       "--max",   "latency=0.0003", "--search",    "enumeration"};
  for (const char* fixed : {"pes_x=12", "pes_y=12", "cores_per_pe=32", "core_memory_bytes=524288",
                            "pe_memory_bytes=8388608", "shared_memory_bytes=268435456", "clock_mhz=700",
                            "compute_lanes=4", "macs_per_lane=4", "precision=int8", "dram_type=hbm3"}) {
    words.insert(words.end(), {"--set", fixed});
  }
  expect_one_line_error(hindsight(words), 3, "no design meets area_mm2 <= 858 (reticle)");
}

/// 671 GB of parameters, of which one token reads 37, do not fit six stacks of 16 GB; 47 GB of eight experts do. A
/// batch of 64 tokens reads all of them, but for a file that does not say which layers are experts.
TEST_F(DatacenterVerbs, JudgesMixturesByAllTheirExpertsAndSaysWhatABatchLeavesOut) {
  const std::string design =
      "pes_x=2,pes_y=6,cores_per_pe=32,compute_lanes=4,macs_per_lane=32,precision=fp8,clock_mhz=1700,"
      "pe_memory_bytes=524288,core_memory_bytes=8192,activation_memory_entries=1024,parameter_memory_entries=32768,"
      "instruction_memory_entries=16384,shared_memory_bytes=268435456,noc_link_bytes=512,vector_lanes=128,"
      "dram_type=hbm3,dram_devices=6";
  const auto run = [&](const std::string& verb, const std::string& network, std::vector<std::string> more) {
    std::vector<std::string> words{verb,   "--space",      "datacenter",         "--design",
                                   design, "--technology", "5nm-silicon@liquid", "--workloads",
                                   network};
    words.insert(words.end(), more.begin(), more.end());
    return hindsight(words);
  };
  const Outcome refused = run("check", "deepseek_v3_decode", {"--gpu", "h200"});
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.out, HasSubstr("deepseek_v3_decode: infeasible, dram_capacity"));
  const std::string mixtral = "mixtral_8x7b_decode@64";
  const std::string older =
      write("of_one_token.yaml",
            "name: of_one_token\nextra_parameters: {count: 1000000, what: \"experts that are not asked\"}\nlayers:\n"
            "  - {name: expert, type: fully_connected, repeat: 2, reduction: 4096, columns: 4096, bias: false}\n") +
      "@64";
  for (const auto& [verb, more] : {std::pair<std::string, std::vector<std::string>>{"check", {"--gpu", "h200"}},
                                   {"simulate", {}},
                                   {"simulate", {"--explain"}}}) {
    const Outcome text = run(verb, older, more);
    ASSERT_EQ(text.exit_code, 0) << text.err;
    EXPECT_THAT(text.out, HasSubstr("estimate: a batch reads the experts that one token asks"));
    EXPECT_THAT(text.out, HasSubstr("would ask more of them: of_one_token@64"));
    const Outcome of_groups = run(verb, mixtral, more);
    ASSERT_EQ(of_groups.exit_code, 0) << of_groups.err;
    EXPECT_THAT(of_groups.out, Not(HasSubstr("a batch reads the experts")));
  }
  const Json checked = Json::parse(run("check", older, {"--gpu", "h200", "--json"}).out);
  const Json& network = checked.at("designs").at(0).at("networks").at(0);
  EXPECT_THAT(network.at("estimates"), ::testing::Contains("experts_of_one_token"));
  EXPECT_THAT(network.at("verdict").get<std::string>(), ::testing::StartsWith("estimate: "));
  const auto simulated = [&](const std::string& name) {
    return Json::parse(run("simulate", name, {"--json"}).out).at("workloads").at(0);
  };
  EXPECT_EQ(simulated(older).at("estimates"), Json::array({"experts_of_one_token"}));
  for (const char* name : {"mixtral_8x7b_decode", "mixtral_8x7b_decode@64"}) {
    EXPECT_THAT(simulated(name).at("estimates"), Not(::testing::Contains("experts_of_one_token"))) << name;
  }
}

TEST_F(DatacenterVerbs, AWorkloadShowsHowManyExpertsItsBatchReads) {
  const Outcome text = hindsight({"workload", "show", "mixtral_8x7b_decode@8"});
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("experts: expert.gate_up reads 7 of 8, 2 of 3 rows and 5 of 2 rows;"));
  const Json layers =
      Json::parse(hindsight({"workload", "show", "mixtral_8x7b_decode@8", "--json"}).out).at("layer_table");
  EXPECT_EQ(layers.at(6).at("name"), "expert.gate_up");
  EXPECT_EQ(layers.at(6).at("experts"), 8);
  EXPECT_EQ(layers.at(6).at("experts_per_token"), 2);
  EXPECT_EQ(layers.at(6).at("experts_read"), 2);
  EXPECT_EQ(layers.at(6).at("repeat"), 64 * 2);
  EXPECT_EQ(layers.at(6).at("m"), 3);
  EXPECT_EQ(layers.at(7).at("name"), "expert.gate_up");
  EXPECT_EQ(layers.at(7).at("experts_read"), 5);
  EXPECT_EQ(layers.at(7).at("repeat"), 64 * 5);
  EXPECT_EQ(layers.at(7).at("m"), 2);
  EXPECT_EQ(layers.at(10).at("name"), "logits");
  EXPECT_FALSE(layers.at(0).contains("experts"));
  EXPECT_THAT(hindsight({"workload", "show", "mixtral_8x7b_decode@64"}).out,
              HasSubstr("experts: expert.gate_up reads 8 of 8, 16 rows each;"));
  EXPECT_THAT(hindsight({"workload", "export", "mixtral_8x7b_decode@8"}).out,
              HasSubstr("columns: 14336, experts: 8, experts_per_token: 2, bias: false"));
  EXPECT_THAT(hindsight({"workload", "show", "bert_base"}).out, Not(HasSubstr("experts")));
}

TEST_F(DatacenterVerbs, ProposesWithTheSpacesOwnModelAndTechnology) {
  const Outcome outcome = hindsight({"propose", "--space", "datacenter", "--workload", "llama3_8b_decode@8",
                                     "--evaluations", "4000", "--simulate", "--top", "3", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  ASSERT_EQ(json.at("proposals").size(), 3U);
  EXPECT_THAT(json.at("proposals").at(0).at("design").get<std::string>(), HasSubstr("dram_type="));
  EXPECT_EQ(hindsight({"propose", "--space", "datacenter", "--workload", "resnet50", "--technology", "22nm"}).exit_code,
            4);
}

TEST_F(DatacenterVerbs, TheSpaceNamesItsTechnologyAndALogThatOfItsRows) {
  const std::string log = file("own.sqlite");
  ASSERT_EQ(hindsight({"sweep", "--space", "datacenter", "--workloads", "resnet50@64", "--samples", "40", "--log", log})
                .exit_code,
            0);
  const std::string name = "SELECT DISTINCT evaluator FROM v_evaluations";
  EXPECT_THAT(hindsight({"log", "query", log, name}).out, HasSubstr(" 5nm-silicon@liquid"));
  // A log of another technology: its designs are judged by that one unless another is named.
  const std::string other = file("other.sqlite");
  ASSERT_EQ(hindsight({"sweep", "--space", "datacenter", "--workloads", "resnet50@64", "--samples", "40", "--log",
                       other, "--technology", kNode})
                .exit_code,
            0);
  EXPECT_THAT(hindsight({"log", "query", other, name}).out, HasSubstr(" 7nm-silicon@air"));
  const std::string found =
      hindsight({"log", "query", other, "SELECT design FROM v_evaluations WHERE feasible ORDER BY latency_s LIMIT 1"})
          .out;
  const std::size_t begin = found.find("pes_x=");
  ASSERT_NE(begin, std::string::npos) << found;
  const std::string design = found.substr(begin, found.find_first_of(" \n", begin) - begin);
  const std::string id = space::short_id(design);
  const auto technology = [&](std::vector<std::string> words) {
    words.emplace_back("--json");
    const Outcome outcome = hindsight(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return Json::parse(outcome.out).at("technology").get<std::string>();
  };
  for (const char* verb : {"simulate", "check"}) {
    EXPECT_EQ(technology({verb, "--design", id, "--log", other, "--workload", "resnet50@64"}), kNode) << verb;
    EXPECT_EQ(technology({verb, "--design", design, "--space", "datacenter", "--workload", "resnet50@64"}),
              "5nm-silicon@liquid")
        << verb;
    EXPECT_EQ(technology({verb, "--design", id, "--log", other, "--workload", "resnet50@64", "--technology",
                          "5nm-silicon@liquid"}),
              "5nm-silicon@liquid")
        << verb;
  }
}

TEST_F(DatacenterVerbs, AnOwnTechnologyOfALogIsAskedForByItsFile) {
  std::string yaml = read_file(hindsight::test::repository() / "data/technology/22nm.yaml");
  yaml.replace(yaml.find("name: 22nm"), 10, "name: mine");
  const std::string technology = file("mine.yaml"), log = file("mine.sqlite");
  write_file_atomically(technology, yaml);
  ASSERT_EQ(hindsight({"sweep", "--space", "tiny", "--workloads", "m6", "--samples", "20", "--technology", technology,
                       "--log", log})
                .exit_code,
            0);
  const std::string found =
      hindsight({"log", "query", log, "SELECT design FROM v_evaluations WHERE feasible LIMIT 1"}).out;
  const std::size_t begin = found.find("pes_x=");
  ASSERT_NE(begin, std::string::npos) << found;
  const std::string id = space::short_id(found.substr(begin, found.find_first_of(" \n", begin) - begin));
  std::vector<std::string> words{"simulate", "--design", id, "--log", log, "--workload", "m6"};
  expect_one_line_error(hindsight(words), 2, "with --technology");
  words.insert(words.end(), {"--technology", technology});
  EXPECT_EQ(hindsight(words).exit_code, 0);
}

TEST_F(DatacenterVerbs, BatchesOfANetworkAreNamed) {
  const Outcome bad = hindsight({"workload", "show", "resnet50@0"});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_THAT(bad.err, HasSubstr("NAME@BATCH"));
  EXPECT_THAT(hindsight({"workload", "show", "resnet50@8"}).out, HasSubstr("resnet50@8"));
  EXPECT_THAT(hindsight({"workload", "export", "bert_base"}).out, HasSubstr("after: [add, norm]"));
  const std::string unknown = write(
      "unknown.yaml",
      "format: 1\nname: x\nlayers:\n  - {name: a, type: fully_connected, reduction: 8, columns: 8, after: [nrom]}\n");
  const Outcome refused = hindsight({"workload", "show", unknown});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("Did you mean 'norm'?"));
  EXPECT_THAT(refused.err, HasSubstr(":4:"));
}

TEST_F(DatacenterVerbs, WhetherTheDramHoldsAMixtureIsALimitOfProposals) {
  const auto propose = [](const std::string& network, const std::vector<std::string>& more) {
    std::vector<std::string> words{"propose", "--space", "datacenter", "--workload",
                                   network,   "--top",   "3",          "--simulate"};
    words.insert(words.end(), more.begin(), more.end());
    return hindsight(words);
  };
  const Outcome mixture = propose("mixtral_8x7b_decode", {"--evaluations", "5000", "--json"});
  ASSERT_EQ(mixture.exit_code, 0) << mixture.err;
  const Json answer = Json::parse(mixture.out);
  for (const Json& one : answer.at("proposals")) {
    EXPECT_LE(one.at("predicted").at("constraints").at("dram_filled_frac"), 1);
    for (const Json& reason : one.at("simulated").at("workloads").at(0).at("reasons"))
      EXPECT_NE(reason, "dram_capacity");
  }
  // What asks the model for every design has the limit there.
  expect_one_line_error(propose("bert_base", {"--pareto", "latency,energy", "--exact-front"}), 2,
                        "need bounds for its parameter 'precision'");
}

}  // namespace
}  // namespace hindsight::app::test
