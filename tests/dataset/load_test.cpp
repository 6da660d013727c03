/// Does a log become the dataset that its rows say?
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "dataset/dataset_fixture.h"
#include "hindsight/workload/layer_features.h"

namespace hindsight::dataset {
namespace {

using test::error_of;
using test::selection;
using test::SmallLog;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LoadDataset : public test::DatasetTest {
 protected:
  /// Four designs: two feasible for net_a, one for net_b.
  void fill() {
    SmallLog log(file_);
    log.feasible(0, log.workload, {{"latency_s", 0.5}, {"energy_j", 2.0}, {"area_mm2", 20}, {"accuracy", 0.7}});
    log.infeasible(0, log.other_workload, {"noc_timing", "reticle", "noc_timing"}, {{"area_mm2", 20}});
    log.feasible(383, log.workload, {{"latency_s", 0.25}, {"energy_j", 3.0}, {"area_mm2", 40}, {"accuracy", 0.8}});
    log.feasible(383, log.other_workload, {{"latency_s", 4.0}, {"energy_j", 1.0}, {"area_mm2", 40}, {"accuracy", 0.9}});
    log.infeasible(17, log.workload, {"area"});
  }
  [[nodiscard]] std::string refusal(const Selection& wanted, ErrorKind expected = ErrorKind::usage) const {
    const auto [kind, message] = error_of([&] { static_cast<void>(load_dataset(file_, wanted)); });
    EXPECT_EQ(kind, expected) << message;
    return message;
  }
};

TEST_F(LoadDataset, RepeatedMeasurementsAreOneRowWithTheirMeans) {
  {
    SmallLog log(file_);
    const auto measure = [&](std::uint64_t design, std::int64_t repeat, std::optional<double> latency_s, double area) {
      log::EvaluationRow row = log.row(design, log.workload);
      row.repeat = repeat;
      row.feasible = latency_s.has_value();
      row.metrics = {{"area_mm2", area}};
      if (latency_s) row.metrics.emplace_back("latency_s", *latency_s);
      if (!latency_s) row.violations.push_back({.code = repeat == 0 ? "crash" : "timeout"});
      log.append(row);
    };
    measure(0, 0, 0.5, 20);  // feasible twice of three times
    measure(1, 0, std::nullopt, 30);
    measure(0, 1, std::nullopt, 99);
    measure(0, 2, 0.75, 24);
    measure(1, 1, 2.0, 30);  // as often infeasible as feasible
    measure(2, 0, 4.0, 40);  // once
    measure(3, 0, std::nullopt, 50);
    measure(3, 1, std::nullopt, 60);
    for (const std::int64_t repeat : {0, 1, 2}) measure(4, repeat, 0.1, 1);  // always the same
  }
  Selection wanted = selection();
  wanted.constraints = {"area_mm2"};
  const Dataset data = load_dataset(file_, wanted);
  ASSERT_EQ(data.size(), 5U);
  EXPECT_THAT(data.evaluation_id, ElementsAre(1, 2, 6, 7, 9));
  EXPECT_THAT(data.feasible, ElementsAre(true, false, true, false, true));
  EXPECT_EQ(data.objective[0], 0.625);
  EXPECT_TRUE(std::isnan(data.objective[1]));
  EXPECT_EQ(data.objective[2], 4.0);
  EXPECT_EQ(data.constraints(0, 0), 22);
  EXPECT_EQ(data.constraints(3, 0), 55);
  EXPECT_THAT(data.reason_names, ElementsAre("crash", "timeout"));
  EXPECT_THAT(data.reasons, ElementsAre(0, 0b01, 0, 0b11, 0));
  EXPECT_EQ(data.repeats.designs, 4U);
  EXPECT_EQ(data.repeats.measurements, 10U);
  // Of the one that was feasible twice: logarithms log(1.5) / 2 from their mean. One of the two is free, and two of the
  // equal three.
  EXPECT_DOUBLE_EQ(data.repeats.deviation, std::log(1.5) / std::sqrt(2.0) / std::sqrt(3.0));
  EXPECT_EQ(data.subset({2}).repeats.designs, 4U) << "it is of the log";
}

/// An infeasible row with these violations.
log::EvaluationRow with_misses(log::EvaluationRow row, const std::vector<log::ViolationRow>& violations) {
  row.violations = violations;
  return row;
}

TEST_F(LoadDataset, MarginsAreHowFarLimitsWereMissed) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  {
    SmallLog log(file_);
    log.feasible(0, log.workload, {{"latency_s", 0.5}});
    log.append(with_misses(log.row(1, log.workload), {{.code = "a", .value = 20, .limit = 10}}));
    log.append(with_misses(log.row(2, log.workload), {{.code = "a", .value = 5, .limit = 10}}));  // a lower limit
    log.append(with_misses(log.row(3, log.workload), {{.code = "a", .value = 30, .limit = 10, .layer = "first"},
                                                      {.code = "a", .value = 40, .limit = 10, .layer = "second"}}));
    log.append(with_misses(log.row(4, log.workload), {{.code = "a", .value = kUnknown, .limit = kUnknown},
                                                      {.code = "b", .value = 3, .limit = 1}}));
    log.append(with_misses(log.row(5, log.workload), {{.code = "a", .value = -1, .limit = 0}}));
  }
  const Dataset data = load_dataset(file_, selection());
  ASSERT_THAT(data.reason_names, ElementsAre("a", "b"));
  ASSERT_EQ(data.margins.rows(), 6);
  EXPECT_TRUE(data.margins.row(0).array().isNaN().all()) << "feasible";
  EXPECT_FLOAT_EQ(data.margins(1, 0), std::log(2.0F));
  EXPECT_TRUE(std::isnan(data.margins(1, 1))) << "a reason that does not apply";
  EXPECT_FLOAT_EQ(data.margins(2, 0), std::log(2.0F));
  EXPECT_FLOAT_EQ(data.margins(3, 0), std::log(4.0F)) << "the worst layer";
  EXPECT_TRUE(std::isnan(data.margins(4, 0)));
  EXPECT_FLOAT_EQ(data.margins(4, 1), std::log(3.0F));
  EXPECT_TRUE(std::isnan(data.margins(5, 0))) << "no ratio";
  const Dataset some = data.subset({3, 0});
  EXPECT_FLOAT_EQ(some.margins(0, 0), std::log(4.0F));
  Dataset other = data;
  other.margins(1, 0) = 7;
  EXPECT_NE(other.content_hash(), data.content_hash());
}

TEST_F(LoadDataset, ALogWithoutNumbersHasNoMargins) {
  fill();
  EXPECT_EQ(load_dataset(file_, selection()).margins.cols(), 0);
}

TEST_F(LoadDataset, RowsInOrderOfTheirEvaluationId) {
  fill();
  Selection wanted = selection("edp");
  wanted.constraints = {"area_mm2", "accuracy"};
  const Dataset data = load_dataset(file_, wanted);
  EXPECT_EQ(data.space.definition_hash(), space::load_space("tiny").definition_hash());
  ASSERT_EQ(data.size(), 5U);
  EXPECT_EQ(data.feasible_count(), 3U);
  EXPECT_THAT(data.evaluation_id, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(data.context, ElementsAre(0, 1, 0, 1, 0));
  EXPECT_THAT(data.feasible, ElementsAre(true, false, true, true, false));
  EXPECT_EQ(data.objective[0], 1.0);   // 0.5 s * 2 J
  EXPECT_EQ(data.objective[2], 0.75);  // 0.25 s * 3 J
  EXPECT_TRUE(std::isnan(data.objective[1]));
  EXPECT_EQ(data.constraints(3, 0), 40);
  EXPECT_EQ(data.constraints(3, 1), 0.9);
  EXPECT_EQ(data.constraints(1, 0), 20);
  EXPECT_TRUE(std::isnan(data.constraints(1, 1)));
  EXPECT_TRUE(std::isnan(data.constraints(4, 0)));
  EXPECT_THAT(data.reason_names, ElementsAre("area", "noc_timing", "reticle"));
  EXPECT_THAT(data.reasons, ElementsAre(0, 0b110, 0, 0, 0b001));
  EXPECT_EQ(data.objective_text, "edp");
  EXPECT_EQ(data.evaluator, "model");
  EXPECT_EQ(data.subset({0}).evaluator, "model");
}

TEST_F(LoadDataset, LevelsAreTheDesigns) {
  fill();
  const Dataset data = load_dataset(file_, selection());
  for (const auto& [row, design] : {std::pair{0, 0}, {2, 383}, {4, 17}}) {
    const space::Design wanted = data.space.design(static_cast<std::uint64_t>(design));
    for (std::size_t p = 0; p < wanted.levels.size(); ++p) {
      EXPECT_EQ(data.levels(row, static_cast<Eigen::Index>(p)), wanted.levels[p]);
    }
  }
}

TEST_F(LoadDataset, ContextsAreTheWorkloads) {
  fill();
  const Dataset data = load_dataset(file_, selection());
  ASSERT_EQ(data.contexts.size(), 2U);
  EXPECT_EQ(data.contexts[1].name, "net_b");
  EXPECT_THAT(data.contexts[1].feature_names, ElementsAre("macs", "layers"));
  EXPECT_EQ(data.contexts[1].features, Eigen::Vector2d(4e6, 9));
}

TEST_F(LoadDataset, LayersOfOlderLogsHaveTheirRowsFromTheDefinition) {
  {
    SmallLog log(file_);
    const char* layer =
        R"([{"name": "a", "type": "convolution", "repeat": 1, "m": 64, "n": 2, "k": 9, "count": 1, "kernel_height": 3,
        "kernel_width": 3, "stride_height": 1, "stride_width": 1, "depthwise": false, "macs": 1152, "weight_bytes": 18,
        "input_bytes": 100, "output_bytes": 128}])";
    const std::int64_t old = log.log.add_workload("old", "hindsight workload definition 1\nm 64 n 2 out_width 16 k 9\n",
                                                  "hash-old", 1, layer, 1, {{"macs", 1152}, {"layers", 1}});
    log.feasible(3, old, {{"latency_s", 1}});
  }
  const Dataset data = load_dataset(file_, selection());
  ASSERT_EQ(data.contexts.size(), 1U);
  ASSERT_EQ(data.contexts[0].layers.features.rows(), 1);
  const auto place = static_cast<Eigen::Index>(workload::layer_feature_count(3)) - 1;
  EXPECT_EQ(data.contexts[0].layers.features(0, place), 4) << "the last feature of version 3: 16 pixels per row";
  EXPECT_EQ(data.contexts[0].layers.features(0, place + 2), 5) << "of two channels";
}

