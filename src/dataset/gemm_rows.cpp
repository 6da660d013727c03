/// Measured GEMMs from a CSV table: finds the columns and checks the rows.
#include "hindsight/dataset/gemm_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight::dataset {
namespace {

constexpr const char* kExpected = "Expected: m, n, k, latency_us (or _ms, _s), and optionally batch, dtype, layout";
constexpr std::array<std::pair<const char*, double>, 3> kGemmUnits{{{"_us", 1e-6}, {"_ms", 1e-3}, {"_s", 1.0}}};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Index of the named column, else of the one called `usual`; nothing when there is none.
std::optional<std::size_t> find_column(const CsvTable& table, const std::optional<std::string>& name,
                                       std::string_view usual) {
  if (name) return table.column(*name);
  for (std::size_t i = 0; i < table.header.size(); ++i) {
    if (lower(table.header[i]) == usual) return i;
  }
  return std::nullopt;
}

std::size_t require_column(const CsvTable& table, const std::optional<std::string>& name, std::string_view usual) {
  if (const auto column = find_column(table, name, usual)) return *column;
  throw Error(ErrorKind::usage,
              fmt::format("{}:1: no column '{}' (a GEMM needs it). {}", table.file.string(), usual, kExpected));
}

/// The unit that a column's name ends in, in s.
std::optional<double> unit_of(std::string name) {
  name = lower(std::move(name));
  constexpr std::string_view kMedian = "_median";
  if (name.ends_with(kMedian)) name.resize(name.size() - kMedian.size());
  for (const auto& [ending, seconds] : kGemmUnits) {
    if (name.ends_with(ending)) return seconds;
  }
  return std::nullopt;
}

struct LatencyColumn {
  std::size_t index = 0;
  double unit_s = 1;
};

LatencyColumn latency_column(const CsvTable& table, const GemmColumns& columns) {
  if (columns.latency) {
    const std::size_t index = table.column(*columns.latency);
    const auto unit = columns.latency_unit_s ? columns.latency_unit_s : unit_of(*columns.latency);
    if (!unit) {
      throw Error(ErrorKind::usage, fmt::format("{}:1: column '{}' names no unit of time. Say latency_ms={}?",
                                                table.file.string(), *columns.latency, *columns.latency));
    }
    return {index, *unit};
  }
  for (std::size_t i = 0; i < table.header.size(); ++i) {
    const std::string name = lower(table.header[i]);
    const auto unit = unit_of(name);
    const bool is_time = std::any_of(kGemmUnits.begin(), kGemmUnits.end(), [&](const auto& unit_name) {
      for (const char* word : {"latency", "lat", "runtime", "time"}) {
        if (name == std::string(word) + unit_name.first || name == std::string(word) + unit_name.first + "_median") {
          return true;
        }
      }
      return false;
    });
    if (unit && is_time) return {i, *unit};
  }
  throw Error(ErrorKind::usage,
              fmt::format("{}:1: no column of runtimes (a fit needs them). {}", table.file.string(), kExpected));
}

class Row {
 public:
  Row(const CsvTable& table, std::size_t index) : table_(table), index_(index) {}
  [[nodiscard]] const std::string& cell(std::size_t column) const { return table_.rows[index_][column]; }
  [[noreturn]] void fail(std::size_t column, const std::string& why) const {
    const CsvTable::Place place = table_.place[index_][column];
    throw Error(ErrorKind::usage, fmt::format("{}:{}:{}: '{}' {}. {}", table_.file.string(), place.line, place.column,
                                              printable(cell(column)), why, kExpected));
  }
  [[nodiscard]] std::int64_t size(std::size_t column) const {
    const auto value = parse_int(cell(column));
    if (!value || *value < 1 || *value > gpu::kLargestDimension) fail(column, "is no size");
    return *value;
  }
  [[nodiscard]] double seconds(const LatencyColumn& column) const {
    const double value = parse_double(cell(column.index)).value_or(0) * column.unit_s;
    if (!std::isfinite(value) || !(value > 0)) fail(column.index, "is no runtime");
    return value;
  }
  [[nodiscard]] double watts(std::size_t column) const {
    const auto value = parse_double(cell(column));
    if (!value || !std::isfinite(*value) || !(*value > 0)) fail(column, "is no power");
    return *value;
  }

 private:
  const CsvTable& table_;
  std::size_t index_;
};

/// Calls `visit(row, measurement)` for every row that the filters and the dtype keep.
template <typename Visit>
void for_each_row(const CsvTable& table, const GemmColumns& columns, const std::vector<RowFilter>& filters,
                  std::optional<gpu::DType> dtype, gpu::Quantisation quantisation, const Visit& visit) {
  const std::size_t m = require_column(table, columns.m, "m"), n = require_column(table, columns.n, "n"),
                    k = require_column(table, columns.k, "k");
  const auto batch = find_column(table, columns.batch, "batch"), format = find_column(table, columns.dtype, "dtype"),
             layout = find_column(table, columns.layout, "layout");
  const LatencyColumn latency = latency_column(table, columns);
  std::vector<std::size_t> filter_columns;
  for (const RowFilter& filter : filters) filter_columns.push_back(table.column(filter.column));
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const Row row(table, i);
    bool kept = true;
    for (std::size_t f = 0; f < filters.size(); ++f) kept = kept && row.cell(filter_columns[f]) == filters[f].value;
    if (!kept) continue;
    gpu::Gemm gemm{.m = row.size(m), .n = row.size(n), .k = row.size(k)};
    gemm.batch = batch ? row.size(*batch) : 1;
    const gpu::NamedFormat named = format ? gpu::parse_format(row.cell(*format))
                                          : gpu::NamedFormat{dtype.value_or(gpu::DType::bf16), std::nullopt};
    gemm.dtype = named.dtype;
    if (dtype && gemm.dtype != *dtype) continue;
    if (gpu::is_8bit(gemm.dtype)) gemm.quantisation = named.quantisation.value_or(quantisation);
    gemm.layout = layout ? gpu::parse_layout(row.cell(*layout)) : gpu::usual_layout(gemm.batch);
    if (const std::string problem = gpu::size_problem(gemm); !problem.empty()) row.fail(m, problem);
    visit(row, gpu::GemmMeasurement{gemm, row.seconds(latency)});
  }
}

}  // namespace

