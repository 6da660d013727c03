/// Least-squares power laws in log space, and the reader of the CACTI table.
#include "hindsight/accel/sram_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/text.h"

namespace hindsight::accel {
namespace {

constexpr std::string_view kSamplesHeader = "tech_nm,width_bits,size_kB,read_pJ,write_pJ,leak_mW,area_mm2,access_ns";
/// Columns before the quantities: node, port width, capacity.
constexpr std::size_t kKeyColumns = 3;
/// Columns after the quantities: the access time, which the model does not use.
constexpr std::size_t kUnusedColumns = 1;
constexpr std::size_t kShownBytes = 100;  // [chosen] of a cell or a header in a message: longer than the right header

SramSample parse_row(const std::string& line, const std::string& where) {
  const std::vector<std::string> cells = split(line, ',');
  constexpr std::size_t kColumns = kKeyColumns + kSramQuantityCount + kUnusedColumns;
  if (cells.size() != kColumns) {
    throw Error{ErrorKind::usage,
                fmt::format("{}: {} cells, expected {} ({}).", where, cells.size(), kColumns, kSamplesHeader)};
  }
  std::array<double, kColumns> numbers{};
  for (std::size_t i = 0; i < kColumns; ++i) {
    const std::optional<double> number = parse_double(cells[i]);
    if (!number || !std::isfinite(*number) || *number <= 0) {
      throw Error{ErrorKind::usage,
                  fmt::format("{}: '{}' in column {} is not a number above 0 (the fit takes logarithms).", where,
                              printable(cells[i], kShownBytes), split(std::string{kSamplesHeader}, ',')[i])};
    }
    numbers[i] = *number;
  }
  SramSample sample{.node_nm = numbers[0], .port_bits = numbers[1], .capacity_kib = numbers[2]};
  std::copy_n(numbers.begin() + kKeyColumns, kSramQuantityCount, sample.values.begin());
  return sample;
}

std::vector<double> magnitudes(const std::vector<double>& errors) {
  std::vector<double> result(errors.size());
  std::transform(errors.begin(), errors.end(), result.begin(), [](double e) { return std::abs(e); });
  return result;
}

}  // namespace

std::string_view to_string(SramQuantity quantity) {
  switch (quantity) {
    case SramQuantity::read_pj:
      return "read_pj";
    case SramQuantity::write_pj:
      return "write_pj";
    case SramQuantity::leakage_mw:
      return "leakage_mw";
    case SramQuantity::area_mm2:
      return "area_mm2";
  }
  HINDSIGHT_EXPECT(false);
  return {};
}

std::vector<SramSample> read_sram_samples(const std::filesystem::path& file) {
  std::vector<SramSample> samples;
  const std::vector<std::string> lines = split(read_file(file), '\n');
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string where = fmt::format("{}:{}", file.string(), i + 1);
    if (i == 0) {
      if (lines[0] != kSamplesHeader) {
        throw Error{ErrorKind::usage, fmt::format("{}: header '{}', expected '{}'.", where,
                                                  printable(lines[0], kShownBytes), kSamplesHeader)};
      }
    } else if (!lines[i].empty()) {
      samples.push_back(parse_row(lines[i], where));
    }
  }
  return samples;
}

PowerLaw fit_power_law(std::span<const double> x, std::span<const double> y) {
  HINDSIGHT_EXPECT(x.size() == y.size() && x.size() >= 2);
  const auto count = static_cast<double>(x.size());
  double mean_x = 0;
  double mean_y = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    HINDSIGHT_EXPECT(x[i] > 0 && y[i] > 0);
    mean_x += std::log(x[i]) / count;
    mean_y += std::log(y[i]) / count;
  }
  // Normal equations of a line through the centred logarithms: b = S_xy / S_xx, ln a = mean_y - b mean_x.
  double s_xx = 0;
  double s_xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double dx = std::log(x[i]) - mean_x;
    s_xx += dx * dx;
    s_xy += dx * (std::log(y[i]) - mean_y);
  }
  HINDSIGHT_EXPECT(s_xx > 0);
  const double exponent = s_xy / s_xx;
  return {.coefficient = std::exp(mean_y - exponent * mean_x), .exponent = exponent};
}

double SramFit::max_error(SramQuantity quantity) const {
  const std::vector<double> errors = magnitudes(relative_errors[static_cast<std::size_t>(quantity)]);
  return errors.empty() ? 0 : *std::max_element(errors.begin(), errors.end());
}

double SramFit::median_error(SramQuantity quantity) const {
  std::vector<double> errors = magnitudes(relative_errors[static_cast<std::size_t>(quantity)]);
  if (errors.empty()) return 0;
  std::sort(errors.begin(), errors.end());
  const std::size_t middle = errors.size() / 2;
  return errors.size() % 2 == 1 ? errors[middle] : (errors[middle - 1] + errors[middle]) / 2;
}

std::vector<SramFit> fit_sram(std::span<const SramSample> samples) {
  std::map<std::pair<double, double>, std::vector<const SramSample*>> groups;
  for (const SramSample& sample : samples) groups[{sample.node_nm, sample.port_bits}].push_back(&sample);

  std::vector<SramFit> fits;
  for (const auto& [key, members] : groups) {
    SramFit fit;
    fit.node_nm = key.first;
    fit.port_bits = key.second;
    for (const SramSample* sample : members) fit.capacities_kib.push_back(sample->capacity_kib);
    for (std::size_t q = 0; q < kSramQuantityCount; ++q) {
      std::vector<double> values;
      for (const SramSample* sample : members) values.push_back(sample->values[q]);
      const PowerLaw law = fit_power_law(fit.capacities_kib, values);
      fit.laws[q] = law;
      for (std::size_t i = 0; i < values.size(); ++i) {
        fit.relative_errors[q].push_back(law.coefficient * std::pow(fit.capacities_kib[i], law.exponent) / values[i] -
                                         1);
      }
    }
    fits.push_back(std::move(fit));
  }
  return fits;
}

}  // namespace hindsight::accel
