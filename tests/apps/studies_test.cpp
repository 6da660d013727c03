/// Does scripts/studies.sh keep the results of its steps, print their tables from what is kept alone, and go on from
/// it?
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <vector>

#include "apps/app_fixture.h"
#include "hindsight/core/shell.h"
#include "hindsight/space/design_space.h"
#include "repository.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;

/// Tasks of the offline study with a latency, as data/reference/optima.csv has them.
std::vector<std::string> study_tasks() {
  std::vector<std::string> tasks;
  std::ifstream optima(hindsight::test::repository() / "data" / "reference" / "optima.csv");
  for (std::string line; std::getline(optima, line);) {
    if (line.starts_with("#") || line.find(",latency_s,") == std::string::npos) continue;
    tasks.push_back(line.substr(0, line.find(',')));
  }
  return tasks;
}

/// The nine applications of the tasks of one.
std::vector<std::string> single_applications() {
  const std::string kind = "single/";
  std::vector<std::string> applications;
  for (const std::string& task : study_tasks()) {
    if (task.starts_with(kind)) applications.push_back(task.substr(kind.size()));
  }
  return applications;
}

/// First proposals of 1 and 4 times the optimum in turn: 2 in the mean of the four tasks of unseen networks.
std::string made_regret() {
  std::string lines;
  bool odd = false;
  for (const std::string& task : study_tasks()) {
    lines += "edge-any;" + task + (odd ? ";4.000" : ";1.000") + ";1.000;1;10;2;3;10;4;10\n";
    odd = !odd;
  }
  return lines;
}

std::string made_single() {
  std::string lines;
  for (const std::string seed : {"1", "2", "3"}) {
    for (const std::string& name : single_applications()) {
      lines += "single/" + seed + "-" + name + ";single/" + name + ";1." + seed + "00;1.000;1;10;0;0;10;0;10\n";
    }
  }
  return lines;
}

/// `layers` is chosen, and proposes twice of what `margins` does.
std::string made_recipes() {
  std::string lines;
  for (const std::string& name : single_applications()) {
    lines += "recipes/1-layers-" + name + ";single/" + name + ";2.000;1.000;0;10;0;0;10;0;10\n";
    lines += "recipes/1-margins-" + name + ";single/" + name + ";1.000;1.000;0;10;0;0;10;0;10\n";
  }
  return lines;
}

std::string made_choices() {
  std::string lines;
  for (const std::string& name : single_applications()) lines += "1;" + name + ";layers\n";
  return lines;
}

/// Medians over the seeds of 3 and 12, as `bench w50 --results` writes them; the command has a path of the machine.
std::string made_w50() {
  std::string lines =
      "# hindsight bench w50 --csv /home/me/a.csv\n# Hindsight 0.1.0\n# table abc\n"
      "cell,table,method,recipe,seed,train_rows,train_feasible,context,feasible_rows,optimum,best_training_ratio,"
      "unknown_frac,k,ratio,regret,rank,infeasible_frac\n";
  int cell = 0;
  for (const auto& [table, factor] : {std::pair("a", 1), {"b", 4}}) {
    for (int seed = 1; seed <= 5; ++seed, ++cell) {
      for (const int k : {1, 16, 128}) {
        lines += std::to_string(cell) + "," + table + ",default," + (seed == 1 ? "trends" : "margins") + "," +
                 std::to_string(seed) + ",10,5,c,20,0.5,0.5,0," + std::to_string(k) + ",0.9," +
                 std::to_string(k == 1 ? seed * factor : 1) + ",2," + (k == 128 ? "0.5" : "0") + "\n";
      }
    }
  }
  return lines;
}

/// Two networks that ship and can be built, one that does not ship, one that cannot be built.
const std::string kMadeScores =
    "m4;8000;2893;0.9000;0.0100;1.0000;0.9900;0.0000;0.1000\n"
    "m5;8000;4923;0.8000;0.0300;1.0000;0.9900;0.0000;0.2000\n"
    "outside_graph;8000;4923;0.5000;0.0200;1.0000;0.9000;0.5550;0.6000\n"
    "whisper_base;8000;0;;;;;;0.9000\n";

