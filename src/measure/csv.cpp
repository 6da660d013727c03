/// Writes one row of CSV per timed GEMM.
#include "hindsight/measure/csv.h"

#include <cmath>

#include "hindsight/core/text.h"
#include "hindsight/core/units.h"

namespace hindsight::measure {
namespace {

std::string cell(double value) { return std::isfinite(value) ? shortest(value) : ""; }

std::string line_of(const Session& session, const GemmRow& row) {
  const std::vector<std::string> cells = {
      csv_cell(session.gpu_name),
      row.kernel,
      row.dtype,
      row.layout,
      std::to_string(row.batch),
      std::to_string(row.m),
      std::to_string(row.n),
      std::to_string(row.k),
      std::to_string(row.tile),
      std::to_string(row.rank),
      row.mode,
      row.status,
      cell(row.latency_s * units::kPerMicro),
      cell(row.board.power_w),
      cell(row.energy_j * units::kPerMilli),
      cell(ops_per_s(row) / units::kTera),
      cell(row.board.sm_clock_hz / units::kMega),
      cell(row.board.temperature_c),
      row.board.throttle_reasons < 0 ? "" : std::to_string(row.board.throttle_reasons),
      cell(row.spread_frac),
      std::to_string(row.samples),
      csv_cell(row.algorithm),
      csv_cell(row.message)};
  return join(cells, ",") + "\n";
}

}  // namespace

double ops_per_s(const GemmRow& row) {
  const auto m = static_cast<double>(row.m), n = static_cast<double>(row.n), k = static_cast<double>(row.k);
  return kOpsPerMac * static_cast<double>(row.batch) * m * n * k / row.latency_s;
}

std::string gemms_csv(const std::vector<SessionRecords>& sessions) {
  std::string text =
      "gpu,kernel,dtype,layout,batch,m,n,k,tile,rank,mode,status,latency_us,power_w,energy_mj,tflops,sm_clock_mhz,"
      "temperature_c,throttle_reasons,spread_frac,samples,algorithm,message\n";
  for (const SessionRecords& records : sessions) {
    for (const GemmRow& row : records.gemms) text += line_of(records.session, row);
  }
  return text;
}

}  // namespace hindsight::measure
