/// hindsight kernel: runtime, power and energy of GPU kernels that are no single GEMM.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <utility>

#include "file_roles.h"
#include "given_calibrations.h"
#include "hindsight/check/kernel_accuracy.h"
#include "hindsight/core/error.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/table.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/kernel_rows.h"
#include "hindsight/report/other_kernels.h"
#include "output.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

struct KernelOptions {
  std::string gpus, dtype = "bf16", mode = "burst", calibrations;
  bool json = false, explain = false, markdown = false;
  // attention
  std::int64_t heads = 0, kv_heads = 0, queries = 0, keys = 0, length = 128, value_length = 0, batch = 1;
  bool causal = false;
  // grouped
  std::string rows;
  std::int64_t n = 0, k = 0;
  std::string measurements;  // compare
};

/// The GPUs of a list; of "all" those that have the format, the others' names into `report`.
std::vector<gpu::GpuSpec> gpus_of(const KernelOptions& options, report::KernelReport& report) {
  std::vector<gpu::GpuSpec> specs;
  for (gpu::GpuSpec& spec : gpu::load_gpus(options.gpus)) {
    if (gpu::means_all_gpus(options.gpus) && !spec.has(report.dtype)) {
      report.left_out.push_back(spec.name);
    } else {
      static_cast<void>(spec.rate(report.dtype));  // refuses a GPU that was named and lacks the format
      specs.push_back(std::move(spec));
    }
  }
  return specs;
}

template <typename Kernel>
int predict(const KernelOptions& options, const char* name, std::string shape, const Kernel& kernel) {
  FileRoles().reads("--gpu", options.gpus).reads("--calibration", options.calibrations).require_usable();
  report::KernelReport report{.kernel = name,
                              .shape = std::move(shape),
                              .dtype = kernel.dtype,
                              .mode = gpu::parse_mode(options.mode),
                              .gpus = {}};
  const std::vector<gpu::GpuSpec> specs = gpus_of(options, report);
  const std::vector<gpu::Calibration> given = read_given_calibrations(options.calibrations, specs);
  for (const gpu::GpuSpec& spec : specs) {
    const gpu::Calibration calibration =
        gpu::with_kernel_launch(gpu::load_calibration(spec, kernel.dtype, given, gpu::Residuals::none), spec, given);
    const gpu::OtherKernels kernels(spec, calibration, kernel.dtype);
    report.gpus.push_back({{spec, calibration}, kernels.predict(kernel, report.mode), gpu::roofline_s(spec, kernel)});
  }
  std::stable_sort(report.gpus.begin(), report.gpus.end(), [](const auto& one, const auto& other) {
    return one.prediction.latency_s < other.prediction.latency_s;
  });
  if (options.json) {
    print(report::kernel_json(report));
  } else {
    print(options.explain ? report::kernel_explanation(report, output_columns())
                          : report::kernel_text(report, output_columns()));
  }
  return 0;
}

[[noreturn]] void refuse(const std::string& problem) {
  throw Error(ErrorKind::usage, fmt::format("hindsight kernel: {}", problem));
}

int attention(const KernelOptions& options) {
  const std::int64_t kv_heads = options.kv_heads == 0 ? options.heads : options.kv_heads;
  if (options.heads % kv_heads != 0) {
    std::int64_t divisor = std::min(kv_heads, options.heads);
    while (options.heads % divisor != 0) --divisor;
    refuse(fmt::format("--heads {} is no multiple of --kv-heads {}. Take e.g. --kv-heads {}", options.heads, kv_heads,
                       divisor));
  }
  const std::int64_t keys = options.keys == 0 ? options.queries : options.keys;
  const std::int64_t values = options.value_length == 0 ? options.length : options.value_length;
  const gpu::Attention kernel{.heads = options.batch * kv_heads,
                              .rows = options.heads / kv_heads * options.queries,
                              .context = keys,
                              .key_length = options.length,
                              .value_length = values,
                              .causal = options.causal,
                              .queries = options.queries,
                              .cached = options.queries < keys,
                              .dtype = gpu::parse_dtype(options.dtype)};
  if (const std::string problem = gpu::attention_problem(kernel); !problem.empty()) refuse(problem);
  std::string shape = fmt::format("{} of length {}", counted(options.heads, "head"), options.length);
  if (kv_heads != options.heads) shape += fmt::format(", {} of keys", kv_heads);
  shape += fmt::format(", {} on {}", options.queries == 1 ? "1 query" : fmt::format("{} queries", options.queries),
                       counted(keys, "key"));
  if (options.batch > 1) shape += fmt::format(", batch {}", options.batch);
  if (options.causal) shape += ", causal";
  return predict(options, "attention", std::move(shape), kernel);
}

