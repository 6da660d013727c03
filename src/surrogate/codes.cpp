/// Codes of levels, and the inputs of designs.
#include "surrogate/codes.h"

#include <algorithm>
#include <cmath>

namespace hindsight::surrogate {
namespace {

/// Mean 0 and deviation 1 over the levels; all 0 when they are equal.
std::vector<double> standardised(std::vector<double> values) {
  const auto n = static_cast<double>(values.size());
  double mean = 0, square = 0;
  for (const double value : values) mean += value / n;
  for (const double value : values) square += (value - mean) * (value - mean) / n;
  const double deviation = square > 0 ? std::sqrt(square) : 1;
  for (double& value : values) value = (value - mean) / deviation;
  return values;
}

std::vector<double> position_codes(const space::Parameter& parameter) {
  std::vector<double> codes(parameter.values.begin(), parameter.values.end());
  const bool positive = std::all_of(codes.begin(), codes.end(), [](double value) { return value > 0; });
  if (positive) {
    for (double& value : codes) value = std::log(value);
  }
  return standardised(std::move(codes));
}

}  // namespace

Codes make_codes(const space::DesignSpace& space, bool pairs, bool levels_too) {
  Codes codes;
  for (const space::Parameter& parameter : space.parameters()) {
    const auto levels = static_cast<std::int64_t>(parameter.level_count());
    const bool ordinal = parameter.kind == space::ParameterKind::ordinal;
    const bool by_level = !ordinal || (levels_too && levels > 2);
    const std::int64_t size = (ordinal ? 1 : 0) + (by_level ? levels : 0);
    Tensor table{.shape = {levels, size}, .values = std::vector<float>(static_cast<std::size_t>(levels * size), 0.0F)};
    const std::vector<double> positions = ordinal ? position_codes(parameter) : std::vector<double>{};
    for (std::int64_t level = 0; level < levels; ++level) {
      float* row = table.values.data() + level * size;
      if (ordinal) *row++ = static_cast<float>(positions[static_cast<std::size_t>(level)]);
      if (by_level) row[level] = 1;
    }
    if (ordinal) codes.paired.push_back(std::ssize(codes.sizes));
    codes.sizes.push_back(size);
    codes.tables.push_back(std::move(table));
  }
  if (!pairs || codes.paired.size() > kMostPaired) codes.paired.clear();
  return codes;
}

Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> inputs_of(const Codes& codes,
                                                                                const LevelMatrix& levels) {
  std::int64_t single = 0;
  for (const std::int64_t size : codes.sizes) single += size;
  const std::int64_t pairs = std::ssize(codes.paired) * (std::ssize(codes.paired) - 1);
  Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> inputs(levels.rows(), single + pairs);
  const float share = std::sqrt(0.5F);
  std::vector<float> first(codes.sizes.size());
  for (Eigen::Index row = 0; row < levels.rows(); ++row) {
    float* input = inputs.data() + row * inputs.cols();
    for (std::size_t i = 0; i < codes.sizes.size(); ++i) {
      const float* code = codes.tables[i].values.data() + levels(row, static_cast<Eigen::Index>(i)) * codes.sizes[i];
      input = std::copy(code, code + codes.sizes[i], input);
      first[i] = *code;
    }
    for (std::size_t second = 1; second < codes.paired.size(); ++second) {
      for (std::size_t other = 0; other < second; ++other) {
        const float a = first[static_cast<std::size_t>(codes.paired[second])];
        const float b = first[static_cast<std::size_t>(codes.paired[other])];
        *input++ = share * (a + b);
        *input++ = share * (a - b);
      }
    }
  }
  return inputs;
}

}  // namespace hindsight::surrogate
