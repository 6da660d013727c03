/// Cost of an SRAM from the power laws of one node.
#include <algorithm>
#include <cmath>

#include "hindsight/accel/technology.h"
#include "hindsight/core/units.h"

namespace hindsight::accel {
namespace {
/// y = coefficient * KiB^exponent, from ln(KiB): one logarithm serves all laws of a memory.
double evaluate_law(const PowerLaw& law, double log_kib) { return law.coefficient * std::exp(law.exponent * log_kib); }

/// The equal macros that a memory is made of.
struct MacroSplit {
  double macros;
  double log_macro_kib;
};
MacroSplit split_into_macros(double kib, double largest_macro_kib) {
  const double macros = std::ceil(kib / largest_macro_kib);
  return {.macros = macros, .log_macro_kib = std::log(kib / macros)};
}

}  // namespace

SramCost sram_cost(const SramModel& model, double bytes) {
  if (bytes <= 0) return {};
  const double kib = bytes / units::kKib;
  const MacroSplit split = split_into_macros(kib, model.largest_macro_kib);
  const double log_access_kib = std::log(std::clamp(kib, kSmallestFittedKib, model.largest_macro_kib));
  const double port_bytes = model.port_bits / kBitsPerByte;
  return {.macros = split.macros,
          .read_pj_per_byte = evaluate_law(model.read_pj, log_access_kib) / port_bytes,
          .write_pj_per_byte = evaluate_law(model.write_pj, log_access_kib) / port_bytes,
          .area_mm2 = sram_area_mm2(model, bytes),
          .leakage_mw = split.macros * evaluate_law(model.leakage_mw, split.log_macro_kib)};
}

double sram_area_mm2(const SramModel& model, double bytes) {
  if (bytes <= 0) return 0;
  const MacroSplit split = split_into_macros(bytes / units::kKib, model.area_macro_kib());
  return split.macros * evaluate_law(model.area_mm2, split.log_macro_kib);
}

}  // namespace hindsight::accel
