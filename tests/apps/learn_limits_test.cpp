/// Do proposals keep to what is known without a model: lower bounds, the watts of the cooling class, the exposure
/// field?
#include <algorithm>
#include <regex>

#include "apps/learn_fixture.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(Learn, PredictionsAreLiftedToWhatIsPossibleUnlessAskedNotTo) {
  const auto lifted = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(),
                     {"propose", "--model", "edge-any", "--aggregate", "mean", "--workloads", "t_rnn_dec,t_rnn_enc",
                      "--max", "area_mm2=29", "--evaluations", "5000", "--top", "3", "--json"});
    const Outcome outcome = hindsight(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const Json json = Json::parse(outcome.out);
    const Json& list = json.at("proposals");
    return std::count_if(list.begin(), list.end(),
                         [](const Json& one) { return one.at("predicted").at("lifted").get<bool>(); });
  };
  EXPECT_GT(lifted({}), 0) << "its best designs for these networks are near the bounds of arithmetic and DRAM";
  EXPECT_EQ(lifted({"--no-bounds"}), 0);
}

TEST_F(Learn, TheWattsOfTheCoolingClassAreALimitOfProposals) {
  const auto proposed = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"propose", "--workload", "m6", "--max", "area_mm2=27", "--evaluations", "5000", "--top",
                               "5", "--simulate", "--json"});
    const Outcome outcome = hindsight(more);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return Json::parse(outcome.out);
  };
  const Json by_class = proposed({"--model", "edge-any"});
  EXPECT_EQ(by_class.at("limits").at("peak_power_w"), Json({{"limit", 2.5}, {"learned", false}}));
  for (const Json& proposal : by_class.at("proposals")) {
    EXPECT_EQ(proposal.at("simulated").dump().find("cooling"), std::string::npos) << proposal;
  }
  const Json stated = proposed({"--model", "edge-any", "--max", "peak_power_w=1.5"});
  EXPECT_EQ(stated.at("limits").at("peak_power_w").at("limit"), 1.5);
  const Json loose = proposed({"--model", "edge-any", "--max", "peak_power_w=1000"});
  EXPECT_EQ(loose.at("limits").at("peak_power_w").at("limit"), 2.5) << "beyond the class nothing can be built";
  // Nobody states watts where the technology has no cooling class.
  ASSERT_EQ(sweep("m6", "200").exit_code, 0);
  ASSERT_EQ(train({"--recipe", "margins", "--set", "steps=50", "--set", "final_steps=5"}).exit_code, 0);
  EXPECT_FALSE(proposed({"--model", model()}).at("limits").contains("peak_power_w"));
}

TEST_F(Learn, TheExposureFieldIsALimitOfProposals) {
  const auto proposed = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"propose", "--space", "datacenter", "--workload", "llama3_8b_decode", "--evaluations",
                               "20000", "--simulate", "--json"});
    const Outcome outcome = hindsight(more);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return Json::parse(outcome.out);
  };
  const Json by_field = proposed({});
  EXPECT_EQ(by_field.at("limits").at("area_mm2"), Json({{"limit", 858}, {"learned", false}}));
  for (const Json& proposal : by_field.at("proposals")) {
    EXPECT_EQ(proposal.at("simulated").dump().find("reticle"), std::string::npos) << proposal;
  }
  EXPECT_EQ(proposed({"--max", "area_mm2=500"}).at("limits").at("area_mm2").at("limit"), 500);
  EXPECT_EQ(proposed({"--max", "area_mm2=2000"}).at("limits").at("area_mm2").at("limit"), 858);
}

/// A network whose windows need three rows that no PE of the class holds.
constexpr const char* kTooWide =
    "name: wide\nlayers:\n  - {name: a, type: convolution, in: [4, 2000000, 256], out: 256, kernel: 3, pad: same}\n";

TEST_F(Learn, TheShippedModelKnowsThatNoChipOfTheClassHoldsSuchRows) {
  const std::string net = write("wide.yaml", kTooWide);
  const Outcome none =
      hindsight({"propose", "--workload", net, "--max", "area_mm2=100", "--evaluations", "5000", "--top", "3"});
  expect_one_line_error(none, 3, "likely to be feasible: p_feasible reaches");
  EXPECT_THAT(none.err, Not(HasSubstr("--model"))) << "no other model knows more";
}

