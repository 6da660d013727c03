/// Does a report answer from its log, escape what stands in it, and refuse what it cannot draw?
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "apps/app_fixture.h"
#include "hindsight/log/log.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

class ReportVerb : public AppTest {
 protected:
  [[nodiscard]] std::string log() const { return file("study.sqlite"); }
  void sweep(const std::string& samples = "300") const {
    const Outcome outcome = hindsight({"sweep", "--space", "tiny", "--workloads", "mobilenet_v2,m6", "--samples",
                                       samples, "--log", log(), "--quiet"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  [[nodiscard]] Json json() const {
    const Outcome outcome = hindsight({"report", "--log", log(), "--format", "json"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return Json::parse(outcome.out);
  }
  [[nodiscard]] static const Json& section(const Json& report, const std::string& id) {
    for (const Json& one : report.at("sections")) {
      if (one.at("id") == id) return one;
    }
    throw std::runtime_error("no section " + id);
  }
};

TEST_F(ReportVerb, PageHoldsEverythingAndAsksForNothing) {
  sweep();
  const Outcome outcome = hindsight({"report", "--log", log(), "--out", file("report.html")});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string page = read_file(file("report.html"));
  EXPECT_THAT(page, HasSubstr("Content-Security-Policy"));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, Not(HasSubstr("src=\"http")));
  EXPECT_THAT(page, HasSubstr("data-figure=\"pareto\""));
  EXPECT_LT(page.size(), 3U << 20U);  // what a mail takes
  const Outcome again = hindsight({"report", "--log", log(), "--out", file("again.html")});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(hash_of(file("report.html")), hash_of(file("again.html")));
}

TEST_F(ReportVerb, JsonCountsWhatTheLogHas) {
  sweep();
  const Json report = json();
  EXPECT_EQ(report.at("schema"), "hindsight.report");
  EXPECT_EQ(report.at("schema_version"), 1);
  const Outcome count =
      hindsight({"log", "query", log(), "SELECT count(*) AS n, sum(feasible = 0) AS bad FROM evaluations", "--json"});
  const Json counted = Json::parse(count.out).at(0);
  const Json& reasons = section(report, "reasons").at("figures").at(0);
  EXPECT_THAT(reasons.at("title").get<std::string>(), HasSubstr(std::to_string(counted.at("bad").get<int>()) + " of " +
                                                                std::to_string(counted.at("n").get<int>())));
  // The fastest feasible row of each workload begins its front.
  const Json panels = section(report, "trade-offs").at("figures").at(0).at("panels");
  for (const Json& panel : panels) {
    const Outcome best =
        hindsight({"log", "query", log(),
                   "SELECT min(latency_s) AS best FROM evaluations JOIN workloads USING (workload_id) WHERE name = '" +
                       panel.at("name").get<std::string>() + "'",
                   "--json"});
    for (const Json& series : panel.at("series")) {
      if (series.at("role") != "front") continue;
      EXPECT_NEAR(series.at("values").at(0).at(0).get<double>() / Json::parse(best.out).at(0).at("best").get<double>(),
                  1, 1e-5);
    }
  }
}

TEST_F(ReportVerb, SaysWhatALogHasNothingFor) {
  sweep("20");
  const Json report = json();
  EXPECT_THAT(report.at("answer").at("headline").get<std::string>(), HasSubstr("Nothing was proposed yet"));
  for (const char* id : {"predictions", "backtest", "importance", "training", "rounds"}) {
    EXPECT_TRUE(section(report, id).at("missing").is_string()) << id;
  }
}

/// What the backtests said that a recipe was chosen by stands in the model's card, under the key that `train` writes.
TEST_F(ReportVerb, ShowsWhyARecipeWasChosen) {
  sweep();
  EXPECT_THAT(section(json(), "backtest").dump(), HasSubstr("--recipe"));
  {
    log::Log opened = log::Log::open(log(), log::OpenMode::read_write);
    const Provenance provenance{.command_line = "hindsight train",
                                .version = "0",
                                .commit = "",
                                .host = "",
                                .user = "",
                                .started_at = "2026-01-01T00:00:00Z",
                                .cwd = ""};
    const std::int64_t run = opened.begin_run(log::RunKind::train, provenance, "{}");
    opened.add_model(run, 1,
                     {.name = "chosen",
                      .kind = "layers",
                      .file = "chosen.safetensors",
                      .file_sha256 = std::string(64, 'a'),
                      .card_json = R"({"provenance": {"recipe_chosen": "layers, of 6 recipes: regret 1.25"}})"});
    opened.add_model(
        run, 1, {.name = "bare", .kind = "x", .file = "b", .file_sha256 = std::string(64, 'b'), .card_json = "[]"});
    opened.end_run(run, log::RunStatus::finished);
  }
  const std::string shown = section(json(), "backtest").dump();
  EXPECT_THAT(shown, HasSubstr("layers, of 6 recipes: regret 1.25"));
  EXPECT_THAT(shown, Not(HasSubstr("bare")));
}

TEST_F(ReportVerb, AsksAShippedModelByItsName) {
  sweep("20");
  const Outcome outcome = hindsight({"report", "--log", log(), "--model", "edge-prime9", "--format", "json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json importance = section(Json::parse(outcome.out), "importance");
  EXPECT_EQ(importance.at("figures").at(0).at("table").at("rows").size(), 10U);
  const std::string other = "the log has no design of the model's space 'edge' (";
  EXPECT_THAT(importance.dump(), HasSubstr(other));
  EXPECT_THAT(outcome.err, HasSubstr(other));
  expect_one_line_error(hindsight({"report", "--log", log(), "--model", "edge-prime8", "--format", "json"}), 2,
                        "edge-prime9");
}

TEST_F(ReportVerb, EmptyLogIsAReport) {
  { const log::Log empty = log::Log::open(log(), log::OpenMode::read_write_create); }
  EXPECT_THAT(json().at("answer").at("headline").get<std::string>(), HasSubstr("no evaluation yet"));
  EXPECT_EQ(hindsight({"report", "--log", log(), "--out", file("report.html")}).exit_code, 0);
}

TEST_F(ReportVerb, ScriptInANameIsText) {
  const std::string evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>";
  {
    log::Log written = log::Log::open(log(), log::OpenMode::read_write_create);
    const Provenance provenance = make_provenance(0, nullptr);
    const std::int64_t run = written.begin_run(log::RunKind::sweep, provenance, "{}");
    const std::int64_t space = written.add_space("s", "s", "s", {"a"});
    const std::int64_t workload = written.add_workload(evil, "w", "w", 1, "[]", 1, {});
    const std::int64_t evaluator = written.add_evaluator(evil, "e", "e");
    const auto result = written.append(run, space, evaluator,
                                       {{.workload_id = workload,
                                         .design_text_id = "a=1",
                                         .design_hash = content_hash("a=1"),
                                         .feasible = true,
                                         .metrics = {{"latency_s", 1}}},
                                        {.workload_id = workload,
                                         .design_text_id = "a=2",
                                         .design_hash = content_hash("a=2"),
                                         .violations = {{.code = "bad", .message = evil}}}});
    ASSERT_TRUE(result.rejected.empty()) << result.rejected[0].reason;
  }
  ASSERT_EQ(hindsight({"report", "--log", log(), "--out", file("report.html")}).exit_code, 0);
  const std::string page = read_file(file("report.html"));
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_EQ(page.find("<img src=x"), std::string::npos);
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(1)"));
  for (const char* format : {"md", "svg"}) {
    std::vector<std::string> words{"report", "--log", log(), "--format", format};
    if (words.back() == "svg") words.insert(words.end(), {"--figure", "pareto"});
    const Outcome outcome = hindsight(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out.find("<script>"), std::string::npos) << format;
  }
}

TEST_F(ReportVerb, FiguresAreSvg) {
  sweep();
  const Outcome figure = hindsight({"report", "--log", log(), "--format", "svg", "--figure", "reasons"});
  ASSERT_EQ(figure.exit_code, 0) << figure.err;
  EXPECT_THAT(figure.out, HasSubstr("<svg xmlns="));
  EXPECT_THAT(figure.out, HasSubstr("<title>"));
  expect_one_line_error(hindsight({"report", "--log", log(), "--format", "svg", "--figure", "paretto"}), 2,
                        "Did you mean 'pareto'");
  expect_one_line_error(hindsight({"report", "--log", log(), "--format", "svg", "--figure", "pareto", "--panel", "m7"}),
                        2, "has no panel");
}

TEST_F(ReportVerb, TheNameOfTheFileSaysTheFormat) {
  sweep("5");
  const auto made = [&](const std::string& name, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"report", "--log", log(), "--out", file(name)};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = hindsight(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return read_file(file(name)).substr(0, 5);
  };
  EXPECT_EQ(made("a.html"), "<!doc");
  EXPECT_EQ(made("a"), "<!doc");
  EXPECT_EQ(made("a.md").front(), '#');
  EXPECT_EQ(made("a.json").front(), '{');
  EXPECT_EQ(made("a.svg", {"--figure", "pareto"}), "<?xml");
  EXPECT_EQ(made("a.txt", {"--format", "md"}).front(), '#');
  EXPECT_EQ(made("page.HTML"), "<!doc");
  EXPECT_EQ(made("A.MD").front(), '#');
  EXPECT_EQ(made("report.txt"), "<!doc");
  EXPECT_EQ(made("study.v2"), "<!doc");
  expect_one_line_error(hindsight({"report", "--log", log(), "--out", file("a.PDF")}), 2, ".pdf is the ending of no");
  expect_one_line_error(hindsight({"report", "--log", log(), "--out", file("a.pdf")}), 2,
                        ".pdf is the ending of no format. Use html, md, json, svg, png");
  const Outcome wide = hindsight({"report", "--log", log(), "--width", "640", "--out", file("wide.html")});
  EXPECT_EQ(wide.exit_code, 0) << "it may be a default";
  EXPECT_THAT(wide.err, HasSubstr("--width: only a PNG has one, so that it is not read. Add --format png, or leave"));
}

TEST_F(ReportVerb, APictureIsWhatTheRendererMakesOfTheSvg) {
  sweep("20");
  // A renderer that writes down what it was asked stands for rsvg-convert.
  const std::string program = write("bin/rsvg-convert",
                                    "#!/bin/sh\nwhile [ $# -gt 1 ]; do\n  [ \"$1\" = --output ] && out=$2\n"
                                    "  [ \"$1\" = --width ] && width=$2\n  shift\ndone\n"
                                    "printf '%s ' \"$width\" > \"$out\"\nhead -c 5 \"$1\" >> \"$out\"\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const Surroundings with{.environment = {{"PATH", file("bin") + ":/usr/bin:/bin"}}};
  const std::vector<std::string> words{"report",  "--log", log(),   "--format",       "png", "--figure", "pareto",
                                       "--width", "640",   "--out", file("front.png")};
  const Outcome outcome = hindsight(words, with);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(read_file(file("front.png")), "640 <?xml");
  write("bin/rsvg-convert", "#!/bin/sh\necho 'cannot draw this' >&2\nexit 3\n");
  const Outcome failed = hindsight(words, with);
  expect_one_line_error(failed, 1, "exited with 3: cannot draw this");
  EXPECT_EQ(read_file(file("front.png")), "640 <?xml") << "what was there stays";
}

/// More than a pipe holds, on both outputs, before it draws: whoever does not read waits for it for a minute.
TEST_F(ReportVerb, ARendererThatTalksIsNotWaitedFor) {
  sweep("20");
  const auto renderer = [&](const std::string& body) {
    const std::string program = write("bin/rsvg-convert", "#!/bin/sh\n" + body);
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    const auto begin = std::chrono::steady_clock::now();
    Outcome outcome =
        hindsight({"report", "--log", log(), "--format", "png", "--figure", "pareto", "--out", file("front.png")},
                  {.environment = {{"PATH", file("bin") + ":/usr/bin:/bin"}}});
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(40));
    return outcome;
  };
  const std::string talk = "head -c 1000000 /dev/zero | tr '\\0' 'x'\nhead -c 1000000 /dev/zero | tr '\\0' 'y' >&2\n";
  const std::string draw =
      "while [ $# -gt 1 ]; do\n  [ \"$1\" = --output ] && out=$2\n  shift\ndone\nprintf drawn > \"$out\"\n";
  const Outcome drawn = renderer(talk + draw);
  EXPECT_EQ(drawn.exit_code, 0) << drawn.err;
  EXPECT_EQ(read_file(file("front.png")), "drawn");
  expect_one_line_error(renderer(talk + "exit 3\n"), 1, "exited with 3: yyy");
  EXPECT_EQ(read_file(file("front.png")), "drawn");
}

TEST_F(ReportVerb, APictureIsAPng) {
  if (std::system("command -v rsvg-convert > /dev/null") != 0) GTEST_SKIP() << "rsvg-convert is not installed";
  sweep("20");
  const Outcome outcome = hindsight({"report", "--log", log(), "--format", "png", "--figure", "pareto", "--width",
                                     "640", "--out", file("front.png")});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string bytes = read_file(file("front.png"));
  ASSERT_GT(bytes.size(), 2000U);
  EXPECT_EQ(bytes.substr(1, 3), "PNG");
  EXPECT_EQ(static_cast<unsigned char>(bytes[18]) * 256 + static_cast<unsigned char>(bytes[19]), 640);
}

TEST_F(ReportVerb, AnOptimumStandsBesideTheFront) {
  sweep("200");
  const Outcome optimum = hindsight({"optimum", "--space", "tiny", "--workloads", "m6", "--log", log(), "--quiet"});
  ASSERT_EQ(optimum.exit_code, 0) << optimum.err;
  const Json report = json();
  const Json panels = section(report, "trade-offs").at("figures").at(0).at("panels");
  for (const Json& panel : panels) {
    std::size_t optima = 0;
    for (const Json& series : panel.at("series"))
      optima += series.at("role") == "optimum" ? series.at("values").size() : 0;
    EXPECT_EQ(optima, panel.at("name") == "m6" ? 1U : 0U) << panel.at("name");
  }
}

TEST_F(ReportVerb, RefusesInOneLine) {
  expect_one_line_error(hindsight({"report"}), 2, "name one log");
  expect_one_line_error(hindsight({"report", "--log", file("none.sqlite")}), 2, "none.sqlite");
  sweep("5");
  expect_one_line_error(hindsight({"report", "--log", log(), "--format", "png"}), 2, "Name it: --figure pareto");
  expect_one_line_error(hindsight({"report", "--log", log(), "--format", "png", "--figure", "pareto"},
                                  {.environment = {{"PATH", file("no-such-folder")}}}),
                        5, "apt-get install librsvg2-bin");
  expect_one_line_error(hindsight({"report", "--log", log(), "--format", "htm"}), 2, "Did you mean 'html'");
  expect_one_line_error(hindsight({"report", "--log", log(), "--out", file("no/r.html")}), 2, "--out");
}

TEST_F(ReportVerb, ComparesTwoLogs) {
  sweep("20");
  const Outcome other = hindsight(
      {"sweep", "--space", "tiny", "--workloads", "unet", "--samples", "20", "--log", file("b.sqlite"), "--quiet"});
  ASSERT_EQ(other.exit_code, 0) << other.err;
  const Outcome both = hindsight({"report", "--compare", log(), file("b.sqlite"), "--format", "json"});
  ASSERT_EQ(both.exit_code, 0) << both.err;
  const Json report = Json::parse(both.out);
  EXPECT_EQ(section(report, "trade-offs").at("figures").at(0).at("panels").size(), 2U);
  EXPECT_EQ(section(report, "trade-offs-b").at("figures").at(0).at("panels").at(0).at("name"), "unet");
}

/// Only B was asked to be as fast as possible; A is an imported table of the same metrics.
TEST_F(ReportVerb, ComparesTwoLogsInOneDirection) {
  const std::string a = write("a.csv", "x,y,rate,watts\n1,1,32,7\n2,1,1250,54\n1,2,500,20\n2,2,700,30\n");
  const std::string b = write("b.csv", "x,y,rate,watts\n1,1,40,7\n2,1,337,12\n1,2,100,9\n2,2,200,10\n");
  for (const auto& [table, into] : {std::pair(a, log()), std::pair(b, file("b.sqlite"))}) {
    const Outcome imported = hindsight(
        {"log", "import", table, "--log", into, "--objective", "rate", "--constraint", "watts", "--workload", "app"});
    ASSERT_EQ(imported.exit_code, 0) << imported.err;
  }
  {
    log::Log asked = log::Log::open(file("b.sqlite"), log::OpenMode::read_write);
    const Provenance provenance{.command_line = "hindsight ask",
                                .version = "0.1.0",
                                .commit = "abc",
                                .host = "host",
                                .user = "user",
                                .started_at = "2026-01-31T12:00:00Z",
                                .cwd = "/tmp"};
    static_cast<void>(
        asked.begin_run(log::RunKind::ask, provenance,
                        R"({"space": "b", "evaluator": "csv import", "objective": "rate^-1", "metrics": ["rate"]})"));
  }
  const Outcome both = hindsight({"report", "--compare", log(), file("b.sqlite"), "--format", "json"});
  ASSERT_EQ(both.exit_code, 0) << both.err;
  const Json table = section(Json::parse(both.out), "versus").at("figures").at(0).at("table");
  EXPECT_EQ(table.at("rows").at(0), Json({"app", "rate", "larger", "1250", "337", "0.270"}));
  EXPECT_EQ(table.at("rows").at(1), Json({"app", "watts", "smaller", "7", "7", "1.000"}));
}

}  // namespace
}  // namespace hindsight::app::test