int grouped(const KernelOptions& options) {
  gpu::GroupedGemm kernel{.rows = {}, .n = options.n, .k = options.k, .dtype = gpu::parse_dtype(options.dtype)};
  for (const std::string& piece : split(options.rows, ',')) {
    const std::optional<std::int64_t> value = parse_int(piece);
    if (!value) {
      refuse(fmt::format("--rows '{}': '{}' is no whole number. Write those of each group, e.g. 128,64,64",
                         printable(options.rows, 150), printable(piece, 100)));
    }
    kernel.rows.push_back(*value);
  }
  if (const std::string problem = gpu::grouped_problem(kernel); !problem.empty()) {
    refuse(fmt::format("--rows, -n and -k: {}", problem));
  }
  const std::int64_t rows = std::accumulate(kernel.rows.begin(), kernel.rows.end(), std::int64_t{0});
  return predict(
      options, "grouped GEMM",
      fmt::format("{} rows in {}, n {}, k {}", rows, counted(kernel.rows.size(), "group"), kernel.n, kernel.k), kernel);
}

std::string percent_text(double frac, bool with_sign) {
  return with_sign ? fmt::format("{:+.1f} %", 100 * frac) : fmt::format("{:.1f} %", 100 * frac);
}

int compare(const KernelOptions& options) {
  FileRoles()
      .reads("--gpu", options.gpus)
      .reads("FILE", options.measurements)
      .reads("--calibration", options.calibrations)
      .require_usable();
  const std::vector<dataset::KernelRow> rows = dataset::read_kernel_rows(dataset::read_table(options.measurements));
  const gpu::GpuSpec spec = gpu::load_gpu(options.gpus);
  const std::vector<gpu::Calibration> given = read_given_calibrations(options.calibrations, {spec});
  const std::vector<check::KernelScore> scores =
      check::kernel_scores(rows, check::predicted_kernels_s(spec, rows, given));
  Table table;
  for (const char* header : {"kernel", "by"}) table.add_column(header, Align::left);
  for (const char* header : {"rows", "mean error", "median", "bias", "farthest off"}) {
    table.add_column(header, Align::right);
  }
  nlohmann::ordered_json kernels = nlohmann::ordered_json::array();
  for (const check::KernelScore& score : scores) {
    table.add_row({score.kind, score.backend, std::to_string(score.rows), percent_text(score.mape_frac, false),
                   percent_text(score.median_frac, false), percent_text(score.bias_frac, true),
                   percent_text(score.worst_frac, true)});
    kernels.push_back({{"kernel", score.kind},
                       {"backend", score.backend},
                       {"rows", score.rows},
                       {"mape_frac", score.mape_frac},
                       {"median_frac", score.median_frac},
                       {"bias_frac", score.bias_frac},
                       {"worst_frac", score.worst_frac}});
  }
  if (options.json) {
    print(nlohmann::ordered_json{{"gpu", spec.name}, {"kernels", kernels}}.dump(2) + "\n");
  } else {
    print(fmt::format("{}: predicted against measured kernels of {}\n\n", spec.name, printable(options.measurements)) +
          (options.markdown ? table.markdown() : table.render(output_columns())));
  }
  return 0;
}