/// The limits that an error offers, as options: "Allow area_mm2 <= 12.5?" gives {"--max", "area_mm2=12.5"}.
std::vector<std::string> offered(const std::string& error) {
  const std::regex limit("([a-z0-9_]+) <= ([0-9.e+-]+)");
  const std::string end = error.substr(error.rfind(". ") + 2);
  std::vector<std::string> words;
  for (std::sregex_iterator at(end.begin(), end.end(), limit), none; at != none; ++at) {
    words.insert(words.end(), {"--max", at->str(1) + "=" + at->str(2)});
  }
  return words;
}

TEST_F(Learn, ALimitThatAnErrorOffersIsMet) {
  // The search for the likeliest design finds none at the very edge of what is met; the one for the limit has.
  const auto within = [](const std::vector<std::string>& limits, const std::string& evaluations) {
    std::vector<std::string> words{"propose", "--workload", "m4", "--evaluations", evaluations, "--top", "2"};
    words.insert(words.end(), limits.begin(), limits.end());
    return hindsight(words);
  };
  for (const std::string evaluations : {"200", "1000", "2000", "5000"}) {
    for (const std::string limit : {"area_mm2=1", "peak_power_w=0.1", "latency_s=1e-9"}) {
      const Outcome none = within({"--max", limit}, evaluations);
      expect_one_line_error(none, 3, "Allow ");
      const std::vector<std::string> wider = offered(none.err);
      ASSERT_EQ(wider.size(), 2U) << none.err;
      const std::string number = wider.back().substr(wider.back().find('=') + 1);
      EXPECT_LE(std::count_if(number.begin(), number.end(), [](char c) { return c >= '1' && c <= '9'; }), 3) << number;
      const Outcome met = within(wider, evaluations);
      EXPECT_EQ(met.exit_code, 0) << evaluations << ": " << wider.back() << ": " << met.err;
    }
  }
}

TEST_F(Learn, ALimitOfAFrontThatAnErrorOffersIsMet) {
  const std::vector<std::string> front{"propose", "--workload", "m4",    "--pareto", "latency_s,area_mm2",
                                       "--max",   "area_mm2=1", "--top", "2",        "--evaluations",
                                       "1000"};
  const Outcome none = hindsight(front);
  expect_one_line_error(none, 3, "Allow ");
  const std::vector<std::string> wider = offered(none.err);
  ASSERT_EQ(wider.size(), 2U) << none.err;
  std::vector<std::string> again = front;
  again[6] = wider.back();
  EXPECT_EQ(hindsight(again).exit_code, 0) << wider.back();
}

TEST_F(Learn, BeyondTheCoolingClassAValueOfAParameterIsOffered) {
  const std::vector<std::string> hot{"pes_x=1",
                                     "pes_y=1",
                                     "pe_memory_bytes=2097152",
                                     "cores_per_pe=32",
                                     "core_memory_bytes=16384",
                                     "compute_lanes=32",
                                     "instruction_memory_entries=8192",
                                     "parameter_memory_entries=2048",
                                     "activation_memory_entries=8192",
                                     "dram_bandwidth_gb_per_s=5"};
  const auto proposed = [](const std::vector<std::string>& values, const std::string& most) {
    std::vector<std::string> words{"propose", "--workload", "m6", "--top", "1", "--max", "peak_power_w=" + most};
    for (const std::string& value : values) words.insert(words.end(), {"--set", value});
    return hindsight(words);
  };
  const Outcome none = proposed(hot, "20");
  expect_one_line_error(none, 3,
                        "meets peak_power_w <= 2.5 (cooling; --max allows 20): the smallest value of the only "
                        "allowed design is 2.66254. Allow ");
  std::smatch offer;
  ASSERT_TRUE(std::regex_search(none.err, offer, std::regex("Allow ([a-z_]+) = ([0-9]+)\\?"))) << none.err;
  std::vector<std::string> cool = hot;
  for (std::string& value : cool) {
    if (value.starts_with(offer.str(1) + "=")) value = offer.str(1) + "=" + offer.str(2);
  }
  const Outcome met = proposed(cool, "20");
  EXPECT_EQ(met.exit_code, 0) << met.err;
  EXPECT_THAT(met.out, HasSubstr("note: --max peak_power_w=20: 2.5 is held"));
  EXPECT_THAT(proposed(cool, "2.5").out, Not(HasSubstr("is held")));
}

