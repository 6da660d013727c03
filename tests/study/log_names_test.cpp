/// Do words of a person become the names that a log has, and is an import's objective that of its log?
#include "hindsight/study/log_names.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/dataset/csv_import.h"
#include "hindsight/dataset/selection.h"
#include "hindsight/space/short_id.h"

namespace hindsight::study {
namespace {

using ::testing::ElementsAre;

Provenance provenance() {
  return {.command_line = "hindsight test",
          .version = "0.1.0",
          .commit = "abc",
          .host = "host",
          .user = "user",
          .started_at = "2026-01-31T12:00:00Z",
          .cwd = "."};
}

class LogNames : public ::testing::Test {
 protected:
  LogNames() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hindsight-names-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~LogNames() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  [[nodiscard]] log::Log import(const std::string& csv, const std::string& objective,
                                const std::string& space = "t") const {
    const dataset::CsvTable table = dataset::parse_csv(csv, "t.csv");
    const dataset::CsvRoles roles{.objective = objective, .constraints = {"util_BRAM"}};
    const std::filesystem::path file = folder_ / "study.sqlite";
    dataset::import_csv(table, roles, dataset::infer_space(table, roles, space), file, dataset::Duplicates::error,
                        provenance());
    return log::Log::open(file, log::OpenMode::read_only);
  }

  /// A log with a row on a workload of its run's: kind, options, workload, metrics.
  struct WrittenRun {
    log::RunKind kind = log::RunKind::sweep;
    std::string options = "{}";
    log::Metrics metrics = {};
    std::string workload = "net";
  };
  [[nodiscard]] log::Log written_by(const std::string& name, const std::vector<WrittenRun>& runs) const {
    log::Log log = log::Log::open(folder_ / name, log::OpenMode::read_write_create);
    const std::int64_t space = log.add_space("mine", "definition", "hash");
    const std::int64_t evaluator = log.add_evaluator("simulator", "hash", "told");
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const std::string text = "a=" + std::to_string(i);
      const std::int64_t workload =
          log.add_workload(runs[i].workload, "layers", "hash of " + runs[i].workload, 1, "[]", 1, {});
      const std::int64_t run = log.begin_run(runs[i].kind, provenance(), runs[i].options);
      const log::AppendResult added = log.append(run, space, evaluator,
                                                 {{.workload_id = workload,
                                                   .design_text_id = text,
                                                   .design_hash = content_hash(text),
                                                   .feasible = true,
                                                   .metrics = runs[i].metrics,
                                                   .violations = {}}});
      EXPECT_TRUE(added.rejected.empty());
    }
    return log;
  }

