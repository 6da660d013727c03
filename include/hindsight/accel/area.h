/// Area of an accelerator by component.
#pragma once

#include "hindsight/accel/config.h"
#include "hindsight/accel/technology.h"

namespace hindsight::accel {

inline constexpr double kMm2PerUm2 = 1e-6;

/// Areas in mm2. The total is the sum of all components.
struct AreaBreakdown {
  double mac_mm2 = 0;
  double register_mm2 = 0;
  double pe_memory_mm2 = 0;
  double core_memory_mm2 = 0;
  double activation_memory_mm2 = 0;
  double parameter_memory_mm2 = 0;
  double instruction_memory_mm2 = 0;
  double noc_mm2 = 0;
  double control_mm2 = 0;
  double dram_phy_mm2 = 0;
  // Of model version 2:
  double shared_memory_mm2 = 0;
  double vector_mm2 = 0;      ///< lanes of the vector units
  double engine_mm2 = 0;      ///< sequencers with their DMA and post-processing, processors
  double placement_mm2 = 0;   ///< between the blocks
  double interfaces_mm2 = 0;  ///< host, clocks, pads
  double cooling_mm2 = 0;     ///< left white, so that the heat gets out
  [[nodiscard]] constexpr double total_mm2() const;
  /// Area of one PE (a tile of the grid): everything that is replicated per PE.
  double pe_mm2 = 0;
};
/// Calls visit(name, field) for every component of the total; `area` may be const.
template <class Visit, class Area>
constexpr void for_each_area_field(Visit&& visit, Area& area) {
  visit("mac_mm2", area.mac_mm2);
  visit("register_mm2", area.register_mm2);
  visit("pe_memory_mm2", area.pe_memory_mm2);
  visit("core_memory_mm2", area.core_memory_mm2);
  visit("activation_memory_mm2", area.activation_memory_mm2);
  visit("parameter_memory_mm2", area.parameter_memory_mm2);
  visit("instruction_memory_mm2", area.instruction_memory_mm2);
  visit("noc_mm2", area.noc_mm2);
  visit("control_mm2", area.control_mm2);
  visit("dram_phy_mm2", area.dram_phy_mm2);
  visit("shared_memory_mm2", area.shared_memory_mm2);
  visit("vector_mm2", area.vector_mm2);
  visit("engine_mm2", area.engine_mm2);
  visit("placement_mm2", area.placement_mm2);
  visit("interfaces_mm2", area.interfaces_mm2);
  visit("cooling_mm2", area.cooling_mm2);
}
constexpr double AreaBreakdown::total_mm2() const {
  double total = 0;
  for_each_area_field([&](const char*, double component) { total += component; }, *this);
  return total;
}

/// Of the parts that publications count; one definition for all that is held against published areas.
[[nodiscard]] constexpr double area_mm2(const AreaBreakdown& area, AreaScope scope) {
  const double accelerator_mm2 = area.total_mm2() - area.dram_phy_mm2 - area.interfaces_mm2 - area.cooling_mm2;
  if (scope == AreaScope::die) return area.total_mm2();
  return scope == AreaScope::accelerator ? accelerator_mm2 : accelerator_mm2 - area.placement_mm2;
}

/// A published area beside what the model says of the same parts.
struct ComparedArea {
  PublishedArea published;
  double modelled_mm2 = 0;
  [[nodiscard]] constexpr double published_over_modelled() const { return published.mm2 / modelled_mm2; }
};
[[nodiscard]] constexpr ComparedArea compared(const PublishedArea& published, const AreaBreakdown& area) {
  return {.published = published, .modelled_mm2 = area_mm2(area, published.scope)};
}

/// Model, version 1: sum of macros and logic; no floorplan white space beyond `control_area_fraction`.
/// Version 2: MACs with their registers and control, an engine per PE, SRAMs as built and routers over the share of the
/// die that blocks cover, plus DRAM PHYs and interfaces. White space for heat is added by `chip_facts`, which knows the
/// power. docs/silicon.md has the fit.
/// Valid for: the template's ranges. Ignores: in version 1 pads other than the DRAM PHY, analog, host interface.
[[nodiscard]] AreaBreakdown area(const AcceleratorConfig& config, const Technology& technology);
/// The same for a design whose memories' areas are known: those of `memories`, which lanes and MACs do not change.
[[nodiscard]] AreaBreakdown area_with_logic(const AreaBreakdown& memories, const AcceleratorConfig& config,
                                            const Technology& technology);

}  // namespace hindsight::accel
