/// Does `hindsight gemm` answer for one product, GPUs side by side, tables and networks, and refuse nonsense in one
/// line?
#include <fcntl.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "apps/gemm_fixture.h"
#include "edited_yaml.h"
#include "hindsight/core/terminal.h"
#include "hindsight/gpu/spec.h"
#include "repository.h"
#include "tolerances.h"

namespace hindsight::app::test {
namespace {

using hindsight::test::EditedYaml;
using hindsight::test::kRounding;
using hindsight::test::kSixDigits;
using hindsight::test::relative_error;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) result.push_back(line);
  return result;
}

TEST_F(GemmVerb, OneProductOnOneGpu) {
  const Json result = json(product("h100-sxm5", "4096"));
  EXPECT_EQ(result.at("gemm").at("dtype"), "bf16");
  const Json& gpu = result.at("gpus").at(0);
  const double latency_us = gpu.at("latency_us"), power_w = gpu.at("power_w"), energy_mj = gpu.at("energy_mj");
  EXPECT_GE(latency_us, gpu.at("roofline_us").get<double>());
  EXPECT_LE(relative_error(energy_mj, power_w * latency_us * 1e-3), kRounding);
  EXPECT_LE(relative_error(gpu.at("tflops"), 2 * 4096.0 * 4096 * 4096 / latency_us * 1e-6), kRounding);
  const Json settled = json(with(product("h100-sxm5", "4096"), {"--mode", "sustained"})).at("gpus").at(0);
  EXPECT_LE(settled.at("power_w").get<double>(), gpu.at("tdp_w").get<double>());
  EXPECT_LT(settled.at("power_w").get<double>(), power_w) << "a burst's clock has not fallen as far";
  const Outcome text = gemm(product("h100-sxm5", "4096"));
  for (const char* part : {"latency", "TFLOP/s", "bound by", "power", "energy", "SM clock", "DRAM traffic", "kernel"}) {
    EXPECT_THAT(text.out, HasSubstr(part));
  }
}