  std::filesystem::path folder_;
};

TEST_F(LogNames, AnImportsObjectiveIsTheLogsOwn) {
  EXPECT_EQ(own_objective(import("a,Cost (ms),util_BRAM\n1,5,1\n2,6,2\n", "Cost (ms)")), "cost_ms");
}

/// Rows of runs whose options name an objective, as campaigns and searches write them; without options, the rest.
TEST_F(LogNames, WhatARunWasForIsTheLogsOwnObjective) {
  const auto own = [&](const std::string& name, log::RunKind kind, const std::vector<std::string>& options,
                       const log::Metrics& metrics) {
    std::vector<WrittenRun> runs;
    for (const std::string& one : options) runs.push_back({.kind = kind, .options = one, .metrics = metrics});
    const log::Log log = written_by(name, runs);
    const std::set<std::string> of_rows = own_objectives_of(log, {});
    const std::string objective = own_objective(log);
    EXPECT_TRUE(of_rows.contains(objective)) << objective;
    return objective;
  };
  using log::RunKind;
  const log::Metrics two = {{"latency_ms", 2}, {"energy_mj", 3}};
  const std::string by_latency = R"({"objective": "latency_ms"})", by_energy = R"({"objective": "energy_mj"})";
  EXPECT_EQ(own("a.db", RunKind::campaign, {by_latency}, two), "latency_ms");
  EXPECT_EQ(own("b.db", RunKind::search, {by_energy}, two), "energy_mj");
  EXPECT_EQ(own("c.db", RunKind::campaign, {R"({"objective": "latency_s"})", by_latency}, two), "latency_ms")
      << "no row has latency_s";
  EXPECT_EQ(own("d.db", RunKind::campaign, {by_energy, by_latency}, two), "latency_ms") << "the newest";
  EXPECT_EQ(own("e.db", RunKind::campaign, {by_latency}, {{"latency_ms", 2}, {"latency_s", 2e-3}}), "latency_ms")
      << "what the only run was for, though latency_s was logged";
  EXPECT_EQ(own("f.db", RunKind::worker, {"{}"}, two), "latency_s") << "nothing says which of the two";
  EXPECT_EQ(own("g.db", RunKind::worker, {"{}"}, {{"latency_ms", 2}}), "latency_ms") << "the only one";
  EXPECT_EQ(own("h.db", RunKind::campaign, {R"({"objective": "latency_ms * energy_mj"})"}, two), "latency_s");
  EXPECT_EQ(own("i.db", RunKind::campaign, {"[1]", R"({"objective": 3})"}, {{"latency_ms", 2}}), "latency_ms");
}

/// Rows with latency_s are compared by it, unless every run that wrote some was for another metric.
TEST_F(LogNames, LatencyIsTheDefaultWhereSomeRunWasForNothingElse) {
  using log::RunKind;
  const log::Metrics both = {{"latency_s", 1}, {"energy_j", 2}};
  const std::string by_energy = R"({"objective": "energy_j"})", by_latency = R"({"objective": "latency_s"})";
  const WrittenRun plain{.kind = RunKind::sweep, .metrics = both};
  const WrittenRun for_energy{.kind = RunKind::campaign, .options = by_energy, .metrics = both};
  const auto own = [&](const std::string& name, const std::vector<WrittenRun>& runs) {
    const log::Log log = written_by(name, runs);
    const OwnObjective of_net = own_objectives(log).at("net");
    const CommonObjective common = common_objective(log);
    EXPECT_EQ(of_net.metric, common.metric);
    EXPECT_EQ(of_net.others, common.others);
    EXPECT_EQ(doubt_about(common), "");
    EXPECT_THAT(own_objectives_of(log, {}), ElementsAre(common.metric));
    return of_net.metric + (of_net.others.empty() ? "" : ", not " + *of_net.others.begin());
  };
  EXPECT_EQ(own("a.db", {for_energy}), "energy_j");
  EXPECT_EQ(own("b.db", {{.kind = RunKind::import, .options = R"({"metric": "energy_j"})", .metrics = both}}),
            "energy_j");
  EXPECT_EQ(own("c.db", {plain, for_energy}), "latency_s, not energy_j") << "a sweep is for latency_s, as all is";
  EXPECT_EQ(own("d.db", {for_energy, {.kind = RunKind::search, .options = by_latency, .metrics = both}}),
            "latency_s, not energy_j");
  EXPECT_EQ(own("e.db", {for_energy, {.kind = RunKind::propose, .metrics = both}}), "energy_j")
      << "the truth of proposals was asked for by somebody else";
  EXPECT_EQ(own("f.db", {plain}), "latency_s");
  const WrittenRun for_product{.kind = RunKind::search, .options = R"({"objective": "edp"})", .metrics = both};
  EXPECT_EQ(own("h.db", {for_energy, for_product}), "energy_j") << "a product is no vote for latency_s";
  EXPECT_EQ(own("i.db", {for_product}), "latency_s");
  const log::Log log = written_by("g.db", {plain, for_energy});
  EXPECT_EQ(own_objectives(log, {.run_id = 2}).at("net").metric, "energy_j") << "of the rows that are selected";
  const LearningWords words = with_log_names(log, {});
  EXPECT_EQ(words.objective, "latency");
  EXPECT_THAT(words.others, ElementsAre("energy_j")) << "who learns is told";
}

TEST_F(LogNames, WhatNothingSaysIsNotGuessed) {
  const log::Metrics two = {{"time_ms", 2}, {"energy", 3}};
  const log::Log log = written_by("a.db", {{.kind = log::RunKind::worker, .metrics = two}});
  const CommonObjective common = common_objective(log);
  EXPECT_EQ(common.metric, "latency_s");
  EXPECT_EQ(doubt_about(common), "no run says which of energy, time_ms is optimised");
  try {
    static_cast<void>(with_log_names(log, {}));
    FAIL() << "nothing says which";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::EndsWith("is optimised. Name it: --objective energy"));
  }
  EXPECT_EQ(with_log_names(log, {.objective = "energy", .constraints = {}, .where = {}}).objective, "energy")
      << "the metric, not its short name's";
  const log::Log latency = written_by("b.db", {{.metrics = {{"time_ms", 2}, {"energy", 3}, {"latency_s", 1}}}});
  EXPECT_EQ(doubt_about(common_objective(latency)), "") << "latency_s was logged";
}