constexpr std::int64_t kMostHeads = 1'000'000;

}  // namespace

void add_kernel(CLI::App& app, Session& session) {
  const auto options = std::make_shared<KernelOptions>();
  CLI::App* group = app.add_subcommand("kernel", "Attention, grouped GEMMs and the like on GPUs");
  group->require_subcommand(1);
  group->footer("Example: hindsight kernel attention --gpu h100-sxm5 --heads 32 --queries 4096");
  const auto add_verb = [&](const char* name, const char* description, int (*body)(const KernelOptions&)) {
    CLI::App* verb = group->add_subcommand(name, description);
    verb->add_option("--calibration", options->calibrations, "Files of calibrate, a.yaml,b.yaml [the shipped ones]");
    verb->add_flag("--json", options->json, "As JSON");
    verb->callback([options, body, &session] { session.action = [options, body] { return body(*options); }; });
    return verb;
  };
  const auto add = [&](const char* name, const char* description, int (*body)(const KernelOptions&)) {
    CLI::App* verb = add_verb(name, description, body);
    verb->add_option("--gpu,--gpus", options->gpus, "Names a,b,c; all; or a YAML file")->required();
    verb->add_option("--dtype", options->dtype, "Format of the inputs [bf16]");
    verb->add_option("--mode", options->mode, "burst or sustained [burst]");
    verb->add_flag("--explain", options->explain, "The terms behind each figure");
    return verb;
  };
  CLI::App* one = add("attention", "Scores, softmax and values in one kernel", attention);
  one->add_option("--heads", options->heads, "Heads of the queries")->required()->check(between(1, kMostHeads));
  one->add_option("--kv-heads", options->kv_heads, "Heads of keys and values [--heads]")->check(between(1, kMostHeads));
  one->add_option("--queries", options->queries, "Tokens computed, per sequence")
      ->required()
      ->check(between(1, gpu::kLargestDimension));
  one->add_option("--keys", options->keys, "Tokens seen; the others from a cache [--queries]")
      ->check(between(1, gpu::kLargestDimension));
  one->add_option("--length", options->length, "Elements of a head's query and key [128]")
      ->check(between(1, gpu::kLargestDimension));
  one->add_option("--value-length", options->value_length, "Elements of a head's value [--length]")
      ->check(between(1, gpu::kLargestDimension));
  one->add_option("--batch", options->batch, "Sequences [1]")->check(between(1, kMostHeads));
  one->add_flag("--causal", options->causal, "Each query sees no later key");
  one->footer(
      "Prefill: as many queries as keys. Decoding: --queries 1 --keys 8192.\n"
      "Example: hindsight kernel attention --gpu h100-sxm5,l40s --heads 64 \\\n"
      "           --kv-heads 8 --queries 1 --keys 8192 --batch 32");
  CLI::App* other = add("grouped", "Products with weights of their own in one kernel", grouped);
  other->add_option("--rows", options->rows, "Rows of every group, e.g. tokens of experts: 12,0,40")->required();
  other->add_option("-n", options->n, "Columns of each result")->required()->check(between(1, gpu::kLargestDimension));
  other->add_option("-k", options->k, "Products added per element")
      ->required()
      ->check(between(1, gpu::kLargestDimension));
  other->footer("Example: hindsight kernel grouped --gpu h200 --rows 12,0,40,7 -n 14336 -k 4096");
  CLI::App* third = add_verb("compare", "Predictions beside measured kernels", compare);
  third->add_option("FILE", options->measurements, "Table of scripts/measure-kernels.py")->required();
  third->add_option("--gpu", options->gpus, "The GPU that was measured: its name or a YAML file")->required();
  third->add_flag("--markdown", options->markdown, "The table as Markdown");
  third->footer("Example: hindsight kernel compare kernels.csv --gpu h100-sxm5");
}

}  // namespace hindsight::app
