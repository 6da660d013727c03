/// Do the reports fit the terminal, say what the model computed, and add up?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <tuple>
#include <vector>

#include "hindsight/core/terminal.h"
#include "hindsight/evaluator/built_in.h"
#include "hindsight/report/catalogue.h"
#include "hindsight/report/evaluation.h"
#include "hindsight/report/log_summary.h"
#include "hindsight/report/model.h"
#include "hindsight/report/sweep_summary.h"
#include "hindsight/space/design_space.h"
#include "study/hand_proposals.h"
#include "surrogate/training_fixture.h"
#include "tolerances.h"

namespace hindsight::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

std::size_t widest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, display_width(line));
  return widest;
}

class Evaluations : public ::testing::Test {
 protected:
  /// The most ambitious corner of the edge space, which no flow can build.
  [[nodiscard]] EvaluatedDesign impossible() const {
    const space::DesignSpace space = space::load_space("edge");
    space::Design design;
    for (const space::Parameter& parameter : space.parameters()) {
      design.levels.push_back(static_cast<std::uint16_t>(parameter.level_count() - 1));
    }
    return evaluate_design(space, design, technology_, networks_);
  }
  [[nodiscard]] EvaluatedDesign chip() const {
    return evaluate_design("edge_tpu_v1", accel::load_reference_chip("edge_tpu_v1").config, technology_, networks_);
  }

  accel::Technology technology_ = accel::load_technology("22nm");
  std::vector<workload::Network> networks_ = workload::load_networks("mobilenet_v2,unet");
};

TEST_F(Evaluations, TextFitsTheTerminal) {
  for (const EvaluatedDesign& design : {impossible(), chip()}) {
    for (const int columns : {60, 80, 120}) {
      EXPECT_LE(widest_line(summary_text(design, columns)), static_cast<std::size_t>(columns));
      EXPECT_LE(widest_line(explanation_text(design, columns)), static_cast<std::size_t>(columns));
    }
  }
}

TEST_F(Evaluations, EveryViolationIsASentence) {
  const EvaluatedDesign design = impossible();
  EXPECT_FALSE(design.feasible());
  const std::string text = summary_text(design, 0);
  for (const EvaluatedNetwork& result : design.networks) {
    EXPECT_THAT(text, HasSubstr(result.network->name() + " cannot run on this design"));
    for (const accel::Violation& violation : result.evaluation.violations.view()) {
      EXPECT_THAT(text, HasSubstr("- " + std::string(accel::code(violation.reason)) + ": "));
    }
  }
}

TEST_F(Evaluations, JsonHoldsEveryLayerAndTheAreaAddsUp) {
  const EvaluatedDesign design = chip();
  const Json json = Json::parse(evaluation_json(design));
  double area_mm2 = 0;
  for (const Json& part : json.at("area")) area_mm2 += part.get<double>();
  EXPECT_NEAR(area_mm2, json.at("area_mm2").get<double>(), 1e-9 * area_mm2);
  EXPECT_EQ(json.at("area").size(), 16U);
  ASSERT_EQ(json.at("workloads").size(), 2U);
  for (std::size_t i = 0; i < networks_.size(); ++i) {
    EXPECT_EQ(json.at("workloads").at(i).at("layers").size(), networks_[i].layers().size());
  }
  EXPECT_EQ(json.at("model"), accel::kModelName);
  EXPECT_THAT(json.at("hindsight_version").get<std::string>(), Not(""));
}

/// 8 tokens ask 7 of 8 experts, 2 of 3 rows and 5 of 2; the layer behind them has more channels than fit.
TEST_F(Evaluations, FirstLinesHaveBandwidthPublishedAreaAndAnOwnFile) {
  EvaluatedDesign design = chip();
  design.chip.config.dram_bandwidth_gb_per_s = 6 * 819.2;  // 4915.200000000001
  const std::string plain = summary_text(design, 0);
  EXPECT_THAT(plain, HasSubstr(" 4915.2 GB/s; 22nm: area "));
  EXPECT_THAT(plain, Not(HasSubstr("published")));
  design.published_area = {.published = {.mm2 = 27, .scope = accel::AreaScope::accelerator}, .modelled_mm2 = 30.85};
  technology_.file = "./mine.yaml";
  const std::string told = summary_text(design, 0);
  EXPECT_THAT(told, HasSubstr("22nm (./mine.yaml): area "));
  EXPECT_THAT(told, HasSubstr(" mm2 (accelerator 30.85, published 27), peak power"));
  const Json json = Json::parse(evaluation_json(design));
  EXPECT_EQ(json.at("technology_file"), "./mine.yaml");
  EXPECT_EQ(json.at("published_area").at("published_mm2"), 27);
}