TEST_F(GemmVerb, ExplainsTheTermsOneLineEach) {
  const Outcome outcome = gemm(with(product("l40s", "2048"), {"--explain"}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::vector<std::string> all = lines(outcome.out);
  for (const char* term : {"launch", "fill", "math", "L2", "DRAM", "reduction"}) {
    EXPECT_GE(std::count_if(all.begin(), all.end(), [&](const auto& line) { return line.starts_with(term); }), 1)
        << term;
  }
}

/// Watts of the line that begins with `name`.
double watts_of(const std::vector<std::string>& all, const std::string& name) {
  for (const std::string& line : all) {
    if (!line.starts_with(name + " ")) continue;
    std::istringstream words(line.substr(name.size()));
    double value = 0;
    std::string unit;
    words >> value >> unit;
    for (const auto& [name_of_unit, watts] : {std::pair("W", 1.0), {"mW", 1e-3}, {"µW", 1e-6}, {"nW", 1e-9}}) {
      if (unit == name_of_unit) return value * watts;
    }
  }
  ADD_FAILURE() << "no watts of " << name;
  return 0;
}

/// The lines of power add up to the power, at the cap (H100) and below it (a small product).
TEST_F(GemmVerb, ExplainsWhatThePowerIsMadeOf) {
  for (const char* size : {"4096", "512"}) {
    const std::vector<std::string> settled = with(product("h100-sxm5", size), {"--mode", "sustained"});
    const Outcome outcome = gemm(with(settled, {"--explain"}));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const std::vector<std::string> all = lines(outcome.out);
    double sum_w = 0;
    for (const char* term : {"idle", "busy SMs", "operations", "L2 bytes", "DRAM bytes"}) sum_w += watts_of(all, term);
    const double power_w = json(settled).at("gpus").at(0).at("power_w");
    EXPECT_NEAR(sum_w, power_w, 0.01 * power_w) << "terms are shown with three digits";
    EXPECT_GT(watts_of(all, "cap"), power_w * (1 - kRounding));
    EXPECT_EQ(outcome.out.find("the cap binds") != std::string::npos, std::string(size) == "4096");
  }
  const Outcome network = gemm({"--gpu", "l4", "--workload", "bert_base", "--explain"});
  EXPECT_THAT(network.out, HasSubstr("\nDRAM bytes"));
  EXPECT_THAT(network.out, HasSubstr("\ninference"));
}

/// GPPerf's first experiment from the command line: 32 tile sizes, 16 x 16 against the rest.
TEST_F(GemmVerb, TiledKernelAtEveryTileSize) {
  const Json result = json(with(product("rtx-4070", "4096"), {"--tiled"}));
  const Json& gpu = result.at("gpus").at(0);
  ASSERT_EQ(gpu.at("tiles").size(), 32U);
  double best_us = 1e300;
  int best = 0;
  std::vector<int> measured;
  for (const Json& tile : gpu.at("tiles")) {
    EXPECT_LE(relative_error(tile.at("tflops"), 2 * 4096.0 * 4096 * 4096 / tile.at("latency_us").get<double>() * 1e-6),
              kRounding);
    if (tile.at("extrapolated")) continue;
    measured.push_back(tile.at("tile"));
    if (tile.at("latency_us") >= best_us) continue;
    best_us = tile.at("latency_us");
    best = tile.at("tile");
  }
  EXPECT_EQ(measured, (std::vector{1, 4, 8, 16, 32})) << "the tiles of GPPerf's rows";
  EXPECT_EQ(best, 16) << "as docs/gpu.md and the measurements say, whatever the model makes of 27";
  EXPECT_EQ(gpu.at("best_tile"), best);
  EXPECT_EQ(gpu.at("best_over_16"), 1);
  const Outcome text = gemm(with(product("rtx-4070,l4", "1000"), {"--tiled"}));
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("rtx-4070, plain tiled kernel, fp32, 1000 x 1000 x 1000: best measured tile 16"));
  EXPECT_THAT(text.out, HasSubstr("l4, plain tiled kernel"));
  EXPECT_THAT(text.out, HasSubstr("\n 27* "));
  EXPECT_THAT(text.out, HasSubstr("\n 16   "));
  EXPECT_THAT(text.out, HasSubstr("of an rtx-4070; on l4 all are"));
  EXPECT_EQ(lines(text.out).size(), 2 * (1 + 1 + 1 + 32 + 1) + 1U)
      << "summary, header, rule, tiles, note; a line between";
  expect_one_line_error(gemm(with(product("l4", "64"), {"--tiled", "--dtype", "fp16"})), 2, "fp32");
  expect_one_line_error(gemm({"--gpu", "l4", "--workload", "mobilenet_v2", "--tiled"}), 2, "--tiled goes with -m");
}

TEST_F(GemmVerb, CandidatesAreRankedAndTheFirstIsThePrediction) {
  const Json result = json(with(product("h100-sxm5", "1000"), {"--candidates"}));
  const Json& gpu = result.at("gpus").at(0);
  const Json& candidates = gpu.at("candidates");
  ASSERT_GE(candidates.size(), 3U);
  EXPECT_EQ(candidates.at(0).at("tile"), gpu.at("tile"));
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    EXPECT_LE(candidates.at(i - 1).at("latency_us").get<double>(), candidates.at(i).at("latency_us").get<double>());
  }
  EXPECT_THAT(gemm(with(product("h100-sxm5", "1000"), {"--candidates"})).out, HasSubstr("1.00 x"));
}

TEST_F(GemmVerb, AllGpusSideBySideTheFastestFirst) {
  const Json result = json(product("all", "4096"));
  const Json& gpus = result.at("gpus");
  EXPECT_EQ(gpus.size() + result.at("left_out").size(), gpu::gpu_names().size());
  for (std::size_t i = 1; i < gpus.size(); ++i) {
    EXPECT_LE(gpus.at(i - 1).at("latency_us").get<double>(), gpus.at(i).at("latency_us").get<double>());
  }
  const Outcome text = gemm(with(product("all", "4096"), {"--dtype", "fp8"}));
  EXPECT_THAT(text.out, HasSubstr("Left out, no fp8: a10, a100-pcie-40gb"));
  EXPECT_EQ(json(product("l4,h200", "512")).at("gpus").at(0).at("gpu"), "l4");
}

TEST_F(GemmVerb, SaysWhatIsNotCalibratedOrOutsideTheValidatedRange) {
  EXPECT_THAT(gemm(product("gh200", "4096")).out, HasSubstr("gh200 is not calibrated"));
  EXPECT_EQ(json(product("gh200", "4096")).at("gpus").at(0).at("in_validated_range"), false);
  const Outcome outside = gemm({"--gpu", "h100-sxm5", "-m", "2000000", "-n", "4096", "-k", "4096"});
  EXPECT_THAT(outside.out, HasSubstr("outside the range that was validated"));
}

