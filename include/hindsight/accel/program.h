/// Length of the compiled program, estimated from the tile loops.
///
/// Model, version 1: the loops over tiles are unrolled into the program (each step has its own DMA addresses); the
/// loops inside a tile run in hardware. Version 2: the loops over tiles, rows, columns and repeats stay loops; as many
/// instructions are executed. Identical layers are compiled once per repeat (version 1), attention heads and groups
/// loop in hardware.
///
/// Valid for: ahead-of-time compiled PE arrays. Version 1 is compared in `docs/accuracy.md` with the program sizes that
/// PRIME publishes for its nine applications [paper: prime-2022].
///
/// Ignores: data-dependent control flow, constants embedded in the program.
#pragma once

#include "hindsight/accel/spatial.h"
#include "hindsight/accel/tiling.h"

namespace hindsight::accel {

/// Instructions that one repeat of a layer executes.
///
/// Equation: setup + rows_and_columns * (pes_x + pes_y) + tile * (tiles_m * tiles_n * tiles_k)
///           + weight descriptors, where descriptors = (PEs with distinct weights) * core_split_n * weight tiles (one
///           DMA
/// transfer per core that gets weights of its own) and weight tiles = tiles_n * tiles_k. Passes that repeat the same
/// tiles loop in hardware.
[[nodiscard]] constexpr double layer_instructions(const PeShare& pe, const CoreShare& core, const TilePlan& plan,
                                                  double pes_x, double pes_y) {
  const double steps = plan.tiles_m * plan.tiles_n * plan.tiles_k;
  const double descriptors = pe.split_n * pe.split_k * core.split_n * plan.tiles_n * plan.tiles_k;
  return kSetupInstructions + kSetupInstructionsPerRowAndColumn * (pes_x + pes_y) + kInstructionsPerTile * steps +
         descriptors;
}

/// Instructions of a layer and its repeats in the program: unrolled all that are executed, `executed` per repeat; with
/// loops those of one layer, once.
[[nodiscard]] constexpr double stored_instructions(const TemplateRules& rules, double repeat, double executed) {
  return rules.program_loops ? kLoopedLayerInstructions : repeat * executed;
}

}  // namespace hindsight::accel
