/// Fits the SRAM power laws of `data/technology/*.yaml` to a table of CACTI results and prints them with their
/// residuals: `cacti_fit FILE.csv [--markdown]`.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/accel/sram_fit.h"
#include "hindsight/core/error.h"
#include "hindsight/core/table.h"

namespace {

using hindsight::Align;
using hindsight::Table;
using hindsight::accel::kSramQuantityCount;
using hindsight::accel::SramFit;
using hindsight::accel::SramQuantity;

enum class Format { text, markdown };

void print(const Table& table, Format format) {
  fmt::print("{}\n", format == Format::markdown ? table.markdown() : table.render(0));
}

void print_yaml(const SramFit& fit) {
  fmt::print("# {:g} nm, {:g}-bit port\nsram:\n  port_bits: {:g}\n", fit.node_nm, fit.port_bits, fit.port_bits);
  for (std::size_t q = 0; q < kSramQuantityCount; ++q) {
    const auto quantity = static_cast<SramQuantity>(q);
    fmt::print("  {}: {{coefficient: {:.6g}, exponent: {:.5g}}}  # [data: cacti7] cacti_fit, max error {:.1f} %\n",
               to_string(quantity), fit.law(quantity).coefficient, fit.law(quantity).exponent,
               100 * fit.max_error(quantity));
  }
  fmt::print("\n");
}

/// Largest and median relative error of every quantity of every fit.
Table summary(const std::vector<SramFit>& fits) {
  Table table;
  table.add_column("node", Align::right);
  table.add_column("port bits", Align::right);
  for (std::size_t q = 0; q < kSramQuantityCount; ++q) {
    const std::string name{to_string(static_cast<SramQuantity>(q))};
    table.add_column(name + " max %", Align::right);
    table.add_column("median %", Align::right);
  }
  for (const SramFit& fit : fits) {
    std::vector<std::string> row{fmt::format("{:g}", fit.node_nm), fmt::format("{:g}", fit.port_bits)};
    for (std::size_t q = 0; q < kSramQuantityCount; ++q) {
      const auto quantity = static_cast<SramQuantity>(q);
      row.push_back(fmt::format("{:.1f}", 100 * fit.max_error(quantity)));
      row.push_back(fmt::format("{:.1f}", 100 * fit.median_error(quantity)));
    }
    table.add_row(std::move(row));
  }
  return table;
}

/// Signed relative error of every sample of one fit: positive where the fit is above CACTI.
Table per_size(const SramFit& fit) {
  Table table;
  table.add_column("KiB", Align::right);
  for (std::size_t q = 0; q < kSramQuantityCount; ++q) {
    table.add_column(std::string{to_string(static_cast<SramQuantity>(q))} + " %", Align::right);
  }
  for (std::size_t i = 0; i < fit.capacities_kib.size(); ++i) {
    std::vector<std::string> row{fmt::format("{:g}", fit.capacities_kib[i])};
    for (const std::vector<double>& errors : fit.relative_errors) {
      row.push_back(fmt::format("{:+.1f}", 100 * errors[i]));
    }
    table.add_row(std::move(row));
  }
  return table;
}

int run(const std::string& file, Format format) {
  const std::vector<SramFit> fits = hindsight::accel::fit_sram(hindsight::accel::read_sram_samples(file));
  if (format == Format::text) {
    for (const SramFit& fit : fits) print_yaml(fit);
  }
  print(summary(fits), format);
  for (const SramFit& fit : fits) {
    fmt::print("{:g} nm, {:g}-bit port: fit / CACTI - 1\n\n", fit.node_nm, fit.port_bits);
    print(per_size(fit), format);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::string file;
  Format format = Format::text;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument{argv[i]};
    if (argument == "--markdown") {
      format = Format::markdown;
    } else {
      file = argument;
    }
  }
  if (file.empty()) {
    fmt::print(stderr, "usage: cacti_fit FILE.csv [--markdown]\n");
    return hindsight::exit_code(hindsight::ErrorKind::usage);
  }
  try {
    return run(file, format);
  } catch (const hindsight::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return hindsight::exit_code(error.kind());
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return hindsight::kInternalErrorExitCode;
  }
}