GemmColumns parse_gemm_columns(const std::string& text) {
  GemmColumns columns;
  const std::vector<std::string> roles{"m",      "n",         "k",          "batch",      "dtype",
                                       "layout", "latency_s", "latency_ms", "latency_us", "power_w"};
  for (const std::string& item : split(text, ',')) {
    const std::vector<std::string> pair = split(item, '=');
    if (pair.size() != 2 || pair[1].empty() || std::find(roles.begin(), roles.end(), pair[0]) == roles.end()) {
      const bool known = std::find(roles.begin(), roles.end(), pair[0]) != roles.end();
      throw Error(ErrorKind::usage,
                  fmt::format("'{}' is no ROLE=COLUMN.{}", printable(item),
                              known ? fmt::format(" Write {}=COLUMN, COLUMN as the file's first line has it", pair[0])
                                    : did_you_mean(pair.front(), roles)));
    }
    const auto& [role, name] = std::pair(pair[0], pair[1]);
    if (role == "m") columns.m = name;
    if (role == "n") columns.n = name;
    if (role == "k") columns.k = name;
    if (role == "batch") columns.batch = name;
    if (role == "dtype") columns.dtype = name;
    if (role == "layout") columns.layout = name;
    if (role == "power_w") columns.power_w = name;
    for (const auto& [ending, seconds] : kGemmUnits) {
      if (role == std::string("latency") + ending) {
        columns.latency = name;
        columns.latency_unit_s = seconds;
      }
    }
  }
  return columns;
}

std::vector<gpu::GemmMeasurement> read_gemm_rows(const CsvTable& table, const GemmColumns& columns,
                                                 const std::vector<RowFilter>& filters, std::optional<gpu::DType> dtype,
                                                 gpu::Quantisation quantisation) {
  std::vector<gpu::GemmMeasurement> measurements;
  for_each_row(
      table, columns, filters, dtype, quantisation,
      [&](const Row& /*row*/, const gpu::GemmMeasurement& measurement) { measurements.push_back(measurement); });
  if (measurements.empty()) {
    throw Error(ErrorKind::usage, fmt::format("{}: no row is left (of {}). Other --where or --dtype?",
                                              table.file.string(), table.rows.size()));
  }
  return measurements;
}

std::vector<gpu::GemmMeasurement> medians(const std::vector<gpu::GemmMeasurement>& rows, std::size_t least_rows) {
  const auto product = [](const gpu::Gemm& g) {
    return std::tuple(g.m, g.n, g.k, g.batch, g.dtype, g.layout, g.weights, g.quantisation);
  };
  std::map<decltype(product(rows.front().gemm)), std::size_t> index;
  std::vector<gpu::GemmMeasurement> firsts;
  std::vector<std::vector<double>> latencies;
  for (const gpu::GemmMeasurement& row : rows) {
    const auto [found, is_new] = index.emplace(product(row.gemm), firsts.size());
    if (is_new) {
      firsts.push_back(row);
      latencies.emplace_back();
    }
    latencies[found->second].push_back(row.latency_s);
  }
  std::vector<gpu::GemmMeasurement> result;
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    std::vector<double>& of = latencies[i];
    if (of.size() < least_rows) continue;
    std::sort(of.begin(), of.end());
    result.push_back({firsts[i].gemm, 0.5 * (of[(of.size() - 1) / 2] + of[of.size() / 2])});
  }
  if (result.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("no product has {} rows (medians are asked of at least so many)", least_rows));
  }
  return result;
}

std::vector<PoweredGemm> read_power_rows(const CsvTable& table, const GemmColumns& columns,
                                         const std::vector<RowFilter>& filters, std::optional<gpu::DType> dtype,
                                         gpu::Quantisation quantisation) {
  const auto power = find_column(table, columns.power_w, "power_w");
  if (!power) {
    throw Error(ErrorKind::usage, fmt::format("{}:1: no column 'power_w' (a fit of power needs it). Name it by "
                                              "--columns power_w=NAME?",
                                              table.file.string()));
  }
  std::vector<PoweredGemm> rows;
  for_each_row(table, columns, filters, dtype, quantisation,
               [&](const Row& row, const gpu::GemmMeasurement& measurement) {
                 if (!row.cell(*power).empty()) rows.push_back({measurement, row.watts(*power)});
               });
  if (rows.empty()) {
    throw Error(ErrorKind::usage, fmt::format("{}: no row with a power is left (of {}). Bursts have none: measure with "
                                              "--mode sustained, or other --where, --dtype?",
                                              table.file.string(), table.rows.size()));
  }
  return rows;
}

}  // namespace hindsight::dataset