/// Models a and b, b's best designs twice as slow.
std::string made_outside(const std::filesystem::path& folder) {
  const std::string script = (hindsight::test::repository() / "scripts" / "outside-networks.sh").string();
  EXPECT_EQ(std::system((shell_quoted(script) + " " + shell_quoted((folder / "outside").string())).c_str()), 0);
  std::string lines;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / "outside")) {
    if (entry.path().extension() != ".yaml") continue;
    const std::string network = std::filesystem::relative(entry.path(), folder).string();
    for (const char* area : {"27", "100"}) {
      for (const auto& [model, latency] : {std::pair("a", "2"), {"b", "4"}}) {
        const std::string infeasible = network == "outside/outside_graph.yaml" ? "1" : "0";
        lines += std::string(model) + ";" + area + ";" + network + ";10;0;" + infeasible + ";" + latency + "\n";
      }
    }
  }
  return lines;
}

/// x's own proposal is twice as fast as y's, y's own half as fast as x's; y's best is another one.
const std::string kMadeSwaps = "x;x;1;d1;1\ny;x;1;d1;2\ny;y;1;d2;4\nx;y;1;d2;2\ny;y;2;d3;1\nx;y;2;d3;\n";

const std::string kMadePlay =
    "1;small/m4@200;chosen;layers;1.000;1.500;0;10;1.000;32;128;3.000\n"
    "2;small/m4@200;chosen;margins;4.000;1.500;0;10;1.000;32;128;3.000\n"
    "1;edp/m4;chosen;layers;1.000;1.500;0;10;1.000;0;128;3.000\n"
    "2;edp/m4;chosen;layers;1.000;1.500;0;10;1.000;0;128;3.000\n";

std::string made_exact() {
  std::string lines;
  for (const std::string& name : single_applications()) {
    lines += name + ";--max area_mm2=27;3.4;1934616;515063;1416365;3188;1.0000\n";
  }
  return lines +
         "mobilenet_edgetpu,mobilenet_v2,mobilenet_v3_large;--max area_mm2=29;7.0;3000;1000;1900;100;1.0000\n"
         "t_rnn_enc;;3.0;3000;0;2000;1000;1.6100\nm6;;3.0;3000;0;2000;1000;1.0000\n";
}

std::string made_front() {
  std::string lines;
  for (const std::string model : {"edge-any", "nine-1-energy", "nine-2-energy", "nine-3-energy", "nine-4-energy"}) {
    for (const auto& [with, logged] : {std::pair("-alone", ";0"), {"-log", ";3"}}) {
      for (const std::string& name : single_applications()) {
        lines += model + with + ";" + name;
        lines += ";9;0.500;1.000;0.100;0.700;0.600;1.000;0.300;0.900;10;1;2";
        lines += std::string(logged) + "\n";
      }
    }
  }
  return lines;
}

/// The best known is 1, which training from scratch on 1,000 rows found; the log's best is 2.
const std::string kMadeFew =
    "older;0;0;unadapted;3;\nolder;16;1;scratch;;\nolder;16;1;adapted;2;offset\nolder;1000;1;scratch;1;\n"
    "older;16;2;scratch;;\nolder;16;2;adapted;2;lines\nolder;1000;2;scratch;1;\n";

struct StudyCase {
  std::string step;
  std::map<std::string, std::string> files;  ///< what the step leaves in its folder
  std::vector<std::string> lines;            ///< of its tables
};

class Studies : public AppTest {
 protected:
  /// A program that says its commit and can do nothing else.
  Studies() {
    const std::string program = write(
        "build/apps/hindsight/hindsight",
        "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'commit 0123456789ab'; else echo asked >&2; exit 1; fi\n");
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  }
  void SetUp() override {
    if (std::system("command -v sqlite3 > /dev/null") != 0) GTEST_SKIP() << "sqlite3 is not installed";
  }
  /// scripts/studies.sh of small studies, with what is recorded in this test's folder.
  [[nodiscard]] Outcome studies(const std::string& arguments) const {
    const std::string environment =
        "RECIPE_SEEDS=1 RECIPES='layers margins' FEW_TARGETS=older FEW_ROWS=16 FEW_SEEDS='1 2' "
        "PLAY_TASKS='small/ edp/' PLAY_SEEDS='1 2' TECHNOLOGY= TABLES= ";
    const int status = std::system(
        (environment + "RECORDED=" + shell_quoted(file("kept")) + " BUILD_DIR=" + shell_quoted(file("build")) + " " +
         shell_quoted((hindsight::test::repository() / "scripts" / "studies.sh").string()) + " " + arguments + " > " +
         shell_quoted(file("out")) + " 2> " + shell_quoted(file("err")))
            .c_str());
    return {.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
            .out = read_file(file("out")),
            .err = read_file(file("err"))};
  }
  /// Two words of a command: --out and this test's folder of that name.
  [[nodiscard]] std::string in(const std::string& folder) const { return "--out " + shell_quoted(file(folder)) + " "; }

