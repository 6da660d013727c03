/// Reads recorded runs of other cost models and sets the peer modes against them.
#include "hindsight/accel/peer_cases.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

#include "hindsight/accel/peers.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"

namespace hindsight::accel::peers {
namespace {

constexpr std::size_t kFieldCount = 12;
constexpr std::string_view kHeader =
    "tool,hardware,layer,dims,dataflow,cycles,stall_cycles,energy,energy_unit,utilisation,extra,wall_s";

[[noreturn]] void fail(const std::string& source, const std::string& problem) {
  throw Error(ErrorKind::usage, source + ": " + problem);
}

/// The number that `text` starts with; `text` is advanced past it.
std::optional<double> take_number(std::string_view& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !std::isfinite(value)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::optional<double> whole_number_field(std::string_view text) {
  const std::optional<double> value = take_number(text);
  return text.empty() ? value : std::nullopt;
}

/// The text behind the first `key` that starts a word.
std::optional<std::string_view> text_after(std::string_view text, std::string_view key) {
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    if (at == 0 || text[at - 1] == ' ' || text[at - 1] == '(') return text.substr(at + key.size());
  }
  return std::nullopt;
}

std::optional<double> find_number(std::string_view text, std::string_view key) {
  std::optional<std::string_view> rest = text_after(text, key);
  return rest ? take_number(*rest) : std::nullopt;
}

/// Fields of one case, with errors that name its line.
class CaseReader {
 public:
  explicit CaseReader(const PeerCase& peer_case) : case_(peer_case) {}

  [[nodiscard]] double number(std::string_view text, std::string_view key) const {
    const std::optional<double> value = find_number(text, key);
    if (!value) missing(text, "a number after '" + std::string(key) + "'");
    return *value;
  }

  /// "key AxB"
  [[nodiscard]] std::pair<double, double> product(std::string_view text, std::string_view key) const {
    std::optional<std::string_view> rest = text_after(text, key);
    if (rest) {
      const std::optional<double> first = take_number(*rest);
      if (first && !rest->empty() && rest->front() == 'x') {
        rest->remove_prefix(1);
        if (const std::optional<double> second = take_number(*rest)) return {*first, *second};
      }
    }
    missing(text, "'AxB' after '" + std::string(key) + "'");
  }

  /// "(a, b, c)" behind the last opening parenthesis.
  [[nodiscard]] std::vector<double> tuple(std::string_view text) const {
    std::vector<double> values;
    std::size_t at = text.rfind('(');
    while (at != std::string_view::npos && at < text.size() && text[at] != ')') {
      std::string_view rest = text.substr(at + 1);
      while (rest.starts_with(' ')) rest.remove_prefix(1);
      const std::optional<double> value = take_number(rest);
      if (!value) missing(text, "a list of numbers in parentheses");
      values.push_back(*value);
      at = text.size() - rest.size();
    }
    return values;
  }

  [[nodiscard]] Gemm gemm() const {
    return {.m = number(case_.dims, "M="), .n = number(case_.dims, "N="), .k = number(case_.dims, "K=")};
  }

  [[nodiscard]] bool is_convolution() const { return text_after(case_.dims, "HxW=").has_value(); }

  [[nodiscard]] Convolution convolution() const {
    const auto [in_height, in_width] = product(case_.dims, "HxW=");
    const auto [kernel_height, kernel_width] = product(case_.dims, "RxS=");
    return {.in_height = in_height,
            .in_width = in_width,
            .kernel_height = kernel_height,
            .kernel_width = kernel_width,
            .in_channels = number(case_.dims, "C="),
            .out_channels = number(case_.dims, "K="),
            .stride = number(case_.dims, "stride=")};
  }

  [[noreturn]] void missing(std::string_view text, const std::string& what) const {
    fail(case_.source, "no " + what + " in '" + std::string(text) + "' (the peer mode cannot be configured)");
  }