TEST_F(GemmVerb, SaysThatRowsOff16BytesWereNotMeasured) {
  const std::vector<std::string> shape = {"--gpu", "h100-sxm5", "-m", "4097", "-n", "4099", "-k", "4101"};
  EXPECT_THAT(gemm(shape).out, HasSubstr("Not measured: n = 4099 and k = 4101 are no multiples of 8 (16 bytes)."));
  const Json off = json(shape).at("gpus").at(0);
  EXPECT_EQ(off.at("aligned"), false);
  EXPECT_EQ(off.at("in_validated_range"), false);
  EXPECT_THAT(gemm(product("h100-sxm5", "4096")).out, Not(HasSubstr("Not measured")));
  EXPECT_THAT(gemm(with(product("a100-pcie-40gb", "4099"), {"--dtype", "fp32"})).out, Not(HasSubstr("Not measured")))
      << "the CUDA cores' kernels take any";
  const Outcome table = gemm({"--gpu", "h100-sxm5", "--csv", write("t.csv", "m,n,k\n64,4099,64\n64,64,64\n")});
  EXPECT_THAT(table.err, HasSubstr("1 of 2 predictions are of rows that fill no 16 bytes"));
}

TEST_F(GemmVerb, SaysThatOperandsExceedTheMemory) {
  const std::vector<std::string> batch = with(product("h100-sxm5,h200", "4096"), {"--batch", "1000000"});
  EXPECT_THAT(gemm(batch).out, HasSubstr("Operands and result take 91.6 TiB, more than the memory of h100-sxm5 ("));
  const Json result = json(batch);
  EXPECT_EQ(result.at("operand_bytes"), 1e6 * 3 * 2 * 4096 * 4096);
  EXPECT_EQ(result.at("gpus").at(1).at("fits_memory"), false);
  EXPECT_EQ(json(product("h100-sxm5", "4096")).at("gpus").at(0).at("fits_memory"), true);
  EXPECT_THAT(gemm(product("h100-sxm5", "4096")).out, Not(HasSubstr("more than the memory")));
  const std::string table = write("t.csv", "m,n,k,batch\n4096,4096,4096,1000000\n64,64,64,1\n");
  EXPECT_THAT(gemm({"--gpu", "h100-sxm5", "--csv", table}).err,
              HasSubstr("1 of 2 predictions are of operands and results that the GPU's memory cannot hold"));
}

/// An H100 idles at 120 W: a limit of 121 W is printed with the lowest that can be met.
TEST_F(GemmVerb, SaysThatAPowerLimitCannotBeMet) {
  const EditedYaml sheet("data/gpus/h100-sxm5.yaml", "tdp_w: 700", "tdp_w: 121");
  const char* const note = "Power limit of h100-sxm5 not met: at the lowest clock, 210 MHz, it draws more than 121 W";
  EXPECT_THAT(gemm(product(sheet.path(), "4096")).out, HasSubstr(note));
  EXPECT_THAT(gemm(product(sheet.path() + ",l4", "4096")).out, HasSubstr(note));
  EXPECT_THAT(gemm({"--gpu", sheet.path(), "--workload", "bert_base"}).out, HasSubstr(note));
  EXPECT_THAT(hindsight({"kernel", "grouped", "--gpu", sheet.path(), "--rows", "64,64", "-n", "512", "-k", "512"}).out,
              HasSubstr(note));
  const Outcome table = gemm({"--gpu", sheet.path(), "--csv", write("t.csv", "m,n,k\n64,64,64\n")});
  EXPECT_THAT(table.err, HasSubstr("1 of 1 predictions are above their GPU's power limit"));
  const double least_w = json(product(sheet.path(), "4096")).at("gpus").at(0).at("least_limit_w");
  EXPECT_GT(least_w, 121);
  const EditedYaml met("data/gpus/h100-sxm5.yaml", "tdp_w: 700", "tdp_w: " + std::to_string(least_w));
  EXPECT_THAT(gemm(product(met.path(), "4096")).out, Not(HasSubstr("not met")));
  EXPECT_TRUE(json(product(met.path(), "4096")).at("gpus").at(0).at("least_limit_w").is_null());
}

/// A T4 at half its clock, of a product that waits for DRAM and draws more than its 70 W.
TEST_F(GemmVerb, SaysWhereALockComesOutFasterThanTheLimitAlone) {
  const EditedYaml sheet("data/gpus/t4.yaml", "boost_mhz: 1590", "boost_mhz: 1590\n  locked_mhz: 795");
  const char* const note = "t4 is predicted faster than without its lock (";
  const auto of = [](const std::string& gpu, const std::string& m) {
    return std::vector<std::string>{"--gpu", gpu,     "-m",      m,      "-n",     "16384",
                                    "-k",    "16384", "--dtype", "fp16", "--mode", "sustained"};
  };
  const Json locked = json(of(sheet.path(), "128")).at("gpus").at(0);
  const Json own = json(of("t4", "128")).at("gpus").at(0);
  EXPECT_TRUE(own.at("latency_without_lock_us").is_null());
  EXPECT_LE(relative_error(locked.at("latency_without_lock_us"), own.at("latency_us").get<double>()), kRounding);
  EXPECT_LT(locked.at("latency_us").get<double>(), own.at("latency_us").get<double>());
  EXPECT_THAT(gemm(of(sheet.path(), "128")).out, HasSubstr(note));
  EXPECT_THAT(gemm(of(sheet.path() + ",l4", "128")).out, HasSubstr(note));
  EXPECT_THAT(gemm(of(sheet.path(), "1")).out, Not(HasSubstr(note))) << "as fast as DRAM is, with and without";
  EXPECT_THAT(gemm(of("t4", "128")).out, Not(HasSubstr(note)));
  const std::vector<std::string> network = {"--gpu",   sheet.path(), "--workload", "bert_base",
                                            "--batch", "16",         "--dtype",    "fp16"};
  EXPECT_THAT(gemm(network).out, HasSubstr(note));
  EXPECT_GT(json(network).at("workloads").at(0).at("gpus").at(0).at("latency_without_lock_us").get<double>(), 0);
}

