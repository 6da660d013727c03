/// Does the study of an old Optuna become the rows that it becomes when Optuna has upgraded it?
#include <SQLiteCpp/SQLiteCpp.h>

#include <nlohmann/json.hpp>

#include "apps/app_fixture.h"
#include "log/optuna_database.h"

namespace hindsight::app::test {
namespace {

using ::hindsight::test::kOptunaReleases;
using ::hindsight::test::make_optuna_database;
using ::hindsight::test::OptunaRelease;
using ::hindsight::test::OptunaRevision;
using Json = nlohmann::json;

class OptunaRevisionImport : public AppTest, public testing::WithParamInterface<OptunaRelease> {
 protected:
  [[nodiscard]] std::string made(const OptunaRelease& release) const {
    std::string path = file(std::string(release.id) + ".db");
    if (!std::filesystem::exists(path)) make_optuna_database(path, release);
    return path;
  }
  /// A new log with one study of `release`, and what was said.
  Json import(const OptunaRelease& release, const std::string& study, std::vector<std::string> more = {}) const {
    std::filesystem::remove(log_);
    more.insert(more.begin(), {"log", "import", made(release), "--log", log_, "--study", study, "--json"});
    const Outcome outcome = hindsight(more);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.exit_code == 0 ? Json::parse(outcome.out) : Json::object();
  }
  [[nodiscard]] std::string value(const std::string& sql) const {
    return SQLite::Database(log_).execAndGet(sql).getString();
  }
  [[nodiscard]] std::string designs() const {
    return value(
        "SELECT group_concat(text_id || ' ' || name || ' ' || value, '; ') FROM (SELECT text_id, name, value FROM "
        "evaluation_metrics JOIN evaluations USING (evaluation_id) JOIN designs USING (design_id) ORDER BY value)");
  }
  [[nodiscard]] std::string content() const { return hindsight({"log", "hash", log_}).out.substr(0, 64); }

  const std::string log_ = file("a.sqlite");
};

INSTANTIATE_TEST_SUITE_P(All, OptunaRevisionImport, testing::ValuesIn(kOptunaReleases), [](const auto& one) {
  std::string name = one.param.id;
  std::ranges::replace(name, '.', '_');
  return name;
});

TEST_P(OptunaRevisionImport, EveryUsableTrialIsARow) {
  const OptunaRevision revision = GetParam().revision;
  const bool has_nan = revision < OptunaRevision::v2_4_0_a || revision >= OptunaRevision::v3_0_0_b;
  const Json said = import(GetParam(), "latency", {"--constraint", "area"});
  EXPECT_EQ(said.at("format"), "Optuna study");
  EXPECT_EQ(said.at("feasible"), 2);
  EXPECT_EQ(said.at("infeasible"), (Json{{"fail", 1}, {"inf", 2}, {"pruned", has_nan ? 3 : 2}}));
  Json left_out{{"still running", 1}};
  if (revision >= OptunaRevision::v1_2_0_a) left_out["waiting to run"] = 1;
  EXPECT_EQ(said.at("left_out"), left_out);
  EXPECT_EQ(designs(),
            "x=-1.5,rate=1e-05,share=0,tile=2,ways=64,mode=ws value 0.3; "
            "x=0.1,rate=0.00025,share=0.75,tile=1,ways=2,mode=None value 2.5; "
            "x=0.1,rate=0.00025,share=0.75,tile=1,ways=2,mode=None area 12.5");
  EXPECT_EQ(value("SELECT value = 0.1 + 0.2 FROM evaluation_metrics ORDER BY value"), "1") << "to the last bit";
  EXPECT_EQ(value("SELECT message FROM evaluation_violations WHERE code = 'fail'"), "it fell over");
}

TEST_P(OptunaRevisionImport, TheLogIsThatOfTheNewestRevision) {
  const std::vector<std::vector<std::string>> options{{"--pruned", "skip"}, {"--objective", "ms", "--pruned", "skip"}};
  for (const std::vector<std::string>& more : options) {
    import(GetParam(), "latency", more);
    const std::string hash = content();
    import(kOptunaReleases.back(), "latency", more);
    EXPECT_EQ(hash, content());
  }
  import(GetParam(), "speed");
  const std::string hash = content();
  import(kOptunaReleases.back(), "speed");
  EXPECT_EQ(hash, content());
}

TEST_P(OptunaRevisionImport, APrunedTrialHasItsLastIntermediateValue) {
  const Json said = import(GetParam(), "latency", {"--pruned", "last"});
  EXPECT_EQ(said.at("feasible"), 3);
  EXPECT_EQ(said.at("infeasible").at("inf"), 3);
  EXPECT_EQ(value("SELECT text_id FROM evaluation_metrics JOIN evaluations USING (evaluation_id) JOIN designs USING "
                  "(design_id) WHERE value = 7.5"),
            "x=-1.5,rate=1e-05,share=0,tile=6,ways=64,mode=ws");
}

TEST_P(OptunaRevisionImport, ObjectivesAreTheirOwn) {
  if (GetParam().revision >= OptunaRevision::v1_3_0_a) {
    EXPECT_EQ(import(GetParam(), "pair", {"--objective", "value_1"}).at("feasible"), 1);
    EXPECT_EQ(designs(),
              "x=-1.5,rate=1e-05,share=0,tile=4,ways=64,mode=ws value_0 0.5; "
              "x=-1.5,rate=1e-05,share=0,tile=4,ways=64,mode=ws value_1 1.5");
  }
  if (GetParam().revision >= OptunaRevision::v2_4_0_a) {
    EXPECT_EQ(import(GetParam(), "both", {"--objective", "value_1"}).at("feasible"), 1);
    EXPECT_EQ(designs(),
              "x=0.30000000000000004,rate=0.001,share=1,tile=4,ways=4,mode=0.5 value_0 1.25; "
              "x=0.30000000000000004,rate=0.001,share=1,tile=4,ways=4,mode=0.5 value_1 80.0");
  }
  const std::vector<std::string> single{"log",     "import", made(GetParam()), "--log", file("b.sqlite"),
                                        "--study", "empty"};
  expect_one_line_error(hindsight(single), 2, "has no row to import");
}

}  // namespace
}  // namespace hindsight::app::test