TEST_F(Learn, WhereNoDesignIsLikelyTheExactSearchIsNamed) {
  const std::string net = write("wide.yaml", kTooWide);
  const Outcome none = hindsight({"propose", "--workload", net});
  expect_one_line_error(none, 3, "Whether any does, exactly: hindsight optimum --space edge --workloads " + net);
  EXPECT_THAT(none.err, Not(HasSubstr("Relax")));
  expect_one_line_error(hindsight({"optimum", "--space", "edge", "--workloads", net}), 3,
                        "no design of the space edge runs wide");
}

TEST_F(Learn, AModelThatMustNotBeTrustedNamesWhatKnowsTheBestDesign) {
  // One product of one number: no network that a model learns from is like it.
  const std::string net =
      write("one.yaml", "name: one\nlayers:\n  - {name: a, type: fully_connected, reduction: 1, columns: 1}\n");
  const Outcome doubted = hindsight(
      {"propose", "--workload", net, "--evaluations", "2000", "--top", "1", "--max", "area_mm2=27", "--simulate"});
  EXPECT_EQ(doubted.exit_code, 0) << doubted.err;
  EXPECT_THAT(doubted.out, HasSubstr("warning: this model must not be trusted here"));
  EXPECT_THAT(doubted.out, HasSubstr("known without a model: hindsight optimum --space edge --workloads " + net +
                                     " --max area_mm2=27 --objective latency\n"));
  const Outcome best =
      hindsight({"optimum", "--space", "edge", "--workloads", net, "--max", "area_mm2=27", "--objective", "latency"});
  EXPECT_EQ(best.exit_code, 0) << best.err;
}

TEST_F(Learn, WhatCannotBeReadSaysHowItIsWritten) {
  const auto refused = [](const std::vector<std::string>& more, const std::string& part) {
    std::vector<std::string> words{"propose", "--workload", "m4"};
    words.insert(words.end(), more.begin(), more.end());
    expect_one_line_error(hindsight(words), 2, part);
  };
  refused({"--max", "area_mm2"}, "--max area_mm2: is not NAME=VALUE. Write --max area_mm2=NUMBER");
  refused({"--set", "pes_x"}, "--set pes_x: is not NAME=VALUE. Write --set pes_x=32");
  refused({"--max", "=3"}, "Write --max NAME=NUMBER");
  refused({"--min", "area_mm2=5"},
          "--min area_mm2=5: only parameters have a lower limit, and the space 'edge' has none of this name.");
  refused({"--min", "pes_z=5"}, "Did you mean 'pes_x'?");
  refused({"--min-feasible", "1.5"}, "--min-feasible 1.5: is no probability. Name a number from 0 to 1");
  refused({"--pessimism", "-1"}, "--pessimism -1: is no number of spreads. Name 0 (none) or more");
}

TEST_F(Learn, AModelThatHasNotLearntTheNetworkNamesOneThatHas) {
  const auto proposed = [](const std::string& model, const std::vector<std::string>& more) {
    std::vector<std::string> words{"propose",     "--model",       model,  "--workload", "sd15_unet", "--max",
                                   "area_mm2=29", "--evaluations", "5000", "--top",      "3"};
    words.insert(words.end(), more.begin(), more.end());
    return hindsight(words);
  };
  expect_one_line_error(proposed("edge-prime9", {}), 3,
                        "The model has not learnt sd15_unet: ask --model edge-any, which predicts any network?");
  EXPECT_EQ(proposed("edge-any", {}).exit_code, 0) << "as the message says";
  EXPECT_THAT(proposed("edge-prime9", {"--min-feasible", "0"}).out, HasSubstr("were never compared with errors"));
}