TEST_F(Evaluations, AMemoryOfUnknownSizeIsAnEstimateBeyondOneDevice) {
  networks_ = workload::load_networks("bert_base,llama3_8b_decode");  // 0.2 and 16 GB of bf16; a stack of HBM2 has 8
  const accel::Technology technology = accel::load_technology("7nm-silicon");
  accel::AcceleratorConfig config = accel::load_reference_chip("tpu_v4i").config;
  config.dram_gb = 0;
  const EvaluatedDesign design = evaluate_design("TPU v4i", config, technology, networks_);
  ASSERT_TRUE(design.feasible());
  EXPECT_THAT(summary_text(design, 0), HasSubstr("one device of its type holds less than llama3_8b_decode\n"));
  EXPECT_THAT(summary_text(design, 0), Not(HasSubstr("holds less than bert_base")));
  const Json workloads = Json::parse(evaluation_json(design)).at("workloads");
  EXPECT_EQ(workloads.at(0).at("estimates"), Json::array());
  EXPECT_EQ(workloads.at(1).at("estimates"), Json::array({"unknown_design_memory"}));
}

TEST_F(Evaluations, ABatchIsSaidWhereFiguresAreOfAllOfIt) {
  const std::string single = explanation_text(chip(), 0);
  EXPECT_THAT(single, HasSubstr("\ntraffic per inference"));
  EXPECT_THAT(single, Not(HasSubstr("whole batch")));
  networks_ = workload::load_networks("m6,m6@8");
  const EvaluatedDesign design =
      evaluate_design("edge_tpu_v1", accel::load_reference_chip("edge_tpu_v1").config, technology_, networks_);
  ASSERT_TRUE(design.feasible());
  const std::string text = explanation_text(design, 0);
  EXPECT_THAT(text, HasSubstr("\ntraffic of all 8 inferences"));
  EXPECT_THAT(text, ::testing::ContainsRegex("workload +feasible +batch +latency"));
  EXPECT_THAT(text, ::testing::ContainsRegex("m6 +yes +1 "));
  EXPECT_THAT(text, ::testing::ContainsRegex("m6@8 +yes +8 "));
  EXPECT_THAT(text, HasSubstr("(every figure is of the whole batch)"));
}

TEST_F(Evaluations, AGroupOfExpertsIsALineForEachNumberOfRows) {
  const workload::Network network = workload::parse_network(
      "name: net\nbatch: 8\nlayers:\n"
      "  - {name: up, type: fully_connected, reduction: 4, columns: 3, experts: 8, experts_per_token: 2}\n"
      "  - {name: down, type: fully_connected, reduction: 4, columns: 4194304}\n",
      "net.yaml");
  const EvaluatedDesign design = evaluate_design("edge_tpu_v1", accel::load_reference_chip("edge_tpu_v1").config,
                                                 technology_, std::span(&network, 1));
  const Json json = Json::parse(evaluation_json(design)).at("workloads").at(0);
  ASSERT_EQ(json.at("layers").size(), 3U);
  std::size_t i = 0;
  for (const auto& [name, rows, repeat] :
       std::vector<std::tuple<const char*, int, int>>{{"up", 3, 2}, {"up", 2, 5}, {"down", 8, 1}}) {
    const Json& layer = json.at("layers").at(i++);
    EXPECT_EQ(layer.at("name"), name);
    EXPECT_EQ(layer.at("m"), rows);
    EXPECT_EQ(layer.at("repeat"), repeat);
  }
  EXPECT_EQ(json.at("violations").at(0).at("code"), "parameter_memory");
  EXPECT_EQ(json.at("violations").at(0).at("layer"), "down");
  EXPECT_THAT(explanation_text(design, 0), HasSubstr("\ndown  "));
}