TEST_F(LogNames, ProposalsSayOfWhichMetricsMoreIsBetter) {
  const std::filesystem::path file = import("a,score,util_BRAM\n1,5,1\n2,6,2\n", "score").path();
  EXPECT_THAT(maximised_metrics(log::Log::open(file, log::OpenMode::read_only)), ElementsAre());
  const auto propose = [&](const std::string& objective) {
    log::Log log = log::Log::open(file, log::OpenMode::read_write);
    const std::int64_t run = log.begin_run(log::RunKind::propose, provenance(), "{}");
    log.add_proposals(run, 1, std::nullopt,
                      {{.design_text_id = "a=1",
                        .design_hash = content_hash("a=1"),
                        .objective = objective,
                        .predicted_value = 1,
                        .predicted_json = "{}"}});
    return maximised_metrics(log);
  };
  EXPECT_THAT(propose("score^-1"), ElementsAre("score"));
  EXPECT_THAT(propose("1 / score * util_bram"), ElementsAre("score")) << "a product says nothing of one metric";
  EXPECT_THAT(propose("not ours?"), ElementsAre("score"));
  EXPECT_THAT(propose("score"), ElementsAre()) << "the newest counts";
}

TEST_F(LogNames, RunsSayOfWhichMetricsMoreIsBetter) {
  using log::RunKind;
  int logs = 0;
  const auto after = [&](const std::vector<std::pair<RunKind, std::string>>& runs) {
    log::Log log = log::Log::open(folder_ / fmt::format("{}.db", logs++), log::OpenMode::read_write_create);
    for (const auto& [kind, options] : runs) static_cast<void>(log.begin_run(kind, provenance(), options));
    return maximised_metrics(log);
  };
  const std::string reciprocal = R"({"objective": "speed^-1"})", plain = R"({"objective": "speed"})";
  const std::string learnt = R"({"objective": "speed", "maximise": true})";
  EXPECT_THAT(after({{RunKind::campaign, reciprocal}}), ElementsAre("speed"));
  EXPECT_THAT(after({{RunKind::search, reciprocal}}), ElementsAre("speed"));
  EXPECT_THAT(after({{RunKind::train, learnt}}), ElementsAre("speed"));
  EXPECT_THAT(after({{RunKind::import, R"({"maximised": ["speed", 3, "score"]})"}}), ElementsAre("score", "speed"));
  EXPECT_THAT(after({{RunKind::import, learnt}}), ElementsAre()) << "a table says nothing of the direction";
  EXPECT_THAT(after({{RunKind::train, learnt}, {RunKind::sweep, plain}}), ElementsAre()) << "the newest counts";
  EXPECT_THAT(after({{RunKind::campaign, plain}, {RunKind::train, learnt}}), ElementsAre("speed"));
  EXPECT_THAT(after({{RunKind::campaign, reciprocal}, {RunKind::train, R"({"objective": "power_w"})"}}),
              ElementsAre("speed"))
      << "of another metric";
  EXPECT_THAT(after({{RunKind::campaign, R"({"objective": "speed^-1 * power_w"})"},
                     {RunKind::search, "[1]"},
                     {RunKind::search, R"({"objective": 3})"},
                     {RunKind::train, R"({"objective": "not ours?", "maximise": true})"},
                     {RunKind::import, R"({"maximised": "speed"})"}}),
              ElementsAre());
}

