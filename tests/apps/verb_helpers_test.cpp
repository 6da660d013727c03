/// Do the helpers behind the verbs (tables, roles of columns and files, plans, output) hold what their headers say?
#include <nlohmann/json.hpp>
#include <utility>

#include "apps/app_fixture.h"
#include "apps/hindsight/csv_roles.h"
#include "apps/hindsight/file_roles.h"
#include "apps/hindsight/gemm_csv.h"
#include "apps/hindsight/given_calibrations.h"
#include "apps/hindsight/measure_plan.h"
#include "apps/hindsight/measure_sink.h"
#include "apps/hindsight/output.h"
#include "apps/hindsight/recipe_choice.h"
#include "hindsight/core/error.h"
#include "hindsight/log/gpu_measurements.h"
#include "hindsight/log/query.h"
#include "repository.h"

namespace hindsight::app::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

class VerbHelpers : public AppTest {};

/// The text of the usage error that `action` ends with; empty when it ends with none.
template <typename Action>
std::string usage_error(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage) << error.what();
    return error.what();
  }
  return "";
}

TEST_F(VerbHelpers, EveryColumnWithARoleMustBeInTheTable) {
  const dataset::CsvTable table = dataset::read_csv(write("t.csv", "size,colour,status,why,cost_ms\n1,red,ok,,5\n"));
  const CsvRoleOptions good{.objective = "cost_ms",
                            .infeasible = "status=fail",
                            .reason = "why",
                            .context = {"size"},
                            .constraints = {},
                            .ignored = {"colour"}};
  const dataset::CsvRoles roles = good.resolve(table);
  EXPECT_EQ(roles.objective, "cost_ms");
  EXPECT_EQ(roles.infeasible, "status=fail");
  EXPECT_EQ(roles.reason, "why");
  EXPECT_THAT(roles.context, ElementsAre("size"));
  EXPECT_THAT(roles.ignored, ElementsAre("colour"));
  EXPECT_FALSE(CsvRoleOptions{}.resolve(table).infeasible.has_value());
  for (auto member : {&CsvRoleOptions::objective, &CsvRoleOptions::infeasible, &CsvRoleOptions::reason}) {
    CsvRoleOptions bad = good;
    bad.*member = "colou";
    EXPECT_THAT(usage_error([&] { static_cast<void>(bad.resolve(table)); }), HasSubstr("'colour'"));
  }
  for (auto member : {&CsvRoleOptions::context, &CsvRoleOptions::constraints, &CsvRoleOptions::ignored}) {
    CsvRoleOptions bad = good;
    (bad.*member).emplace_back("colou");
    EXPECT_THAT(usage_error([&] { static_cast<void>(bad.resolve(table)); }), HasSubstr("'colour'"));
  }
}

TEST_F(VerbHelpers, AStarInAListStandsForColumnsThatNobodyNames) {
  const dataset::CsvTable table =
      dataset::read_csv(write("t.csv", "size,hw_1,hw_2_ms,hw_3,a*b,other_ms,cost_ms\n1,2,3,4,5,6,7\n"));
  const auto resolved = [&](std::vector<std::string> context, std::vector<std::string> constraints,
                            std::vector<std::string> ignored) {
    return CsvRoleOptions{.objective = "cost_ms",
                          .infeasible = {},
                          .reason = {},
                          .context = std::move(context),
                          .constraints = std::move(constraints),
                          .ignored = std::move(ignored)}
        .resolve(table);
  };
  EXPECT_THAT(resolved({}, {}, {"hw_*"}).ignored, ElementsAre("hw_1", "hw_2_ms", "hw_3"));
  EXPECT_THAT(resolved({}, {"hw_2_ms"}, {"hw_*"}).ignored, ElementsAre("hw_1", "hw_3")) << "the other has a role";
  EXPECT_THAT(resolved({}, {"*_ms"}, {}).constraints, ElementsAre("hw_2_ms", "other_ms")) << "the objective has a role";
  EXPECT_THAT(resolved({"h*w*_*"}, {}, {}).context, ElementsAre("hw_1", "hw_2_ms", "hw_3"));
  EXPECT_THAT(resolved({}, {}, {"a*b"}).ignored, ElementsAre("a*b")) << "a column of this name";
  EXPECT_THAT(resolved({}, {}, {"hw_3", "*3"}).ignored, ElementsAre("hw_3")) << "not twice";
  EXPECT_THAT(usage_error([&] { static_cast<void>(resolved({}, {}, {"counter_*"})); }),
              HasSubstr("no column that has no other role is like 'counter_*'"));
}

