/// Do defaults of environment and files hold where nothing contradicts them, and nowhere else?
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "apps/app_fixture.h"
#include "apps/hindsight/command_tree.h"
#include "apps/hindsight/defaults.h"
#include "hindsight/core/text.h"
#include "repository.h"

namespace hindsight::app::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

class Config : public AppTest {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_ / "home" / ".config" / "hindsight");
    std::filesystem::create_directories(folder_ / "home" / "project" / "below");
  }
  /// In a folder of the home folder, with variables besides.
  [[nodiscard]] Surroundings in(const std::string& folder, std::map<std::string, std::string> variables = {}) const {
    variables.insert({{"HOME", file("home")}, {"XDG_CONFIG_HOME", ""}});
    return {.environment = std::move(variables), .folder = folder_ / "home" / folder};
  }
  std::string project(const std::string& text) const { return write("home/project/.hindsight.yaml", text); }
  std::string user(const std::string& text) const { return write("home/.config/hindsight/config.yaml", text); }
  /// What `config show` says of an option: {values, origin}; nothing where it has no default.
  [[nodiscard]] Json shown(const Words& verb, const std::string& option, const Surroundings& surroundings) const {
    Words words{"config", "show", "--json"};
    words.insert(words.end(), verb.begin(), verb.end());
    const Outcome outcome = hindsight(words, surroundings);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    if (outcome.exit_code != 0) return {};
    const Json json = Json::parse(outcome.out);
    for (const Json& one : json.at("defaults")) {
      if (one.at("option") == option) return one;
    }
    return {};
  }
  /// The one line of a run in the project's folder that must fail.
  void expect_refused(const Words& command, const std::string& part,
                      std::map<std::string, std::string> variables = {}) const {
    expect_one_line_error(hindsight(command, in("project", std::move(variables))), 2, part);
  }
};

TEST_F(Config, SqlAloneIsNotTakenForTheLogThatADefaultNames) {
  ASSERT_EQ(hindsight({"sweep", "--space", "tiny", "--workloads", "m4", "--samples", "7", "--log",
                       file("home/project/a.sqlite"), "-q"})
                .exit_code,
            0);
  const Surroundings surroundings = in("project", {{"HINDSIGHT_LOG", "a.sqlite"}});
  const std::string count = "SELECT count(*) AS n FROM evaluations";
  EXPECT_EQ(hindsight({"log", "query", count, "--csv"}, surroundings).out, "n\n7\n");
  EXPECT_EQ(hindsight({"log", "query", "--csv", "--sql", count}, surroundings).out, "n\n7\n");
  EXPECT_EQ(hindsight({"log", "query", "a.sqlite", count, "--csv"}, surroundings).out, "n\n7\n");
  expect_one_line_error(hindsight({"log", "query", count}, in("project")), 2, "sql");      // there is no default
  expect_one_line_error(hindsight({"log", "query", "a.sqlite"}, surroundings), 2, "sql");  // no SQL
}

const Words kSample{"space", "sample", "tiny", "--count", "2"};