/// A sheet with another limit has the constants of its namesake, which is no other GPU.
TEST_F(GemmVerb, SaysThatASheetIsNotTheBoardThatWasMeasured) {
  const EditedYaml sheet("data/gpus/h100-sxm5.yaml", "tdp_w: 700", "tdp_w: 300");
  const Outcome one = gemm(product(sheet.path(), "4096"));
  EXPECT_THAT(one.out, HasSubstr("measurements of h100-sxm5, a board with other numbers than this sheet's (power"));
  EXPECT_THAT(one.out, Not(HasSubstr("h100-sxm5 is not calibrated; those of h100-sxm5")));
  const Outcome both = gemm(product(sheet.path() + ",l4", "4096"));
  EXPECT_THAT(both.out, HasSubstr("Not calibrated, constants of l40s: l4."));
  EXPECT_THAT(both.out, HasSubstr("Not calibrated, other numbers in the sheet than those of the board"));
}

/// Runtime may be covered where power is not: H100 rows of bursts carry no power.
TEST_F(GemmVerb, MarksPowerThatNothingCovers) {
  const Json h100 = json(product("h100-sxm5", "4096")).at("gpus").at(0);
  ASSERT_EQ(h100.at("in_validated_range"), true);
  ASSERT_EQ(h100.at("power_in_validated_range"), false);
  const Outcome one = gemm(product("h100-sxm5", "4096"));
  EXPECT_THAT(one.out, ::testing::ContainsRegex("\npower +[0-9]+ W\\*"));
  EXPECT_THAT(one.out, ::testing::ContainsRegex("\nenergy +[0-9]+ mJ\\*"));
  EXPECT_THAT(one.out, HasSubstr("\n* no power was measured"));
  const Outcome both = gemm(product("h100-sxm5,l40s", "4096"));
  EXPECT_THAT(both.out, HasSubstr("runtime only"));
  EXPECT_THAT(both.out, Not(HasSubstr("  validated")));
  const Outcome table = gemm({"--gpu", "h100-sxm5", "--csv", write("one.csv", "m,n,k\n4096,4096,4096\n")});
  EXPECT_THAT(table.err, HasSubstr("1 of 1 predictions are without measured power"));
}

TEST_F(GemmVerb, SaysWhyARateExceedsThePublishedPeak) {
  const Outcome one = gemm(product("rtx-4070", "4096"));
  EXPECT_THAT(one.out, HasSubstr("Above the published peak, because the board clocks higher"));
  EXPECT_THAT(gemm(product("h200", "4096")).out, Not(HasSubstr("Above the published peak")));
}

TEST_F(GemmVerb, ADashIsStandardOutput) {
  const std::filesystem::path before = std::filesystem::current_path();
  const Outcome printed = gemm(product("l4", "512"));
  const Outcome dash = gemm(with(product("l4", "512"), {"--out", "-"}));
  EXPECT_EQ(dash.exit_code, 0) << dash.err;
  EXPECT_EQ(dash.out, printed.out);
  EXPECT_FALSE(std::filesystem::exists(before / "-"));
}

TEST_F(GemmVerb, NamesOfGpus) {
  EXPECT_EQ(json(product("H100-SXM5", "512")).at("gpus").at(0).at("gpu"), "h100-sxm5");
  EXPECT_EQ(json(product("ALL", "512")).at("gpus").size(), json(product("all", "512")).at("gpus").size());
  expect_one_line_error(gemm(product("all,h200", "512")), 2, "'all' stands alone");
  expect_one_line_error(gemm(product("h100-sxm5,", "512")), 2, "a comma too many?");
  const Outcome unknown = gemm(product("voodoo", "512"));
  expect_one_line_error(unknown, 2, "unknown GPU 'voodoo'. Known: ");
  for (const std::string& name : gpu::gpu_names()) EXPECT_THAT(unknown.err, HasSubstr(name)) << "none is cut off";
  expect_one_line_error(gemm(product("H2000", "512")), 2, "Did you mean 'h200'?");
  EXPECT_THAT(hindsight({"doctor"}).out, HasSubstr("rtx-4090"));
}