TEST_F(Evaluations, WhatAServerDoesNotSwitchOffIsNoLeakage) {
  const accel::Technology silicon = accel::load_technology("22nm-silicon");
  accel::AcceleratorConfig config = accel::load_reference_chip("coral_edge_tpu").config;
  config.cooling = accel::Cooling::card;
  const EvaluatedDesign card = evaluate_design("coral", config, silicon, networks_);
  const Json parts = Json::parse(evaluation_json(card)).at("workloads").at(0).at("metrics").at("energy");
  const double leaks = parts.at("leakage_j"), idles = parts.at("idle_j");
  const double both = card.networks.front().evaluation.metrics.value().energy.leakage_j;
  EXPECT_NEAR((leaks + idles) / both, 1, test::kRounding);
  // A card idles at 0.38 of its die's peak power, and the rest leaks: a ratio of differences of near numbers.
  constexpr double kDifference = 1e-9;
  EXPECT_NEAR(idles / leaks * card.chip.leakage_w / (0.38 * card.chip.die_peak_w), 1, kDifference);
  EXPECT_THAT(explanation_text(card, 0), HasSubstr("\nidle  "));

  config.cooling = accel::Cooling::phone;
  const EvaluatedDesign phone = evaluate_design("coral", config, silicon, networks_);
  const Json none = Json::parse(evaluation_json(phone)).at("workloads").at(0).at("metrics").at("energy");
  EXPECT_EQ(none.at("idle_j"), 0);
  EXPECT_GT(none.at("leakage_j"), 0);
  EXPECT_THAT(explanation_text(phone, 0), Not(HasSubstr("\nidle  ")));
}

TEST(Catalogue, TextFitsTheTerminal) {
  const space::DesignSpace edge = space::load_space("edge");
  const std::vector<workload::Network> networks = workload::load_networks("all");
  for (const int columns : {60, 80, 120}) {
    const auto limit = static_cast<std::size_t>(columns);
    EXPECT_LE(widest_line(space_text(edge, columns)), limit);
    EXPECT_LE(widest_line(spaces_text(std::span(&edge, 1), columns)), limit);
    EXPECT_LE(widest_line(workloads_text(networks, columns)), limit);
    for (const workload::Network& network : networks) EXPECT_LE(widest_line(workload_text(network, columns)), limit);
  }
}

TEST(Catalogue, ANetworkWithoutADescriptionHasNoColonBeforeNone) {
  const std::string yaml = "layers:\n  - {name: a, type: fully_connected, reduction: 8, columns: 4}\n";
  EXPECT_THAT(workload_text(workload::parse_network("name: net\n" + yaml, "net.yaml"), 0),
              ::testing::StartsWith("workload net (batch 1)\ntotals: "))
      << "nor a line for a source that it does not have";
  EXPECT_THAT(workload_text(workload::parse_network("name: net\ndescription: mine\n" + yaml, "net.yaml"), 0),
              ::testing::StartsWith("workload net (batch 1): mine\n"));
}

TEST(Catalogue, FactsAreAlignedAndWrapped) {
  EXPECT_EQ(facts_text({{"a", "one two"}, {"long name", "three"}}, 0), "a          one two\nlong name  three\n");
  EXPECT_EQ(facts_text({{"name", "one two three"}}, 14), "name  one two\n      three\n");
  EXPECT_EQ(Json::parse(facts_json({{"a", "b"}})).at("a"), "b");
}

sweep::SweepOptions options_of(const std::string& workloads) {
  return {.evaluator = evaluator::built_in(space::load_space("tiny"), accel::load_technology("22nm")),
          .networks = workload::load_networks(workloads),
          .sampler = space::SamplerKind::uniform,
          .samples = 10,
          .seed = 0,
          .limits = {},
          .shard = {},
          .log = "study.sqlite",
          .provenance = {}};
}

