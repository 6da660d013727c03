/// Does a log, a space or a file of proposals choose which files are opened? A copy of what ships lies elsewhere: it
/// would be read where its path is followed.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>

#include "apps/app_fixture.h"
#include "hindsight/space/short_id.h"
#include "repository.h"

namespace hindsight::app::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class ForeignNames : public AppTest {
 protected:
  [[nodiscard]] std::string copied(const std::string& shipped) const {
    const std::string there = file(fs::path(shipped).filename().string());
    fs::copy_file(hindsight::test::repository() / shipped, there, fs::copy_options::overwrite_existing);
    return there;
  }
  [[nodiscard]] std::string swept() const {
    const std::string log = file("log.db");
    EXPECT_EQ(hindsight({"sweep", "--space", "tiny", "--workloads", "m4", "--samples", "9", "--log", log, "--quiet"})
                  .exit_code,
              0);
    return log;
  }
  static void set(const std::string& log, const std::string& table, const std::string& name) {
    SQLite::Database database(log, SQLite::OPEN_READWRITE);
    SQLite::Statement update(database, "UPDATE " + table + " SET name = ?");
    update.bind(1, name);
    update.exec();
  }
  [[nodiscard]] std::string design_of(const std::string& log) const {
    SQLite::Database database(log, SQLite::OPEN_READONLY);
    return space::short_id(database.execAndGet("SELECT text_id FROM designs LIMIT 1").getString());
  }
};

TEST_F(ForeignNames, ASpaceOpensNoFileForItsTechnology) {
  const std::string rest = "name: mine\nparameters:\n  - {name: pes_x, unit: count, values: [1, 2]}\n";
  for (const std::string& name :
       {copied("data/technology/22nm.yaml"), std::string("../22nm"), std::string("mine.yaml")}) {
    expect_one_line_error(hindsight({"space", "show", write("s.yaml", "technology: " + name + "\n" + rest)}), 2,
                          "s.yaml:1:13: '" + name + "' names a file, and a space opens none");
  }
}

TEST_F(ForeignNames, ASpaceOpensNoFileThatLiesInTheWorkingFolder) {
  fs::copy_file(hindsight::test::repository() / "data/technology/22nm.yaml", file("22nm"));
  const std::vector<std::string> command{"sweep",     "--space", "tiny",  "--workloads",  "m4",
                                         "--samples", "2",       "--log", file("log.db"), "--quiet"};
  expect_one_line_error(hindsight(command, {.folder = folder_}), 4,
                        "the space's technology is '22nm', which names a file");
  EXPECT_EQ(hindsight(command).exit_code, 0);
}

TEST_F(ForeignNames, ALogOpensNoFileForItsTechnology) {
  const std::string log = swept();
  const std::string design = design_of(log);
  const std::vector<std::string> simulate{"simulate", "--log", log, "--design", design, "--workload", "m4"};
  EXPECT_LE(hindsight(simulate).exit_code, 3);  // 3: an infeasible design
  set(log, "evaluators", "hindsight-accel 1 " + copied("data/technology/22nm.yaml"));
  expect_one_line_error(hindsight(simulate), 4, "which names a file");
  const Outcome verified = hindsight({"log", "verify", "--deep", log});
  EXPECT_THAT(verified.out, HasSubstr("not repeated")) << verified.err;
}

TEST_F(ForeignNames, ALogOpensNoFileForItsWorkload) {
  const std::string log = swept();
  EXPECT_THAT(hindsight({"log", "verify", "--deep", log}).out, Not(HasSubstr("not repeated")));
  set(log, "workloads", copied("data/workloads/m4.yaml"));
  EXPECT_THAT(hindsight({"log", "verify", "--deep", log}).out, HasSubstr("is not at hand as it was"));
}

TEST_F(ForeignNames, ALogOpensNoFileForItsSpace) {
  const std::string log = swept();
  const std::vector<std::string> command{"log", "export", log, "--out", file("rows.csv")};
  EXPECT_THAT(hindsight(command).err, HasSubstr("--space tiny"));
  set(log, "spaces", copied("configs/spaces/tiny.yaml"));
  EXPECT_THAT(hindsight(command).err, Not(HasSubstr("--space")));
}

TEST_F(ForeignNames, AFileOfProposalsOpensNoOther) {
  const auto checked = [&](const std::string& space, const std::string& technology, const std::string& network) {
    return hindsight({"check", "--gpu", "l4", "--file",
                      write("p.json", R"({"space": ")" + space + R"(", "technology": ")" + technology +
                                          R"(", "proposals": [{"design": ")" + kTinyDesign +
                                          R"(", "predicted": {"workloads": [{"name": ")" + network + R"("}]}}]})")});
  };
  EXPECT_LE(checked("tiny", "22nm", "m4").exit_code, 3);
  expect_one_line_error(checked(copied("configs/spaces/tiny.yaml"), "22nm", "m4"), 2, "which names a file");
  expect_one_line_error(checked("tiny", copied("data/technology/22nm.yaml"), "m4"), 4, "which names a file");
  const Outcome network = checked("tiny", "22nm", copied("data/workloads/m4.yaml") + "@8");
  expect_one_line_error(network, 4, file("p.json") + ": its network is '");
  EXPECT_THAT(network.err,
              HasSubstr("because another one names it. The design was proposed for a network of that name. "
                        "Give its file: --workload FILE@8\n"));
}

}  // namespace
}  // namespace hindsight::app::test