/// A GPU without a kernel model says so wherever its figures stand, and what needs kernels refuses it in one line.
TEST_F(GemmVerb, ARooflineEstimateIsMarkedAndNeverMore) {
  const std::string one = gemm(product("mi300x", "4096")).out;
  EXPECT_THAT(one, HasSubstr("roofline estimate, no kernel model"));
  EXPECT_THAT(gemm(with(product("mi300x", "4096"), {"--explain"})).out, HasSubstr("terms of the estimate"));
  EXPECT_THAT(gemm(product("mi300x,h200", "4096")).out, HasSubstr("Roofline estimate, no kernel model: mi300x."));
  const Json result = json(product("mi300x", "4096")).at("gpus").at(0);
  EXPECT_EQ(result.at("roofline_estimate"), true);
  EXPECT_EQ(result.at("calibration").at("source"), "roofline");
  EXPECT_EQ(result.at("calibrated"), false);
  EXPECT_EQ(result.at("in_validated_range"), false);
  EXPECT_EQ(json(product("b200", "4096")).at("gpus").at(0).at("roofline_estimate"), false);
  const std::vector<std::string> network = {"--gpu", "mi300x", "--workload", "bert_base"};
  EXPECT_THAT(gemm(network).out, HasSubstr("Roofline estimate, no kernel model: mi300x."));
  const std::string no_model = "mi300x: cdna3 has a roofline estimate and no kernel model, so ";
  expect_one_line_error(gemm(with(product("mi300x", "512"), {"--candidates"})), 2, no_model + "no candidates");
  expect_one_line_error(gemm(with(product("mi300x", "512"), {"--tiled"})), 2, no_model + "none of the tiled kernel");
  const Outcome tiled = gemm(with(product("all", "512"), {"--tiled"}));
  EXPECT_EQ(tiled.exit_code, 0) << tiled.err;
  EXPECT_THAT(tiled.err, HasSubstr("left out, no kernel model: mi300x"));
  for (const std::string what : {"", "--power", "--residual"}) {
    std::vector<std::string> arguments = {"calibrate", "--gpu", "mi300x", "--measurements", "none.csv"};
    if (!what.empty()) arguments.push_back(what);
    expect_one_line_error(hindsight(arguments), 2, no_model + "nothing can be fitted");
  }
}

TEST_F(GemmVerb, HelpSaysWhatAnOptionTakes) {
  const std::string help = gemm({"--help"}).out;
  EXPECT_THAT(help, HasSubstr("-m INT"));
  EXPECT_THAT(help, HasSubstr("--batch INT"));
  EXPECT_THAT(help, HasSubstr("- reads standard input"));
}

TEST_F(GemmVerb, FitsATerminalAndHasNoEscapeCodesInPipes) {
  for (const int columns : {80, 120}) {
    for (const auto& arguments : {product("all", "4096"),
                                  with(product("h100-sxm5", "4096"), {"--explain"}),
                                  {"--gpu", "h100-sxm5,l4", "--workload", "bert_base", "--explain"}}) {
      const Outcome outcome =
          gemm(arguments, {.environment = {{"COLUMNS", std::to_string(columns)}}, .terminal = true});
      EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
      for (std::string line : lines(outcome.out)) {
        if (!line.empty() && line.back() == '\r') line.pop_back();
        EXPECT_LE(display_width(line), static_cast<std::size_t>(columns)) << line;
      }
    }
  }
  EXPECT_EQ(gemm(product("all", "4096")).out.find('\x1b'), std::string::npos);
}

TEST_F(GemmVerb, ATableKeepsItsRowsAndAddsTheFigures) {
  const std::string table = write("t.csv", "name,k,m,dtype,n\n\"a, b\",64,128,,256\nc,4096,1,fp8,4096\n");
  const Outcome outcome = gemm({"--gpu", "h100-sxm5", "--csv", table});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::vector<std::string> rows = lines(outcome.out);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0],
            "name,k,m,dtype,n,latency_us,power_w,energy_mj,tflops,bound,calibrated,in_validated_range,"
            "power_in_validated_range");
  EXPECT_TRUE(rows[1].starts_with("\"a, b\",64,128,,256,")) << rows[1];
  EXPECT_TRUE(rows[2].starts_with("c,4096,1,fp8,4096,")) << rows[2];
  EXPECT_THAT(outcome.err, HasSubstr("kept, not used: name"));

  const Json one = json({"--gpu", "h100-sxm5", "-m", "128", "-n", "256", "-k", "64"}).at("gpus").at(0);
  const Json many = Json::parse(gemm({"--gpu", "h100-sxm5", "--csv", table, "--format", "json"}).out);
  EXPECT_EQ(many.at("rows").at(0).at("latency_us"), one.at("latency_us"));
  EXPECT_EQ(many.at("rows").at(0).at("name"), "a, b");
  EXPECT_EQ(many.at("rows").at(1).at("dtype"), "fp8");
  const double printed_us = std::stod(rows[1].substr(std::string("\"a, b\",64,128,,256,").size()));
  EXPECT_LE(relative_error(printed_us, one.at("latency_us")), kSixDigits);
}