TEST_F(LoadDataset, WorkloadsInTheOrderAskedFor) {
  fill();
  Selection wanted = selection();
  wanted.workloads = {"net_b", "net_a", "net_b"};
  const Dataset both = load_dataset(file_, wanted);
  ASSERT_EQ(both.contexts.size(), 2U);
  EXPECT_EQ(both.contexts[0].name, "net_b");
  EXPECT_THAT(both.context, ElementsAre(1, 0, 1, 0, 1));
  wanted.workloads = {"net_b"};
  const Dataset one = load_dataset(file_, wanted);
  EXPECT_THAT(one.evaluation_id, ElementsAre(2, 4));
  EXPECT_THAT(one.context, ElementsAre(0, 0));
}

TEST_F(LoadDataset, ConditionsOnMetricsAndParameters) {
  fill();
  Selection wanted = selection();
  const auto ids_where = [&](const std::string& condition) {
    wanted.where = {parse_condition(condition)};
    return load_dataset(file_, wanted).evaluation_id;
  };
  EXPECT_THAT(ids_where("area_mm2<=20"), ElementsAre(1, 2));  // design 17 has no area: it fails
  EXPECT_THAT(ids_where("area_mm2>20"), ElementsAre(3, 4));
  EXPECT_THAT(ids_where("accuracy!=0.8"), ElementsAre(1, 4));
  const space::Parameter first = space::load_space("tiny").parameters().front();
  EXPECT_THAT(ids_where(first.name + "==" + first.labels.back()), ElementsAre(3, 4));
  wanted.where = {parse_condition("area_mm2>20"), parse_condition("accuracy<0.85")};
  EXPECT_THAT(load_dataset(file_, wanted).evaluation_id, ElementsAre(3));
}

