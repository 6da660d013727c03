/// Do tables that other people measured go through the whole layer? Skipped where they are absent.
#include <gmock/gmock.h>

#include "dataset/dataset_fixture.h"
#include "hindsight/dataset/csv_import.h"
#include "hindsight/dataset/load.h"
#include "hindsight/dataset/scaling.h"
#include "hindsight/dataset/split.h"
#include "repository.h"

namespace hindsight::dataset {
namespace {

using test::selection;

std::filesystem::path logs_folder() { return hindsight::test::shared_folder() / "data" / "logs"; }

class RealTables : public test::DatasetTest {
 protected:
  void SetUp() override {
    DatasetTest::SetUp();
    if (!std::filesystem::is_directory(logs_folder())) {
      GTEST_SKIP() << "no shared logs at " << logs_folder() << " (set HINDSIGHT_SHARED_DIR)";
    }
  }
  struct Imported {
    space::DesignSpace space;
    ImportResult result;
  };
  /// Infers, writes and reads back the space, imports.
  [[nodiscard]] Imported import(const std::string& name, const CsvRoles& roles) const {
    const CsvTable table = read_csv(logs_folder() / name);
    const space::DesignSpace inferred = infer_space(table, roles, table_name(table));
    const space::DesignSpace space = space::load_space_file(write("space.yaml", to_yaml(inferred)));
    EXPECT_EQ(space.definition_hash(), inferred.definition_hash());
    return {space, import_csv(table, roles, space, file_, Duplicates::first, test::provenance())};
  }
};

TEST_F(RealTables, TunedConvolutionsAreFullCartesian) {
  const CsvRoles roles{.objective = "time_ms",
                       .infeasible = "infeasible",
                       .reason = {},
                       .context = {},
                       .constraints = {},
                       .ignored = {}};
  for (const char* name : {"convolution_milo_A100.csv", "convolution_milo_A4000.csv", "convolution_milo_MI250X.csv",
                           "convolution_milo_W6600.csv"}) {
    const Imported imported = import(name, roles);
    EXPECT_EQ(imported.space.size(), 10'240U) << name;
    EXPECT_EQ(imported.result.inserted, 10'240U) << name;
    EXPECT_EQ(imported.result.rejected_count, 0U) << name;
    const double infeasible_frac = 1.0 - static_cast<double>(imported.result.feasible) / 10'240.0;
    EXPECT_GT(infeasible_frac, 0.56) << name;  // 57-62 % in the data's own description
    EXPECT_LT(infeasible_frac, 0.63) << name;
  }
  const Dataset data = load_dataset(file_, selection("time_ms"));  // one space, four applications
  EXPECT_EQ(data.contexts.size(), 4U);
  EXPECT_EQ(data.size(), 40'960U);
  EXPECT_NO_THROW(require_trainable(data));
}

TEST_F(RealTables, FailuresKeepTheirReasons) {
  const Imported imported = import("convolution_RTX_2080_Ti.csv", {.objective = "time_ms", .infeasible = "infeasible"});
  EXPECT_EQ(imported.space.size(), 16'896U);
  EXPECT_EQ(imported.result.inserted, 16'896U);
  const Dataset data = load_dataset(file_, selection("time_ms"));
  EXPECT_GT(data.reason_names.size(), 1U);
  EXPECT_THAT(data.reason_names, ::testing::Contains("constraint"));
}

TEST_F(RealTables, FortyLayersOfOneAccelerator) {
  const CsvRoles roles{.objective = "cycles",
                       .infeasible = {},
                       .reason = {},
                       .context = {"R", "S", "P", "Q", "C", "K", "N", "Wstride", "Hstride", "Wdil", "Hdil"},
                       .constraints = {"energy"},
                       .ignored = {}};
  const Imported imported = import("vaesa_grid.csv.gz", roles);
  EXPECT_EQ(imported.space.size(), 2304U);
  EXPECT_EQ(imported.result.inserted, 92'160U);
  EXPECT_EQ(imported.result.feasible, 92'160U);
  const Dataset data = load_dataset(file_, selection("cycles * energy"));
  EXPECT_EQ(data.contexts.size(), 40U);
  EXPECT_EQ(data.contexts.front().features.size(), 11);
  const Split parts = split(data, {});
  EXPECT_EQ(parts.validation.size(), 40U * 461U);  // 2304 - floor(0.8 * 2304)
  const Dataset train = data.subset(parts.train);
  const ContextScaler contexts = fit_context_scaler(train.contexts);
  const ObjectiveScaler scaler = fit_objective_scaler(train, contexts, value_scales(data).objective);
  EXPECT_TRUE(scaler.deviation.array().isFinite().all());
  EXPECT_TRUE((scaler.deviation.array() > 0).all());
  // A layer that is left out: the guess lies within the widened range of the others.
  const auto guess = scaler.scale("another layer", contexts.apply(train.contexts.front()));
  EXPECT_TRUE(guess.extrapolated);
  EXPECT_NEAR(guess.mean, scaler.mean[0], 3.0 * scaler.deviation.maxCoeff());
}

TEST_F(RealTables, PragmasOfHighLevelSynthesis) {
  const CsvRoles roles{.objective = "perf",
                       .infeasible = "valid=0",
                       .reason = {},
                       .context = {},
                       .constraints = {"util_BRAM", "util_DSP", "util_LUT", "util_FF"},
                       .ignored = {}};
  std::size_t tables = 0;
  Eigen::Index zeros = 0;
  for (const auto& entry : std::filesystem::directory_iterator(logs_folder() / "hlsyn")) {
    if (entry.path().extension() != ".csv") continue;
    ++tables;
    const Imported imported = import(entry.path().lexically_relative(logs_folder()).string(), roles);
    const ImportResult& result = imported.result;
    EXPECT_EQ(result.inserted + result.repeated + result.rejected_count, result.rows) << entry.path();
    EXPECT_EQ(result.contradictions, result.rejected_count) << entry.path();
    EXPECT_GT(result.feasible, 0U) << entry.path();
    // The tables hold designs that were synthesised again with another outcome, up to a third of the rows.
    EXPECT_THAT(result.rejected, ::testing::Each(::testing::HasSubstr("contradicts line"))) << entry.path();
    Selection wanted = selection("perf");
    wanted.space = imported.space.name();
    wanted.constraints = {"util_bram", "util_dsp", "util_lut", "util_ff"};  // zeros among them
    const Dataset data = load_dataset(file_, wanted);
    EXPECT_EQ(data.size(), result.inserted) << entry.path();
    EXPECT_EQ(data.feasible_count(), result.feasible) << entry.path();
    const ValueScales scales = value_scales(data);
    EXPECT_EQ(scales.objective, ValueScale::logarithmic) << entry.path();
    for (Eigen::Index k = 0; k < 4; ++k) {
      const bool zero = (data.constraints.col(k).array() == 0).any();
      if (zero) {
        EXPECT_EQ(scales.constraints[static_cast<std::size_t>(k)], ValueScale::linear) << entry.path();
      }
    }
    zeros += (data.constraints.array() == 0).count();
  }
  EXPECT_GT(tables, 10U);
  EXPECT_GT(zeros, 300) << "feasible rows that use none of a resource are kept";
}

}  // namespace
}  // namespace hindsight::dataset