TEST_F(GemmVerb, PowerOfShapesRecordedWithZeroWeightsSaysSoAndYieldsToRealData) {
  const std::vector<std::string> burst = {"--gpu", "h200", "-m", "4096", "-n", "4096", "-k", "65536"};
  EXPECT_EQ(json(burst).at("gpus").at(0).at("power_of"), "random operands") << "no burst was recorded so";
  const std::vector<std::string> shape = with(burst, {"--mode", "sustained"});
  const std::vector<std::string> random = with(shape, {"--operands", "random"});
  const Json recorded = json(shape).at("gpus").at(0), real = json(random).at("gpus").at(0);
  EXPECT_EQ(recorded.at("power_of"), "partly zero weights");
  EXPECT_EQ(real.at("power_of"), "random operands");
  EXPECT_LT(recorded.at("power_w").get<double>(), real.at("power_w").get<double>());
  EXPECT_THAT(gemm(shape).out, HasSubstr("Power of h200 is that of unwritten weights"));
  EXPECT_THAT(gemm(random).out, Not(HasSubstr("unwritten weights")));

  const std::string table = write("t.csv", "m,n,k\n4096,4096,65536\n4096,4096,4096\n");
  const std::vector<std::string> settled = {"--gpu", "h200", "--mode", "sustained", "--csv", table};
  EXPECT_THAT(gemm(settled).err, HasSubstr("power of 1 of 2 predictions"));
  EXPECT_THAT(gemm(with(settled, {"--operands", "random"})).err, Not(HasSubstr("power of")));
  EXPECT_THAT(gemm({"--gpu", "h200", "--csv", table}).err, Not(HasSubstr("power of")));
  const Outcome wrong = gemm(with(shape, {"--operands", "randm"}));
  EXPECT_NE(wrong.exit_code, 0);
  EXPECT_THAT(wrong.err, HasSubstr("Did you mean 'random'"));
}

TEST_F(GemmVerb, Fp32LaunchesAsRecordedSaySoAndYieldToThoseOfTheKernel) {
  const std::vector<std::string> shape = with(product("h100-sxm5", "128"), {"--dtype", "fp32"});
  const std::vector<std::string> kernel = with(shape, {"--launch", "kernel"});
  const Json recorded = json(shape).at("gpus").at(0), alone = json(kernel).at("gpus").at(0);
  EXPECT_EQ(recorded.at("calibration").at("launch_of"), "framework");
  EXPECT_EQ(alone.at("calibration").at("launch_of"), "kernel");
  EXPECT_GT(recorded.at("latency_us").get<double>(), 30);
  EXPECT_LT(alone.at("latency_us").get<double>(), 5);
  EXPECT_EQ(json(with(shape, {"--launch", "recorded"})).at("gpus").at(0), recorded);
  EXPECT_THAT(gemm(shape).out, HasSubstr("launch of h100-sxm5: a framework's eager call"));
  EXPECT_THAT(gemm(kernel).out, Not(HasSubstr("framework")));
  EXPECT_THAT(gemm(product("h100-sxm5", "128")).out, Not(HasSubstr("framework"))) << "bf16 rows are CUDA graphs";

  const std::vector<std::string> network = {"--gpu", "l4", "--workload", "bert_base", "--dtype", "fp32"};
  const auto latency_us = [&](const std::vector<std::string>& arguments) {
    return json(arguments).at("workloads").at(0).at("gpus").at(0).at("latency_us").get<double>();
  };
  EXPECT_EQ(latency_us(network), latency_us(with(network, {"--launch", "kernel"})));
  EXPECT_LT(latency_us(network), latency_us(with(network, {"--launch", "recorded"})));
  EXPECT_EQ(latency_us(network), latency_us(with(network, {"--launch", "graph"}))) << "another word for it";
  EXPECT_LT(latency_us(network), latency_us(with(network, {"--launch", "stream"})))
      << "small kernels wait for the host";
  EXPECT_GT(json(with(shape, {"--launch", "stream"})).at("gpus").at(0).at("latency_us").get<double>(), 4);
  EXPECT_THAT(gemm(network).out, Not(HasSubstr("framework")));
  EXPECT_THAT(gemm(with(network, {"--launch", "recorded"})).out, HasSubstr("framework"));

  const std::string table = write("t.csv", "m,n,k\n128,128,128\n");
  const std::vector<std::string> rows = {"--gpu", "h100-sxm5", "--dtype", "fp32", "--csv", table};
  EXPECT_THAT(gemm(rows).err, HasSubstr("launch of h100-sxm5: a framework's eager call"));
  EXPECT_EQ(gemm(rows).out, gemm(with(rows, {"--launch", "recorded"})).out);
  EXPECT_THAT(gemm(with(rows, {"--launch", "kernel"})).err, Not(HasSubstr("framework")));
  expect_one_line_error(gemm(with(shape, {"--launch", "kernels"})), 2, "Did you mean 'kernel'?");
}