TEST_F(LoadDataset, RunsAndMaximising) {
  fill();
  {
    SmallLog more(file_);
    more.feasible(5, more.workload, {{"latency_s", 1.0}, {"energy_j", 1.0}, {"accuracy", 0.5}});
  }
  Selection wanted = selection();
  wanted.runs = {2};
  EXPECT_THAT(load_dataset(file_, wanted).evaluation_id, ElementsAre(6));
  wanted.runs = {1, 2};
  EXPECT_EQ(load_dataset(file_, wanted).size(), 6U);
  wanted.objective = parse_objective("accuracy", Direction::maximise);
  const Dataset data = load_dataset(file_, wanted);
  EXPECT_EQ(data.objective[5], 2.0);  // 1 / 0.5
  EXPECT_EQ(data.objective_text, "accuracy^-1");
}

TEST_F(LoadDataset, AShortNameThatTheLogHasIsTheLogsMetric) {
  SmallLog log(file_);
  log.feasible(0, log.workload, {{"latency_s", 1.0}, {"energy_j", 7.0}, {"energy", 5.0}, {"edp", 11.0}});
  EXPECT_EQ(load_dataset(file_, selection("energy")).objective[0], 5.0);
  EXPECT_EQ(load_dataset(file_, selection("energy_j")).objective[0], 7.0);
  EXPECT_EQ(load_dataset(file_, selection("edp")).objective[0], 11.0);
  EXPECT_EQ(load_dataset(file_, selection("edp^2 * latency")).objective[0], 121.0);
}

