/// Are rows of several logs counted once, and those of older spaces taken over with nothing unsaid?
#include "hindsight/dataset/load_logs.h"

#include <gmock/gmock.h>

#include "dataset/dataset_fixture.h"
#include "hindsight/dataset/csv_import.h"

namespace hindsight::dataset {
namespace {

using test::error_of;
using test::selection;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class LoadLogs : public test::DatasetTest {
 protected:
  /// A log of the table, whose space is named `space`; the application is `workload`.
  [[nodiscard]] std::filesystem::path log(const std::string& name, const std::string& text, const std::string& space,
                                          const CsvRoles& roles = {.objective = "y"}) const {
    const CsvTable table = parse_csv(text, "work.csv");
    const std::filesystem::path file = folder_ / name;
    import_csv(table, roles, infer_space(table, roles, space), file, Duplicates::keep, test::provenance());
    return file;
  }
  static UnitedRows load(const std::vector<std::filesystem::path>& logs,
                         const std::vector<Assumption>& assumptions = {},
                         const std::optional<std::string>& space = std::nullopt) {
    Selection wanted = selection("y");
    wanted.space = space;
    return load_logs(logs, wanted, assumptions, test::provenance());
  }
  /// "a=1,b=x feasible 3" of every row.
  [[nodiscard]] static std::vector<std::string> rows(const Dataset& data) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < data.size(); ++i) {
      space::Design design;
      for (Eigen::Index p = 0; p < data.levels.cols(); ++p) {
        design.levels.push_back(data.levels(static_cast<Eigen::Index>(i), p));
      }
      std::string text = data.space.text_id(design);
      text +=
          data.feasible[i] ? " " + std::to_string(static_cast<int>(data.objective[static_cast<Eigen::Index>(i)])) : "";
      for (std::size_t bit = 0; bit < data.reason_names.size(); ++bit) {
        if (((data.reasons[i] >> bit) & 1U) != 0) text += " " + data.reason_names[bit];
      }
      texts.push_back(text);
    }
    return texts;
  }
};

constexpr const char* kOld = "a,y\n1,10\n2,20\n4,oom\n8,40\n";
constexpr const char* kNew = "a,bits,y\n1,8,10\n2,16,15\n4,8,timeout\n2,8,7\n";

TEST_F(LoadLogs, OneLogIsReadAsAlways) {
  const auto one = log("a.db", kOld, "s");
  const UnitedRows united = load({one});
  EXPECT_EQ(united.data.content_hash(), load_dataset(one, selection("y")).content_hash());
  EXPECT_EQ(united.log_of_space, one);
  EXPECT_THAT(unseen_levels(united.data), IsEmpty());
}

TEST_F(LoadLogs, RowsOfOneSpaceAreUnitedByContent) {
  const auto a = log("a.db", kOld, "s");
  const auto b = folder_ / "b.db";
  const CsvTable table = parse_csv(std::string(kOld), "work.csv");
  const space::DesignSpace space = infer_space(table, {.objective = "y"}, "s");
  import_csv(parse_csv("a,y\n2,20\n8,40\n", "work.csv"), {.objective = "y"}, space, b, Duplicates::error,
             test::provenance());
  const UnitedRows united = load({a, b});
  EXPECT_THAT(rows(united.data), ElementsAre("a=1 10", "a=2 20", "a=4 oom", "a=8 40"));
  EXPECT_EQ(united.counted_once, 2U);
  EXPECT_THAT(rows(load({b, a}).data), SizeIs(4)) << "in any order";
  const auto c = folder_ / "c.db";
  import_csv(parse_csv("a,y\n2,21\n", "work.csv"), {.objective = "y"}, space, c, Duplicates::error, test::provenance());
  const auto [kind, message] = error_of([&] { load({a, c}); });
  EXPECT_EQ(kind, ErrorKind::usage);
  EXPECT_THAT(message, HasSubstr("contradict"));
  Selection wanted = selection("y");
  wanted.runs = {1};
  EXPECT_THAT(error_of([&] {
                static_cast<void>(load_logs({a, b}, wanted, {}, test::provenance()));
              }).second,
              HasSubstr("every log numbers its own runs"));
}