/// Watts are known without an evaluation: where they decide most of a sweep, the summary says what draws other designs.
TEST(SweepSummary, SaysWhatWasKnownBefore) {
  sweep::SweepOptions options = options_of("m6");
  sweep::SweepSummary summary;
  summary.workloads = {{.name = "m6", .feasible = 1, .infeasible = 3}};
  summary.workloads[0].reasons = {{"cooling", 2}, {"accumulators", 3}};
  EXPECT_THAT(sweep_text(summary, options, 0), Not(HasSubstr("note:"))) << "version 1 states no watts";
  options.evaluator = evaluator::built_in(space::load_space("edge"), accel::load_technology("22nm-silicon"));
  EXPECT_THAT(sweep_text(summary, options, 0),
              HasSubstr("note: 50.0 % of the evaluations are of designs above peak_power_w=2.5, which is known without "
                        "evaluating, and tell nothing of latency or energy; with --max peak_power_w=2.5 the same "
                        "number of designs tells more\n"));
  EXPECT_LE(widest_line(sweep_text(summary, options, 80)), 80U);
  summary.workloads[0].reasons[0].second = 1;
  EXPECT_THAT(sweep_text(summary, options, 0), Not(HasSubstr("note:")));
}

TEST(SweepSummary, SaysWhatWasDrawnAndWhy) {
  const sweep::SweepOptions options = options_of("m6");
  sweep::SweepSummary summary;
  summary.status = sweep::SweepStatus::interrupted;
  summary.samples = 10;
  summary.candidates = 1234;
  summary.designs = 4;
  summary.workloads = {{.name = "m6", .feasible = 1, .infeasible = 3}};
  summary.workloads[0].reasons = {{"accumulators", 0}, {"noc_timing", 3}};
  const std::string text = sweep_text(summary, options, 0);
  EXPECT_THAT(text, HasSubstr("interrupted: 4 designs x 1 workloads are in study.sqlite; the same command continues"));
  EXPECT_THAT(text, HasSubstr("drawn 1,234 candidates"));
  EXPECT_THAT(text, HasSubstr("25.0 %"));
  EXPECT_THAT(text, HasSubstr("noc_timing 75.0 %"));
  EXPECT_LE(widest_line(sweep_text(summary, options, 80)), 80U);
  const Json json = Json::parse(sweep_json(summary, options));
  EXPECT_EQ(json.at("status"), "interrupted");
  EXPECT_EQ(json.at("run_id"), nullptr);
  EXPECT_EQ(json.at("workloads").at(0).at("reasons").at("noc_timing"), 3);
}

TEST(SweepSummary, SaysWhatWasLeftOutAndWhatASearchAsked) {
  sweep::SweepOptions options{
      .evaluator = evaluator::built_in(space::load_space("tiny"), accel::load_technology("22nm")),
      .networks = workload::load_networks("m6"),
      .limits = {},
      .shard = {},
      .objective = "latency_s",
      .keep = sweep::Keep{.kind = sweep::KeepKind::worst, .share_frac = 0.5},
      .log = "study.sqlite",
      .provenance = {}};
  sweep::SweepSummary summary;
  summary.designs = summary.accepted = 10;
  summary.rows_left_out = 4;
  summary.run_id = 1;
  std::string text = sweep_text(summary, options, 0);
  EXPECT_THAT(text, HasSubstr("of 10 designs x 1 workloads the rows of --keep worst:0.5 are in study.sqlite"));
  EXPECT_THAT(text, HasSubstr("4 left out"));
  Json json = Json::parse(sweep_json(summary, options));
  EXPECT_EQ(json.at("rows_left_out"), 4);
  EXPECT_EQ(json.at("keep"), "worst:0.5");
  EXPECT_EQ(json.at("objective"), "latency_s");
  summary.status = sweep::SweepStatus::interrupted;  // while --keep looks at its sample
  EXPECT_THAT(sweep_text(summary, options, 0), HasSubstr("interrupted before there was a row for the log"));
  options.keep.reset();
  options.search = "trajectory";
  text = sweep_text(summary, options, 0);
  EXPECT_THAT(text, HasSubstr("10 designs that a search for the best latency_s asked for, in order"));
  EXPECT_THAT(text, Not(HasSubstr("left out")));
  EXPECT_EQ(Json::parse(sweep_json(summary, options)).at("sampler"), "trajectory");
}