 private:
  const PeerCase& case_;
};

std::string array_label(double rows, double columns) {
  return std::to_string(static_cast<long>(rows)) + "x" + std::to_string(static_cast<long>(columns));
}

/// Adds a figure that the case's `extra` field records.
void add_recorded(const PeerCase& peer_case, PeerComparison& comparison, const std::string& name,
                  std::optional<double> ours) {
  const std::optional<double> peer = find_number(peer_case.extra, name + "=");
  if (!peer) return;
  if (ours) {
    comparison.figures.push_back({.name = name, .peer = *peer, .ours = *ours, .agreement = Agreement::exact});
  } else {
    comparison.without_closed_form.push_back(name);
  }
}

PeerComparison compare_scale_sim(const PeerCase& peer_case) {
  const CaseReader reader(peer_case);
  const auto [rows, columns] = reader.product(peer_case.hardware, "");
  const bool user_mode = peer_case.hardware.find("USER") != std::string::npos;
  Stationary stationary = Stationary::output;
  if (peer_case.dataflow == "ws") {
    stationary = Stationary::weight;
  } else if (peer_case.dataflow == "is") {
    stationary = Stationary::input;
  } else if (peer_case.dataflow != "os") {
    fail(peer_case.source, "unknown dataflow '" + peer_case.dataflow + "' (known: os, ws, is)");
  }
  Gemm gemm;
  InputMatrix input_matrix = InputMatrix::distinct;
  if (reader.is_convolution()) {
    const Convolution convolution = reader.convolution();
    gemm = scale_sim_im2col(convolution);
    if (convolution.overlapping()) input_matrix = InputMatrix::overlapping_windows;
  } else {
    gemm = reader.gemm();
  }
  constexpr double kWordsPerKilobyte = 1024;  // SCALE-Sim's kB, one byte per word
  const ScaleSimArray array{
      .rows = rows, .columns = columns, .sram_words = reader.number(peer_case.hardware, "SRAM ") * kWordsPerKilobyte};
  const ScaleSimCost cost = scale_sim_cost(array, stationary, gemm, input_matrix);

  PeerComparison comparison{.tool = "SCALE-Sim v2",
                            .hardware = array_label(rows, columns) + (user_mode ? " USER" : " CALC"),
                            .dataflow = peer_case.dataflow,
                            .figures = {},
                            .without_closed_form = {}};
  comparison.figures.push_back({.name = "cycles",
                                .peer = peer_case.cycles - peer_case.stall_cycles,
                                .ours = cost.compute_cycles,
                                .agreement = Agreement::exact});
  add_recorded(peer_case, comparison, "sram_rd_if", cost.input_sram_reads);
  add_recorded(peer_case, comparison, "sram_rd_f", cost.weight_sram_reads);
  add_recorded(peer_case, comparison, "sram_wr_o", cost.output_sram_writes);
  const auto calc_only = [&](std::optional<double> value) { return user_mode ? std::nullopt : value; };
  add_recorded(peer_case, comparison, "dram_rd_if", calc_only(cost.input_dram_reads));
  add_recorded(peer_case, comparison, "dram_rd_f", calc_only(cost.weight_dram_reads));
  add_recorded(peer_case, comparison, "dram_wr_o", calc_only(cost.output_dram_writes));
  return comparison;
}

/// "g128x64x256" is M x N x K, "g64" a cube, "gemv1024" a row times a square.
Gemm gemm_from_name(const PeerCase& peer_case) {
  std::string_view name = peer_case.layer;
  const bool vector = name.starts_with("gemv");
  name.remove_prefix(vector ? 4 : std::size_t{name.starts_with('g')});
  std::vector<double> sizes;
  while (const std::optional<double> size = take_number(name)) {
    sizes.push_back(*size);
    if (!name.starts_with('x')) break;
    name.remove_prefix(1);
  }
  if (sizes.size() == 1) return {.m = vector ? 1 : sizes[0], .n = sizes[0], .k = sizes[0]};
  if (sizes.size() != 3) fail(peer_case.source, "no GEMM sizes in the layer name '" + peer_case.layer + "'");
  return {.m = sizes[0], .n = sizes[1], .k = sizes[2]};
}

PeerComparison compare_timeloop(const PeerCase& peer_case) {
  const CaseReader reader(peer_case);
  const auto [rows, columns] = reader.product(peer_case.hardware, "");
  constexpr double kWordsPerKilobyte = 1024;  // 8-bit words
  const TimeloopArchitecture architecture{.rows = rows,
                                          .columns = columns,
                                          .buffer_words = reader.number(peer_case.hardware, "GB ") * kWordsPerKilobyte,
                                          .buffer_words_per_cycle = reader.number(peer_case.hardware, "kB bw="),
                                          .dram_words_per_cycle = reader.number(peer_case.hardware, "DRAM bw=")};
  PeerComparison comparison{.tool = "Timeloop v3 model",
                            .hardware = array_label(rows, columns) + " DRAM " +
                                        std::to_string(static_cast<long>(architecture.dram_words_per_cycle)) +
                                        " words/cycle",
                            .dataflow = peer_case.dataflow.substr(0, peer_case.dataflow.find(' ')),
                            .figures = {},
                            .without_closed_form = {}};

  if (peer_case.tool.find("mapper") != std::string::npos) {
    const std::optional<TimeloopBest> best = timeloop_best(architecture, gemm_from_name(peer_case));
    if (!best) fail(peer_case.source, "no mapping fits the buffer of '" + peer_case.hardware + "'");
    comparison.tool = "Timeloop v3 mapper";
    comparison.dataflow = "best";
    comparison.figures.push_back(
        {.name = "cycles", .peer = peer_case.cycles, .ours = best->cost.cycles, .agreement = Agreement::at_most});
    return comparison;
  }
  const std::vector<double> tile = reader.tuple(peer_case.dataflow);
  if (tile.size() != 3) reader.missing(peer_case.dataflow, "global-buffer tile (m, n, k)");
  if (comparison.dataflow != "os" && comparison.dataflow != "ws") {
    fail(peer_case.source, "unknown dataflow '" + comparison.dataflow + "' (known: os, ws)");
  }
  const TimeloopMapping mapping{.stationary = comparison.dataflow == "os" ? Stationary::output : Stationary::weight,
                                .tile_m = tile[0],
                                .tile_n = tile[1],
                                .tile_k = tile[2]};
  const TimeloopCost cost = timeloop_cost(architecture, mapping, reader.gemm());
  comparison.figures.push_back(
      {.name = "cycles", .peer = peer_case.cycles, .ours = cost.cycles, .agreement = Agreement::exact});
  add_recorded(peer_case, comparison, "dram_scalar_accesses", cost.dram_accesses());
  return comparison;
}

PeerComparison compare_maestro(const PeerCase& peer_case) {
  const CaseReader reader(peer_case);
  const MaestroArchitecture architecture{
      .pes = reader.number(peer_case.hardware, ""),
      .cluster_pes = reader.number(peer_case.hardware, "cluster "),
      .noc_elements_per_cycle = reader.number(peer_case.hardware, "noc_bw="),
      .offchip_elements_per_cycle = reader.number(peer_case.hardware, "offchip_bw=")};
  MaestroCost cost;
  const std::string dataflow = peer_case.dataflow.substr(0, peer_case.dataflow.find_first_of(" ("));
  if (dataflow == "kcp_ws") {
    cost = maestro_convolution_cost(architecture, reader.convolution());
  } else if (dataflow == "NMK" || dataflow == "MKN") {
    cost = maestro_gemm_cost(architecture, MaestroDataflow::m_then_k, reader.gemm());
  } else if (dataflow == "MNK") {
    cost = maestro_gemm_cost(architecture, MaestroDataflow::m_then_n, reader.gemm());
  } else {
    fail(peer_case.source, "unknown dataflow '" + peer_case.dataflow + "' (known: NMK, MKN, MNK, kcp_ws)");
  }
  PeerComparison comparison{.tool = "MAESTRO",
                            .hardware = std::to_string(static_cast<long>(architecture.pes)) + " PEs, off-chip " +
                                        std::to_string(static_cast<long>(architecture.offchip_elements_per_cycle)) +
                                        "/cycle",
                            .dataflow = dataflow,
                            .figures = {},
                            .without_closed_form = {}};
  comparison.figures.push_back(
      {.name = "cycles", .peer = peer_case.cycles, .ours = cost.cycles, .agreement = Agreement::exact});
  add_recorded(peer_case, comparison, "NoCreq", cost.peak_noc_elements_per_cycle);
  return comparison;
}

std::optional<PeerComparison> compare_zigzag(const PeerCase& peer_case) {
  const CaseReader reader(peer_case);
  const bool edge_tpu = peer_case.hardware.starts_with("edge_tpu_like");
  if (!edge_tpu && !peer_case.hardware.starts_with("tpu_like")) return std::nullopt;
  const std::vector<double> sizes = reader.tuple(peer_case.dims);
  ZigZagLoops loops;
  constexpr std::size_t kGemmSizes = 3;         // M, N, K
  constexpr std::size_t kConvolutionSizes = 7;  // H, W, R, S, C, K, stride
  if (sizes.size() == kGemmSizes) {
    loops = zigzag_loops({.m = sizes[0], .n = sizes[1], .k = sizes[2]});
  } else if (sizes.size() == kConvolutionSizes) {
    const bool pointwise = sizes[2] == 1 && sizes[3] == 1 && sizes[6] == 1;
    if (!pointwise) return std::nullopt;
    loops = {.ox = sizes[0], .oy = sizes[1], .c = sizes[4], .k = sizes[5]};
  } else {
    reader.missing(peer_case.dims, "GEMM or convolution sizes");
  }
  const ZigZagCost cost = zigzag_cost(edge_tpu ? kEdgeTpuLike : kTpuLike, loops);
  PeerComparison comparison{
      .tool = "ZigZag",
      .hardware = edge_tpu ? "edge_tpu_like" : "tpu_like",
      .dataflow = peer_case.tool.find("opt=energy") != std::string::npos ? "best energy" : "best latency",
      .figures = {},
      .without_closed_form = {}};
  comparison.figures.push_back({.name = "cycles",
                                .peer = peer_case.cycles,
                                .ours = cost.cycles,
                                .agreement = edge_tpu ? Agreement::within : Agreement::reported});
  if (peer_case.energy) {
    comparison.figures.push_back({.name = "dram_energy_pj <= energy_pj",
                                  .peer = *peer_case.energy,
                                  .ours = cost.dram_energy_pj,
                                  .agreement = Agreement::at_most});
  }
  return comparison;
}

/// Splits one CSV line; a field may be quoted, a doubled quote inside stands for one.
std::vector<std::string> csv_fields(std::string_view line, const std::string& source) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"') {
      if (quoted && i + 1 < line.size() && line[i + 1] == '"') {
        fields.back() += c;
        ++i;
      } else {
        quoted = !quoted;
      }
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  if (quoted) fail(source, "a quoted field does not end on its line");
  return fields;
}

PeerCase parse_case(std::string_view line, const std::string& source) {
  const std::vector<std::string> fields = csv_fields(line, source);
  if (fields.size() != kFieldCount) {
    fail(source, std::to_string(fields.size()) + " fields instead of " + std::to_string(kFieldCount));
  }
  const std::optional<double> cycles = whole_number_field(fields[5]);
  if (!cycles || *cycles <= 0) fail(source, "cycles '" + fields[5] + "' is not a positive number");
  return {.source = source,
          .tool = fields[0],
          .hardware = fields[1],
          .layer = fields[2],
          .dims = fields[3],
          .dataflow = fields[4],
          .cycles = *cycles,
          .stall_cycles = whole_number_field(fields[6]).value_or(0.0),
          .energy = whole_number_field(fields[7]),
          .extra = fields[10]};
}

}  // namespace

