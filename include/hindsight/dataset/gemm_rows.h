/// Measured GEMMs from a CSV table: which column holds what, which rows count.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hindsight/dataset/csv_import.h"
#include "hindsight/gpu/calibration.h"

namespace hindsight::dataset {

/// Columns of a table of measured GEMMs. Where a name is not given, the usual ones are looked for: m, n, k, batch,
/// dtype, layout (in any case), and for the latency `latency`, `lat`, `runtime` or `time` with the unit `_s`, `_ms` or
/// `_us` and possibly `_median` after it.
struct GemmColumns {
  std::optional<std::string> m = {}, n = {}, k = {}, batch = {}, dtype = {}, layout = {};
  std::optional<std::string> latency = {};
  std::optional<double> latency_unit_s = {};  ///< 1e-3 for ms; left out: by the name's ending
  std::optional<std::string> power_w = {};    ///< left out: `power_w`
};

/// A row counts where column `column` holds `value`.
struct RowFilter {
  std::string column;
  std::string value;
};

/// What rows are to be of. Others are refused where the table says so in the columns that `measure` writes: `gpu` (or
/// `gpu_name`, `device`, `device_name`; in any case), another model than the sheet's or several; `mode`, the other way
/// of running; `kernel`, the plain kernel, which is no library's; `rank`, several algorithms of one product. Of powers,
/// also those that the board cannot draw. What these columns hold otherwise says nothing.
struct RowOrigin {
  gpu::GpuSpec gpu;
  gpu::RunMode mode = gpu::RunMode::burst;
};

/// "m=M,n=K,k=N,batch=B,latency_ms=lat_ms,power_w=watts": roles and column names. Error{usage} for an unknown role.
[[nodiscard]] GemmColumns parse_gemm_columns(const std::string& text);

/// The rows that all filters keep and, where the table has a dtype column, that are of `dtype`. `dtype` is what rows
/// are where there is no such column; bf16 when left out.
/// `quantisation` is that of rows of 8 bits whose format does not name one, as "fp8_block" does.
/// Rows whose `status` is "failed" or "unsupported" were not measured and do not count.
/// Errors: Error{usage} with file:line:column for a cell that is no size or no positive runtime, for a missing column
/// (naming the expected ones), for a row that is not of `origin`, and when no row is left.
[[nodiscard]] std::vector<gpu::GemmMeasurement> read_gemm_rows(const CsvTable& table, const GemmColumns& columns,
                                                               const std::vector<RowFilter>& filters,
                                                               std::optional<gpu::DType> dtype,
                                                               gpu::Quantisation quantisation = gpu::Quantisation::none,
                                                               const std::optional<RowOrigin>& origin = std::nullopt);

/// Rows of the same product as one, with the median of their latencies, in the order of their first ones; products of
/// fewer than `least_rows` rows are left out. For tables of several collections of the same products. Errors:
/// Error{usage} when none is left.
[[nodiscard]] std::vector<gpu::GemmMeasurement> medians(const std::vector<gpu::GemmMeasurement>& rows,
                                                        std::size_t least_rows);

/// A GEMM whose board power was measured.
struct PoweredGemm {
  gpu::GemmMeasurement measurement;
  double power_w = 0;
};
/// The rows as read_gemm_rows takes them, without those whose power is empty and without kernels shorter than
/// `shortest_s`, whose cells are not looked at further. Errors as there; Error{usage} too for a
/// table without a column of powers, a cell that is no positive power, and when no row has one.
[[nodiscard]] std::vector<PoweredGemm> read_power_rows(const CsvTable& table, const GemmColumns& columns,
                                                       const std::vector<RowFilter>& filters,
                                                       std::optional<gpu::DType> dtype,
                                                       gpu::Quantisation quantisation = gpu::Quantisation::none,
                                                       const std::optional<RowOrigin>& origin = std::nullopt,
                                                       double shortest_s = 0);

}  // namespace hindsight::dataset