  static void expect_one_line(const Outcome& outcome, int exit_code, const std::string& part) {
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_THAT(outcome.err, ::testing::StartsWith("studies.sh: "));
    EXPECT_THAT(outcome.err, HasSubstr(part));
  }

  [[nodiscard]] std::vector<StudyCase> cases() const {
    return {
        // multi: 10 * 7 proposals, of which one each, 3 and 4 cannot be built
        {"regret",
         {{"regret.csv", made_regret()}},
         {"| edge-any | zero_shot | 2.000 | 1.000 | 0 of 4 | 4 of 40 |",
          "| edge-any | multi | 7 of 70 | 21 of 70 | 28 of 70 | 14 |"}},
        {"single",
         {{"single.csv", made_single()}},
         {"| m4 | 1.100 | 1.200 | 1.300 | 1.000 | 1.000 | 1.000 | 3 |",
          "| mean | 1.100 | 1.200 | 1.300 | 1.000 | 1.000 | 1.000 | 27 of 270 |"}},
        {"recipes",
         {{"recipes.csv", made_recipes()}, {"chosen.csv", made_choices()}},
         {"| margins | 9 | 1.000 | 1.000 | 0 of 9 | 0 of 90 |",
          "| what `train` chooses | 9 | 2.000 | 1.000 | 0 of 9 | 0 of 90 |",
          "| 1 | unet | layers | 2.000 | margins | 1.000 | 2.000 |", "| | all | | | | | 2.000 |"}},
        // sqrt(3 * 12) = 6
        {"tables",
         {{"tables.csv", made_w50()}},
         {"| default | 2 | 6.000 | 1.000 | 1.000 | 0 of 10 | 50.0 % | 8 margins, 2 trends |",
          "| b | default | 2.000 | 12.000 | 20.000 | 1.000 | 1.000 | 0 of 5 | 50.0 % |"}},
        {"motifs",
         {{"motifs.csv", made_w50()}},
         {"| default | 2 | 6.000 | 1.000 | 1.000 | 0 of 10 | 50.0 % | 8 margins, 2 trends |"}},
        {"accuracy",
         {{"accuracy.csv", kMadeScores}},
         {"| outside_graph | 8,000 | 4,923 | 0.500 | 2.0 % | 55.5 % | 0.60 |",
          "| whisper_base | 8,000 | 0 |  |  | never that sure | 0.90 |",
          "| mean of 2 that ship and can be built | | | 0.850 | 2.0 % | | |"}},
        // ranks 1, 2, 3 and 1, 3, 2: 1 - 6 * 2 / (3 * 8) = 0.5
        {"distance",
         {{"distance.csv", kMadeScores}},
         {"| below 0.35 | 2 (0) | 2.0 % | 1.0 to 3.0 % | 0.85 | 0.80 |",
          "| 0.5 to 0.7 | 1 (1) | 2.0 % | 2.0 to 2.0 % | 0.50 | 0.50 |",
          "3 networks of which 2,000 designs or more can be built; rank correlation of distance and error 0.50 "
          "(Spearman)."}},
        {"outside",
         {{"outside.csv", made_outside(folder_)}},
         {"| a | 42 of 42 | 0 of 42 | 2 of 420 | 1.000 | 1.00 | graph within 27 mm2: 1, graph within 100 mm2: 1 |",
          "| b | 42 of 42 | 0 of 42 | 2 of 420 | 2.000 | 2.00 | graph within 27 mm2: 1, graph within 100 mm2: 1 |"}},
        // sqrt(2 / 1 * 2 / 4) = 1
        {"swap",
         {{"swap.csv", kMadeSwaps}},
         {"| y | 4.000 | 1 | 0 | 0 | 1 | 0.500 |", "| all | | 2 | 1 | 0 | 1 | 1.000 |"}},
        {"play",
         {{"play.csv", kMadePlay}},
         {"| small@200 | chosen | 2 | 3.000 | 2.000 | 4.00 | 1.500 | 1.000 | 0 of 2 | 25.0 % | 1 layers, 1 margins |"}},
        {"exact",
         {{"exact.csv", made_exact()}},
         {"| m4 | area_mm2=27 | 1,419,553 | 1,416,365 | 3,188 | 3 | 1.000 |",
          "| t_rnn_enc | none | 3,000 | 2,000 | 1,000 | 3 | 1.610 |"}},
        {"front",
         {{"front.csv", made_front()}},
         {"| edge-any | yes | 0.500 | 0.600 | 9 of 90 | 18 | 27 | 0.700 |", "Proposals of nine-4-energy-log:",
          "| mean |  | 0.500 | 1.000 | 0.100 | 0.700 | 0.600 | 1.000 | 0.300 | 0.900 | 9 of 90 | 18 | 0 |"}},
        {"few",
         {{"few.csv", kMadeFew}, {"few_best.csv", "older;2\n"}},
         {"| older | 16 | 2.000 | 3.000 | 3.000 (2 of 2 not built) | 1.000 | offset, lines |"}},
    };
  }
};

