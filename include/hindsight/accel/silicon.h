/// What MAC arrays and SRAMs take on silicon: published areas by part, a model of them, and its fit.
///
/// Version 2 of the accelerator model has the constants of this fit in its technology files. It counts all parts of the
/// template; a die here is counted by what is published of it, so that silicon_chips.h has other areas for the same
/// one.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/accel/technology.h"

namespace hindsight::accel {

/// Area of the same circuit over its area at 16 nm.
struct NodeScale {
  std::string name;  ///< "28nm"
  double logic = 1;
  double sram = 1;
};

struct MemoryBanks {
  double bytes = 0;  ///< of one bank
  double count = 0;
};

/// What a published area includes.
enum class Counted {
  cells,   ///< of a synthesis: no placement
  layout,  ///< placed and routed
  macro,   ///< one SRAM as the memory compiler makes it
};

/// A part of a chip, or a chip without interfaces, of which nothing but the area is unknown.
struct SiliconBlock {
  std::string name;
  std::string family;   ///< rows of one family count as one chip
  bool fitted = false;  ///< no: held out
  NodeScale node;
  Counted counted = Counted::cells;
  double area_mm2 = 0;  ///< published
  double macs = 0;      ///< int8
  double engines = 0;   ///< sequencers with their DMA and post-processing
  std::vector<MemoryBanks> memories;
};

/// What a die has besides its blocks. Areas at 16 nm, scaled as logic, but for the interfaces.
struct DieConstants {
  double fp16_mac_extra_um2 = 0;  ///< of a MAC in fp16 or bf16 over one in int8
  double vector_lane_mm2 = 0;     ///< of 32 bits
  double processor_mm2 = 0;       ///< with its caches
  double fill = 1;                ///< share of the die inside its interfaces that blocks cover, at most 1
  double interfaces_mm2 = 0;      ///< to the host, clocks, pads; not scaled
};

/// A whole die, held out.
struct PublishedDie {
  SiliconBlock block;     ///< name, node and published area of the die; its MACs (int8), engines and memories
  bool is_array = false;  ///< one function, no system on a chip
  bool at_most = false;   ///< the published area is a bound
  double fp16_macs = 0, vector_lanes = 0, processors = 0;
  DramType dram_type = DramType::lpddr4;
  double dram_bandwidth_gb_per_s = 0;
  bool interfaces = true;  ///< no: a part of a wafer
};

struct PublishedAreas {
  std::vector<SiliconBlock> blocks;
  DieConstants die;
  std::vector<PublishedDie> dies;
};

/// Name from data/silicon or a path. Errors: Error{usage}, file:line:column.
[[nodiscard]] PublishedAreas load_published_areas(const std::string& name_or_path = "areas");

/// The area of a block, in mm2, with L and S the node's factors for logic and SRAM:
///   area  = L (macs a + engines b) + S f sum_banks count_i macro(bytes_i)
///   macro = s MiB (min(KiB, 256) / 256)^-e,
/// f = `built_factor`, and 1 where the block is a macro. Larger banks are made of macros of 256 KiB, the largest that
/// was fitted.
struct SiliconArea {
  double mac_um2 = 0;           ///< a: a MAC in an array, with its registers, clock tree and share of the control
  double engine_mm2 = 0;        ///< b
  double sram_mm2_per_mib = 0;  ///< s
  double sram_exponent = 0;     ///< e, at least 0
  double built_factor = 0;      ///< f: a banked memory with its wires, ports and placement over its macros
};

/// The largest macro of the fit, and so of the model.
inline constexpr double kLargestSiliconMacroKib = 256;

[[nodiscard]] double block_area_mm2(const SiliconBlock& block, const SiliconArea& model);

/// The area of a die, in mm2:
///   (block + L (fp16 MACs (a + extra) + lanes vector_lane + processors processor)) / fill + DRAM PHY + interfaces.
/// The PHY's area per GB/s is `technology`'s, and the same at all nodes.
[[nodiscard]] double die_area_mm2(const PublishedDie& die, const SiliconArea& model, const DieConstants& constants,
                                  const Technology& technology);

struct SiliconFit {
  SiliconArea model;
  std::vector<double> log_ratios;  ///< ln(model / published) of every block, fitted or not
};

/// [chosen] Where the fit starts: about the middle of what is published, at 16 nm. What the rows do not tell stays
/// there.
inline constexpr SiliconArea kSiliconStart{
    .mac_um2 = 700, .engine_mm2 = 0.2, .sram_mm2_per_mib = 0.75, .sram_exponent = 0.1, .built_factor = 2};

/// Minimises sum_families 1 / n sum_blocks huber(ln(model / published)) over the logarithms of the constants (Huber
/// 1964: squares up to `kHuberWidth`, straight lines beyond, so that no single row of a series draws the others), by
/// Levenberg-Marquardt steps with reweighting. Blocks of `without`, a family, and those held out take no part.
/// Error{usage} when fewer blocks than constants are left.
inline constexpr double kHuberWidth = 0.2;  ///< [chosen] about the scatter of what people count as area
[[nodiscard]] SiliconFit fit_silicon_area(const PublishedAreas& published, std::string_view without = "",
                                          const SiliconArea& start = kSiliconStart);

/// ln(sum of the model's areas / sum of the published) of a family's blocks: arrays and memories of one chip added up.
[[nodiscard]] double family_log_ratio(const PublishedAreas& published, const SiliconFit& fit, std::string_view family);
/// Families in the order of the file.
[[nodiscard]] std::vector<std::string> families(const PublishedAreas& published);

}  // namespace hindsight::accel
