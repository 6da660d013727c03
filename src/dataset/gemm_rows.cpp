/// Measured GEMMs from a CSV table: finds the columns and checks the rows.
#include "hindsight/dataset/gemm_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/shell.h"
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

/// The column that names the board of a row, the first of these names that the table has.
std::optional<std::size_t> board_column(const CsvTable& table) {
  for (const std::string_view usual : {"gpu", "gpu_name", "device", "device_name"}) {
    if (const auto column = find_column(table, std::nullopt, usual)) return column;
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

/// Whether a column in lower case is called as runtimes usually are.
bool names_runtime(const std::string& name) {
  return std::any_of(kGemmUnits.begin(), kGemmUnits.end(), [&](const auto& unit_name) {
    for (const char* word : {"latency", "lat", "runtime", "time"}) {
      const std::string usual = std::string(word) + unit_name.first;
      if (name == usual || name == usual + "_median") return true;
    }
    return false;
  });
}

[[noreturn]] void refuse_two_runtimes(const CsvTable& table, std::size_t first, std::size_t second) {
  constexpr std::size_t kShownName = 40, kShownFile = 120;  // [chosen] the remedy stays within a message
  const std::string one = printable(table.header[first], kShownName);
  std::string role = "latency";
  for (const auto& unit : kGemmUnits) {
    if (unit_of(one) == unit.second) role += unit.first;
  }
  throw Error(ErrorKind::usage,
              fmt::format("{}:1: '{}' and '{}' are both columns of runtimes (a fit takes one). Choose "
                          "by --columns, e.g. {}={}",
                          printable(table.file.string(), kShownFile), one, printable(table.header[second], kShownName),
                          role, one));
}

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
  std::optional<LatencyColumn> found;
  for (std::size_t i = 0; i < table.header.size(); ++i) {
    const std::string name = lower(table.header[i]);
    const auto unit = unit_of(name);
    if (!unit || !names_runtime(name)) continue;
    if (found) refuse_two_runtimes(table, found->index, i);
    found = {.index = i, .unit_s = *unit};
  }
  if (found) return *found;
  throw Error(ErrorKind::usage,
              fmt::format("{}:1: no column of runtimes (a fit needs them). {}", table.file.string(), kExpected));
}

class Row {
 public:
  static constexpr std::size_t kShown = 60;  // [chosen] a board's name and more

  Row(const CsvTable& table, std::size_t index) : table_(table), index_(index) {}
  [[nodiscard]] const std::string& cell(std::size_t column) const { return table_.rows[index_][column]; }
  [[noreturn]] void fail(std::size_t column, const std::string& why) const {
    const CsvTable::Place place = table_.place[index_][column];
    throw Error(ErrorKind::usage, fmt::format("{}:{}:{}: '{}' {}. {}", table_.file.string(), place.line, place.column,
                                              printable(cell(column)), why, kExpected));
  }
  /// Refuses a cell that is of something else than is wanted, the remedy at the end of `why`.
  [[noreturn]] void refuse(std::size_t column, const std::string& why) const {
    const CsvTable::Place place = table_.place[index_][column];
    throw Error(ErrorKind::usage, fmt::format("{}:{}:{}: {} '{}' {}; --force takes all rows", table_.file.string(),
                                              place.line, place.column, printable(table_.header[column], kShown),
                                              printable(cell(column), kShown), why));
  }
  /// "--where gpu=NAME" of this row's cell, or of another value.
  [[nodiscard]] std::string where(std::size_t column, const std::string& value) const {
    return "--where " + shell_quoted(printable(table_.header[column] + "=" + value, kShown));
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

/// Words of a GPU's name that tell its model, in lower case.
struct ModelWords {
  /// Those with a digit, without memories and sockets: h100 of "NVIDIA H100 80GB HBM3", a100 of "A100-SXM4-80GB", 4090
  /// of "NVIDIA GeForce RTX 4090".
  std::set<std::string> models;
  std::set<std::string> kinds;  ///< which one of a number: 4070 and 4070 Ti, 4090 and 4090 D are two
  std::set<std::string> lines;  ///< of which several have the number 6000; names may leave them out
};

ModelWords model_words(const std::string& name) {
  constexpr std::size_t kModelDigits = 4;  // [chosen] 3090 and 6000 are models; 80 and 141 are GB
  // [chosen] as makers name the boards of the sheets and their neighbours
  static const std::set<std::string> kinds{"pro", "quadro", "laptop", "mobile", "max", "super", "ti", "d"};
  static const std::set<std::string> lines{"ada", "blackwell"};
  ModelWords words;
  std::string word;
  for (const char c : lower(name) + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      word += c;
      continue;
    }
    const auto digits = static_cast<std::size_t>(
        std::count_if(word.begin(), word.end(), [](unsigned char letter) { return std::isdigit(letter) != 0; }));
    const bool is_number = digits == word.size();
    const bool is_place = word.starts_with("cuda") || word.starts_with("gpu");  // "cuda:0", "gpu0": which of a host's
    const bool is_part = is_place || word.ends_with("gb") || word.starts_with("hbm") || word.starts_with("sxm");
    if (digits > 0 && !is_part && (!is_number || digits >= kModelDigits)) words.models.insert(word);
    if (kinds.contains(word)) words.kinds.insert(word);
    if (lines.contains(word)) words.lines.insert(word);
    word.clear();
  }
  return words;
}

/// Whether two boards may be of one model, as far as both name one. A number alone names several.
bool may_be_one(const ModelWords& board, const ModelWords& other) {
  if (board.models.empty() || other.models.empty()) return true;
  std::vector<std::string> shared;
  std::ranges::set_intersection(board.models, other.models, std::back_inserter(shared));
  const bool by_number = std::ranges::all_of(shared, [](const std::string& word) { return bool(parse_int(word)); });
  if (!by_number || shared.empty()) return !shared.empty();
  return board.kinds == other.kinds && (board.lines.empty() || other.lines.empty() || board.lines == other.lines);
}

/// Refuses rows that are not of a `RowOrigin`, one after the other.
class OriginGate {
 public:
  OriginGate(const CsvTable& table, const std::optional<RowOrigin>& origin) : origin_(origin) {
    if (!origin) return;
    gpu_ = board_column(table);
    mode_ = find_column(table, std::nullopt, "mode");
    kernel_ = find_column(table, std::nullopt, "kernel");
    rank_ = find_column(table, std::nullopt, "rank");
  }

  void require(const Row& row) {
    if (gpu_) require_gpu(row, row.cell(*gpu_));
    if (mode_) require_mode(row, row.cell(*mode_));
    if (kernel_ && row.cell(*kernel_) == kPlainKernel) {
      row.refuse(*kernel_, "is the plain kernel, and a library's is fitted. Keep one: " +
                               row.where(*kernel_, std::string(kLibrary)));
    }
    if (rank_) require_rank(row, row.cell(*rank_));
  }

  /// A board draws no less than it does idle with its clock up, and no more than its limit, of which readings stray.
  void require_power(const Row& row, std::size_t column, double power_w) const {
    if (!origin_) return;
    constexpr double kLeastOfIdle = 0.9;  // [chosen] boards of a sheet differ by less
    constexpr double kMostOfLimit = 1.1;  // [chosen] 1.002 is the most of 31,746 rows [data: aiconfigurator]
    constexpr double kThousand = 1000;
    const double least_w = kLeastOfIdle * origin_->gpu.idle.back().power_w;
    const double most_w = kMostOfLimit * origin_->gpu.tdp_w;
    const auto plausible = [&](double watts) { return watts >= least_w && watts <= most_w; };
    if (plausible(power_w)) return;
    const std::string remedy = plausible(power_w * kThousand)   ? "They are kW: write them in W"
                               : plausible(power_w / kThousand) ? "They are mW: write them in W"
                                                                : "Look at the column, its unit and --gpu";
    row.refuse(
        column,
        fmt::format("is no power of {}, which draws {:.0f} to {:.0f} W (0.9 of idle at its highest clock, 1.1 of "
                    "its limit). {}",
                    origin_->gpu.name, least_w, most_w, remedy));
  }

 private:
  static constexpr std::string_view kPlainKernel = "tiled", kLibrary = "cublaslt";

  void require_gpu(const Row& row, const std::string& board) {
    if (board.empty() || board == board_) return;
    const ModelWords words = model_words(board);
    if (words.models.empty()) return;  // the number of a board, or what somebody calls it
    if (!board_.empty()) {
      row.refuse(*gpu_, fmt::format("stands beside rows of '{}'. Keep one GPU's: {}", printable(board_, Row::kShown),
                                    row.where(*gpu_, board_)));
    }
    if (!may_be_one(words, model_words(origin_->gpu.name + " " + origin_->gpu.title))) {
      row.refuse(*gpu_,
                 fmt::format("is another GPU than {} of --gpu ({}). Name its own sheet, or keep the rows of "
                             "that one: {}",
                             origin_->gpu.name, printable(origin_->gpu.title, Row::kShown), row.where(*gpu_, "NAME")));
    }
    board_ = board;
  }

  void require_mode(const Row& row, const std::string& mode) const {
    const std::string wanted(gpu::to_string(origin_->mode));
    const bool known = mode == gpu::to_string(gpu::RunMode::burst) || mode == gpu::to_string(gpu::RunMode::sustained);
    if (!known || mode == wanted) return;
    row.refuse(
        *mode_,
        fmt::format("is not how the rows of this fit were run, {}. Keep those: {}{}", wanted, row.where(*mode_, wanted),
                    origin_->mode == gpu::RunMode::burst ? ", or fit the others: --mode sustained" : ""));
  }

  void require_rank(const Row& row, const std::string& rank) {
    if (!first_rank_) first_rank_ = rank;
    if (rank == *first_rank_) return;
    row.refuse(*rank_, fmt::format("stands beside rows of rank '{}' (of several algorithms of a product one is its "
                                   "time). Keep one: {}",
                                   printable(*first_rank_, Row::kShown), row.where(*rank_, *first_rank_)));
  }

  const std::optional<RowOrigin>& origin_;
  std::optional<std::size_t> gpu_, mode_, kernel_, rank_;
  std::string board_;  ///< of the rows before, where one names a model
  std::optional<std::string> first_rank_;
};

/// Whether a row says that nothing was measured, as `measure` does.
bool is_unmeasured(const std::string& status) { return status == "failed" || status == "unsupported"; }

/// Calls `visit(row, measurement)` for every row that the filters and the dtype keep.
template <typename Visit>
void for_each_row(const CsvTable& table, const GemmColumns& columns, const std::vector<RowFilter>& filters,
                  std::optional<gpu::DType> dtype, gpu::Quantisation quantisation, const Visit& visit) {
  const std::size_t m = require_column(table, columns.m, "m"), n = require_column(table, columns.n, "n"),
                    k = require_column(table, columns.k, "k");
  const auto batch = find_column(table, columns.batch, "batch"), format = find_column(table, columns.dtype, "dtype"),
             layout = find_column(table, columns.layout, "layout"), status = find_column(table, std::nullopt, "status");
  const LatencyColumn latency = latency_column(table, columns);
  std::vector<std::size_t> filter_columns;
  for (const RowFilter& filter : filters) filter_columns.push_back(table.column(filter.column));
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const Row row(table, i);
    bool kept = !status || !is_unmeasured(row.cell(*status));
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
                                                 gpu::Quantisation quantisation,
                                                 const std::optional<RowOrigin>& origin) {
  OriginGate gate(table, origin);
  std::vector<gpu::GemmMeasurement> measurements;
  for_each_row(table, columns, filters, dtype, quantisation,
               [&](const Row& row, const gpu::GemmMeasurement& measurement) {
                 gate.require(row);
                 measurements.push_back(measurement);
               });
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
                                         gpu::Quantisation quantisation, const std::optional<RowOrigin>& origin,
                                         double shortest_s) {
  const auto power = find_column(table, columns.power_w, "power_w");
  if (!power) {
    throw Error(ErrorKind::usage, fmt::format("{}:1: no column 'power_w' (a fit of power needs it). Name it by "
                                              "--columns power_w=NAME?",
                                              table.file.string()));
  }
  OriginGate gate(table, origin);
  std::vector<PoweredGemm> rows;
  for_each_row(table, columns, filters, dtype, quantisation,
               [&](const Row& row, const gpu::GemmMeasurement& measurement) {
                 if (row.cell(*power).empty() || measurement.latency_s < shortest_s) return;
                 rows.push_back({measurement, row.watts(*power)});
                 gate.require(row);
                 gate.require_power(row, *power, rows.back().power_w);
               });
  if (rows.empty()) {
    throw Error(ErrorKind::usage, fmt::format("{}: no row with a power is left (of {}). Bursts have none: measure with "
                                              "--mode sustained, or other --where, --dtype, --shortest-us?",
                                              table.file.string(), table.rows.size()));
  }
  return rows;
}

}  // namespace hindsight::dataset