TEST_F(Studies, EveryStepIsRecordedAndItsTableComesFromThere) {
  for (const StudyCase& study : cases()) {
    SCOPED_TRACE(study.step);
    for (const auto& [name, lines] : study.files) write("study/" + name, lines);
    expect_one_line(studies("--recorded " + study.step), 1, "Run it and keep it: scripts/studies.sh " + study.step);
    const Outcome kept = studies(in("study") + "--record " + study.step);
    ASSERT_EQ(kept.exit_code, 0) << kept.err;
    EXPECT_THAT(kept.err, HasSubstr("lines recorded in "));
    std::filesystem::remove_all(file("study"));
    const Outcome table = studies("--recorded " + study.step);
    EXPECT_EQ(table.exit_code, 0) << table.err;
    for (const std::string& line : study.lines) EXPECT_THAT("\n" + table.out, HasSubstr("\n" + line + "\n"));
    EXPECT_THAT(read_file(file("kept/recorded.csv")), HasSubstr("\n" + study.step + ";20"));
  }
  EXPECT_EQ(read_file(file("kept/tables.csv")).find("/home"), std::string::npos) << "a path of somebody's machine";
  const std::string all = studies("--recorded").out;
  for (const StudyCase& study : cases()) EXPECT_THAT(all, HasSubstr("\n| " + study.step + " | "));
}

bool is_w50(const StudyCase& study) { return study.step == "tables" || study.step == "motifs"; }

/// Those that are written at once are whole where they are there.
TEST_F(Studies, WhatIsNotCompleteIsNotRecorded) {
  for (const StudyCase& study : cases()) {
    SCOPED_TRACE(study.step);
    expect_one_line(studies("--out " + shell_quoted(folder_.string()) + " --record " + study.step), 1,
                    "Run it: scripts/studies.sh --out ");
    for (const auto& [name, lines] : study.files) write("study/" + name, lines);
    if (study.step == "accuracy" || study.step == "distance" || study.step == "swap") continue;
    for (const auto& [name, lines] : study.files) {
      std::size_t end = lines.size() - 1;
      for (int line = 0; line < (is_w50(study) ? 3 : 1); ++line) end = lines.rfind('\n', end - 1);
      write("study/" + name, lines.substr(0, end + 1));
      expect_one_line(studies(in("study") + "--record " + study.step), 1,
                      end + 1 == 0 ? "has no " + name : "is not complete: 1 to go, the first is ");
      write("study/" + name, lines);
    }
  }
  EXPECT_FALSE(std::filesystem::exists(file("kept")));
}

TEST_F(Studies, RefusesWhatCannotBeRecorded) {
  expect_one_line(studies("--record wings"), 2, "unknown step 'wings'");
  expect_one_line(studies(in("build") + "--record any"), 2, "makes models and has no results");
  expect_one_line(studies("--recorded nine"), 2, "makes models and has no table");
  expect_one_line(studies(in("gone") + "--record exact"), 1, "there is no folder ");
  expect_one_line(studies("--go-on --record exact"), 2, "are two things to do");
}

