/// Reads tables of measured GPU kernels.
#include "hindsight/dataset/kernel_rows.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight::dataset {
namespace {

constexpr const char* kWritten = "scripts/measure-kernels.py writes such tables";
constexpr double kElementBytes = 2;  // [spec: ieee754] bf16, in which all are measured

/// Kernels that stream rows x k elements: how many tensors they read and write.
struct Stream {
  const char* kernel;
  const char* kind;
  double read, written;
};
constexpr std::array kStreams{Stream{"gate", "gate (SwiGLU)", 2, 1}, Stream{"layer_norm", "layer normalisation", 1, 1},
                              Stream{"softmax", "softmax", 1, 1},    Stream{"add", "addition", 2, 1},
                              Stream{"gelu", "GELU", 1, 1},          Stream{"quantise", "quantisation to fp8", 1, 0.5}};

/// One line, by the names of its columns.
class Line {
 public:
  Line(const CsvTable& table, std::size_t index) : table_(table), index_(index) {}

  [[nodiscard]] const std::string& text(const char* column) const { return table_.rows[index_][at(column)]; }
  [[nodiscard]] std::int64_t size(const char* column) const { return size_of(column, text(column)); }
  [[nodiscard]] double bytes(const char* column) const {
    const auto value = parse_int(text(column));
    if (!value || *value < 1) fail(column, "is no number of bytes");
    return static_cast<double>(*value);
  }
  [[nodiscard]] double number(const char* column) const { return static_cast<double>(size(column)); }
  /// Sizes with blanks between; 0 counts here.
  [[nodiscard]] std::vector<std::int64_t> sizes(const char* column) const {
    std::vector<std::int64_t> values;
    for (const std::string& piece : split(text(column), ' ')) {
      values.push_back(piece == "0" ? 0 : size_of(column, piece));
    }
    return values;
  }
  [[nodiscard]] double seconds(const char* column) const {
    constexpr double kMicro = 1e-6;
    const double value = parse_double(text(column)).value_or(0) * kMicro;
    if (!std::isfinite(value) || !(value > 0)) fail(column, "is no runtime");
    return value;
  }
  [[noreturn]] void fail(const char* column, const std::string& why) const {
    const CsvTable::Place place = table_.place[index_][at(column)];
    throw Error(ErrorKind::usage, fmt::format("{}:{}:{}: '{}' {} ({})", printable(table_.file.string(), 200),
                                              place.line, place.column, printable(text(column)), why, kWritten));
  }
  void require(const char* column, const std::string& problem) const {
    if (!problem.empty()) fail(column, "makes a kernel that cannot be: " + problem);
  }

 private:
  [[nodiscard]] std::size_t at(const char* column) const { return table_.column(column); }
  [[nodiscard]] std::int64_t size_of(const char* column, const std::string& text) const {
    const auto value = parse_int(text);
    if (!value || *value < 1 || *value > gpu::kLargestDimension) fail(column, "is no size");
    return *value;
  }

  const CsvTable& table_;
  std::size_t index_;
};

KernelRow attention(const Line& line) {
  const std::int64_t heads = line.size("heads"), kv_heads = line.size("kv_heads"), queries = line.size("queries");
  if (heads % kv_heads != 0) line.fail("heads", "is no multiple of the heads of keys");
  const gpu::Attention work{.heads = line.size("batch") * kv_heads,
                            .rows = heads / kv_heads * queries,
                            .context = line.size("keys"),
                            .key_length = line.size("length"),
                            .value_length = line.size("length"),
                            .causal = line.text("causal") == "1",
                            .queries = queries,
                            .cached = queries < line.size("keys")};
  line.require("heads", gpu::attention_problem(work));
  return {.kind = queries == 1 ? "attention, decoding" : "attention, prompts", .work = work};
}

KernelRow grouped(const Line& line) {
  const gpu::GroupedGemm work{.rows = line.sizes("groups"), .n = line.size("n"), .k = line.size("k")};
  line.require("groups", gpu::grouped_problem(work));
  return {.kind = "grouped GEMM", .work = work};
}

KernelRow fp8(const Line& line, gpu::Quantisation quantisation, const char* kind) {
  gpu::Gemm work{.m = line.size("rows"), .n = line.size("n"), .k = line.size("k"), .dtype = gpu::DType::fp8};
  work.quantisation = quantisation;
  work.layout = gpu::Layout::nt;
  line.require("rows", gpu::size_problem(work));
  return {.kind = kind, .work = work};
}

KernelRow depthwise(const Line& line) {
  const double edge = line.number("rows"), stride = line.number("groups"), taps = line.number("k") * line.number("k");
  const double images = line.number("batch") * line.number("n"), after = std::ceil(edge / stride);
  const double outputs = images * after * after;
  return {.kind = "depthwise convolution",
          .work = gpu::depthwise(outputs * taps, taps, (images * edge * edge + line.number("n") * taps) * kElementBytes,
                                 outputs * kElementBytes)};
}

KernelRow kernel_of(const Line& line) {
  const std::string& kernel = line.text("kernel");
  if (kernel == "attention") return attention(line);
  if (kernel == "grouped") return grouped(line);
  if (kernel == "fp8_product") return fp8(line, gpu::Quantisation::none, "fp8 product");
  if (kernel == "fp8_dynamic") return fp8(line, gpu::Quantisation::dynamic, "fp8, quantised before");
  if (kernel == "depthwise") return depthwise(line);
  if (kernel == "add_normalise") {
    return {.kind = "addition and normalisation",
            .work = gpu::normalisation(line.number("rows"), line.number("k"), kElementBytes)};
  }
  std::vector<std::string> known{"attention", "grouped", "fp8_product", "fp8_dynamic", "depthwise", "add_normalise"};
  for (const Stream& stream : kStreams) {
    if (kernel == stream.kernel) {
      const double bytes = kElementBytes * line.number("k") * line.number("rows");
      return {.kind = stream.kind,
              .work = gpu::Streaming{.read_bytes = stream.read * bytes, .written_bytes = stream.written * bytes}};
    }
    known.emplace_back(stream.kernel);
  }
  line.fail("kernel", "is no kernel that is known." + did_you_mean(kernel, known));
}

}  // namespace

std::vector<KernelRow> read_kernel_rows(const CsvTable& table) {
  std::vector<KernelRow> rows;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const Line line(table, i);
    if (line.text("status") != "ok") continue;
    KernelRow row = kernel_of(line);
    row.backend = line.text("backend");
    row.latency_s = line.seconds("latency_us");
    row.rotated = line.size("sets") > 1;
    row.rotated_bytes = line.number("sets") * line.bytes("bytes");
    rows.push_back(std::move(row));
  }
  if (rows.empty()) {
    throw Error(ErrorKind::usage, fmt::format("{}: no kernel was measured in its {} rows ({})",
                                              printable(table.file.string(), 200), table.rows.size(), kWritten));
  }
  return rows;
}

}  // namespace hindsight::dataset
