/// The areas of arrays and memories by part, and the robust fit of the model's constants.
#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>

#include "hindsight/accel/area.h"
#include "hindsight/accel/silicon.h"
#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"

namespace hindsight::accel {
namespace {

constexpr Eigen::Index kConstants = 5;
using Constants = Eigen::Matrix<double, kConstants, 1>;  ///< logarithms

Constants logarithms(const SiliconArea& model) {
  return Constants(model.mac_um2, model.engine_mm2, model.sram_mm2_per_mib, model.sram_exponent, model.built_factor)
      .array()
      .log();
}
SiliconArea model_of(const Constants& logs) {
  const Constants value = logs.array().exp();
  return {.mac_um2 = value[0],
          .engine_mm2 = value[1],
          .sram_mm2_per_mib = value[2],
          .sram_exponent = value[3],
          .built_factor = value[4]};
}

double log_ratio(const SiliconBlock& block, const SiliconArea& model) {
  return std::log(block_area_mm2(block, model) / block.area_mm2);
}

/// A block of the fit and its share of its family's weight.
struct Row {
  const SiliconBlock* block;
  double weight;
};

std::vector<Row> rows_of(const PublishedAreas& published, std::string_view without) {
  std::map<std::string, double> sizes;
  for (const SiliconBlock& block : published.blocks) sizes[block.family] += block.fitted ? 1 : 0;
  std::vector<Row> rows;
  for (const SiliconBlock& block : published.blocks) {
    if (block.fitted && block.family != without) rows.push_back({&block, 1 / sizes[block.family]});
  }
  return rows;
}

double huber(double ratio) {
  const double size = std::abs(ratio);
  return size <= kHuberWidth ? ratio * ratio / 2 : kHuberWidth * (size - kHuberWidth / 2);
}
/// huber(ratio) grows as this times ratio^2 / 2 does.
double huber_weight(double ratio) { return std::min(1.0, kHuberWidth / std::abs(ratio)); }

double loss(const std::vector<Row>& rows, const Constants& logs) {
  const SiliconArea model = model_of(logs);
  double sum = 0;
  for (const Row& row : rows) sum += row.weight * huber(log_ratio(*row.block, model));
  return sum;
}

/// The weighted normal equations J^T W J step = -J^T W r at `logs`; derivatives by central differences.
void normal_equations(const std::vector<Row>& rows, const Constants& logs,
                      Eigen::Matrix<double, kConstants, kConstants>& matrix, Constants& slope) {
  constexpr double kStep = 1e-5;
  const SiliconArea model = model_of(logs);
  matrix.setZero();
  slope.setZero();
  for (const Row& row : rows) {
    const double ratio = log_ratio(*row.block, model);
    const double weight = row.weight * huber_weight(ratio);
    Constants derivative;
    for (Eigen::Index k = 0; k < kConstants; ++k) {
      Constants above = logs, below = logs;
      above[k] += kStep;
      below[k] -= kStep;
      derivative[k] = (log_ratio(*row.block, model_of(above)) - log_ratio(*row.block, model_of(below))) / (2 * kStep);
    }
    matrix += weight * derivative * derivative.transpose();
    slope += weight * ratio * derivative;
  }
}

Constants minimise(const std::vector<Row>& rows, Constants logs) {
  constexpr int kMostSteps = 2000;
  constexpr double kEnough = 1e-14;  ///< smaller gains of the loss end the fit
  double damping = 1e-3, best = loss(rows, logs);
  Eigen::Matrix<double, kConstants, kConstants> matrix;
  Constants slope;
  for (int step = 0; step < kMostSteps && damping < 1e12; ++step) {
    normal_equations(rows, logs, matrix, slope);
    matrix.diagonal().array() += damping * (matrix.diagonal().array() + 1e-9);
    const Constants next = logs - matrix.ldlt().solve(slope);
    const double value = loss(rows, next);
    if (!(value < best)) {
      damping *= 4;
      continue;
    }
    const bool done = best - value < kEnough;
    logs = next;
    best = value;
    damping /= 3;
    if (done) break;
  }
  return logs;
}

}  // namespace

double block_area_mm2(const SiliconBlock& block, const SiliconArea& model) {
  double macros_mm2 = 0;
  for (const MemoryBanks& banks : block.memories) {
    const double macro_kib = std::min(banks.bytes / units::kKib, kLargestSiliconMacroKib);
    macros_mm2 += banks.count * model.sram_mm2_per_mib * banks.bytes / units::kMib *
                  std::pow(macro_kib / kLargestSiliconMacroKib, -model.sram_exponent);
  }
  const double built = block.counted == Counted::macro ? 1.0 : model.built_factor;
  return block.node.logic * (block.macs * model.mac_um2 * kMm2PerUm2 + block.engines * model.engine_mm2) +
         block.node.sram * built * macros_mm2;
}

double die_area_mm2(const PublishedDie& die, const SiliconArea& model, const DieConstants& constants,
                    const Technology& technology) {
  const double logic_mm2 = die.fp16_macs * (model.mac_um2 + constants.fp16_mac_extra_um2) * kMm2PerUm2 +
                           die.vector_lanes * constants.vector_lane_mm2 + die.processors * constants.processor_mm2;
  const double phy_mm2 =
      die.dram_bandwidth_gb_per_s * technology.dram_phy_mm2_per_gb_per_s[static_cast<std::size_t>(die.dram_type)];
  return (block_area_mm2(die.block, model) + die.block.node.logic * logic_mm2) / constants.fill + phy_mm2 +
         (die.interfaces ? constants.interfaces_mm2 : 0);
}

SiliconFit fit_silicon_area(const PublishedAreas& published, std::string_view without, const SiliconArea& start) {
  const std::vector<Row> rows = rows_of(published, without);
  if (std::ssize(rows) < kConstants) {
    throw Error(
        ErrorKind::usage,
        fmt::format("{} published areas are left to fit {} constants to{}. Give more rows the role 'fit'?", rows.size(),
                    kConstants, without.empty() ? "" : fmt::format(" without the family '{}'", printable(without))));
  }
  SiliconFit fit{.model = model_of(minimise(rows, logarithms(start))), .log_ratios = {}};
  for (const SiliconBlock& block : published.blocks) fit.log_ratios.push_back(log_ratio(block, fit.model));
  return fit;
}

double family_log_ratio(const PublishedAreas& published, const SiliconFit& fit, std::string_view family) {
  double ours = 0, theirs = 0;
  for (const SiliconBlock& block : published.blocks) {
    if (block.family != family) continue;
    ours += block_area_mm2(block, fit.model);
    theirs += block.area_mm2;
  }
  HINDSIGHT_EXPECT(theirs > 0);
  return std::log(ours / theirs);
}

}  // namespace hindsight::accel
