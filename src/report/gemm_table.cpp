/// Tables of many products, as CSV and JSON.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"
#include "hindsight/report/gemm.h"
#include "report/gemm_fields.h"
#include "report/six_digits.h"

namespace hindsight::report {
namespace {

constexpr std::array<std::string_view, 8> kOutputs = {
    "latency_us", "power_w",    "energy_mj",          "tflops",
    "bound",      "calibrated", "in_validated_range", "power_in_validated_range"};
constexpr std::string_view kGpuColumn = "gpu";

/// True for the columns that the product itself prints, in upper case too.
bool is_product_column(std::string name) {
  constexpr std::array<std::string_view, 7> kProduct = {"m", "n", "k", "batch", "dtype", "quantise", "layout"};
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(kProduct.begin(), kProduct.end(), name) != kProduct.end();
}

}  // namespace

GemmTableText::GemmTableText(TableFormat format, const std::vector<std::string>& header, std::vector<std::string> gpus,
                             gpu::RunMode mode)
    : format_(format), names_(header), gpus_(std::move(gpus)), mode_(mode) {
  for (std::string& name : names_) {
    const bool taken = std::find(kOutputs.begin(), kOutputs.end(), name) != kOutputs.end();
    const bool names_gpus = gpus_.size() > 1 || format_ == TableFormat::json;
    if (taken || (names_gpus && name == kGpuColumn)) name = "input_" + name;
    of_the_product_.push_back(is_product_column(name));
  }
}

std::string GemmTableText::begin() const {
  if (format_ == TableFormat::json) {
    Json json{{"hindsight_version", build_info().version}, {"commit", build_info().commit}};
    json["mode"] = gpu::to_string(mode_);
    std::string text = to_text(json);
    text.resize(text.rfind("\n}"));
    return text + ",\n  \"rows\": [";
  }
  std::string text = gpus_.size() > 1 ? std::string(kGpuColumn) + "," : "";
  for (const std::string& name : names_) text += csv_cell(name) + ",";
  return text + fmt::format("{}\n", fmt::join(kOutputs, ","));
}

std::string GemmTableText::end(std::size_t rows) const {
  if (format_ == TableFormat::csv) return "";
  return rows == 0 ? "]\n}\n" : "\n  ]\n}\n";
}

void GemmTableText::append_csv(std::string& piece, const dataset::CsvBlock& block, std::size_t row,
                               std::span<const gpu::GemmPrediction> predictions) const {
  for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
    const gpu::GemmPrediction& p = predictions[gpu];
    const auto cell = [&](std::string_view text) {
      append_cell(piece, text);
      piece += ',';
    };
    if (gpus_.size() > 1) cell(gpus_[gpu]);
    for (std::size_t i = 0; i < names_.size(); ++i) cell(block.cell(row, i));
    for (const double value :
         {p.latency_s / units::kMicro, p.average_power_w, p.energy_j / units::kMilli, p.ops_per_s / units::kTera}) {
      append_six_digits(piece, value);
      piece += ',';
    }
    piece.append(gpu::to_string(p.bound));
    for (const bool valid : {p.calibrated, p.in_validated_range, p.power_in_validated_range}) {
      piece += valid ? ",true" : ",false";
    }
    piece += '\n';
  }
}

void GemmTableText::append(std::string& piece, const dataset::CsvBlock& block, std::size_t row, const gpu::Gemm& gemm,
                           std::span<const gpu::GemmPrediction> predictions) const {
  HINDSIGHT_EXPECT(predictions.size() == gpus_.size());
  if (format_ == TableFormat::csv) {
    append_csv(piece, block, row, predictions);
    return;
  }
  for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
    const gpu::GemmPrediction& p = predictions[gpu];
    Json entry{{std::string(kGpuColumn), gpus_[gpu]}};
    entry.update(gemm_fields_json(gemm));
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (!of_the_product_[i]) entry[names_[i]] = block.cell(row, i);
    }
    entry["latency_us"] = p.latency_s / units::kMicro;
    entry["power_w"] = p.average_power_w;
    entry["power_of"] = operands_name(p.operands);
    entry["energy_mj"] = p.energy_j / units::kMilli;
    entry["tflops"] = p.ops_per_s / units::kTera;
    entry["bound"] = gpu::to_string(p.bound);
    entry["calibrated"] = p.calibrated;
    entry["in_validated_range"] = p.in_validated_range;
    entry["power_in_validated_range"] = p.power_in_validated_range;
    if (!piece.empty()) piece += separator();
    const std::string text = to_text(entry);  // ends in a line end
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = text.find('\n', begin);
      piece.append("\n    ").append(text, begin, end - begin);  // indented as an object in a list in an object
      begin = end + 1;
    }
  }
}

}  // namespace hindsight::report