TEST_F(LoadLogs, RowsOfAnOlderSpaceAreTakenOver) {
  const auto older = log("old.db", kOld, "old"), newer = log("new.db", kNew, "new");
  const UnitedRows united = load({older, newer}, {{.name = "bits", .value = "8"}}, "new");
  EXPECT_THAT(rows(united.data), ElementsAre("a=1,bits=8 10", "a=2,bits=16 15", "a=4,bits=8 timeout", "a=2,bits=8 7"));
  EXPECT_EQ(united.counted_once, 3U);
  EXPECT_EQ(united.contradicting, 1U) << "a=2 was 20; an infeasible row is one, whatever its reason";
  EXPECT_EQ(united.log_of_space, newer);
  ASSERT_THAT(united.taken, SizeIs(1));
  EXPECT_EQ(united.taken[0].rows, 3U);
  EXPECT_THAT(united.taken[0].assumed, ElementsAre("bits=8"));
  EXPECT_THAT(united.taken[0].dropped, ElementsAre(std::pair<std::string, std::size_t>("a=8", 1)));
  const UnitedRows other = load({older, newer}, {{.name = "bits", .value = "16"}}, "new");
  EXPECT_THAT(rows(other.data), ElementsAre("a=1,bits=8 10", "a=2,bits=16 15", "a=4,bits=8 timeout", "a=2,bits=8 7",
                                            "a=1,bits=16 10", "a=4,bits=16 oom"));
  EXPECT_EQ(other.contradicting, 1U);
}

TEST_F(LoadLogs, ASpaceThatNoLogHas) {
  const auto older = log("old.db", "a,mode,y\n1,x,10\n1,z,11\n2,x,20\n", "old");
  const std::string file =
      write("wide.yaml",
            to_yaml(infer_space(parse_csv("a,bits,y\n1,4,1\n2,8,1\n16,8,1\n", "w.csv"), {.objective = "y"}, "wide")));
  const UnitedRows united = load({older}, {{.name = "bits", .value = "4"}}, file);
  EXPECT_THAT(rows(united.data), ElementsAre("a=1,bits=4 10", "a=2,bits=4 20"));
  EXPECT_THAT(united.taken[0].lost, ElementsAre("mode"));
  EXPECT_EQ(united.counted_once, 1U) << "designs that differed in the mode alone";
  EXPECT_EQ(united.contradicting, 1U);
  EXPECT_TRUE(united.log_of_space.empty());
  EXPECT_THAT(unseen_levels(united.data), ElementsAre("a=16", "bits=8"));
}

TEST_F(LoadLogs, WhatCannotBeTakenOverIsNamed) {
  const auto older = log("old.db", kOld, "old"), newer = log("new.db", kNew, "new");
  const auto message = [&](const std::vector<Assumption>& assumptions, const std::optional<std::string>& space) {
    const auto [kind, text] = error_of([&] { load({older, newer}, assumptions, space); });
    EXPECT_EQ(kind, ErrorKind::usage) << text;
    return text;
  };
  EXPECT_THAT(message({}, std::nullopt), HasSubstr("old.db is of the design space 'old'"));
  EXPECT_THAT(message({}, "new"), HasSubstr("old.db: the space 'old' lacks the parameter 'bits' of 'new'. What did its "
                                            "designs have? Add --assume bits=VALUE (8, 16)"));
  EXPECT_THAT(message({{.name = "bits", .value = "4"}}, "new"),
              HasSubstr("--assume bits=4: bits has no such value. Known: 8, 16"));
  EXPECT_THAT(message({{.name = "bit", .value = "4"}}, "new"), HasSubstr("Did you mean 'bits'?"));
  EXPECT_THAT(error_of([] { static_cast<void>(parse_assumption("bits")); }).second, HasSubstr("is not NAME=VALUE"));
  const auto far = log("far.db", "a,y\n3,1\n5,2\n", "far");
  EXPECT_THAT(error_of([&] {
                load({newer, far}, {{.name = "bits", .value = "8"}}, "new");
              }).second,
              HasSubstr("no row of its space 'far' has values that 'new' has; the first that is missing: a=3"));
  const auto measured = log("m.db", "a,bits,y,area\n1,8,10,3\n2,16,15,4\n4,8,2,1\n2,8,7,9\n", "new",
                            {.objective = "y", .constraints = {"area"}});
  EXPECT_THAT(error_of([&] { load({newer, measured}); }).second, HasSubstr("several evaluators"));
  EXPECT_THAT(
      error_of([&] {
        load({newer, log("o2.db", "a,y,area\n1,10,3\n2,11,3\n", "o2", {.objective = "y", .constraints = {"area"}})},
             {{.name = "bits", .value = "8"}}, "new");
      }).second,
      HasSubstr("their numbers do not compare"));
}

}  // namespace
}  // namespace hindsight::dataset