/// Not what all logs have columns for.
TEST_F(LoadDataset, OnlyMetricsThatTheLogHasAreOffered) {
  SmallLog log(file_);
  log.feasible(0, log.workload, {{"time_ms", 1.0}, {"power_mw", 2.0}});
  EXPECT_THAT(refusal(selection("result.energy_mj")),
              HasSubstr("has no metric 'result.energy_mj' (objective). Known: power_mw, time_ms."));
}

TEST_F(LoadDataset, UnknownNamesGetTheNearest) {
  fill();
  EXPECT_THAT(refusal(selection("latncy_s")),
              HasSubstr("has no metric 'latncy_s' (objective). Did you mean 'latency_s'?"));
  Selection wanted = selection();
  wanted.workloads = {"net_aa"};
  EXPECT_THAT(refusal(wanted), HasSubstr("no workload 'net_aa'. Did you mean 'net_a'?"));
  wanted = selection();
  wanted.constraints = {"area"};
  EXPECT_THAT(refusal(wanted), HasSubstr("'area' (constraint)"));
  wanted = selection();
  wanted.where = {parse_condition("pes_xx>1")};
  EXPECT_THAT(refusal(wanted), HasSubstr("no metric or parameter 'pes_xx' (condition). Did you mean 'pes_x'?"));
  wanted = selection();
  wanted.where = {parse_condition("area_mm2==big")};
  EXPECT_THAT(refusal(wanted), HasSubstr("'big' is not a number"));
  wanted = selection();
  wanted.runs = {9};
  EXPECT_THAT(refusal(wanted), HasSubstr("has no run 9"));
  wanted = selection();
  wanted.space = "edge";
  EXPECT_THAT(refusal(wanted), HasSubstr("no design space 'edge'"));
  wanted = selection();
  wanted.evaluator = "modle";
  EXPECT_THAT(refusal(wanted), HasSubstr("Did you mean 'model'?"));
}

