/// The constants of version 2 of the model that were chosen, and what results do when one of them is another.
///
/// One that nobody publishes carries the tag [chosen] where it stands; of the others a source was found that states the
/// value or has it in its range, and is the tag. A factor reaches a result through the parts of an evaluation that the
/// constant enters, so that the model itself has no knobs for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/network_cost.h"
#include "hindsight/workload/network.h"

namespace hindsight::accel {

/// Whether a source states the value.
enum class ValueOrigin : std::uint8_t { published, chosen };

/// A constant, and the designs and the network of which a factor of it is asked. Each function scales one part of an
/// evaluation; null: the constant is not in that part.
struct ChosenConstant {
  std::string_view name;
  std::string_view space, technology, workload;
  ValueOrigin origin = ValueOrigin::published;
  void (*in_technology)(Technology& technology, double factor) = nullptr;
  void (*in_config)(AcceleratorConfig& config, double factor) = nullptr;  ///< before the chip's facts are known
  void (*in_chip)(ChipFacts& chip, double factor) = nullptr;              ///< after them and the hardware's checks
  void (*in_rates)(ChipRates& rates, const AcceleratorConfig& config, double factor) = nullptr;
  /// Of layer i.
  void (*in_shape)(LayerShape& shape, std::span<const workload::GemmLayer> layers, std::size_t i,
                   double factor) = nullptr;
  /// Of one repeat.
  void (*in_layer)(LayerResult& layer, const ChipFacts& chip, double factor) = nullptr;
};
/// One that matters elsewhere, too, has several entries.
[[nodiscard]] std::span<const ChosenConstant> chosen_constants();

/// One that no factor is asked of.
struct UnaskedConstant {
  std::string_view name;
  std::string_view reason;
};
[[nodiscard]] std::span<const UnaskedConstant> unasked_constants();

/// What evaluate() says at Depth::stop_at_hardware with `factor` times the constant; shares stay at 1 at most.
/// Ignores: the length of a program when it is compared with the instruction memory, which no network of a space fills.
[[nodiscard]] Evaluation evaluate_scaled(const ChosenConstant& constant, double factor, const AcceleratorConfig& config,
                                         const Technology& technology, const workload::Network& network);

}  // namespace hindsight::accel
