/// Fits the areas of arrays and memories to published ones and prints, in Markdown, the constants, what each row is
/// missed by, what each family is missed by when it takes no part, and what the dies that are held out are missed by:
/// `silicon_fit [FILE.yaml]`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/accel/area.h"
#include "hindsight/accel/silicon.h"
#include "hindsight/accel/technology.h"
#include "hindsight/core/error.h"
#include "hindsight/core/table.h"

namespace {

using hindsight::Align;
using hindsight::Table;
using namespace hindsight::accel;

/// The constants of model version 1 for the same parts: bare operators and dense macros; nothing for nodes that have no
/// technology file.
std::optional<double> version_1_mm2(const SiliconBlock& block) {
  const std::string node = block.node.name == "22nm_ffl" ? "22nm" : block.node.name;
  if (node != "16nm" && node != "22nm" && node != "7nm") return std::nullopt;
  const Technology technology = load_technology(node);
  double area_mm2 = block.macs * technology.mac_int8_um2 * kMm2PerUm2;
  for (const MemoryBanks& banks : block.memories) {
    area_mm2 += banks.count * sram_area_mm2(technology.sram, banks.bytes);
  }
  return area_mm2;
}

struct Constant {
  const char* name;
  double SiliconArea::*member;
};
constexpr Constant kConstants[] = {{"mac_um2", &SiliconArea::mac_um2},
                                   {"engine_mm2", &SiliconArea::engine_mm2},
                                   {"sram_mm2_per_mib", &SiliconArea::sram_mm2_per_mib},
                                   {"sram_exponent", &SiliconArea::sram_exponent},
                                   {"built_factor", &SiliconArea::built_factor}};

/// A constant below this changes nothing: its logarithm has no lower end where the rows say nothing of it.
constexpr double kNothing = 1e-6;

/// One fit per family, which takes no part in it.
std::vector<SiliconFit> fits_without(const PublishedAreas& published, const SiliconArea& start) {
  std::vector<SiliconFit> fits;
  for (const std::string& family : families(published)) fits.push_back(fit_silicon_area(published, family, start));
  return fits;
}

/// A start elsewhere, by another factor for each constant: of two that are told as a product only, both have to move.
SiliconArea other_start() {
  SiliconArea start = kSiliconStart;
  double factor = 1;
  for (const Constant& constant : kConstants) start.*constant.member *= (factor += 0.3);
  return start;
}

/// Whether two fits from different starts end at the same value: the rows tell it.
bool is_told(double one, double other) {
  constexpr double kSame = 0.01;  // [chosen] far above what the fit leaves, far below the distance of the starts
  const double larger = std::max(one, other);
  return larger < kNothing || std::abs(one - other) <= kSame * larger;
}

void print_constants(const PublishedAreas& published, const SiliconFit& fit, const std::vector<SiliconFit>& without) {
  const std::vector<SiliconFit> again = fits_without(published, other_start());
  Table table;
  table.add_column("constant, at 16 nm", Align::left);
  for (const char* header : {"fitted", "least, a family left out", "most"}) table.add_column(header, Align::right);
  for (const Constant& constant : kConstants) {
    std::vector<double> told;
    for (std::size_t i = 0; i < without.size(); ++i) {
      const double value = without[i].model.*constant.member;
      if (is_told(value, again[i].model.*constant.member)) told.push_back(value);
    }
    const auto text = [](double value) { return value < kNothing ? "0" : fmt::format("{:.3g}", value); };
    const auto [least, most] = std::minmax_element(told.begin(), told.end());
    table.add_row({constant.name, text(fit.model.*constant.member), told.empty() ? "" : text(*least),
                   told.empty() ? "" : text(*most)});
  }
  fmt::print("{}\n", table.markdown());
}

void print_rows(const PublishedAreas& published, const SiliconFit& fit) {
  Table table;
  for (const char* header : {"part", "role"}) table.add_column(header, Align::left);
  for (const char* header : {"published mm2", "fitted mm2", "ratio", "version 1 mm2", "ratio"}) {
    table.add_column(header, Align::right);
  }
  for (std::size_t i = 0; i < published.blocks.size(); ++i) {
    const SiliconBlock& block = published.blocks[i];
    const auto old = version_1_mm2(block);
    table.add_row({block.name, block.fitted ? "fitted" : "held out", fmt::format("{:.3g}", block.area_mm2),
                   fmt::format("{:.3g}", block_area_mm2(block, fit.model)),
                   fmt::format("{:.2f}", std::exp(fit.log_ratios[i])), old ? fmt::format("{:.2g}", *old) : "",
                   old ? fmt::format("{:.2f}", *old / block.area_mm2) : ""});
  }
  fmt::print("{}\n", table.markdown());
}

void print_families(const PublishedAreas& published, const SiliconFit& fit, const std::vector<SiliconFit>& without) {
  Table table;
  table.add_column("family, its parts added up", Align::left);
  table.add_column("ln(fitted / published)", Align::right);
  table.add_column("the same, the family left out of the fit", Align::right);
  const std::vector<std::string> names = families(published);
  for (std::size_t i = 0; i < names.size(); ++i) {
    table.add_row({names[i], fmt::format("{:+.2f}", family_log_ratio(published, fit, names[i])),
                   fmt::format("{:+.2f}", family_log_ratio(published, without[i], names[i]))});
  }
  fmt::print("{}\n", table.markdown());
}

void print_dies(const PublishedAreas& published, const SiliconFit& fit) {
  Table table;
  for (const char* header : {"die, held out", "class"}) table.add_column(header, Align::left);
  for (const char* header : {"published mm2", "model mm2", "ln(model / published)", "asked"}) {
    table.add_column(header, Align::right);
  }
  const Technology technology = load_technology("16nm");  // for the PHYs, which are the same at all nodes
  for (const PublishedDie& die : published.dies) {
    const double ours_mm2 = die_area_mm2(die, fit.model, published.die, technology);
    table.add_row({die.block.name, die.is_array ? "array" : "soc",
                   fmt::format("{}{:g}", die.at_most ? "at most " : "", die.block.area_mm2),
                   fmt::format("{:.0f}", ours_mm2), fmt::format("{:+.2f}", std::log(ours_mm2 / die.block.area_mm2)),
                   die.at_most    ? "below 0"
                   : die.is_array ? "0.25"
                                  : "0.40"});
  }
  fmt::print("{}\n", table.markdown());
}

void print_dies_without(const PublishedAreas& published, const std::vector<SiliconFit>& without) {
  const std::vector<std::string> names = families(published);
  Table table;
  table.add_column("ln(model / published), a family left out of the fit", Align::left);
  for (const std::string& name : names) table.add_column(name, Align::right);
  const Technology technology = load_technology("16nm");
  for (const PublishedDie& die : published.dies) {
    std::vector<std::string> cells{die.block.name};
    for (const SiliconFit& fit : without) {
      const double ours_mm2 = die_area_mm2(die, fit.model, published.die, technology);
      cells.push_back(fmt::format("{:+.2f}", std::log(ours_mm2 / die.block.area_mm2)));
    }
    table.add_row(std::move(cells));
  }
  fmt::print("{}", table.markdown());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 2) throw hindsight::Error(hindsight::ErrorKind::usage, "give one file at most: silicon_fit [FILE.yaml]");
    const PublishedAreas published = load_published_areas(argc > 1 ? argv[1] : "areas");
    const SiliconFit fit = fit_silicon_area(published);
    const std::vector<SiliconFit> without = fits_without(published, kSiliconStart);
    print_constants(published, fit, without);
    print_rows(published, fit);
    print_families(published, fit, without);
    print_dies(published, fit);
    print_dies_without(published, without);
    return 0;
  } catch (const hindsight::Error& error) {
    fmt::print(stderr, "silicon_fit: error: {}\n", error.what());
    return hindsight::exit_code(error.kind());
  } catch (const std::exception& error) {
    fmt::print(stderr, "silicon_fit: error: {}\n", error.what());
    return hindsight::kInternalErrorExitCode;
  }
}
