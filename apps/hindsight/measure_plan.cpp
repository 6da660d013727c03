/// Makes the list of GEMMs to measure from the options of `hindsight measure`.
#include "measure_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/csv_import.h"

namespace hindsight::app {
namespace {

bool chosen(const std::string& option, const std::string& list, const std::string& name,
            const std::vector<std::string>& known) {
  const std::vector<std::string> words = split(list, ',');
  for (const std::string& word : words) {
    if (std::find(known.begin(), known.end(), word) == known.end()) {
      throw Error(ErrorKind::usage,
                  fmt::format("{} '{}' is unknown.{}", option, printable(word), did_you_mean(word, known)));
    }
  }
  return std::find(words.begin(), words.end(), name) != words.end();
}

std::vector<gpu::DType> dtypes_of(const std::string& list) {
  if (list == "all") return {measure::kMeasuredDTypes.begin(), measure::kMeasuredDTypes.end()};
  std::vector<gpu::DType> dtypes;
  for (const std::string& name : split(list, ',')) {
    dtypes.push_back(gpu::parse_dtype(name));
    const auto& known = measure::kMeasuredDTypes;
    if (std::find(known.begin(), known.end(), dtypes.back()) == known.end()) {
      throw Error(ErrorKind::usage, fmt::format("{} cannot be measured (its block scales are not made). Leave it out",
                                                gpu::to_string(dtypes.back())));
    }
  }
  return dtypes;
}

/// Rows of a table as products. Problems are said with their place, as `gemm --csv` does.
class ShapeReader {
 public:
  explicit ShapeReader(const dataset::CsvTable& table) : table_(&table) {}

  [[nodiscard]] gpu::Gemm read(std::size_t row) const {
    const gpu::Gemm gemm{
        .m = size(row, "m"), .n = size(row, "n"), .k = size(row, "k"), .batch = has_batch() ? size(row, "batch") : 1};
    if (const std::string problem = gpu::size_problem(gemm); !problem.empty()) {
      fail(row, table_->column("m"), problem);
    }
    return gemm;
  }

 private:
  [[nodiscard]] bool has_batch() const {
    return std::find(table_->header.begin(), table_->header.end(), "batch") != table_->header.end();
  }
  [[nodiscard]] std::int64_t size(std::size_t row, const std::string& name) const {
    const std::size_t column = table_->column(name);
    const std::string& text = table_->rows[row][column];
    const std::optional<std::int64_t> value = parse_int(text);
    if (!value || *value < 1 || *value > gpu::kLargestDimension) {
      fail(row, column,
           fmt::format("{} '{}' is not a whole number from 1 to {}", name, printable(text), gpu::kLargestDimension));
    }
    return *value;
  }
  [[noreturn]] void fail(std::size_t row, std::size_t column, const std::string& problem) const {
    const dataset::CsvTable::Place place = table_->place[row][column];
    throw Error(ErrorKind::usage,
                fmt::format("{}:{}:{}: {}. Columns: m,n,k and, where wanted, batch",
                            printable(table_->file.string(), 400), place.line, place.column, problem));
  }

  const dataset::CsvTable* table_;
};

/// The products of one number format that the options ask for.
std::vector<gpu::Gemm> shapes_of(const MeasureOptions& options, gpu::DType dtype) {
  std::vector<gpu::Gemm> shapes;
  if (options.m || options.n || options.k) {
    for (const auto& [name, size] : {std::pair("-m", options.m), {"-n", options.n}, {"-k", options.k}}) {
      if (!size) throw Error(ErrorKind::usage, fmt::format("measure gemm: {} is missing", name));
    }
    shapes.push_back({.m = *options.m, .n = *options.n, .k = *options.k, .batch = options.batch});
  } else if (options.shapes == "grid") {
    shapes = measure::grid(dtype);
  } else if (options.shapes == "sustained") {
    shapes = measure::sustained_shapes(dtype);
  } else {
    const dataset::CsvTable table = dataset::read_table(options.shapes);
    const ShapeReader reader(table);
    for (std::size_t row = 0; row < table.rows.size(); ++row) shapes.push_back(reader.read(row));
  }
  for (gpu::Gemm& gemm : shapes) {
    gemm.dtype = dtype;
    gemm.layout = gpu::parse_layout(options.layout);
    gpu::require_valid(gemm);
  }
  return shapes;
}

/// Tasks of one kernel and mode.
void add_tasks(const MeasureOptions& options, measure::Kernel kernel, measure::Mode mode,
               std::vector<measure::Task>& plan) {
  const bool tiled = kernel == measure::Kernel::tiled;
  const std::vector<gpu::DType> dtypes = tiled ? std::vector{gpu::DType::fp32} : dtypes_of(options.dtype);
  for (const gpu::DType dtype : dtypes) {
    for (gpu::Gemm gemm : shapes_of(options, dtype)) {
      if (tiled) {  // the plain kernel knows one format, one storage and no batches
        if (gemm.batch != 1) continue;
        gemm.layout = gpu::Layout::nn;
      }
      const auto first = tiled ? options.first_tile : 0, last = tiled ? options.last_tile : 0;
      for (std::int64_t tile = first; tile <= last; ++tile) {
        measure::Task task;
        task.gemm = gemm;
        task.kernel = kernel;
        task.mode = mode;
        task.tile = static_cast<int>(tile);
        task.algorithms = static_cast<int>(options.algorithms);
        plan.push_back(task);
      }
    }
  }
}

}  // namespace

std::vector<measure::Task> gemm_plan(const MeasureOptions& options) {
  const std::vector<std::string> kernels = {"cublaslt", "tiled"}, modes = {"burst", "sustained"};
  std::vector<measure::Task> plan;
  for (const auto& [kernel, name] :
       {std::pair{measure::Kernel::cublaslt, "cublaslt"}, {measure::Kernel::tiled, "tiled"}}) {
    if (!chosen("--kernel", options.kernel, name, kernels)) continue;
    for (const auto& [mode, word] :
         {std::pair{measure::Mode::burst, "burst"}, {measure::Mode::sustained, "sustained"}}) {
      if (chosen("--mode", options.mode, word, modes)) add_tasks(options, kernel, mode, plan);
    }
  }
  return plan;
}

}  // namespace hindsight::app
