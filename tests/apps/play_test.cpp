/// Can others play: are tasks handed out whole, the same for all, and are answers held against the truth?
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/app_fixture.h"
#include "hindsight/accel/config.h"
#include "hindsight/accel/nearest_design.h"
#include "hindsight/check/play_score.h"
#include "hindsight/core/text.h"
#include "hindsight/log/query.h"
#include "repository.h"
#include "sweep/sweep_fixture.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kTask = "small/unet@1000";

class Play : public AppTest {
 protected:
  /// The folder of a task.
  [[nodiscard]] fs::path exported(const std::string& name, const std::vector<std::string>& options = {},
                                  const std::string& task = kTask) const {
    std::vector<std::string> arguments{"bench", "export", task, "--out", file(name), "--quiet"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Outcome outcome = hindsight(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out + outcome.err, "");
    return file(name);
  }
  [[nodiscard]] static Json score(const std::string& task, const std::string& proposals,
                                  const std::vector<std::string>& options = {}) {
    std::vector<std::string> arguments{"bench", "score", task, proposals, "--json", "--quiet", "--no-rank"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Outcome outcome = hindsight(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    return Json::parse(outcome.out, nullptr, false);
  }
  /// Names of what lies in this test's folder.
  [[nodiscard]] std::vector<std::string> names(const fs::path& folder) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
    return names;
  }
};

std::vector<std::string> lines_of(const fs::path& file) {
  std::vector<std::string> lines = split(read_file(file), '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

/// Rows of log.csv by their column names.
std::vector<std::map<std::string, std::string>> rows_of(const fs::path& folder) {
  const std::vector<std::string> lines = lines_of(folder / "log.csv");
  const std::vector<std::string> header = split(lines.at(0), ',');
  std::vector<std::map<std::string, std::string>> rows;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string> cells = split(lines[i], ',');
    EXPECT_EQ(cells.size(), header.size());
    for (std::size_t j = 0; j < header.size(); ++j) {
      if (j == 0) rows.emplace_back();
      rows.back()[header[j]] = cells.at(j);
    }
  }
  return rows;
}

TEST_F(Play, ListsTheStudysTasksAndThoseOfItsLogs) {
  const Outcome text = hindsight({"bench", "tasks"});
  for (const char* task : {"single/unet", "multi/nine@100", "zero_shot/edge_v3_to_v2@29", "biased/worst_m4",
                           "biased/near_unet", "biased/tuned_t_rnn_enc", "small/m4@1000", "tight/area_unet"}) {
    EXPECT_THAT(text.out, HasSubstr(task));
  }
  const Json json = Json::parse(hindsight({"bench", "tasks", "--json"}).out);
  EXPECT_EQ(json.at("tasks").size(), check::play_tasks().size());
  for (const Json& task : json.at("tasks")) EXPECT_GE(task.at("version").get<int>(), 1);
}

TEST_F(Play, ExportsTheSameRowsAsCsvAndAsALog) {
  const fs::path folder = exported("task");
  EXPECT_THAT(names(folder), UnorderedElementsAre("README.md", "task.json", "log.csv", "violations.csv", "log.sqlite",
                                                  "space.yaml", "layers.csv"));
  EXPECT_THAT(names(folder_), UnorderedElementsAre("task"));
  const auto rows = rows_of(folder);
  ASSERT_EQ(rows.size(), 1000U);
  const Json task = Json::parse(read_file(folder / "task.json"));
  std::size_t i = 0;
  std::vector<std::string> violations{"row,code,quantity,value,limit"};
  const log::Log log = log::Log::open(folder / "log.sqlite", log::OpenMode::read_only);
  log::for_each_evaluation(log, {}, log::Detail::all, [&](const log::EvaluationRecord& record) {
    const auto& row = rows.at(i++);
    for (const log::ViolationRow& violation : record.violations) {
      violations.push_back(std::to_string(i) + "," + violation.code + "," + violation.quantity + "," +
                           shortest(violation.value) + "," + shortest(violation.limit));
    }
    std::vector<std::string> pieces;
    for (const Json& parameter : task.at("space").at("parameters")) {
      const auto name = parameter.at("name").get<std::string>();
      pieces.push_back(name + "=" + row.at(name));
    }
    EXPECT_EQ(join(pieces, ","), record.design_text_id);
    EXPECT_EQ(row.at("feasible") == "1", record.feasible);
    EXPECT_EQ(row.at("reasons").empty(), record.feasible);
    EXPECT_EQ(row.at("latency_s").empty(), !record.feasible);
    if (record.feasible) {
      EXPECT_EQ(parse_double(row.at("latency_s")), record.standard[0]);
    }
    EXPECT_TRUE(parse_double(row.at("area_mm2")).has_value());
    return true;
  });
  EXPECT_EQ(i, rows.size());
  EXPECT_EQ(lines_of(folder / "violations.csv"), violations);
  EXPECT_EQ(task.at("log").at("rows"), 1000);
  EXPECT_EQ(hindsight({"log", "verify", (folder / "log.sqlite").string()}).exit_code, 0);
  EXPECT_EQ(hindsight({"space", "show", (folder / "space.yaml").string()}).exit_code, 0);
  EXPECT_GT(lines_of(folder / "layers.csv").size(), 10U);
}

TEST_F(Play, GivesTheSameBytesForTheSameSeedAndOthersForAnother) {
  const fs::path one = exported("one", {"--threads", "1"});
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // times of a log have seconds
  const fs::path two = exported("two", {"--threads", "2"});
  const fs::path other = exported("other", {"--seed", "2"});
  for (const std::string& name : names(one)) {
    EXPECT_EQ(hash_of((one / name).string()), hash_of((two / name).string())) << name;
  }
  for (const char* name : {"log.csv", "log.sqlite", "task.json"}) {
    EXPECT_NE(hash_of((one / name).string()), hash_of((other / name).string())) << name;
  }
}

TEST_F(Play, SaysNothingOfWhoWroteTheLog) {
  const fs::path folder = exported("secret_folder_name");
  const std::string bytes = read_file(folder / "log.sqlite");
  EXPECT_EQ(bytes.find("secret_folder_name"), std::string::npos);
  const log::Log log = log::Log::open(folder / "log.sqlite", log::OpenMode::read_only);
  for (const log::RunInfo& run : log::recent_runs(log, 10)) {
    EXPECT_EQ(run.host + run.user + run.command_line + run.started_at + run.ended_at + run.commit, "");
    EXPECT_EQ(run.status, "finished");
  }
}

TEST_F(Play, HandsOutBiasedLogs) {
  const auto feasible_latencies = [&](const fs::path& folder) {
    std::vector<double> latencies;
    for (const auto& row : rows_of(folder)) {
      if (row.at("feasible") == "1") latencies.push_back(*parse_double(row.at("latency_s")));
    }
    return latencies;
  };
  const double usual = sweep::test::median_of(feasible_latencies(exported("small", {}, "small/m4@1000")));

  const fs::path tuned = exported("tuned", {}, "biased/tuned_m4");
  const auto tried = rows_of(tuned);
  EXPECT_EQ(tried.size(), 2000U);
  for (const auto& row : tried) EXPECT_LE(*parse_double(row.at("area_mm2")), 27);
  EXPECT_LT(sweep::test::median_of(feasible_latencies(tuned)), usual);

  // 1,000 rows estimate a median of logarithms that spread by 1.5 to 6 %.
  std::vector<double> bad = feasible_latencies(exported("worst", {}, "biased/worst_m4"));
  EXPECT_GT(*std::min_element(bad.begin(), bad.end()), 0.8 * usual);

  const auto evaluator = check::play_evaluator();
  const space::DesignSpace& space = evaluator->space();
  const space::Design centre = accel::nearest_design(accel::load_reference_chip("coral_edge_tpu"), space).design;
  const auto near = rows_of(exported("near", {}, "biased/near_m4"));
  EXPECT_EQ(near.size(), 2000U);
  std::size_t farthest = 0;
  for (const auto& row : near) {
    std::size_t different = 0;
    for (std::size_t p = 0; p < centre.levels.size(); ++p) {
      const space::Parameter& parameter = space.parameters()[p];
      different += row.at(parameter.name) == parameter.labels[centre.levels[p]] ? 0 : 1;
    }
    farthest = std::max(farthest, different);
  }
  EXPECT_EQ(farthest, 4U);
}

TEST_F(Play, LeavesNothingBehindWhenItFails) {
  temporary_.write("file", "kept");
  expect_one_line_error(hindsight({"bench", "export", kTask, "--out", file("file")}), 2, "is there already");
  EXPECT_EQ(read_file(file("file")), "kept");
  fs::create_directory(file("full"));
  temporary_.write("full/file", "kept");
  expect_one_line_error(hindsight({"bench", "export", kTask, "--out", file("full")}), 2, "is there already");
  expect_one_line_error(hindsight({"bench", "export", kTask, "--out", file("no/where")}), 2, "no/where");
  expect_one_line_error(hindsight({"bench", "export", "small/m4@20", "--out", file("a")}), 2, "'small/m4@200'");
  EXPECT_THAT(names(folder_), UnorderedElementsAre("file", "full"));
  fs::create_directory(file("empty"));
  EXPECT_THAT(names(exported("empty")), ::testing::Contains("task.json"));
}

TEST_F(Play, LeavesNothingBehindAfterCtrlC) {
  Process process({"bench", "export", "multi/nine@100", "--out", file("nine"), "--quiet"});
  for (int i = 0; i < 1000 && names(folder_).empty(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_THAT(names(folder_), ::testing::Not(IsEmpty())) << "it has not begun";
  process.send(SIGINT);
  EXPECT_EQ(process.wait().exit_code, 130);
  EXPECT_THAT(names(folder_), IsEmpty());
}

class PlayScores : public Play {
 protected:
  /// The text ids of a task's log as proposals, best first: the `count` fastest of those that meet its limits, then
  /// one that does not.
  [[nodiscard]] std::string best_logged(const fs::path& folder, std::size_t count) const {
    auto rows = rows_of(folder);
    const auto fits = [](const auto& row) { return row.at("feasible") == "1" && std::stod(row.at("area_mm2")) <= 27; };
    std::stable_sort(rows.begin(), rows.end(), [&](const auto& a, const auto& b) {
      const bool first = fits(a), second = fits(b);
      return first != second ? first : first && std::stod(a.at("latency_s")) < std::stod(b.at("latency_s"));
    });
    rows.at(count) = rows.back();
    rows.resize(count + 1);
    std::string csv = "pes_y,pes_x," + join(others(), ",") + "\n";
    for (const auto& row : rows) {
      csv += row.at("pes_y") + "," + row.at("pes_x");
      for (const std::string& name : others()) csv += "," + row.at(name);
      csv += "\n";
    }
    fastest_ = std::stod(rows.at(0).at("latency_s"));
    return write("proposals.csv", csv);
  }
  [[nodiscard]] static std::vector<std::string> others() {
    std::vector<std::string> names;
    const auto evaluator = check::play_evaluator();
    for (const space::Parameter& parameter : evaluator->space().parameters()) {
      if (parameter.name != "pes_x" && parameter.name != "pes_y") names.push_back(parameter.name);
    }
    return names;
  }
  mutable double fastest_ = 0;  ///< latency_s
};

TEST_F(PlayScores, AgreeWithTheLogThatTheProposalsComeFrom) {
  const std::string proposals = best_logged(exported("task"), 12);
  const Json json = score(kTask, proposals);
  EXPECT_EQ(json.at("evaluations"), 13);
  ASSERT_EQ(json.at("proposals").size(), 13U);
  EXPECT_FALSE(json.at("proposals").at(12).at("feasible").get<bool>());
  EXPECT_FALSE(json.at("proposals").at(12).at("reasons").empty());
  std::vector<int> of, feasible;
  for (const Json& best : json.at("best")) {
    of.push_back(best.at("of"));
    feasible.push_back(best.at("feasible"));
    EXPECT_EQ(best.at("latency_s"), fastest_);
  }
  EXPECT_EQ(of, (std::vector<int>{1, 10, 128}));
  EXPECT_EQ(feasible, (std::vector<int>{1, 10, 12}));
  const Outcome text = hindsight({"bench", "score", kTask, proposals, "--no-rank"});
  EXPECT_THAT(text.out, HasSubstr("13 proposals, 1 infeasible: "));
  const double optimum = json.at("optimum_latency_s");
  EXPECT_LT(optimum, fastest_);
  for (const Json& best : json.at("best")) EXPECT_EQ(best.at("regret"), fastest_ / optimum);
}

TEST_F(PlayScores, RankTheBestDesignFirst) {
  const std::string anything = best_logged(exported("task"), 1);
  const std::string optimum = score(kTask, anything).at("optimum_design");
  std::string header, values;
  for (const std::string& piece : split(optimum, ',')) {
    header += (header.empty() ? "" : ",") + piece.substr(0, piece.find('='));
    values += (values.empty() ? "" : ",") + piece.substr(piece.find('=') + 1);
  }
  const Outcome outcome = hindsight({"bench", "score", kTask, write("best.csv", header + "\n" + values + "\n"),
                                     "--json", "--results", file("results.jsonl"), "--quiet"});
  for (const Json& json : {Json::parse(outcome.out), Json::parse(read_file(file("results.jsonl")))}) {
    EXPECT_EQ(json.at("best").at(0).at("rank"), 1);
    EXPECT_EQ(json.at("best").at(0).at("regret"), 1.0);
  }
}

TEST_F(PlayScores, CountADesignBeyondALimitAsInfeasible) {
  const std::string proposals = best_logged(exported("task"), 5);
  EXPECT_TRUE(score(kTask, proposals).at("proposals").at(0).at("feasible").get<bool>());
  const Json tight = score("tight/area_m4", proposals).at("proposals").at(0);
  EXPECT_FALSE(tight.at("feasible").get<bool>());
  EXPECT_EQ(tight.at("reasons").at(0), "area_mm2");
  EXPECT_TRUE(tight.at("latency_s").is_null());
}

TEST_F(PlayScores, NeedNoSecretOfAreaAndPower) {
  const fs::path folder = exported("task");
  const std::string designs = best_logged(folder, 4);
  const std::vector<std::string> facts = split(hindsight({"bench", "facts", designs}).out, '\n');
  ASSERT_EQ(facts.size(), 1U + 5U + 1U);
  const auto rows = rows_of(folder);
  for (std::size_t i = 1; i <= 5; ++i) {
    const bool logged = std::any_of(rows.begin(), rows.end(), [&](const auto& row) {
      return facts[i].ends_with("," + row.at("area_mm2") + "," + row.at("peak_power_w"));
    });
    EXPECT_TRUE(logged) << facts[i];
  }
}

TEST_F(PlayScores, AreAppendedToAFileOfResults) {
  const std::string proposals = best_logged(exported("task"), 3);
  const std::vector<std::string> options{"--results", file("results.jsonl"), "--player", "log"};
  const Json first = score(kTask, proposals, options);
  (void)score("small/unet@200", proposals, options);
  const std::vector<std::string> lines = lines_of(file("results.jsonl"));
  ASSERT_EQ(lines.size(), 2U);
  const Json one = Json::parse(lines[0]), two = Json::parse(lines[1]);
  EXPECT_EQ(one.at("player"), "log");
  EXPECT_EQ(one.at("task"), kTask);
  EXPECT_EQ(two.at("task"), "small/unet@200");
  EXPECT_EQ(one.at("best"), first.at("best"));
  EXPECT_EQ(one.at("designs_sha256"), two.at("designs_sha256"));
  temporary_.write("other.txt", "mine\n");
  expect_one_line_error(
      hindsight({"bench", "score", kTask, proposals, "--results", file("other.txt"), "--quiet", "--no-rank"}), 4,
      "other.txt:1: is no result");
  EXPECT_EQ(read_file(file("other.txt")), "mine\n");
  for (const char* strange : {"{\"kind\": 1}\n", "{}\n", "[]\n", "{\"kind\": {\"a\": [1]}}\n"}) {
    temporary_.write("other.txt", strange);
    expect_one_line_error(
        hindsight({"bench", "score", kTask, proposals, "--results", file("other.txt"), "--quiet", "--no-rank"}), 4,
        "other.txt:1: is no result");
  }
}

TEST_F(PlayScores, RefuseWhatIsNoProposal) {
  const std::string good = read_file(best_logged(exported("task"), 2));
  const auto refused = [&](const std::string& content, const std::string& part) {
    expect_one_line_error(hindsight({"bench", "score", kTask, write("bad.csv", content)}), 2, part);
  };
  const std::string header = good.substr(0, good.find('\n') + 1);
  refused(header, "bad.csv: holds no design");
  refused("pes_x,pes_y\n1,2\n", "pe_memory_bytes");
  std::string misspelt = good;
  misspelt.replace(0, misspelt.find(','), "pes_yy");
  refused(misspelt, "has no column 'pes_y', a parameter of the space edge. Did you mean 'pes_yy'?");
  std::string strange = good;
  strange.replace(header.size(), strange.find(',', header.size()) - header.size(), "3");
  refused(strange, "bad.csv:2: ");
  std::string many = header;
  for (int i = 0; i < 129; ++i) many += good.substr(header.size(), good.find('\n', header.size()) + 1 - header.size());
  refused(many, "holds 129 proposals");
  EXPECT_EQ(hindsight({"bench", "score", kTask, file("missing.csv")}).exit_code, 2);
}

TEST_F(PlayScores, TakeWhatProposeWrites) {
  const std::string proposed = file("proposed.csv");
  const Outcome outcome = hindsight({"propose", "--workload", "m4", "--max", "area_mm2=27", "--top", "3",
                                     "--evaluations", "2000", "--threads", "1", "--csv", proposed});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  ASSERT_THAT(read_file(proposed), HasSubstr("rank")) << "or it is no table of more than designs";
  const Json json = score("single/m4", proposed);
  EXPECT_EQ(json.at("proposals").size(), 3U);
  EXPECT_EQ(json.at("best").at(0).at("feasible"), 1);
}

TEST_F(PlayScores, OfTheExamplePlayersAndTheModelBeatsChance) {
  if (std::system("python3 -c '' > /dev/null 2>&1") != 0) GTEST_SKIP() << "skipped: no python3";
  const std::string task = "small/m4@1000";
  const fs::path folder = exported("task", {}, task);
  const auto played = [&](const std::string& player) {
    const fs::path script = hindsight::test::repository() / "examples/play" / player;
    const std::string answer = file(player + ".csv");
    const std::string command = "python3 '" + script.string() + "' '" + folder.string() + "' '" + answer + "'";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    const Json json = score(task, answer);
    EXPECT_EQ(json.at("proposals").size(), 128U);
    return json.at("best").at(2);
  };
  const Json random = played("random_search.py"), model = played("nearest_neighbour.py");
  EXPECT_GT(random.at("feasible").get<int>(), 0);
  EXPECT_GT(model.at("feasible").get<int>(), random.at("feasible").get<int>());
  EXPECT_LT(model.at("latency_s").get<double>(), random.at("latency_s").get<double>());
}

}  // namespace
}  // namespace hindsight::app::test
