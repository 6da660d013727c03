/// Our layer tables: CSV, one row per distinct layer, with what the layer must come to.
///
/// The products M, N, Kd and the columns macs and params are checked against the layer that the other columns give, so
/// that a table and what is imported from it cannot differ unnoticed.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "hindsight/core/patience.h"
#include "hindsight/core/text.h"
#include "workload/import/import_parts.h"
#include "workload/import/text_rows.h"

namespace hindsight::workload {
namespace {

constexpr std::array<std::string_view, 19> kTableColumns{"name", "type", "count",  "H",    "W",      "C", "K",
                                                         "R",    "S",    "stride", "pad",  "groups", "P", "Q",
                                                         "M",    "N",    "Kd",     "macs", "params"};

/// One row with names for its cells.
class TableRow {
 public:
  TableRow(const TextTable& table, const TextRow& row, const std::map<std::string, std::size_t>& columns)
      : table_(table), row_(row), columns_(columns) {}

  [[nodiscard]] std::string text(const std::string& column) const {
    const std::size_t at = columns_.at(column);
    return at < row_.cells.size() ? row_.cells[at].text : std::string();
  }
  [[nodiscard]] std::int64_t number(const std::string& column, std::int64_t low = 1) const {
    return table_.number(row_, columns_.at(column), column, low);
  }
  /// A count that may be beyond what a size may be.
  [[nodiscard]] std::int64_t count(const std::string& column) const {
    const std::optional<std::int64_t> value = parse_int(text(column));
    if (!value || *value < 0) fail(column, fmt::format("{} is '{}', but takes a count", column, text(column)));
    return *value;
  }
  [[noreturn]] void fail(const std::string& column, const std::string& problem) const {
    fail_import(table_.where(row_, columns_.at(column)), problem);
  }