TEST_F(Learn, WhatProposalsKeepExactlyIsNotLearnt) {
  const auto swept = [&](const std::string& name, const std::vector<std::string>& more) {
    std::vector<std::string> words{"sweep", "--workloads",  "m6",    "--samples", "1500",
                                   "--max", "area_mm2=100", "--log", file(name),  "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    ASSERT_EQ(hindsight(words).exit_code, 0);
  };
  const auto trained = [&](const std::string& name, const std::vector<std::string>& more) {
    std::vector<std::string> words{"train",        "--log",   file(name), "--out",    file(name + ".safetensors"),
                                   "--recipe",     "margins", "--set",    "steps=50", "--set",
                                   "final_steps=5"};
    words.insert(words.end(), more.begin(), more.end());
    return hindsight(words);
  };
  const std::string left_out =
      "are left out: their designs are beyond area_mm2 <= 858, peak_power_w <= 2.5, which `propose` "
      "keeps exactly";
  swept("exact.sqlite", {});
  swept("noisy.sqlite", {"--noise", "0.05"});
  for (const std::string name : {"exact.sqlite", "noisy.sqlite"}) {
    const Outcome outcome = trained(name, {});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(left_out));
    EXPECT_THAT(outcome.err, HasSubstr("recipes that learn margins take other reasons from"));
    const std::string model_file = file(name + ".safetensors");
    const Json model = Json::parse(hindsight({"model", "show", model_file, "--json"}).out);
    EXPECT_EQ(model.at("provenance").at("learned_within"), "area_mm2 <= 858, peak_power_w <= 2.5");
    EXPECT_THAT(model.at("reasons").dump(), Not(HasSubstr("cooling")));
    EXPECT_GT(std::stoi(model.at("provenance").at("reason_rows").get<std::string>()), 500) << "most are too hot";
    const Outcome proposed = hindsight({"propose", "--model", model_file, "--workload", "m6", "--evaluations", "2000",
                                        "--min-feasible", "0", "--json"});
    ASSERT_EQ(proposed.exit_code, 0) << proposed.err;
    EXPECT_EQ(Json::parse(proposed.out).at("limits").at("peak_power_w").at("limit"), 2.5) << name;
    const Outcome scored = hindsight({"model", "score", model_file, "--log", file(name)});
    ASSERT_EQ(scored.exit_code, 0) << scored.err;
    EXPECT_THAT(scored.err, HasSubstr(left_out));
    EXPECT_THAT(scored.err, Not(HasSubstr("other reasons"))) << "a score learns nothing";
  }
  ASSERT_EQ(hindsight({"train", "--log", file("exact.sqlite"), "--out", file("plain.safetensors"), "--recipe", "plain",
                       "--set", "steps=50", "--set", "final_steps=5"})
                .exit_code,
            0);
  const Json plain = Json::parse(hindsight({"model", "show", file("plain.safetensors"), "--json"}).out);
  EXPECT_FALSE(plain.at("provenance").contains("reason_rows")) << "it draws whole rows alone";
  const std::string none =
      "are of designs beyond area_mm2 <= 858, peak_power_w <= 2.5, which no proposal may be. Sweep "
      "again with --max area_mm2=858 --max peak_power_w=2.5";
  expect_one_line_error(trained("exact.sqlite", {"--where", "peak_power_w>2.5"}), 2, none);
  expect_one_line_error(hindsight({"train", "--log", file("exact.sqlite"), "--out", file("b.safetensors"), "--where",
                                   "peak_power_w>2.5"}),
                        2, none);
  expect_one_line_error(hindsight({"backtest", "--log", file("exact.sqlite"), "--where", "peak_power_w>2.5"}), 2, none);
}

TEST_F(Learn, TheWattsOfTheCoolingClassAreALimitOfCampaigns) {
  const auto hottest = [&](const std::string& name, const std::vector<std::string>& more) {
    std::vector<std::string> campaign{"campaign", "--workloads", "m6",      "--rounds", "1",
                                      "--batch",  "8",           "--quiet", "--log",    file(name)};
    campaign.insert(campaign.end(), more.begin(), more.end());
    EXPECT_EQ(hindsight(campaign).exit_code, 0);
    return Json::parse(
               hindsight({"log", "query", file(name), "SELECT max(peak_power_w) AS w FROM v_evaluations", "--json"})
                   .out)
        .at(0)
        .at("w")
        .get<double>();
  };
  EXPECT_LE(hottest("class.sqlite", {}), 2.5);
  EXPECT_LE(hottest("wider.sqlite", {"--max", "peak_power_w=1000"}), 2.5) << "no chip of the class can have more";
  EXPECT_LE(hottest("tighter.sqlite", {"--max", "peak_power_w=1.5"}), 1.5);
}

}  // namespace
}  // namespace hindsight::app::test