Words plus(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST_F(Config, FlagsWinThenEnvironmentThenProjectThenUser) {
  const auto samples = [&](const Words& more, const Surroundings& surroundings) {
    const Outcome outcome = hindsight(plus(kSample, more), surroundings);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  };
  std::map<std::string, std::string> of_seed;
  for (const char* seed : {"0", "1", "2", "3", "4"}) of_seed[seed] = samples({"--seed", seed}, in("project"));
  ASSERT_EQ(std::set<std::string>({of_seed["0"], of_seed["1"], of_seed["2"], of_seed["3"], of_seed["4"]}).size(), 5U);
  EXPECT_EQ(samples({}, in("project")), of_seed["0"]);
  user("space sample:\n  seed: 1\n");
  EXPECT_EQ(samples({}, in("project")), of_seed["1"]);
  project("space sample:\n  seed: 2\n");
  EXPECT_EQ(samples({}, in("project")), of_seed["2"]);
  EXPECT_EQ(samples({}, in("project/below")), of_seed["2"]);
  EXPECT_EQ(samples({}, in("")), of_seed["1"]);
  const Surroundings set = in("project", {{"HINDSIGHT_SPACE_SAMPLE_SEED", "3"}});
  EXPECT_EQ(samples({}, set), of_seed["3"]);
  EXPECT_EQ(samples({"--seed", "4"}, set), of_seed["4"]);
  EXPECT_EQ(samples({"--no-config"}, set), of_seed["0"]);
}

TEST_F(Config, OfOneFileTheNearestVerbWins) {
  project("all: {seed: 1, json: true}\nspace: {seed: 2}\nspace sample: {seed: 3}\n");
  EXPECT_EQ(shown({"space", "sample"}, "seed", in("project")).at("values"), Json({"3"}));
  EXPECT_EQ(shown({"space", "sample"}, "json", in("project")).at("values"), Json({true}));
  EXPECT_EQ(shown({"sweep"}, "seed", in("project")).at("values"), Json({"1"}));
  project("space: {seed: 2}\n");
  EXPECT_EQ(shown({"space", "sample"}, "seed", in("project")).at("values"), Json({"2"}));
  EXPECT_TRUE(shown({"sweep"}, "seed", in("project")).is_null());
}

TEST_F(Config, ShowNamesFilesValuesAndOrigins) {
  user("all:\n  color: never\n");
  project("# ours\nsweep:\n  samples: 20\n  max: [area_mm2=27, peak_power_w=3]\n");
  const Outcome outcome = hindsight({"config", "show", "--origin"}, in("project", {{"HINDSIGHT_SEED", "7"}}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("project  .hindsight.yaml\n"), HasSubstr("config.yaml\n"),
                                 HasSubstr(".hindsight.yaml:3"), HasSubstr("HINDSIGHT_SEED"), HasSubstr("--samples"),
                                 HasSubstr("area_mm2=27 peak_power_w=3"), HasSubstr("config.yaml:2")));
  EXPECT_THAT(hindsight({"config", "show"}, in("project")).out, Not(HasSubstr(".hindsight.yaml:3")));
  const std::string sweep = hindsight({"config", "show", "sweep"}, in("project")).out;
  EXPECT_THAT(sweep, AllOf(HasSubstr("--samples"), HasSubstr("--color")));
  const std::string none = hindsight({"config", "show", "log", "show"}, in("")).out;
  EXPECT_THAT(none, AllOf(HasSubstr("(not there)"), Not(HasSubstr("--samples"))));
  expect_refused({"config", "show", "swep"}, "Did you mean 'sweep'?");
  expect_refused({"config", "show", "log"}, "Name one of log show");
}

TEST_F(Config, ARecordedCommandRunsWithoutTheFiles) {
  project("sweep:\n  samples: 4\n  workloads: [m4, unet]\n  space: tiny\n  log: runs.sqlite\n  quiet: true\n");
  const Outcome outcome = hindsight({"sweep", "--seed", "3"}, in("project/below"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  const std::string log = file("home/project/runs.sqlite");
  const Json asked =
      Json::parse(hindsight({"log", "query", log, "SELECT command_line AS c FROM runs", "--json"}, in("")).out);
  const std::string command = asked.at(0).at("c");
  for (const char* part :
       {"--seed 3", "--samples 4", "--workloads m4,unet", "--space tiny", "--quiet", "--no-config"}) {
    EXPECT_THAT(command, HasSubstr(part));
  }
  EXPECT_THAT(command, HasSubstr("--log " + std::filesystem::canonical(log).string()));
  std::string elsewhere = command;
  const std::string copy = file("copy.sqlite"), original = std::filesystem::canonical(log).string();
  elsewhere.replace(elsewhere.find(original), original.size(), copy);
  ASSERT_EQ(std::system(("cd / && HOME=/nonexistent HINDSIGHT_SWEEP_SAMPLES=9 " + elsewhere).c_str()), 0);
  const auto hash = [&](const std::string& one) {
    const std::string text = hindsight({"log", "hash", one, "--json"}, in("")).out;
    const Json json = Json::parse(text);
    return json.dump().replace(json.dump().find(one), one.size(), "");
  };
  EXPECT_EQ(hash(log), hash(copy));
}

TEST_F(Config, WhatNobodySetIsRecordedAsTyped) {
  const std::string log = file("a.sqlite");
  ASSERT_EQ(
      hindsight({"sweep", "--space", "tiny", "--workloads", "m4", "--samples", "2", "--log", log, "-q"}, in("project"))
          .exit_code,
      0);
  EXPECT_THAT(hindsight({"log", "query", log, "SELECT command_line FROM runs", "--csv"}, in("")).out,
              Not(HasSubstr("no-config")));
}

TEST_F(Config, FlagsAreSwitchedOffAgain) {
  project("all: {json: true}\n");
  const Words list{"space", "list"};
  EXPECT_THAT(hindsight(list, in("project")).out, ::testing::StartsWith("["));
  EXPECT_THAT(hindsight(plus(list, {"--json=false"}), in("project")).out, Not(::testing::StartsWith("[")));
  EXPECT_THAT(hindsight(list, in("project", {{"HINDSIGHT_JSON", "false"}})).out, Not(::testing::StartsWith("[")));
  project("all: {json: true}\nspace list: {json: false}\n");
  EXPECT_THAT(hindsight(list, in("project")).out, Not(::testing::StartsWith("[")));
}

TEST_F(Config, TheCommandLineWinsOverWhatContradictsIt) {
  const std::string log = file("a.sqlite");
  ASSERT_EQ(hindsight({"sweep", "--space", "tiny", "--workloads", "m4", "--samples", "2", "--log", log, "-q"}, in(""))
                .exit_code,
            0);
  project("all: {json: true, log: " + log + "}\nsweep: {technology: 16nm-silicon}\n");
  const Outcome csv = hindsight({"log", "query", log, "SELECT 1 AS one", "--csv"}, in("project"));
  EXPECT_EQ(csv.exit_code, 0) << csv.err;
  EXPECT_EQ(csv.out, "one\n1\n");
  const Outcome optimum = hindsight(
      {"optimum", "--space", "tiny", "--workloads", "m4", "--pareto", "latency,area_mm2", "-q"}, in("project"));
  EXPECT_EQ(optimum.exit_code, 0) << optimum.err;
  project("all: {workload: m4}\n");
  const Outcome gemm = hindsight({"gemm", "--gpu", "l4", "-m", "64", "-n", "64", "-k", "64"}, in("project"));
  EXPECT_EQ(gemm.exit_code, 0) << gemm.err;
  // What is said of lists of proposals has no say about one design, nor the width of pictures about pages.
  project("check: {top: 5, proposals: 3}\nreport: {width: 640}\n");
  const Outcome check =
      hindsight({"check", "--design", "edge_tpu_v1", "--workload", "mobilenet_v2", "--gpu", "l4"}, in("project"));
  EXPECT_EQ(check.exit_code, 0) << check.err;
  const Outcome page = hindsight({"report", "--log", log, "--format", "md"}, in("project"));
  EXPECT_EQ(page.exit_code, 0) << page.err;
  // The model as a process stays one: --log would make it a page, and --model means nothing without it.
  project("all: {log: " + log + ", model: edge-any}\n");
  EXPECT_TRUE(shown({"serve"}, "log", in("project")).is_null());
  const std::string serve = "cd '" + file("home/project") + "' && HOME='" + file("home") + "' '" +
                            program_path().string() + "' serve --space tiny </dev/null";
  EXPECT_EQ(std::system(serve.c_str()), 0);
  // So does the place that wins over another: CSV of the project over JSON of the user.
  user("log query: {json: true}\n");
  project("log query: {csv: true}\n");
  EXPECT_EQ(hindsight({"log", "query", log, "SELECT 1 AS one"}, in("project")).out, "one\n1\n");
  user("{}\n");
  // Of the same file both stay, and the verb says so, with the place of one.
  project("log query: {json: true, csv: true}\n");
  const Outcome both = hindsight({"log", "query", log, "SELECT 1"}, in("project"));
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_THAT(both.err, HasSubstr(".hindsight.yaml:1"));
}

TEST_F(Config, FileNamesAreMeantFromTheFile) {
  project(
      "space show: {space: spaces/mine.yaml}\nreport: {log: a.sqlite, out: '-', format: json}\n"
      "gemm: {calibration: 'a.yaml,b.yaml'}\nmeasure gemm: {shapes: grid}\n"
      "sweep: {workloads: 'm4,nets/a,b.yaml'}\n");
  write("home/project/nets/a,b.yaml", "name: mine\n");
  std::filesystem::create_directories(folder_ / "home/project/spaces");
  std::filesystem::copy_file(::hindsight::test::repository() / "configs/spaces/tiny.yaml",
                             folder_ / "home/project/spaces/mine.yaml");
  EXPECT_EQ(hindsight({"space", "show"}, in("project")).out, hindsight({"space", "show", "tiny"}, in("")).out);
  EXPECT_EQ(hindsight({"space", "show"}, in("project/below")).exit_code, 0);
  const std::string root = std::filesystem::canonical(folder_ / "home/project").string();
  EXPECT_EQ(shown({"report"}, "log", in("project/below")).at("values"), Json({root + "/a.sqlite"}));
  EXPECT_EQ(shown({"report"}, "out", in("project/below")).at("values"), Json({"-"}));
  EXPECT_EQ(shown({"gemm"}, "calibration", in("project/below")).at("values"),
            Json({root + "/a.yaml," + root + "/b.yaml"}));
  EXPECT_EQ(shown({"sweep"}, "workloads", in("project/below")).at("values"), Json({"m4," + root + "/nets/a,b.yaml"}))
      << "a comma may be part of a name";
  EXPECT_EQ(shown({"measure", "gemm"}, "shapes", in("project/below")).at("values"), Json({"grid"}));
  EXPECT_EQ(shown({"report"}, "log", in("project")).at("values"), Json({"a.sqlite"}));
  user("report: {log: ~/b.sqlite}\n");
  EXPECT_EQ(shown({"report"}, "log", in("")).at("values"), Json({file("home/b.sqlite")}));
}

TEST_F(Config, TheSearchEndsAtTheHomeFolder) {
  write(".hindsight.yaml", "space sample: {seed: 5}\n");  // above the home folder
  EXPECT_TRUE(shown({"space", "sample"}, "seed", in("project/below")).is_null());
  write("home/.hindsight.yaml", "space sample: {seed: 6}\n");
  EXPECT_EQ(shown({"space", "sample"}, "seed", in("project/below")).at("values"), Json({"6"}));
}

TEST_F(Config, APlaceOfItsOwnForTheUsersFile) {
  write("xdg/hindsight/config.yaml", "space sample: {seed: 8}\n");
  user("space sample: {seed: 9}\n");
  EXPECT_EQ(shown({"space", "sample"}, "seed", in("", {{"XDG_CONFIG_HOME", file("xdg")}})).at("values"), Json({"8"}));
  EXPECT_EQ(shown({"space", "sample"}, "seed", in("")).at("values"), Json({"9"}));
}

TEST_F(Config, AProjectStartsNoProgram) {
  for (const char* verb : {"sweep", "search", "campaign", "propose"}) {
    project(std::string(verb) + ":\n  evaluator: 'touch " + file("ran") + "'\n");
    expect_refused({"space", "list"}, ".hindsight.yaml:2:");
    expect_refused({"space", "list"}, "starts a program");
  }
  project("all: {evaluator: x}\n");
  expect_refused({"space", "list"}, "Give it to one verb, e.g. sweep");
  EXPECT_FALSE(std::filesystem::exists(file("ran")));
  project("log show: {evaluator: mine}\n");  // the name of rows
  EXPECT_EQ(hindsight({"space", "list"}, in("project")).exit_code, 0);
  project("{}\n");
  const Words sweep{"sweep", "--space", "tiny", "--workloads", "m4", "--samples", "1", "--log", file("a.sqlite"), "-q"};
  user("sweep:\n  evaluator: 'touch " + file("ran") + "'\n");
  EXPECT_NE(hindsight(sweep, in("project")).exit_code, 0);  // touch answers no questions
  EXPECT_TRUE(std::filesystem::exists(file("ran")));
}

TEST_F(Config, MistakesNameFileLineAndRemedy) {
  struct Mistake {
    const char* text;
    const char* part;
  };
  for (const auto& [text, part] : std::vector<Mistake>{
           {"swep: {samples: 3}\n", ".hindsight.yaml:1:1: unknown key 'swep'. Did you mean 'sweep'?"},
           {"sweep:\n  smples: 3\n", ".hindsight.yaml:2:3: unknown key 'smples'. Did you mean 'samples'?"},
           {"sweep:\n  samples: many\n", ".hindsight.yaml:2: "},
           {"sweep:\n  samples: 0\n", ".hindsight.yaml:2: "},
           {"sweep:\n  samples: [1, 2]\n", "takes one value"},
           {"sweep:\n  samples: {a: 1}\n", "samples"},
           {"sweep:\n  samples:\n", "samples"},
           {"sweep:\n  json: 7\n", "json"},
           {"sweep:\n  samples: 1\n  samples: 2\n", "samples"},
           {"sweep:\n  workload: m4\n  workloads: unet\n", "two of its names"},
           {"sweep: 3\n", "must be a map"},
           {"all: {help: true}\n", "has no default"},
           {"all: {version: true}\n", "has no default"},
           {"all: {no-config: true}\n", "has no default"},
           {"ask: {forget: true}\n", "has no default"},
           {"calibrate: {force: true}\n", "has no default"},
           {"tell: {file: a.csv}\n", "is an argument"},
           {"all: {out: a}\n", "Give it to one verb"},
           {"log: {out: a}\n", "Give it to one verb"},
           {"config show: {json: true}\n", "unknown key 'config show'"},
           {"- sweep\n", "must be a map"},
           {"sweep: {samples: 3\n", ".hindsight.yaml:"}}) {
    SCOPED_TRACE(text);
    project(text);
    expect_refused({"space", "list"}, part);
  }
  project("");  // nothing is no mistake
  EXPECT_EQ(hindsight({"space", "list"}, in("project")).exit_code, 0);
  project("# sweep: {samples: 3}\n\n");
  EXPECT_EQ(hindsight({"space", "list"}, in("project")).exit_code, 0);
  project("sweep:\n# samples: 3\n");
  EXPECT_EQ(hindsight({"space", "list"}, in("project")).exit_code, 0);
}

TEST_F(Config, AFileThatCannotBeReadIsAnError) {
  std::filesystem::create_directories(folder_ / "home/project/.hindsight.yaml");
  const Outcome folder = hindsight({"space", "list"}, in("project"));
  EXPECT_NE(folder.exit_code, 0);
  EXPECT_THAT(folder.err, HasSubstr(".hindsight.yaml"));
  std::filesystem::remove(folder_ / "home/project/.hindsight.yaml");
  std::filesystem::permissions(project("sweep: {samples: 3}\n"), std::filesystem::perms::none);
  Surroundings surroundings = in("project");
  surroundings.ordinary_user = true;
  std::filesystem::permissions(folder_, std::filesystem::perms::others_exec | std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  const Outcome secret = hindsight({"space", "list"}, surroundings);
  EXPECT_NE(secret.exit_code, 0);
  EXPECT_THAT(secret.err, HasSubstr(".hindsight.yaml"));
}

TEST_F(Config, HelpAndCompletionWorkBesideAWrongFile) {
  project("swep: 3\n");
  EXPECT_EQ(hindsight({"space", "list"}, in("project")).exit_code, 2);
  for (const Words& command : {Words{"--help"}, Words{"sweep", "--help"}, Words{"help", "spaces"}, Words{"--version"},
                               Words{"completion", "bash"}, Words{"__complete", "swe"},
                               Words{"space", "list", "--no-config"}, Words{"--no-config", "space", "list"}}) {
    const Outcome outcome = hindsight(command, in("project"));
    EXPECT_EQ(outcome.exit_code, 0) << join(command, " ") << outcome.err;
  }
}

TEST_F(Config, VariablesOfVerbsAreCheckedAndOthersLeftAlone) {
  const Words list{"space", "list"};
  expect_refused(list, "HINDSIGHT_SWEEP_SAMPELS", {{"HINDSIGHT_SWEEP_SAMPELS", "3"}});
  expect_refused(list, "Did you mean 'HINDSIGHT_SWEEP_SAMPLES'?", {{"HINDSIGHT_SWEEP_SAMPELS", "3"}});
  expect_refused(list, "HINDSIGHT_SWEEP_SAMPLES", {{"HINDSIGHT_SWEEP_SAMPLES", "many"}});
  expect_refused(list, "true or false", {{"HINDSIGHT_SWEEP_JSON", "perhaps"}});
  expect_refused(list, "unset HINDSIGHT_NO_CONFIG", {{"HINDSIGHT_NO_CONFIG", "1"}});
  expect_refused(list, "of one option", {{"HINDSIGHT_SWEEP_WORKLOAD", "m4"}, {"HINDSIGHT_SWEEP_WORKLOADS", "m4"}});
  const Outcome others = hindsight(list, in("project", {{"HINDSIGHT_HOME", "x"},
                                                        {"HINDSIGHT_SWEEP_SAMPLES", ""},
                                                        {"HINDSIGHT_TEST_SEED", "3"},
                                                        {"HINDSIGHT_CUBLASLT", "/x"}}));
  EXPECT_EQ(others.exit_code, 0) << others.err;
  const Json limits = shown({"sweep"}, "max", in("project", {{"HINDSIGHT_SWEEP_MAX", "area_mm2=27 peak_power_w=3"}}));
  EXPECT_EQ(limits.at("values"), Json({"area_mm2=27", "peak_power_w=3"}));
}

TEST_F(Config, EveryOptionHasAVariableOfItsOwn) {
  Session session;
  CLI::App app;
  describe_program(app);
  add_verbs(app, session);
  std::map<std::string, std::string> owners;
  for (const DefaultScope& scope : default_scopes(app)) {
    for (const std::string& key : keys_of_scope(app, scope)) {
      const auto [known, is_new] = owners.try_emplace(variable_of(scope, key), scope + " " + key);
      EXPECT_TRUE(is_new) << known->first << ": " << known->second << " and " << scope << " " << key;
    }
  }
  EXPECT_GT(owners.size(), 500U);
  for (const char* taken : {"HINDSIGHT_DATA_DIR", "HINDSIGHT_CUBLASLT"}) EXPECT_FALSE(owners.contains(taken)) << taken;
}

TEST_F(Config, AnErrorAboutADefaultSaysWhereItStands) {
  project("space sample:\n  sampler: sobel\n");
  const Words sample{"space", "sample", "tiny"};
  const Outcome outcome = hindsight(sample, in("project"));
  expect_one_line_error(outcome, 2, "sobol");
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("--sampler is a default of .hindsight.yaml:2"), HasSubstr("--no-config")));
  EXPECT_EQ(hindsight(plus(sample, {"--no-config"}), in("project")).exit_code, 0);  // the remedy that it names
  EXPECT_THAT(hindsight(plus(sample, {"--sampler", "sobell"}), in("project")).err, Not(HasSubstr("default of")));
}

TEST_F(Config, ARequiredOptionMayBeADefault) {
  project("simulate: {design: edge_tpu_v1, workload: mobilenet_v2}\n");
  const Outcome outcome = hindsight({"simulate"}, in("project"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

}  // namespace
}  // namespace hindsight::app::test