TEST_F(LogNames, ATrainingThatFailedSaysNothingOfTheDirection) {
  log::Log log = log::Log::open(folder_ / "failed.db", log::OpenMode::read_write_create);
  static_cast<void>(log.begin_run(log::RunKind::import, provenance(), R"({"maximised": ["speed"]})"));
  { const log::Run failed(log, log::RunKind::train, provenance(), R"({"objective": "speed", "maximise": false})"); }
  ASSERT_EQ(log::recent_runs(log, 1).front().status, "failed") << "not finished";
  EXPECT_THAT(maximised_metrics(log), ElementsAre("speed"));
}

TEST_F(LogNames, LatencyIsTheOwnObjectiveWhereItWasLogged) {
  EXPECT_EQ(own_objective(import("a,latency_s,util_BRAM\n1,5,1\n2,6,2\n", "latency_s")), "latency_s");
}

TEST_F(LogNames, WordsBecomeTheNamesOfTheLog) {
  const log::Log log = import("a,Cost (ms),util_BRAM\n1,5,1\n2,6,2\n", "Cost (ms)");
  const LearningWords named = with_log_names(
      log, {.objective = "util_BRAM^2 * cost_ms", .constraints = {"util_BRAM"}, .where = {"util_BRAM<=50", "a==1"}});
  EXPECT_EQ(named.objective, "util_bram^2 * cost_ms");
  EXPECT_THAT(named.constraints, ElementsAre("util_bram"));
  EXPECT_THAT(named.where, ElementsAre("util_bram<=50", "a==1"));
  EXPECT_EQ(with_log_names(log, {}).objective, "cost_ms");
  EXPECT_THAT(with_log_names(log, {.objective = "", .constraints = {}, .where = {"nonsense"}}).where,
              ElementsAre("nonsense"));
}

/// Two columns of times, imported one after the other: each application has an objective of its own.
TEST_F(LogNames, TheOwnObjectiveIsThatOfTheApplicationsThatAreLearned) {
  const std::filesystem::path file = folder_ / "wide.sqlite";
  for (const char* one : {"bert", "resnet"}) {
    const std::string time = std::string(one) + "_ms";
    const dataset::CsvTable table = dataset::parse_csv("a," + time + "\n1,5\n2,6\n", std::string(one) + ".csv");
    const dataset::CsvRoles roles{.objective = time};
    dataset::import_csv(table, roles, dataset::infer_space(table, roles, "wide"), file, dataset::Duplicates::error,
                        provenance());
  }
  const log::Log log = log::Log::open(file, log::OpenMode::read_only);
  const auto learned = [&](const std::vector<std::string>& workloads) {
    return with_log_names(log, {.objective = "", .constraints = {}, .where = {}, .workloads = workloads}).objective;
  };
  EXPECT_EQ(learned({"bert"}), "bert_ms");
  EXPECT_EQ(learned({"resnet"}), "resnet_ms");
  try {
    static_cast<void>(learned({}));
    FAIL() << "neither is that of all";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("is optimised for bert_ms (bert), resnet_ms (resnet) (of the "
                                                   "application in brackets). Choose one: --workloads bert"));
  }
}

TEST_F(LogNames, DesignsAreKnownByTheBeginningOfTheirHash) {
  const log::Log log = import("a,b,cost,util_BRAM\n1,5,1,1\n2,6,2,2\n", "cost");
  EXPECT_EQ(design_of_id(log, space::short_id("a=1,b=5")).text_id, "a=1,b=5");
  for (const std::string& id : {std::string("abc"), std::string("ghij"), std::string("0123456789abcdef")}) {
    EXPECT_THROW(static_cast<void>(design_of_id(log, id)), Error) << id;
  }
  std::string many = "a,b,cost,util_BRAM\n";  // 2,500 designs: some share the first four characters
  for (int a = 0; a < 50; ++a) {
    for (int b = 0; b < 50; ++b) many += std::to_string(a) + "," + std::to_string(b) + ",1,1\n";
  }
  const log::Log full = import(many, "cost", "many");
  std::map<std::string, std::string> seen;
  std::string shared;
  for (int a = 0; a < 50; ++a) {
    for (int b = 0; b < 50; ++b) {
      const std::string text = "a=" + std::to_string(a) + ",b=" + std::to_string(b);
      const std::string id = space::short_id(text);
      EXPECT_EQ(design_of_id(full, space::hash_id(content_hash(text))).text_id, text) << "also in both spaces";
      if (!seen.try_emplace(id.substr(0, 4), text).second) shared = id.substr(0, 4);
    }
  }
  ASSERT_NE(shared, "");
  try {
    static_cast<void>(design_of_id(full, shared));
    ADD_FAILURE() << shared;
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("begins several designs: " + shared));
  }
}