bool PeerFigure::holds() const {
  switch (agreement) {
    case Agreement::exact:
      return exact();
    case Agreement::within:
      return std::fabs(difference_frac()) <= kPeerTolerance;
    case Agreement::at_most:
      return ours <= peer;
    case Agreement::reported:
      return true;
  }
  return false;
}

std::vector<PeerCase> load_peer_cases(const std::filesystem::path& file) {
  const std::string text = read_file(file);
  std::vector<PeerCase> cases;
  std::size_t line_number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::string source = file.string() + ":" + std::to_string(++line_number);
    if (line_number == 1) {
      if (line != kHeader) fail(source, "the header is not '" + std::string(kHeader) + "'");
    } else if (!line.empty()) {
      cases.push_back(parse_case(line, source));
    }
  }
  return cases;
}

std::optional<PeerComparison> compare(const PeerCase& peer_case) {
  if (peer_case.tool.starts_with("SCALE-Sim v2")) return compare_scale_sim(peer_case);
  if (peer_case.tool.starts_with("Timeloop v3")) return compare_timeloop(peer_case);
  if (peer_case.tool.starts_with("MAESTRO")) return compare_maestro(peer_case);
  if (peer_case.tool.starts_with("ZigZag")) return compare_zigzag(peer_case);
  return std::nullopt;
}

}  // namespace hindsight::accel::peers
