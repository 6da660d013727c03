/// Widens validated ranges by measurements, and says what of a prediction lies outside.
#include "hindsight/gpu/validity.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"

namespace hindsight::gpu {
namespace {

template <typename Number>
void widen(ValidatedRange::Span<Number>& span, Number value) {
  const bool empty = span.low > span.high;
  span.low = empty ? value : std::min(span.low, value);
  span.high = empty ? value : std::max(span.high, value);
}

template <typename Value>
std::size_t index(Value value) {
  return static_cast<std::size_t>(value);
}

ValidatedRange::Span<std::int64_t> read_sizes(const ConfigNode& node) {
  const std::vector<ConfigNode> ends = node.items();
  if (ends.size() != 2) node.fail("not a pair (the least and the largest size)");
  const std::int64_t low = ends[0].as_int(1, kLargestDimension);
  return {low, ends[1].as_int(low, kLargestDimension)};
}

/// Files from before say nothing: rows of 16 bytes for the tensor cores, whose shipped rows were all so.
std::int64_t read_aligned_bytes(const ConfigNode& node, const ValidatedRange& range) {
  if (const auto bytes = node.find("aligned_bytes")) {
    const std::int64_t value = bytes->as_int(1, kAlignedBytes);
    if ((value & (value - 1)) != 0) bytes->fail("no power of two");
    return value;
  }
  return range.dtypes[index(DType::fp32)] ? 1 : kAlignedBytes;
}

/// What `parse` makes of the text of `node`; its error then says where the text stands.
template <typename Parse>
auto named(const ConfigNode& node, const Parse& parse) {
  try {
    return parse(node.as_string());
  } catch (const Error& error) {
    node.fail(error.what());
  }
}

/// Whether `size` elements are a multiple of so many bytes.
bool fills(std::int64_t size, DType dtype, std::int64_t bytes) {
  const auto half_bytes = static_cast<std::int64_t>(2 * input_bytes(dtype));  // of one element: fp4 has half a byte
  return size * half_bytes % (2 * bytes) == 0;
}

/// "quantised: [...], " where some rows were; files without it had none.
std::string quantised_yaml(const ValidatedRange& range) {
  std::vector<std::string> names;
  bool any = false;
  for (const Quantisation quantisation : kAllQuantisations) {
    if (!range.quantisations[index(quantisation)]) continue;
    names.emplace_back(to_string(quantisation));
    any = any || quantisation != Quantisation::none;
  }
  return any ? fmt::format("quantised: [{}], ", join(names, ", ")) : "";
}

}  // namespace

Gemm with_weights_second(const Gemm& gemm) { return gemm.weights == Operand::b ? gemm : transposed(gemm); }

std::int64_t aligned_bytes(const Gemm& gemm) {
  const Gemm row = with_weights_second(gemm);
  std::int64_t bytes = kAlignedBytes;
  while (bytes > 1 && (!fills(row.n, row.dtype, bytes) || !fills(row.k, row.dtype, bytes))) bytes /= 2;
  return bytes;
}

bool is_aligned(const Gemm& gemm) { return !uses_tensor_cores(gemm.dtype) || aligned_bytes(gemm) == kAlignedBytes; }

std::string misalignment(const Gemm& gemm) {
  if (is_aligned(gemm)) return "";
  const bool swapped = gemm.weights == Operand::a;  // which of m and n is the weights' own
  const std::int64_t own = swapped ? gemm.m : gemm.n;
  std::vector<std::string> sizes;
  if (!fills(own, gemm.dtype, kAlignedBytes)) sizes.push_back(fmt::format("{} = {}", swapped ? "m" : "n", own));
  if (!fills(gemm.k, gemm.dtype, kAlignedBytes)) sizes.push_back(fmt::format("k = {}", gemm.k));
  const double elements = static_cast<double>(kAlignedBytes) / input_bytes(gemm.dtype);
  return fmt::format("{} {} of {:.0f} ({} bytes)", join(sizes, " and "),
                     sizes.size() > 1 ? "are no multiples" : "is no multiple", elements, kAlignedBytes);
}

void include(ValidatedRange& range, const Gemm& gemm, double latency_s) {
  const Gemm row = with_weights_second(gemm);
  widen(range.latency_s, latency_s);
  widen(range.m, row.m);
  widen(range.n, row.n);
  widen(range.k, row.k);
  widen(range.batch, row.batch);
  range.aligned_bytes = std::min(range.aligned_bytes, aligned_bytes(row));
  range.dtypes[index(row.dtype)] = true;
  range.layouts[index(row.layout)] = true;
  range.quantisations[index(row.quantisation)] = true;
}

bool was_measured(const ValidatedRange& range, const Gemm& gemm, RunMode mode) {
  if (!is_plain_product(gemm)) return false;
  const Gemm row = with_weights_second(gemm);
  constexpr std::int64_t kBlock = 128;  // [data: aiconfigurator] most frameworks take no product smaller than a block
  if (row.quantisation == Quantisation::block && std::min(row.n, row.k) < kBlock) return false;
  return range.dtypes[index(row.dtype)] && range.layouts[index(row.layout)] &&
         range.quantisations[index(row.quantisation)] && range.mode == mode && range.m.contains(row.m) &&
         range.n.contains(row.n) && range.k.contains(row.k) && range.batch.contains(row.batch) &&
         aligned_bytes(row) >= range.aligned_bytes;
}

bool covers(const ValidatedRange& range, const Gemm& gemm, RunMode mode, double latency_s) {
  Gemm row = gemm;
  const bool same_kernels = row.dtype == DType::fp16 && range.dtypes[index(DType::bf16)];
  if (same_kernels) row.dtype = DType::bf16;
  return range.latency_s.contains(latency_s) && was_measured(range, row, mode);
}

std::string to_yaml(const ValidatedRange& range) {
  std::vector<std::string> dtypes, layouts;
  for (const DType dtype : kAllDTypes) {
    if (range.dtypes[index(dtype)]) dtypes.emplace_back(to_string(dtype));
  }
  for (const Layout layout : kAllLayouts) {
    if (range.layouts[index(layout)]) layouts.emplace_back(to_string(layout));
  }
  const auto sizes = [](const char* name, const auto& span) {
    return fmt::format("{}: [{}, {}],", name, span.low, span.high);
  };
  return fmt::format(
      "{{dtypes: [{}], {}layouts: [{}], mode: {},\n        {} {} {} {}\n        aligned_bytes: {}, latency_us: "
      "[{:.6g}, {:.6g}]}}",
      join(dtypes, ", "), quantised_yaml(range), join(layouts, ", "), to_string(range.mode), sizes("m", range.m),
      sizes("n", range.n), sizes("k", range.k), sizes("batch", range.batch), range.aligned_bytes,
      range.latency_s.low / units::kMicro, range.latency_s.high / units::kMicro);
}

DTypeClass read_dtype_class(const ConfigNode& node) {
  for (const DTypeClass dtype_class : kAllDTypeClasses) {
    if (node.as_string() == to_string(dtype_class)) return dtype_class;
  }
  node.fail(
      "not a class of formats (constants of one class do not serve the other). Use cuda_core, "
      "tensor_core or tensor_core_8bit");
}

ValidatedRange read_range(const ConfigNode& node) {
  node.require_only_keys(
      {"dtypes", "quantised", "layouts", "mode", "m", "n", "k", "batch", "aligned_bytes", "latency_us"});
  ValidatedRange range;
  for (const ConfigNode& name : node.at("dtypes").items()) range.dtypes[index(named(name, parse_dtype))] = true;
  for (const ConfigNode& name : node.at("layouts").items()) range.layouts[index(named(name, parse_layout))] = true;
  range.quantisations[index(Quantisation::none)] = !node.find("quantised");
  if (const auto quantised = node.find("quantised")) {
    for (const ConfigNode& name : quantised->items())
      range.quantisations[index(named(name, parse_quantisation))] = true;
  }
  range.mode = named(node.at("mode"), parse_mode);
  range.m = read_sizes(node.at("m"));
  range.n = read_sizes(node.at("n"));
  range.k = read_sizes(node.at("k"));
  range.batch = read_sizes(node.at("batch"));
  range.aligned_bytes = read_aligned_bytes(node, range);
  const ConfigNode latency = node.at("latency_us");
  const std::vector<ConfigNode> ends = latency.items();
  if (ends.size() != 2) latency.fail("not a pair (the least and the largest latency)");
  range.latency_s.low = units::kMicro * ends[0].as_double(kPositive);
  range.latency_s.high = units::kMicro * ends[1].as_double({.low = range.latency_s.low / units::kMicro});
  return range;
}

}  // namespace hindsight::gpu