TEST(KnownName, IsTheWordItselfWhereTheLogHasIt) {
  EXPECT_EQ(known_name("util_BRAM", {"util_bram", "util_BRAM"}), "util_BRAM");
  EXPECT_EQ(known_name("util_BRAM", {"util_bram"}), "util_bram");
  EXPECT_EQ(known_name("missing", {"util_bram"}), "missing");
}

TEST(KnownName, TakesTheWordsOfPeopleWhereTheLogHasNoneOfThem) {
  const std::vector<std::string> known{"latency_s", "energy_j", "average_power_w", "area_mm2", "peak_power_w"};
  EXPECT_EQ(known_name("latency", known), "latency_s");
  EXPECT_EQ(known_name("power", known), "average_power_w");
  EXPECT_EQ(known_name("area", known), "area_mm2");
  EXPECT_EQ(known_name("peak_power", known), "peak_power_w");
  EXPECT_EQ(known_name("area", {"area", "area_mm2"}), "area") << "a table has a column of that name";
  EXPECT_EQ(known_name("area", {"latency_s"}), "area");
  EXPECT_EQ(known_objective("area", known), "area_mm2");
  EXPECT_EQ(known_objective("latency * area", known), "latency * area_mm2");
}

TEST(KnownName, ASignIsNotDropped) {
  const std::vector<std::string> known{"latency_s", "throughput"};
  for (const std::string word : {"-throughput", " -throughput", "+throughput", "/throughput", "*throughput"}) {
    EXPECT_EQ(known_name(word, known), word);
  }
  EXPECT_EQ(known_name("-throughput", {"-throughput"}), "-throughput") << "the log has it";
  EXPECT_EQ(known_name("Throughput", known), "throughput");
}

TEST(RankingMetric, IsOneMetricOrItsReciprocal) {
  const std::vector<std::string> known{"latency_s", "throughput", "util_bram"};
  const auto read = [&](const std::string& word) {
    const RankingMetric metric = ranking_metric(word, known);
    return metric.metric + (metric.maximised ? " more" : "");
  };
  EXPECT_EQ(read("throughput"), "throughput");
  EXPECT_EQ(read("util_BRAM"), "util_bram");
  EXPECT_EQ(read("1/throughput"), "throughput more");
  EXPECT_EQ(read("1 / Throughput"), "throughput more");
  EXPECT_EQ(read("throughput^-1"), "throughput more");
  EXPECT_EQ(read("1/latency"), "latency_s more");
  EXPECT_EQ(read("nothing"), "nothing") << "the log refuses it";
  const auto refusal = [&](const std::string& word) -> std::string {
    try {
      return "read as " + read(word);
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(refusal("-Throughput"),
            "'-Throughput' has a sign before the metric. Write throughput, or 1/throughput where more of it is better");
  EXPECT_THAT(refusal("latency_s * throughput"), ::testing::HasSubstr("is a product or a power"));
  EXPECT_THAT(refusal("throughput^-2"), ::testing::HasSubstr("1/METRIC where more of it is better"));
}

TEST(KnownName, AProductThatLacksAFactorIsNoName) {
  const std::vector<std::string> known{"latency_s", "energy_j"};
  for (const std::string cut : {"latency_s*", "* latency_s", "latency_s /", "latency_s^"}) {
    EXPECT_EQ(known_objective(cut, known), cut) << "its parser refuses it";
    EXPECT_THROW(static_cast<void>(dataset::parse_objective(cut, dataset::Direction::minimise)), Error) << cut;
  }
}

}  // namespace
}  // namespace hindsight::study