TEST_F(VerbHelpers, ColumnsWithoutARoleSpanASpaceNamedAfterTheFile) {
  const dataset::CsvTable table =
      dataset::read_csv(write("My Table.csv", "a,b,cost_ms\n1,red,5\n2,blue,4\n1,blue,3\n2,red,6\n"));
  const dataset::CsvRoles roles{.objective = "cost_ms"};
  const space::DesignSpace space = infer_csv_space(table, roles, "");
  EXPECT_EQ(space.name(), "my_table");
  ASSERT_EQ(space.parameters().size(), 2U);
  EXPECT_EQ(space.parameters()[0].name, "a");
  EXPECT_EQ(space.parameters()[1].name, "b");
  EXPECT_EQ(infer_csv_space(table, roles, "chips").name(), "chips");
}

TEST_F(VerbHelpers, OutputsMayNotMeetInputsOrEachOther) {
  const std::string log = write("a.sqlite", "x");
  const auto refused = [](const FileRoles& roles) { return usage_error([&] { roles.require_usable(); }); };
  EXPECT_EQ(refused(FileRoles().reads_log("--log", log).writes("--out", file("b"))), "");
  EXPECT_THAT(refused(FileRoles().reads_log("--log", log).writes("--out", log + "-wal")),
              AllOf(HasSubstr("--out "), HasSubstr("is the file that --log "), HasSubstr("reads")));
  EXPECT_THAT(refused(FileRoles().writes("--out", file("b")).writes("--report", (folder_ / "." / "b").string())),
              AllOf(HasSubstr("--report "), HasSubstr("is the file that --out "), HasSubstr("writes")));
  EXPECT_THAT(refused(FileRoles().reads("--space", log).writes_model("--out", file("a.sqlite"))), HasSubstr("--space"));
  // A model's card lies beside it.
  const std::string notes = write("m.md", "x");
  EXPECT_THAT(refused(FileRoles().reads("--notes", notes).writes_model("--out", file("m.safetensors"))),
              HasSubstr("--out (model card)"));
}

TEST_F(VerbHelpers, NamesStandardStreamsAndDevicesClashWithNothing) {
  const auto refused = [](const FileRoles& roles) { return usage_error([&] { roles.require_usable(); }); };
  EXPECT_EQ(refused(FileRoles().reads("--space", "edge,tiny").writes("--out", "").writes("--csv", "-")), "");
  EXPECT_EQ(refused(FileRoles().writes("--out", "/dev/null").writes("--csv", "/dev/null")), "");
  // One of a list, and a file whose name has a comma.
  const std::string one = write("one.yaml", "x"), comma = write("a,b.yaml", "x");
  EXPECT_THAT(refused(FileRoles().reads("--gpu", "l4," + one).writes("--out", one)), HasSubstr("--gpu"));
  EXPECT_THAT(refused(FileRoles().reads("--gpu", comma).writes("--out", comma)), HasSubstr("--gpu"));
  EXPECT_THAT(refused(FileRoles().writes("--out", file("none/b"))), HasSubstr("mkdir -p " + file("none")));
}

