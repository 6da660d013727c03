/// Do the evaluators in configs/examples run, and do the adapters of other tools say so where the tool is missing?
#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "apps/app_fixture.h"
#include "hindsight/core/shell.h"
#include "repository.h"
#include "sweep/sweep_fixture.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

/// Two layers: 4 x 8 times 8 x 16 once, 2 x 2 times 2 x 2 six times.
constexpr const char* kWorkload =
    "format: 1\nname: pair\ndescription: for tests\nsource: made up\nstand_in: true\nbatch: 1\nlayers:\n"
    "  - {name: big, type: fully_connected, rows: 4, reduction: 8, columns: 16}\n"
    "  - {name: heads, type: matmul, rows: 2, reduction: 2, columns: 2, heads: 3, repeat: 2}\n";

/// Stands for the package: checks what it is given, and says of every layer m + n + k cycles.
constexpr const char* kScaleSim = R"(
import configparser, os
class scalesim:
    def __init__(self, save_disk_space, verbose, config, topology, input_type_gemm):
        self.config = configparser.ConfigParser()
        self.config.read(config)
        assert self.config.get('architecture_presets', 'Dataflow') in ('ws', 'os')
        assert input_type_gemm
        self.rows = open(topology).read().splitlines()[1:]
    def run_scale(self, top_path):
        print('it says much on standard output')
        os.mkdir(top_path + '/run')
        with open(top_path + '/run/COMPUTE_REPORT.csv', 'w') as out:
            out.write('LayerID, Total Cycles (incl. prefetch), Total Cycles, Stall Cycles,\n')
            for i, row in enumerate(self.rows):
                name, m, n, k, nothing = row.split(',')
                out.write(f'{i}, 1, {int(m) + int(n) + int(k)}, 0,\n')
)";

class ExampleEvaluators : public AppTest {
 protected:
  void SetUp() override {
    if (std::system("python3 -c '' 2>/dev/null") != 0) GTEST_SKIP() << "no python3";
    workload_ = write("pair.yaml", kWorkload);
  }
  [[nodiscard]] static std::string example(const std::string& name) {
    return (hindsight::test::repository() / "configs/examples" / name).string();
  }
  [[nodiscard]] static std::string python(const std::string& name) { return "python3 " + shell_quoted(example(name)); }
  [[nodiscard]] Outcome sweep(const std::string& command, const std::string& samples,
                              const Surroundings& surroundings = {}) const {
    return hindsight({"sweep", "--space", space_, "--workloads", workload_, "--samples", samples, "--log",
                      file("a.sqlite"), "--evaluator", command, "--quiet"},
                     surroundings);
  }
  [[nodiscard]] std::string value(const std::string& sql) const {
    SQLite::Database database(file("a.sqlite"), SQLite::OPEN_READONLY);
    return database.execAndGet(sql).getString();
  }
  std::string workload_, space_ = example("systolic.yaml");
};

TEST_F(ExampleEvaluators, OursRunsInTwentyLines) {
  const Outcome outcome = sweep(python("systolic.py"), "150");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(value("SELECT count(*) FROM evaluations"), "150");
  // By hand, 8 x 8 and weights stationary: one pass over 4 rows, 4 + 16 cycles, twice for 16 columns; six of 2 + 16.
  EXPECT_EQ(value("SELECT latency_s * 1e9 FROM evaluations JOIN designs USING (design_id) "
                  "WHERE text_id = 'rows=8,columns=8,sram_kib=64,dataflow=ws'"),
            "148.0");
  EXPECT_EQ(hindsight({"log", "verify", file("a.sqlite")}).exit_code, 0);
  workload_ = (hindsight::test::repository() / "data/workloads/mobilenet_v2.yaml").string();
  ASSERT_EQ(sweep(python("systolic.py"), "150").exit_code, 0);
  EXPECT_NE(value("SELECT count(*) FROM evaluation_violations WHERE code = 'sram'"), "0");
}

TEST_F(ExampleEvaluators, ScaleSimIsAskedWhereItIsInstalled) {
  write("scalesim/__init__.py", "");
  write("scalesim/scale_sim.py", kScaleSim);
  const Outcome outcome = sweep(python("scale_sim.py"), "3", {.environment = {{"PYTHONPATH", folder_.string()}}});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(value("SELECT DISTINCT latency_cycles FROM evaluations"), "64.0") << "28 + 6 * (2 + 2 + 2)";
}

TEST_F(ExampleEvaluators, TimeloopIsAskedWhereItIsInstalled) {
  const std::string tool =
      write("bin/timeloop-mapper",
            "#!/bin/sh\necho much; test \"$*\" = 'arch.yaml problem.yaml mapper.yaml' && grep -q 'entries' arch.yaml "
            "|| exit 1\n"
            "if grep -q 'PE\\[0..1023\\]' arch.yaml; then exit 0; fi\n"
            "printf 'Cycles: 1\\nSummary Stats\\nCycles: 100\\nEnergy: 2.50 uJ\\n' > timeloop-mapper.stats.txt\n");
  std::filesystem::permissions(tool, std::filesystem::perms::owner_all);
  const std::string path = (folder_ / "bin").string() + ":" + std::getenv("PATH");
  space_ = write("two.yaml",
                 "name: two\ndescription: Two arrays\nparameters:\n"
                 "  - {name: rows, unit: count, kind: ordinal, values: [8, 128], description: Rows}\n"
                 "  - {name: columns, unit: count, kind: ordinal, values: [8], description: Columns}\n"
                 "  - {name: sram_kib, unit: kib, kind: ordinal, values: [64], description: Memory}\n");
  const Outcome outcome = sweep(python("timeloop.py") + " {design.json} {workload.json} {out.json}", "2",
                                {.environment = {{"PATH", path}}});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(value("SELECT DISTINCT latency_cycles FROM evaluations WHERE feasible"), "700.0") << "seven products";
  EXPECT_EQ(value("SELECT DISTINCT round(energy_j * 1e6, 6) FROM evaluations WHERE feasible"), "17.5");
  EXPECT_EQ(value("SELECT text_id FROM evaluation_violations JOIN evaluations USING (evaluation_id) JOIN designs "
                  "USING (design_id) WHERE code = 'no_mapping'"),
            "rows=128,columns=8,sram_kib=64");
}

TEST_F(ExampleEvaluators, AMissingToolIsSaid) {
  write("scalesim/__init__.py", "");  // a package of that name, but empty: whatever is installed here is not seen
  expect_one_line_error(sweep(python("scale_sim.py"), "3", {.environment = {{"PYTHONPATH", folder_.string()}}}), 1,
                        "SCALE-Sim is not installed");
  if (std::system("command -v timeloop-mapper >/dev/null 2>&1") == 0) return;
  expect_one_line_error(sweep(python("timeloop.py") + " {design.json} {workload.json} {out.json}", "3"), 1,
                        "Timeloop is not installed");
}

}  // namespace
}  // namespace hindsight::app::test