TEST(SweepSummary, ListsFamiliesWhereWorkloadsAreManyAndAllOfThemInJson) {
  sweep::SweepOptions options = options_of("m6,synthetic:300");
  options.networks_per_design = 9;
  sweep::SweepSummary summary;
  summary.designs = 2000;
  for (const workload::Network& network : options.networks) {
    // Of every workload one row is feasible, of the first one none was drawn.
    const bool drawn = network.name() != "m6";
    summary.workloads.push_back({.name = network.name(), .feasible = drawn ? 1U : 0U, .infeasible = drawn ? 3U : 0U});
    if (drawn) summary.workloads.back().reasons = {{"noc_timing", 3}};
  }
  summary.workloads.back().feasible = 3;
  const std::string text = sweep_text(summary, options, 80);
  EXPECT_LE(widest_line(text), 80U);
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 40) << text;
  EXPECT_THAT(text, HasSubstr("2,000 designs x 9 of 301 workloads"));
  EXPECT_THAT(text, HasSubstr("synthetic encoder_decoder"));
  EXPECT_THAT(text, HasSubstr("\nm6 "));
  // 299 rows of 4 and one of 6; 299 + 3 feasible; 302 / 1202 = 25.1 %; from 1/4 to 3/6.
  EXPECT_THAT(text, ::testing::ContainsRegex("all +301 +1,202 +302 +25.1 % +25.0 % +50.0 %"));
  EXPECT_THAT(text, HasSubstr("synthetic encoder_decoder: noc_timing 75.0 %"));
  const Json json = Json::parse(sweep_json(summary, options));
  EXPECT_EQ(json.at("workloads").size(), 301U);
  EXPECT_EQ(json.at("networks_per_design"), 9);
}

TEST(ReachedText, SaysHowFarTheMembersCame) {
  const surrogate::MemberProgress complete{.steps_done = 3000, .complete = true};
  EXPECT_EQ(reached_text({complete, {.steps_done = 1213}, {}}),
            "1 of 3 members complete, the others after 0 to 1,213 steps");
  EXPECT_EQ(reached_text({complete, {.steps_done = 1}}), "1 of 2 members complete, the other after 1 step");
  EXPECT_EQ(reached_text({{.steps_done = 7}, {.steps_done = 7}}), "0 of 2 members complete, the others after 7 steps");
  EXPECT_EQ(reached_text({complete}), "1 of 1 member complete");
}

TEST(TrainingNotes, AreTheTermsThatTheMethodHas) {
  surrogate::TrainProgress progress{.member = 0, .members = 3, .step = 10, .steps = 100, .loss = 0.314};
  EXPECT_EQ(training_notes(progress).size(), 7U);
  progress.by_heads = true;
  EXPECT_THAT(training_notes(progress), ::testing::ElementsAre("loss 0.31"));
}

TEST(TrainingText, SaysStepsOnceWhereMembersShareThem) {
  const dataset::Dataset data = hindsight::test::small_table(1, 40);
  surrogate::TrainingPlan plan{
      .recipe = hindsight::test::small_recipe(), .split = {}, .scales = {}, .terms = {}, .remarks = {}};
  plan.split.train = {0, 1, 2};
  const surrogate::TrainResult result{
      .model = study::test::flat_model(),
      .seconds = 1,
      .members = {{.steps_done = 1300, .complete = true}, {.steps_done = 1300, .complete = true}}};
  const auto text_of = [&](surrogate::Method method) {
    plan.recipe.method = method;
    return training_text({.data = &data,
                          .plan = &plan,
                          .result = &result,
                          .file = "m.safetensors",
                          .file_sha256 = {},
                          .model_id = std::nullopt},
                         0);
  };
  EXPECT_THAT(text_of(surrogate::Method::margins), HasSubstr(", 1,300 steps each\n"));
  EXPECT_THAT(text_of(surrogate::Method::coms), HasSubstr(", 2,600 steps\n"));
}

}  // namespace
}  // namespace hindsight::report