TEST_F(LoadDataset, ALogWithoutAFeasibleRowSaysSo) {
  {
    SmallLog log(file_);
    log.infeasible(17, log.workload, {"area"});
  }
  EXPECT_THAT(refusal(selection("accuracy")), HasSubstr("no row is feasible"));
}

TEST_F(LoadDataset, EmptySelectionsAreErrors) {
  { SmallLog log(file_); }
  EXPECT_THAT(refusal(selection()), HasSubstr("has no designs yet"));
  fill();
  Selection wanted = selection();
  wanted.where = {parse_condition("area_mm2>1000")};
  EXPECT_THAT(refusal(wanted), HasSubstr("no evaluation matches the selection"));
  wanted.where = {parse_condition("area_mm2<=20"), parse_condition("latency_s<1")};
  wanted.workloads = {"net_a", "net_b"};
  EXPECT_THAT(refusal(wanted), HasSubstr("no evaluation of workload 'net_b' matches"));
}

TEST_F(LoadDataset, OffersTheObjectiveInAnotherUnit) {
  {
    SmallLog log(file_);
    log.feasible(0, log.workload, {{"latency_ms", 500.0}, {"area_mm2", 20}});
  }
  EXPECT_THAT(refusal(selection("latency")), HasSubstr("evaluation 1 is feasible but has no latency_s"));
  EXPECT_THAT(refusal(selection("latency")), HasSubstr("It has latency_ms: --objective latency_ms?"));
  EXPECT_THAT(refusal(selection("latency * area_mm2")),
              HasSubstr("It has latency_ms: name that in --objective, in place of latency_s"));
  EXPECT_EQ(load_dataset(file_, selection("latency_ms")).size(), 1U) << "as the message says";
}

TEST_F(LoadDataset, NamesTheApplicationsThatHaveTheObjective) {
  {
    SmallLog log(file_);
    log.feasible(0, log.workload, {{"bert_ms", 5.0}});
    log.feasible(0, log.other_workload, {{"resnet_ms", 6.0}});
  }
  EXPECT_THAT(
      refusal(selection("bert_ms")),
      AllOf(HasSubstr("is feasible but has no bert_ms"),
            HasSubstr("Its application has resnet_ms. Choose those that have it, --workloads net_a, or another")));
  Selection wanted = selection("bert_ms");
  wanted.workloads = {"net_a"};
  EXPECT_EQ(load_dataset(file_, wanted).size(), 1U) << "as the message says";
}

TEST_F(LoadDataset, RowsThatCannotBeLearnedAreNamed) {
  SmallLog log(file_);
  log.feasible(0, log.workload, {{"latency_s", 1.0}, {"balance", -2.0}, {"use", 0.0}});
  log.infeasible(1, log.workload, {"area"}, {{"use", 0.0}});
  EXPECT_THAT(refusal(selection("energy")), HasSubstr("evaluation 1 (pes_x="));
  EXPECT_THAT(refusal(selection("energy")), HasSubstr("is feasible but has no energy_j"));
  for (const char* product : {"balance * latency", "balance^2", "1 / balance"}) {
    EXPECT_THAT(refusal(selection(product), ErrorKind::incompatible),
                AllOf(HasSubstr("balance is -2"), HasSubstr("product of powers")));
  }
  Selection wanted = selection();
  wanted.workloads = {"net_a"};
  wanted.where = {parse_condition("latency_s!=1")};
  EXPECT_THAT(refusal(wanted), HasSubstr("no evaluation"));
  wanted.where = {};
  log.feasible(2, log.workload, {{"latency_s", 1e-200}, {"balance", 1.0}});
  EXPECT_THAT(refusal(selection("latency^2"), ErrorKind::incompatible), HasSubstr("beyond the range of numbers"));
}

