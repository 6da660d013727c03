/// SCALE-Sim topologies: convolutions and matrix products as CSV.
///
/// Read as SCALE-Sim's topology_utils reads them [paper: scalesim]: the first row is a header whatever it says, inputs
/// are padded already, a window that hangs over the edge counts, and a name with DP is a depthwise layer. Tolerated
/// where SCALE-Sim fails or loses cells: no comma at the end of a row, tabs, a byte order mark, CRLF.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "hindsight/core/ascii.h"
#include "hindsight/core/patience.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/text.h"
#include "workload/import/import_parts.h"
#include "workload/import/text_rows.h"

namespace hindsight::workload {
namespace {

constexpr std::string_view kCellEnds = ",\t";

/// What is said once about all rows.
struct RowHabits {
  std::uint64_t without_last_comma = 0, sparse = 0, hanging = 0, one_filter = 0, unread = 0, two_strides = 0;
};

/// Cells that hold something.
std::size_t filled_cells(const TextRow& row) {
  std::size_t filled = row.cells.size();
  while (filled > 0 && row.cells[filled - 1].text.empty()) --filled;
  return filled;
}

/// Padding behind the input, so that a window that hangs over the edge is whole: ceil((in - kernel) / stride) + 1
/// positions [paper: scalesim].
std::int64_t overhang(std::int64_t in, std::int64_t kernel, std::int64_t stride) {
  const std::int64_t rest = (in - kernel) % stride;
  return in < kernel || rest == 0 ? 0 : stride - rest;
}

void read_ninth_cell(const TextTable& table, const TextRow& row, Layer& layer, RowHabits& habits) {
  constexpr std::size_t kNinth = 8;
  if (filled_cells(row) <= kNinth) return;
  if (row.cells[kNinth].text.find(':') != std::string::npos) {
    ++habits.sparse;
    return;
  }
  layer.stride_width = table.number(row, kNinth, "Stride width");
  ++habits.two_strides;
}

Layer topology_convolution(const TextTable& table, const TextRow& row, RowHabits& habits) {
  Layer layer;
  layer.name = row.cells[0].text;
  std::size_t cell = 1;
  layer.in_height = table.number(row, cell++, "IFMAP Height");
  layer.in_width = table.number(row, cell++, "IFMAP Width");
  layer.kernel_height = table.number(row, cell++, "Filter Height");
  layer.kernel_width = table.number(row, cell++, "Filter Width");
  layer.in_channels = table.number(row, cell++, "Channels");
  layer.out_channels = table.number(row, cell++, "Num Filter");
  layer.stride_height = layer.stride_width = table.number(row, cell++, "Strides");
  read_ninth_cell(table, row, layer, habits);
  layer.has_bias = false;
  if (layer.name.find("DP") != std::string::npos) {
    layer.type = LayerType::depthwise_convolution;
    layer.groups = layer.in_channels;
    if (layer.out_channels > kLargestSize / layer.in_channels) {
      fail_import(table.where(row, 0), about_layer(layer.name, "more output channels than can be counted"));
    }
    layer.out_channels *= layer.in_channels;
  } else if (layer.out_channels == 1 && layer.in_channels > 1 && layer.kernel_height > 1) {
    ++habits.one_filter;
  }
  layer.pad_bottom = overhang(layer.in_height, layer.kernel_height, layer.stride_height);
  layer.pad_right = overhang(layer.in_width, layer.kernel_width, layer.stride_width);
  if (layer.pad_bottom > 0 || layer.pad_right > 0) ++habits.hanging;
  return layer;
}

Layer topology_product(const TextTable& table, const TextRow& row, RowHabits& habits) {
  Layer layer;
  layer.type = LayerType::fully_connected;
  layer.name = row.cells[0].text;
  layer.rows = table.number(row, 1, "M");
  layer.columns = table.number(row, 2, "N");
  constexpr std::size_t kReduction = 3, kSparsity = 4;
  layer.reduction = table.number(row, kReduction, "K");
  layer.has_bias = false;
  if (filled_cells(row) > kSparsity) {
    ++(row.cells[kSparsity].text.find(':') == std::string::npos ? habits.unread : habits.sparse);
  }
  return layer;
}

void say(std::vector<std::string>& remarks, std::uint64_t rows, std::string_view what) {
  if (rows > 0) remarks.push_back(fmt::format("{} {}", counted(rows, "row"), what));
}

template <class ReadRow>
Gathered gather_topology(const std::filesystem::path& file, ReadRow read_row) {
  TextTable table(file, kCellEnds);
  Gathered gathered;
  RowHabits habits;
  static_cast<void>(table.next());  // the header
  const Steps steps("reading layers");
  while (const std::optional<TextRow> row = table.next()) {
    steps.at(gathered.layers.size());
    gathered.add({.layer = read_row(table, *row, habits), .images = 1, .where = table.where(*row, 0)});
    if (!row->ends_in_separator) ++habits.without_last_comma;
  }
  if (gathered.layers.empty()) {
    fail_import(printable(file.string(), kWholeText),
                "no layers (the first row of a SCALE-Sim topology is its header). Add a row for each?");
  }
  std::vector<std::string>& remarks = gathered.remarks;
  say(remarks, habits.without_last_comma, "without the comma at the end that SCALE-Sim needs (it drops the last cell)");
  say(remarks, habits.sparse, "with a sparsity N:M, which is ignored: all MACs are counted");
  say(remarks, habits.two_strides,
      "with a stride of its own for the width, as SCALE-Sim v2 reads it (v3 takes the cell for a sparsity)");
  say(remarks, habits.hanging, "whose last window hangs over the input: padded, because SCALE-Sim counts it");
  say(remarks, habits.one_filter,
      "with one filter over many channels: dense, as SCALE-Sim takes them (a depthwise layer has DP in its name)");
  say(remarks, habits.unread, "with a fifth cell that is no sparsity N:M and is ignored");
  return gathered;
}

}  // namespace

Gathered gather_scale_sim(const std::filesystem::path& file) {
  Gathered gathered = gather_topology(file, topology_convolution);
  gathered.remarks.emplace_back("inputs are taken as padded already, which is how SCALE-Sim counts");
  return gathered;
}

Gathered gather_scale_gemm(const std::filesystem::path& file) {
  Gathered gathered = gather_topology(file, topology_product);
  gathered.remarks.emplace_back(
      "every product is taken as one with trained weights: the format cannot say which are not");
  return gathered;
}

}  // namespace hindsight::workload