TEST_F(VerbHelpers, TextGoesToTheFileAsAWhole) {
  EXPECT_TRUE(is_standard_output(""));
  EXPECT_TRUE(is_standard_output("-"));
  EXPECT_FALSE(is_standard_output("a"));
  const std::string text(200'000, 'x');
  print_or_write(file("a.txt"), text);
  EXPECT_EQ(read_file(file("a.txt")), text);
  EXPECT_THROW(print_or_write(file("none/a.txt"), text), Error);
  EXPECT_FALSE(std::filesystem::exists(file("none")));
}

TEST_F(VerbHelpers, WhatIsSaidIsOneLineThatATerminalDoesNotObey) {
  const auto said = [](const auto& say) {
    ::testing::internal::CaptureStderr();
    say();
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(said([] { complain("a\nb\tc"); }), "hindsight: error: a b c\n");
  EXPECT_EQ(said([] { remark("d\r\ne"); }), "hindsight: d  e\n");
  EXPECT_EQ(said([] { complain("\x1b[31m\x7f"); }).find_first_of("\x1b\x7f"), std::string::npos);
  const std::string long_line = said([] { complain(std::string(1000, 'x')); });
  EXPECT_LE(display_width(long_line), 401U);  // with its end
  EXPECT_EQ(long_line.back(), '\n');
}

TEST_F(VerbHelpers, AMeasurePlanHasEveryShapeFormatAndMode) {
  std::size_t shapes = 0;
  for (const gpu::DType dtype : measure::kMeasuredDTypes) shapes += measure::grid(dtype).size();
  MeasureOptions options;
  EXPECT_EQ(gemm_plan(options).size(), shapes);
  options.mode = "burst,sustained";
  EXPECT_EQ(gemm_plan(options).size(), 2 * shapes);
  options.dtype = "bf16";
  options.mode = "sustained";
  options.shapes = "sustained";
  EXPECT_EQ(gemm_plan(options).size(), measure::sustained_shapes(gpu::DType::bf16).size());
}

TEST_F(VerbHelpers, TheTiledKernelIsPlannedForSingleProductsInFp32OverItsTiles) {
  MeasureOptions options;
  options.kernel = "tiled";
  options.first_tile = 2;
  options.last_tile = 4;
  options.shapes = write("shapes.csv", "m,n,k,batch\n64,32,16,1\n64,32,16,8\n");
  const std::vector<measure::Task> plan = gemm_plan(options);
  ASSERT_EQ(plan.size(), 3U);  // 1 single product x tiles 2, 3, 4
  for (std::size_t i = 0; i < plan.size(); ++i) {
    EXPECT_EQ(plan[i].tile, static_cast<int>(i) + 2);
    EXPECT_EQ(plan[i].gemm.m, 64);
    EXPECT_EQ(plan[i].gemm.dtype, gpu::DType::fp32);
    EXPECT_EQ(plan[i].gemm.layout, gpu::Layout::nn);
  }
}

TEST_F(VerbHelpers, AMeasurePlanRefusesWhatItDoesNotKnow) {
  const auto refused = [](const MeasureOptions& options) {
    return usage_error([&] { static_cast<void>(gemm_plan(options)); });
  };
  MeasureOptions options;
  options.kernel = "cublastl";
  EXPECT_THAT(refused(options), AllOf(HasSubstr("--kernel 'cublastl'"), HasSubstr("cublaslt")));
  options = {};
  options.m = 8;
  options.k = 8;
  EXPECT_THAT(refused(options), HasSubstr("-n is missing"));
  options = {};
  options.shapes = write("bad.csv", "m,n,k\n1,2,3\n1,0,3\n");
  EXPECT_THAT(refused(options), AllOf(HasSubstr("bad.csv:3:3: n '0' is not a whole number"), HasSubstr("Columns: ")));
}

/// The rows of a table as JSON, and what is said of it.
struct PredictedTable {
  nlohmann::json rows;
  TableSummary summary;
};
PredictedTable predicted_table(TableRequest request) {
  request.format = report::TableFormat::json;
  std::string text;
  PredictedTable table;
  table.summary = predict_table(request, {.write = [&](std::string_view piece) { text += piece; }});
  table.rows = nlohmann::json::parse(text).at("rows");
  return table;
}

TEST_F(VerbHelpers, ATableOfProductsTakesWhatItsRowsLeaveOutFromTheDefaults) {
  const std::string csv = write("t.csv", "M,N,K,dtype,batch,note\n64,32,16,,,a\n64,32,16,fp16,4,b\n");
  const PredictedTable predicted = predicted_table({.file = csv, .gpus = "l4,h100-sxm5", .defaults = {.batch = 2}});
  ASSERT_EQ(predicted.rows.size(), 4U);  // 2 rows x 2 GPUs
  const nlohmann::json &first = predicted.rows.at(0), &last = predicted.rows.at(3);
  EXPECT_EQ(first.at("batch"), 2);
  EXPECT_EQ(first.at("dtype"), "bf16");
  EXPECT_EQ(last.at("batch"), 4);
  EXPECT_EQ(last.at("dtype"), "fp16");
  EXPECT_EQ(last.at("layout"), gpu::to_string(gpu::usual_layout(4)));
  EXPECT_EQ(predicted.summary.predictions, 4U);
  EXPECT_THAT(predicted.summary.remarks, ::testing::Contains(EndsWith("kept, not used: note")));
}

TEST_F(VerbHelpers, ATableOfProductsSaysWhereAndWhatItShouldLookLike) {
  const auto refused = [&](const std::string& text, const std::string& gpus) {
    const std::string csv = write("t.csv", text);
    return usage_error([&] { static_cast<void>(predicted_table({.file = csv, .gpus = gpus})); });
  };
  EXPECT_THAT(refused("m,n\n1,2\n", "l4"), AllOf(HasSubstr("t.csv:1:1: no column 'k'. "), HasSubstr("Columns: m,n,k")));
  EXPECT_THAT(refused("m,n,k\n1,2,3\n1,two,3\n", "l4"), HasSubstr("t.csv:3:3: n 'two' is not a whole number"));
  EXPECT_THAT(refused("m,n,k,dtype\n1,2,3,bf61\n", "l4"), AllOf(HasSubstr("t.csv:2:7: "), HasSubstr("bf16")));
  EXPECT_THAT(refused("m,n,k,dtype\n1,2,3,fp8\n", "t4"),
              HasSubstr("t4 has no fp8 arithmetic. It has: fp32, fp16, int8. "));
}

TEST_F(VerbHelpers, AllGpusLeavesOutThoseThatLackAFormat) {
  const std::string csv = write("t.csv", "m,n,k,dtype\n64,64,64,fp8\n");
  const PredictedTable predicted = predicted_table({.file = csv, .gpus = "all"});
  std::vector<std::string> gpus;
  for (const nlohmann::json& row : predicted.rows) gpus.push_back(row.at("gpu"));
  EXPECT_THAT(gpus, AllOf(::testing::Contains("l4"), ::testing::Not(::testing::Contains("t4"))));
  EXPECT_THAT(predicted.summary.remarks, ::testing::Contains(AllOf(HasSubstr("left out"), HasSubstr("t4"))));
}

TEST_F(VerbHelpers, GivenCalibrationsBelongToTheGpusOnceEach) {
  const std::string h100 = (::hindsight::test::repository() / "data/gpus/calibration/gemm/h100-sxm5.yaml").string();
  EXPECT_TRUE(read_given_calibrations("", gpu::load_gpus("l4")).empty());
  const std::vector<gpu::Calibration> given = read_given_calibrations(h100, gpu::load_gpus("l4,h100-sxm5"));
  ASSERT_EQ(given.size(), 1U);
  EXPECT_EQ(given[0].gpu, "h100-sxm5");
  const auto refused = [](const std::string& list, const std::string& gpus) {
    return usage_error([&] { static_cast<void>(read_given_calibrations(list, gpu::load_gpus(gpus))); });
  };
  EXPECT_THAT(refused(h100, "l4"), HasSubstr("not among those of --gpu (l4)"));
  EXPECT_THAT(refused(h100 + "," + h100, "h100-sxm5"), HasSubstr("a second file of h100-sxm5"));
}

/// A log that takes no more rows, as on a full disk, costs no measurement: what was taken is there to be shown.
TEST_F(VerbHelpers, WhatALogDoesNotTakeIsKeptInMemory) {
  const Provenance provenance{.command_line = "hindsight measure gemm",
                              .version = "0",
                              .commit = "",
                              .host = "",
                              .user = "",
                              .started_at = "2026-01-01T00:00:00Z",
                              .cwd = ""};
  measure::Session device;
  device.gpu_name = "NVIDIA Test";
  device.gpu_uuid = "GPU-1";
  device.sensor = "nvml";
  measure::GemmRow row;
  row.task = "gemm/tiled/fp32/nn/b1/8x8x8/burst/tile1";
  row.kernel = "tiled";
  row.dtype = "fp32";
  row.layout = "nn";
  row.m = row.n = row.k = 8;
  row.mode = "burst";
  row.status = "ok";
  row.latency_s = 1e-6;
  const std::string log = file("gpu.sqlite");
  MeasureSink sink(log, provenance, true);
  sink.session(device);
  sink.results({row}, {});
  row.rank = 1;
  row.status = "a status that the schema refuses";
  EXPECT_THROW(sink.results({row}, {}), Error);
  sink.give_up();
  EXPECT_EQ(sink.records().gemms.size(), 2U);
  const log::Log read = log::Log::open(log, log::OpenMode::read_only);
  const std::vector<measure::SessionRecords> stored = log::gpu_measurements(read);
  ASSERT_EQ(stored.size(), 1U);
  EXPECT_EQ(stored[0].gemms.size(), 1U);
  EXPECT_EQ(log::recent_runs(read, 1).at(0).status, "failed");
}

TEST(TrainingTimes, OfARecipeAreAsLongAsItsOthers) {
  TrainingTimes times(2, 2);
  EXPECT_FALSE(times.remaining().has_value());
  times.add("margins", 3);
  EXPECT_FALSE(times.remaining().has_value()) << "what the other takes nobody knows";
  times.add("v0.1", 20);
  EXPECT_DOUBLE_EQ(*times.remaining(), 23);
  times.add("margins", 5);
  EXPECT_DOUBLE_EQ(*times.remaining(), 20);
  times.add("v0.1", 20);
  EXPECT_DOUBLE_EQ(*times.remaining(), 0);
}

}  // namespace
}  // namespace hindsight::app::test