TEST_F(GemmVerb, ASheetWhoseSmHoldsNoKernelIsRefusedByItsKey) {
  std::string sheet = read_file(hindsight::test::repository() / "data/gpus/l4.yaml");
  const std::string key = "shared_kib: 100";
  ASSERT_NE(sheet.find(key), std::string::npos);
  sheet.replace(sheet.find(key), key.size(), "shared_kib: 1");
  expect_one_line_error(gemm(product(write("small.yaml", sheet), "64")), 2, "sm.shared_kib is 1");
}

TEST_F(GemmVerb, ATableOnSeveralGpusNamesThemAndMovesTakenNames) {
  const std::string table = write("t.csv", "m,n,k,power_w\n64,64,64,1\n");
  const std::vector<std::string> rows = lines(gemm({"--gpu", "h200,l4", "--csv", table}).out);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0],
            "gpu,m,n,k,input_power_w,latency_us,power_w,energy_mj,tflops,bound,calibrated,"
            "in_validated_range,power_in_validated_range");
  EXPECT_TRUE(rows[1].starts_with("h200,64,64,64,1,")) << rows[1];
  EXPECT_TRUE(rows[2].starts_with("l4,64,64,64,1,")) << rows[2];
}

TEST_F(GemmVerb, OptionsFillWhatATableDoesNotSay) {
  const std::string table = write("t.csv", "m,n,k,batch\n64,64,64,\n64,64,64,7\n");
  const Json rows = Json::parse(gemm({"--gpu", "l4", "--csv", table, "--format", "json", "--batch", "3", "--dtype",
                                      "fp16", "--layout", "tn"})
                                    .out)
                        .at("rows");
  EXPECT_EQ(rows.at(0).at("batch"), 3);
  EXPECT_EQ(rows.at(1).at("batch"), 7);
  EXPECT_EQ(rows.at(0).at("dtype"), "fp16");
  EXPECT_EQ(rows.at(0).at("layout"), "tn");
}

/// This process's standard input, and thereby that of the programs it starts, comes from a file while this lives.
class StandardInput {
 public:
  explicit StandardInput(const std::string& file) : before_(::dup(STDIN_FILENO)) {
    const int opened = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    EXPECT_GE(opened, 0) << file;
    ::dup2(opened, STDIN_FILENO);
    ::close(opened);
  }
  ~StandardInput() {
    ::dup2(before_, STDIN_FILENO);
    ::close(before_);
  }
  StandardInput(const StandardInput&) = delete;
  StandardInput& operator=(const StandardInput&) = delete;

 private:
  int before_;
};

TEST_F(GemmVerb, ATableMayComeFromStandardInput) {
  const std::string table = write("t.csv", "m,n,k\n64,64,64\n");
  const std::string bad = write("bad.csv", "m,n,k\n64,64,x\n");
  const std::string expected = gemm({"--gpu", "l4", "--csv", table}).out;
  {
    const StandardInput input(table);
    EXPECT_EQ(gemm({"--gpu", "l4", "--csv", "-"}).out, expected);
  }
  const StandardInput input(bad);
  expect_one_line_error(gemm({"--gpu", "l4", "--csv", "-"}), 2, "standard input:2:7: k 'x'");
}

struct BadTable {
  const char* text;
  const char* expected;
};