TEST_F(LoadDataset, ASingleMetricAndLabelsMayBeZeroOrBelow) {
  SmallLog log(file_);
  log.feasible(0, log.workload, {{"latency_s", 1.0}, {"balance", -2.0}, {"use", 0.0}});
  log.feasible(1, log.workload, {{"latency_s", 2.0}, {"balance", 0.0}, {"use", -1.0}});
  Selection wanted = selection("balance");
  wanted.constraints = {"use"};
  const Dataset data = load_dataset(file_, wanted);
  EXPECT_EQ(data.objective, Eigen::Vector2d(-2, 0));
  EXPECT_EQ(data.constraints.col(0), Eigen::Vector2d(0, -1));
}

TEST_F(LoadDataset, ALabelOfAnInfeasibleRowThatIsNotPositiveIsUnknown) {
  SmallLog log(file_);
  log.feasible(0, log.workload, {{"latency_s", 1.0}, {"use", 0.5}});
  log.infeasible(1, log.workload, {"area"}, {{"use", 0.0}});
  Selection wanted = selection();
  wanted.constraints = {"use"};
  const Dataset data = load_dataset(file_, wanted);
  EXPECT_EQ(data.constraints(0, 0), 0.5);
  EXPECT_TRUE(std::isnan(data.constraints(1, 0)));
}

TEST_F(LoadDataset, VersionsOfOneEvaluatorAreChosenAsTheRefusalNamesThem) {
  SmallLog log(file_);
  log.feasible(0, log.workload, {{"latency_s", 1.0}});
  log.evaluator = log.log.add_evaluator("model", "0123456789abcdef", "model 2");
  log.feasible(0, log.workload, {{"latency_s", 9.0}});
  EXPECT_THAT(refusal(selection()), HasSubstr("'model@hash-mod', 'model@01234567'. Choose one with --evaluator"));
  Selection wanted = selection();
  wanted.evaluator = "model@01234567";
  EXPECT_EQ(load_dataset(file_, wanted).objective[0], 9.0);
  EXPECT_EQ(load_dataset(file_, wanted).evaluator, "model");
}

TEST_F(LoadDataset, SeveralEvaluatorsNeedAChoice) {
  fill();
  SmallLog log(file_);
  log.evaluator = log.log.add_evaluator("other model", "hash-other", "model 2");
  log.feasible(0, log.workload, {{"latency_s", 9.0}});
  EXPECT_THAT(refusal(selection()), HasSubstr("several evaluators"));
  EXPECT_THAT(refusal(selection()), HasSubstr("'other model'. Choose"));
  Selection wanted = selection();
  wanted.evaluator = "other model";
  EXPECT_EQ(load_dataset(file_, wanted).objective[0], 9.0);
}

TEST_F(LoadDataset, DifferentFeaturesDoNotMix) {
  fill();
  SmallLog log(file_);
  const std::int64_t bare = log.log.add_workload("bare", "layers of bare", "hash-bare", 1, "[]", 1, {});
  log.feasible(0, bare, {{"latency_s", 1.0}});
  EXPECT_THAT(refusal(selection(), ErrorKind::incompatible), HasSubstr("'net_a' and 'bare' have different context"));
  Selection wanted = selection();
  wanted.workloads = {"bare"};
  EXPECT_EQ(load_dataset(file_, wanted).contexts.front().features.size(), 0);
}

TEST_F(LoadDataset, ManyReasonsShareOther) {
  SmallLog log(file_);
  for (std::uint64_t i = 0; i < 70; ++i) {
    log.infeasible(i, log.workload, {"reason_" + std::to_string(100 + i), "common"});
  }
  const Dataset data = load_dataset(file_, selection());
  ASSERT_EQ(data.reason_names.size(), kMaxReasons);
  EXPECT_EQ(data.reason_names.front(), "common");
  EXPECT_EQ(data.reason_names.back(), "other");
  EXPECT_EQ(data.reasons[0], 0b11U);                           // common and reason_100
  EXPECT_EQ(data.reasons[69], 1U | (std::uint64_t{1} << 63));  // common and other
}

