/// The capacity of the DRAM as a constraint of a problem.
#include "study/dram_capacity.h"

#include <algorithm>
#include <memory>
#include <span>

#include "hindsight/accel/config.h"
#include "hindsight/accel/dram.h"
#include "hindsight/accel/evaluation.h"
#include "hindsight/core/units.h"

namespace hindsight::study {
namespace {

double held_bytes(const accel::AcceleratorConfig& config) {
  return config.dram_devices * accel::dram_device(config.dram_type).capacity_gb * units::kGiga;
}

/// Shares of designs of one space; problems are copied, this is not.
class FilledShare {
 public:
  FilledShare(const space::DesignSpace& space, double operands)
      : space_(space), binding_(space_), operands_(operands) {}

  [[nodiscard]] double of(std::span<const std::uint16_t> levels) const {
    const space::Design design{.levels = {levels.begin(), levels.end()}};
    const accel::AcceleratorConfig config = binding_.bind(space_, design);
    return operands_ * config.operand_bytes() / held_bytes(config);
  }

 private:
  space::DesignSpace space_;
  accel::ConfigBinding binding_;
  double operands_;
};

}  // namespace

std::optional<optimize::Constraint> dram_capacity_constraint(
    const space::DesignSpace& space, const std::vector<std::optional<workload::Network>>& networks) {
  if (!space.find("dram_devices")) return std::nullopt;
  double most = 0;
  for (const std::optional<workload::Network>& network : networks) {
    if (network) most = std::max(most, accel::stored_operands(*network));
  }
  if (most <= 0) return std::nullopt;
  const auto share = std::make_shared<const FilledShare>(space, most);
  return optimize::Constraint{.name = kDramFilled,
                              .limit = 1,
                              .value =
                                  [share](const optimize::LevelMatrix& levels) {
                                    Eigen::VectorXd values(levels.rows());
                                    const auto width = static_cast<std::size_t>(levels.cols());
                                    for (Eigen::Index i = 0; i < levels.rows(); ++i) {
                                      values[i] = share->of({levels.data() + i * levels.cols(), width});
                                    }
                                    return values;
                                  },
                              .text = [](double) { return std::string(); }};
}

}  // namespace hindsight::study