 private:
  const TextTable& table_;
  const TextRow& row_;
  const std::map<std::string, std::size_t>& columns_;
};

std::map<std::string, std::size_t> table_columns(const TextTable& table, const TextRow& header) {
  std::map<std::string, std::size_t> columns;
  for (std::size_t i = 0; i < header.cells.size(); ++i) columns[header.cells[i].text] = i;
  for (const std::string_view name : kTableColumns) {
    if (!columns.contains(std::string(name))) {
      fail_import(table.where(header, 0),
                  fmt::format("the column '{}' is missing (a layer table has {}). Add it?", name,
                              join(std::vector<std::string>(kTableColumns.begin(), kTableColumns.end()), ",")));
    }
  }
  return columns;
}

/// `pad` is `same` (TensorFlow's) or a number for both ends of both axes; an axis of one pixel and a kernel of one is
/// not padded (convolutions over time have one row).
Padding table_padding(const TableRow& row, const Layer& layer, std::int64_t in, std::int64_t kernel) {
  if (row.text("pad") == "same") return same_padding(layer.type, in, kernel, layer.stride_height, 1);
  const std::int64_t pad = row.number("pad", 0);
  if (in == 1 && kernel == 1) return {};
  return {.before = pad, .after = pad};
}

Layer table_convolution(const TableRow& row, LayerType type) {
  Layer layer;
  layer.type = type;
  layer.in_height = row.number("H");
  layer.in_width = row.number("W");
  layer.in_channels = row.number("C");
  layer.out_channels = row.number("K");
  layer.kernel_height = row.number("R");
  layer.kernel_width = row.number("S");
  layer.stride_height = layer.stride_width = row.number("stride");
  if (layer.in_height == 1 && layer.kernel_height == 1) layer.stride_height = 1;
  layer.groups = row.number("groups");
  const Padding height = table_padding(row, layer, layer.in_height, layer.kernel_height);
  const Padding width = table_padding(row, layer, layer.in_width, layer.kernel_width);
  layer.pad_top = height.before;
  layer.pad_bottom = height.after;
  layer.pad_left = width.before;
  layer.pad_right = width.after;
  return layer;
}

Layer table_product(const TableRow& row, LayerType type) {
  Layer layer;
  layer.type = type;
  layer.rows = row.number("M");
  layer.columns = row.number("N");
  layer.reduction = row.number("Kd");
  return layer;
}

Layer table_layer(const TableRow& row) {
  const std::string type = row.text("type");
  if (type == "conv" || type == "conv1d") return table_convolution(row, LayerType::convolution);
  if (type == "dwconv") return table_convolution(row, LayerType::depthwise_convolution);
  if (type == "trconv") return table_convolution(row, LayerType::transposed_convolution);
  if (type == "gemm" || type == "fc") return table_product(row, LayerType::fully_connected);
  if (type == "attn") return table_product(row, LayerType::matmul);
  const std::vector<std::string> known{"conv", "conv1d", "dwconv", "trconv", "gemm", "fc", "attn"};
  row.fail("type", fmt::format("unknown layer type '{}'.{}", printable(type), did_you_mean(type, known)));
}

/// What per output channel the parameters beyond the weights are: 0 nothing, 1 a bias, 2 a batch normalisation. A layer
/// whose weights are another's (params 0) counts none here; says whether it is one.
bool read_table_parameters(const TableRow& row, Layer& layer) {
  layer.has_bias = layer.batch_norm = false;
  const GemmLayer gemm = lower(layer, 1);
  const std::int64_t given = row.count("params");
  if (layer.type == LayerType::matmul) {
    if (given != 0) row.fail("params", fmt::format("params is {}, but a product of activations has none", given));
    return false;
  }
  if (given == 0) return true;
  const auto weights = static_cast<std::int64_t>(gemm.parameters);
  const std::int64_t channels = layer.type == LayerType::fully_connected ? layer.columns : layer.out_channels;
  const std::int64_t beyond = given - weights;
  if (beyond != 0 && beyond != channels && beyond != 2 * channels) {
    row.fail("params", fmt::format("params is {}, but the layer has {} weights and {} channels (a channel has nothing, "
                                   "a bias, or a batch normalisation of two more)",
                                   given, weights, channels));
  }
  layer.has_bias = beyond == channels;
  layer.batch_norm = beyond == 2 * channels;
  return false;
}

void check_table_macs(const TableRow& row, const Layer& layer) {
  const GemmLayer gemm = lower(layer, 1);
  const std::int64_t given = row.count("macs");
  if (static_cast<double>(given) != gemm.macs) {
    row.fail("macs", fmt::format("macs is {}, but the layer has {:.0f}", given, gemm.macs));
  }
}

}  // namespace

Gathered gather_layer_table(const std::filesystem::path& file) {
  TextTable table(file, ",");
  const std::optional<TextRow> header = table.next();
  if (!header) fail_import(printable(file.string(), kWholeText), "an empty table. Is it the right file?");
  const std::map<std::string, std::size_t> columns = table_columns(table, *header);
  Gathered gathered;
  double shared_weights = 0;
  std::vector<std::string> sharing;
  const Steps steps("reading layers");
  while (const std::optional<TextRow> cells = table.next()) {
    steps.at(gathered.layers.size());
    const TableRow row(table, *cells, columns);
    Layer layer = table_layer(row);
    layer.name = row.text("name");
    layer.repeat = row.number("count");
    const std::string problem = find_problem(layer);
    if (!problem.empty()) fail_import(table.where(*cells, 0), about_layer(layer.name, problem));
    if (read_table_parameters(row, layer)) {
      sharing.push_back(fmt::format("'{}'", printable(layer.name)));
      shared_weights += lower(layer, 1).parameters * static_cast<double>(layer.repeat);
    }
    check_table_macs(row, layer);
    gathered.add({.layer = std::move(layer), .images = 1, .where = table.where(*cells, 0)});
  }
  if (!sharing.empty()) {
    gathered.remarks.push_back(fmt::format("the table counts no weights for {} (another layer's); counted here: {}",
                                           join(sharing, ", "),
                                           with_commas(static_cast<std::uint64_t>(shared_weights))));
  }
  return gathered;
}

}  // namespace hindsight::workload