TEST_F(LoadDataset, ASpaceThatIsNotShippedComesFromTheLog) {
  const space::DesignSpace own("own", "",
                               {{.name = "x",
                                 .unit = "",
                                 .description = "",
                                 .kind = space::ParameterKind::ordinal,
                                 .values = {1, 2},
                                 .labels = {}}});
  {
    SmallLog log(file_);
    log.space = own;
    log.space_id = log.log.add_space("own", own.canonical_definition(), own.definition_hash());
    log.feasible(1, log.workload, {{"latency_s", 1.0}});
  }
  EXPECT_EQ(load_dataset(file_, selection()).space.definition_hash(), own.definition_hash());
  Selection wanted = selection();
  wanted.space = write("own.yaml", "name: mine\nparameters:\n  - {name: x, unit: none, values: [1, 2]}\n").string();
  const Dataset data = load_dataset(file_, wanted);
  EXPECT_EQ(data.space.name(), "own");
  EXPECT_EQ(data.levels(0, 0), 1);
  wanted.space = write("other.yaml", "name: own\nparameters:\n  - {name: x, unit: none, values: [1, 3]}\n").string();
  EXPECT_THAT(refusal(wanted), HasSubstr("no design space with the definition of"));
}

TEST_F(LoadDataset, SeveralSpacesNeedAChoice) {
  fill();
  SmallLog log(file_);
  log.space = space::load_space("edge");
  log.space_id = log.log.add_space("edge", log.space.canonical_definition(), log.space.definition_hash());
  log.feasible(1, log.workload, {{"latency_s", 3.0}});
  EXPECT_THAT(refusal(selection()), HasSubstr("designs of 2 spaces (a dataset has one): tiny, edge"));
  Selection wanted = selection();
  wanted.space = "edge";
  EXPECT_THAT(load_dataset(file_, wanted).evaluation_id, ElementsAre(6));
}

TEST_F(LoadDataset, TwoReadingsAreTheSameBytes) {
  fill();
  EXPECT_EQ(load_dataset(file_, selection()).content_hash(), load_dataset(file_, selection()).content_hash());
}

TEST_F(LoadDataset, ALogOfASweepOfNineNetworksLoads) {
  constexpr std::uint64_t kDesigns = 20'000;
  SmallLog log(file_);
  log.space = space::load_space("edge");
  log.space_id = log.log.add_space("edge", log.space.canonical_definition(), log.space.definition_hash());
  std::vector<std::int64_t> workloads;
  for (int i = 0; i < 9; ++i) {
    const std::string name = "net_" + std::to_string(i);
    workloads.push_back(log.log.add_workload(name, name, name, 1, "[]", 1, {{"macs", i}}));
  }
  std::vector<log::EvaluationRow> rows;
  for (std::uint64_t i = 0; i < kDesigns; ++i) {
    for (const std::int64_t workload : workloads) {
      log::EvaluationRow row = log.row(i * 22'637, workload);
      row.feasible = i % 5 == 0;
      row.metrics = {{"area_mm2", 30.0}};
      if (row.feasible) {
        row.metrics.emplace_back("latency_s", 1e-3 * static_cast<double>(i + 1));
      } else {
        row.violations = {{.code = "noc_timing"}, {.code = "reticle"}};
      }
      rows.push_back(std::move(row));
    }
  }
  ASSERT_EQ(log.log.append(log.run, log.space_id, log.evaluator, rows).inserted, 9 * kDesigns);
  Selection wanted = selection();
  wanted.constraints = {"area_mm2"};
  const Dataset data = load_dataset(file_, wanted);
  EXPECT_EQ(data.size(), 9 * kDesigns);
  EXPECT_EQ(data.feasible_count(), 9 * kDesigns / 5);
}

TEST_F(LoadDataset, AMissingLogIsAUsageError) { EXPECT_THAT(refusal(selection()), HasSubstr("study.db")); }

}  // namespace
}  // namespace hindsight::dataset