/// Their best logged value is in the log alone.
TEST_F(Studies, FoldersWithoutTheBestLoggedValueAreRecorded) {
  write("study/few.csv", kMadeFew);
  std::filesystem::create_directories(file("study/few"));
  ASSERT_EQ(std::system(("sqlite3 " + shell_quoted(file("study/few/older.sqlite")) +
                         " 'CREATE TABLE evaluations (feasible, area_mm2, latency_s); INSERT INTO evaluations VALUES "
                         "(1, 27, 0.5), (1, 28, 0.1), (0, 20, NULL)'")
                            .c_str()),
            0);
  ASSERT_EQ(studies(in("study") + "--record few").exit_code, 0);
  EXPECT_EQ(read_file(file("kept/few_best.csv")), "target;best_logged\nolder;0.5\n");
  EXPECT_THAT(studies("--recorded few").out, HasSubstr("| older | 16 | 4.000 | 6.000 | 3.000 (2 of 2 not built) |"));
}

/// Three of ten designs that the model of any network learns from have many lanes; the space that its log names is
/// edge.
TEST_F(Studies, TheModelOfAnyNetworkLearnsFromDesignsOfManyLanes) {
  write("build/apps/hindsight/hindsight", "#!/bin/sh\necho \"$@\" >> " + shell_quoted(file("asked")) + "\n");
  const Outcome outcome = studies(in("study") + "any");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string asked = read_file(file("asked"));
  for (const std::string part :
       {"--samples 14000 --max area_mm2=100 --max lanes_below_1024=1024 --max peak_power_w=2.5 --seed 1 ",
        "--samples 3000 --max area_mm2=100 --max lanes_below_1024=768 --max peak_power_w=2.5 --seed 2 ",
        "--samples 3000 --max area_mm2=100 --max lanes_below_1024=512 --max peak_power_w=2.5 --seed 3 "}) {
    EXPECT_THAT(asked, HasSubstr("sweep --space any-space.yaml --workloads synthetic:600 --networks-per-design 9 " +
                                 part + "--log any.sqlite\n"));
  }
  EXPECT_EQ(space::load_space(file("study/any-space.yaml")).definition_hash(),
            space::load_space("edge").definition_hash());
}

/// The made-up program can do nothing: a study that goes on asks it for nothing.
TEST_F(Studies, AnEmptyFolderGoesOnFromWhatIsRecorded) {
  for (const StudyCase& study : cases()) {
    if (is_w50(study) || study.step == "play") continue;  // begins anew; asks the program for its tasks
    SCOPED_TRACE(study.step);
    for (const auto& [name, lines] : study.files) write("study/" + name, lines);
    ASSERT_EQ(studies(in("study") + "--record " + study.step).exit_code, 0);
    const Outcome table = studies("--recorded " + study.step);
    const Outcome gone_on = studies(in("other") + "--go-on " + study.step);
    EXPECT_EQ(gone_on.exit_code, 0) << gone_on.err;
    EXPECT_EQ(gone_on.out, table.out);
    EXPECT_THAT(gone_on.err, HasSubstr(" lines taken from "));
    for (const auto& [name, lines] : study.files) EXPECT_EQ(read_file(file("other/" + name)), lines);
    EXPECT_THAT(studies(in("other") + "--go-on " + study.step).err, HasSubstr("nothing is taken from "));
  }
  ASSERT_EQ(studies(in("other") + "--record exact").exit_code, 0);
  EXPECT_THAT(studies("--recorded").out, HasSubstr(" | 12 of 20")) << "what was taken is said";
}

TEST_F(Studies, VersionsAreNotMixed) {
  write("study/exact.csv", made_exact());
  ASSERT_EQ(studies(in("study") + "--record exact").exit_code, 0);
  std::string recorded = read_file(file("kept/recorded.csv"));
  const std::size_t at = recorded.find("22nm-silicon");
  ASSERT_NE(at, std::string::npos) << recorded;
  write("kept/recorded.csv", recorded.replace(at, 4, "45nm"));
  const Outcome gone_on = studies(in("other") + "--go-on exact");
  EXPECT_NE(gone_on.exit_code, 0) << "the program can answer nothing";
  EXPECT_THAT(gone_on.err, HasSubstr("begins anew, what is recorded is of other versions: hindsight-accel 4 45nm-"));
  EXPECT_THAT(gone_on.err, HasSubstr("asked"));
}

}  // namespace
}  // namespace hindsight::app::test
