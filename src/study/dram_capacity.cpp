/// The capacity of the DRAM as a constraint of a problem.
#include "study/dram_capacity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "hindsight/accel/config.h"
#include "hindsight/accel/dram.h"
#include "hindsight/accel/evaluation.h"
#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"

namespace hindsight::study {
namespace {

/// Shares of designs of one space; problems are copied, this is not.
class FilledShare {
 public:
  FilledShare(const space::DesignSpace& space, double operands)
      : space_(space), binding_(space_), operands_(operands) {}

  [[nodiscard]] double of(std::span<const std::uint16_t> levels) const {
    const space::Design design{.levels = {levels.begin(), levels.end()}};
    const accel::AcceleratorConfig config = binding_.bind(space_, design);
    return operands_ * config.operand_bytes() / accel::dram_bytes(config);
  }

 private:
  space::DesignSpace space_;
  accel::ConfigBinding binding_;
  double operands_;
};

/// As the newest version of the model counts them.
double stored_operands(const workload::Network& network) {
  return accel::stored_operands(network, {.caches_in_dram = true});
}

/// The one with the most operands; null where nothing has any.
const workload::Network* largest_of(const std::vector<std::optional<workload::Network>>& networks) {
  const workload::Network* largest = nullptr;
  double most = 0;
  for (const std::optional<workload::Network>& network : networks) {
    if (!network || stored_operands(*network) <= most) continue;
    most = stored_operands(*network);
    largest = &*network;
  }
  return largest;
}

/// Parameters that decide what fits: bytes held, and bytes of an operand.
constexpr std::array kMemoryParameters{"dram_type", "dram_devices", "precision"};

/// The levels of a parameter that are allowed.
std::vector<std::uint16_t> levels_of(const space::DesignSpace& space, const space::AllowedLevels& allowed,
                                     std::size_t parameter) {
  if (parameter < allowed.size() && !allowed[parameter].empty()) return allowed[parameter];
  std::vector<std::uint16_t> levels(space.parameters()[parameter].level_count());
  std::iota(levels.begin(), levels.end(), std::uint16_t{0});
  return levels;
}

/// A design for each combination of what decides the memory, all else at its first level.
std::vector<space::Design> memories_of(const space::DesignSpace& space, const space::AllowedLevels& allowed) {
  std::vector<space::Design> designs{{.levels = std::vector<std::uint16_t>(space.parameters().size(), 0)}};
  for (const char* name : kMemoryParameters) {
    const std::optional<std::size_t> parameter = space.find(name);
    if (!parameter) continue;
    std::vector<space::Design> more;
    for (const space::Design& design : designs) {
      for (const std::uint16_t level : levels_of(space, allowed, *parameter)) {
        more.push_back(design);
        more.back().levels[*parameter] = level;
      }
    }
    designs = std::move(more);
  }
  return designs;
}

/// Whether some design with the memory of `memory` is legal.
bool is_some_legal(const space::DesignSpace& space, space::AllowedLevels allowed, const space::Design& memory) {
  if (!space.is_constrained()) return true;
  allowed.resize(space.parameters().size());
  for (const char* name : kMemoryParameters) {
    if (const auto parameter = space.find(name)) allowed[*parameter] = {memory.levels[*parameter]};
  }
  return space::has_legal(*space.rules(), allowed);
}

}  // namespace

void require_dram_holds(const space::DesignSpace& space, const space::AllowedLevels& allowed,
                        const std::vector<std::optional<workload::Network>>& networks) {
  const workload::Network* const network = largest_of(networks);
  if (network == nullptr || !space.find("dram_devices")) return;
  const double operands = stored_operands(*network);
  const accel::ConfigBinding binding(space);
  const auto held_operands = [&](const space::Design& design) {
    const accel::AcceleratorConfig config = binding.bind(space, design);
    return accel::dram_bytes(config) / config.operand_bytes();
  };
  std::vector<space::Design> memories = memories_of(space, allowed);
  std::ranges::stable_sort(memories, std::ranges::greater(), held_operands);
  const auto largest = std::ranges::find_if(
      memories, [&](const space::Design& design) { return is_some_legal(space, allowed, design); });
  // Where nothing is legal the search says why.
  if (largest == memories.end() || held_operands(*largest) >= operands) return;
  const accel::AcceleratorConfig config = binding.bind(space, *largest);
  throw Error(
      ErrorKind::no_feasible,
      fmt::format("{} needs {:.4g} GB for its parameters, keys, values and largest layer, the largest DRAM among the "
                  "designs of "
                  "space '{}' that are allowed holds {:.4g} GB. Name a smaller network, allow more dram_devices, "
                  "or take a space that has them",
                  printable(network->name(), 80), operands * config.operand_bytes() / units::kGiga,
                  printable(space.name(), 60), accel::dram_bytes(config) / units::kGiga));
}

std::optional<optimize::Constraint> dram_capacity_constraint(
    const space::DesignSpace& space, const std::vector<std::optional<workload::Network>>& networks) {
  const workload::Network* const largest = largest_of(networks);
  if (largest == nullptr || !space.find("dram_devices")) return std::nullopt;
  const double most = stored_operands(*largest);
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
