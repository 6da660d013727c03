/// Does every verb refuse to write over a file that it reads, however the file is named, and over any log?
#include "apps/app_fixture.h"
#include "repository.h"

namespace hindsight::app::test {
namespace {

const std::string kTable = "a,b,cost_ms\n1,1,5\n2,1,4\n1,2,3\n2,2,oom\n";

class FileRolesTest : public AppTest {
 protected:
  void SetUp() override {
    table_ = write("t.csv", kTable);
    log_ = file("t.sqlite");
    ASSERT_EQ(hindsight({"log", "import", "--csv", table_, "--log", log_, "--objective", "cost_ms"}).exit_code, 0);
  }
  /// The command is refused with both options named, and `input` is as it was.
  static void expect_refused(const std::vector<std::string>& command, const std::string& input,
                             const std::string& output_option, const std::string& input_option) {
    const std::string before = hash_of(input);
    const Outcome outcome = hindsight(command);
    expect_one_line_error(outcome, 2, output_option + " ");
    EXPECT_THAT(outcome.err, ::testing::HasSubstr("is the file that " + input_option + " "));
    EXPECT_EQ(hash_of(input), before);
  }

  std::string table_, log_;
};

TEST_F(FileRolesTest, TrainKeepsItsLog) {
  expect_refused({"train", "--log", log_, "--out", log_}, log_, "--out", "--log");
  expect_refused({"train", "--log", log_, "--out", (folder_ / "." / "t.sqlite").string()}, log_, "--out", "--log");
  std::filesystem::create_symlink(log_, file("link.safetensors"));
  expect_refused({"train", "--log", log_, "--out", file("link.safetensors")}, log_, "--out", "--log");
  std::filesystem::create_hard_link(log_, file("hard.safetensors"));
  expect_refused({"train", "--log", log_, "--out", file("hard.safetensors")}, log_, "--out", "--log");
  std::filesystem::copy_file(log_, file("study.md"));
  expect_refused({"train", "--log", file("study.md"), "--out", file("study.safetensors")}, file("study.md"),
                 "--out (model card)", "--log");
  std::filesystem::copy_file(log_, file("m.safetensors.checkpoint"));
  expect_refused({"train", "--log", file("m.safetensors.checkpoint"), "--out", file("m.safetensors")},
                 file("m.safetensors.checkpoint"), "--out (checkpoint)", "--log");
}

TEST_F(FileRolesTest, TrainKeepsItsRecipe) {
  const std::string recipe = write("recipe.md", "name: mine\n");
  expect_refused({"train", "--log", log_, "--recipe", recipe, "--out", file("recipe.safetensors")}, recipe,
                 "--out (model card)", "--recipe");
}

TEST_F(FileRolesTest, ProposeKeepsItsModelAndItsLog) {
  const std::string model = (hindsight::test::repository() / "models/edge-prime9.safetensors").string();
  const std::string copy = file("w.safetensors");
  std::filesystem::copy_file(model, copy);
  const std::vector<std::string> command{"propose", "--model", copy, "--workload", "unet", "--log", log_, "--csv"};
  const std::vector<std::pair<std::string, std::string>> outputs{
      {copy, "--model"}, {log_, "--log"}, {log_ + "-wal", "--log"}};
  for (const auto& [output, option] : outputs) {
    std::vector<std::string> arguments = command;
    arguments.push_back(output);
    expect_refused(arguments, option == "--model" ? copy : log_, "--csv", option);
  }
}

TEST_F(FileRolesTest, TablesAreKept) {
  expect_refused({"space", "infer", table_, "--out", table_}, table_, "--out", "--csv");
  expect_refused({"log", "import", table_, "--log", table_, "--objective", "cost_ms"}, table_, "--log", "--file");
  const std::string gemms = write("gemms.csv", "m,n,k\n64,64,64\n");
  expect_refused({"gemm", "--gpu", "l4", "--csv", gemms, "--out", gemms}, gemms, "--out", "--csv");
}

TEST_F(FileRolesTest, SweepKeepsItsSpace) {
  const std::string space = file("space.yaml");
  std::filesystem::copy_file((hindsight::test::repository() / "configs/spaces/tiny.yaml").string(), space);
  expect_refused({"sweep", "--space", space, "--workloads", "m6", "--samples", "2", "--log", space}, space, "--log",
                 "--space");
}

TEST_F(FileRolesTest, AMissingFolderIsAUsageErrorOfEveryVerbThatWrites) {
  const std::string out = file("no folder/out");
  const std::string gemms = write("gemms.csv", "m,n,k\n64,64,64\n");
  const std::vector<std::vector<std::string>> commands{
      {"sweep", "--space", "tiny", "--workloads", "m6", "--samples", "2", "--log", out},
      {"log", "import", "--csv", table_, "--objective", "cost_ms", "--log", out},
      {"space", "infer", table_, "--out", out},
      {"train", "--log", log_, "--out", out + ".safetensors"},
      {"propose", "--workload", "unet", "--csv", out},
      {"gemm", "--gpu", "l4", "--csv", gemms, "--out", out},
      {"calibrate", "--gpu", "l4", "--measurements", gemms, "--out", out},
      {"measure", "gemm", "--shapes", gemms, "--log", out},
      {"measure", "gemm", "--shapes", gemms, "--csv", out},
      {"measure", "import", gemms, "--sheet", out + ".yaml"}};
  for (const std::vector<std::string>& command : commands) {
    SCOPED_TRACE(command[0] + " " + command[1]);
    const Outcome outcome = hindsight(command);
    expect_one_line_error(outcome, 2, "no folder. Create it: mkdir -p '" + file("no folder") + "'");
    EXPECT_FALSE(std::filesystem::exists(file("no folder")));
  }
}

TEST_F(FileRolesTest, ALogIsNoPlaceForAnotherFile) {
  const std::string other = file("other.sqlite");
  std::filesystem::copy_file(log_, other);
  std::filesystem::copy_file(log_, file("m.safetensors"));
  std::filesystem::create_symlink(other, file("link.csv"));
  const std::string layers = write("net.csv",
                                   "Layer,IFMAP Height,IFMAP Width,Filter Height,Filter Width,Channels,"
                                   "Num Filter,Strides,\nconv,8,8,3,3,4,8,1,\n");
  const std::string before = hash_of(other);
  const std::vector<std::vector<std::string>> commands{
      {"propose", "--workload", "resnet50", "--csv", other},
      {"propose", "--workload", "resnet50", "--csv", file("link.csv")},
      {"report", log_, "--out", other},
      {"log", "export", log_, "--format", "csv", "--out", other},
      {"workload", "import", layers, "--out", other},
      {"train", "--log", log_, "--out", file("m.safetensors")},
      {"ask", "-n", "2", "--log", log_, "--out", other},
      {"space", "infer", table_, "--out", other},
      {"gemm", "--gpu", "l4", "-m", "64", "-n", "64", "-k", "64", "--out", other}};
  for (const std::vector<std::string>& command : commands) {
    SCOPED_TRACE(command[0] + " " + command[1]);
    expect_one_line_error(hindsight(command), 2, "is a log or another SQLite database, which is not written over");
  }
  EXPECT_EQ(hash_of(other), before);
  EXPECT_EQ(hash_of(file("m.safetensors")), before);
  // One that is appended to, and a file of any other content.
  EXPECT_EQ(hindsight({"log", "merge", log_, "--out", other}).exit_code, 0);
  EXPECT_EQ(hindsight({"log", "export", log_, "--out", write("old.csv", "SQLite format\n")}).exit_code, 0);
}

TEST_F(FileRolesTest, AFolderThatTakesNoFileIsRefusedBeforeTheWork) {
  const std::string folder = file("closed");
  std::filesystem::create_directory(folder);
  std::filesystem::create_symlink(write("closed/old.safetensors", "old"), file("link.safetensors"));
  std::filesystem::permissions(folder, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  for (const std::string& out : {folder + "/new.safetensors", file("link.safetensors")}) {
    const Outcome outcome = hindsight({"train", "--log", log_, "--out", out}, {.ordinary_user = true});
    expect_one_line_error(outcome, 2, "--out " + out + ": the folder ");
    EXPECT_THAT(outcome.err, ::testing::HasSubstr("may not be written to. Name a file in another folder?"));
  }
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
  EXPECT_EQ(read_file(file("link.safetensors")), "old");
  EXPECT_FALSE(std::filesystem::exists(folder + "/new.safetensors"));
}

TEST_F(FileRolesTest, DevicesAreNotReplaced) {
  EXPECT_EQ(hindsight({"space", "infer", table_, "--out", "/dev/null"}).exit_code, 0);
}

}  // namespace
}  // namespace hindsight::app::test