TEST_F(GemmVerb, AMalformedTableIsRefusedWithItsPlaceAndLeavesNoFile) {
  const BadTable tables[] = {
      {"m,n\n1,2\n", "bad.csv:1:1: no column 'k'"},
      {"m,n,k\n1,2\n", "bad.csv:2:1: 2 cells"},
      {"m,n,k\n1,2,3\n4, 5,x\n", "bad.csv:3:6: k 'x'"},
      {"m,n,k\n1,2,3\n0,5,6\n", "bad.csv:3:1: m '0'"},
      {"m,n,k\n1,-2,3\n", "bad.csv:2:3: n '-2'"},
      {"m,n,k\n1,2,99999999999999999999\n", "bad.csv:2:5: k '99999999999999999999'"},
      {"m,n,k\n1,2,3.5\n", "bad.csv:2:5: k '3.5'"},
      {"m,n,k\n2000000000,2000000000,2000000000\n", "bad.csv:2:1: "},
      {"m,n,k,dtype\n1,2,3,bf61\n", "Did you mean 'bf16'?"},
      {"m,n,k,dtype\n1,2,3,fp8\n", "bad.csv:2:7: a100-sxm-80gb has no fp8"},
      {"m;n;k\n1;2;3\n", "bad.csv:1:1: one column"},
      {"", "bad.csv:1:1: the table is empty"},
  };
  for (const BadTable& bad : tables) {
    const Outcome outcome =
        gemm({"--gpu", "a100-sxm-80gb", "--csv", write("bad.csv", bad.text), "--out", file("out.csv")});
    expect_one_line_error(outcome, 2, bad.expected);
    EXPECT_THAT(outcome.err, HasSubstr("Columns: m,n,k"));
    EXPECT_FALSE(std::filesystem::exists(file("out.csv"))) << bad.text;
  }
}

TEST_F(GemmVerb, OutIsWrittenWholeAndOlderFilesSurviveARefusal) {
  const std::string table = write("t.csv", "m,n,k\n64,64,64\n");
  const Outcome outcome = gemm({"--gpu", "l4", "--csv", table, "--out", file("out.csv")});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(read_file(file("out.csv")), gemm({"--gpu", "l4", "--csv", table}).out);
  const std::string before = hash_of(file("out.csv"));
  const std::string bad = write("bad.csv", "m,n,k\n64,64,64\n64,64,no\n");
  EXPECT_EQ(gemm({"--gpu", "l4", "--csv", bad, "--out", file("out.csv")}).exit_code, 2);
  EXPECT_EQ(hash_of(file("out.csv")), before);
}

struct BadCall {
  std::vector<std::string> arguments;
  const char* expected;
};

TEST_F(GemmVerb, NonsenseIsRefusedInOneLine) {
  const std::vector<std::string> sizes{"-m", "4", "-n", "4", "-k", "4"};
  const BadCall calls[] = {
      {with({"--gpu", "h100-smx5"}, sizes), "Did you mean 'h100-sxm5'?"},
      {with({"--gpu", "h200"}, with(sizes, {"--dtype", "bf61"})), "Did you mean 'bf16'?"},
      {with({"--gpu", "a100-sxm-80gb"}, with(sizes, {"--dtype", "fp8"})), "It has: fp32, tf32, fp16, bf16, int8."},
      {{"--gpu", "h200", "-m", "0", "-n", "4", "-k", "4"}, "-m: '0' is not a whole number"},
      {{"--gpu", "h200", "-m", "-4", "-n", "4", "-k", "4"}, "-m: '-4' is not a whole number"},
      {{"--gpu", "h200", "-m", "4", "-n", "99999999999999999999", "-k", "4"}, "-n: '99999999999999999999'"},
      {{"--gpu", "h200", "-m", "2000000000", "-n", "2000000000", "-k", "2000000000"}, "multiply-accumulates"},
      {{"--gpu", "h200", "-m", "4", "-n", "4"}, "-k is missing"},
      {{"--gpu", "h200"}, "give -m, -n and -k, or --csv, or --workload"},
      {with({"--gpu", "h200", "--workload", "unet"}, sizes), "only one of them"},
      {with({"--gpu", "h200", "--layout", "nx"}, sizes), "layout"},
      {with({"--gpu", "h200", "--mode", "brst"}, sizes), "Did you mean 'burst'?"},
      {with({"--gpu", "h200", "--format", "csv"}, sizes), "--format goes with --csv"},
      {with({"--gpu", "h200,h200"}, sizes), "named twice"},
      {{"--gpu", "h200", "--workload", "resnet51"}, "Did you mean 'resnet50'?"},
      {{"--gpu", "h200", "--workload", "unet", "--batch", "0"}, "--batch: '0'"},
  };
  for (const BadCall& call : calls) expect_one_line_error(gemm(call.arguments), 2, call.expected);
  expect_one_line_error(gemm({"--gpu", "h200", "--csv", file("none.csv")}), 2, "no such file");
}

TEST_F(GemmVerb, SustainedRunsAreNeverFasterThanBursts) {
  const auto latency_us = [&](const char* mode) {
    return json(with(product("h200", "8192"), {"--mode", mode})).at("gpus").at(0).at("latency_us").get<double>();
  };
  EXPECT_GE(latency_us("sustained"), latency_us("burst"));
}

}  // namespace
}  // namespace hindsight::app::test
