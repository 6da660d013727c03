/// What a measurement of a GPU leaves behind: the session it belongs to, timed GEMMs, and quantities of the device.
///
/// Plain data that needs no other part of the project, so that a small program on a GPU machine and the log share it.
/// Field names are those of the JSON lines, the CSV columns and the log's columns. NaN = not known.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace hindsight::measure {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// One start of a measuring program on one device: provenance, and what the device says of itself.
struct Session {
  std::string command_line, version, commit, host;
  std::string started_at;  ///< UTC, ISO 8601
  std::string gpu_name, gpu_uuid, driver_version;
  std::string sensor;                   ///< "nvml", or why the board's sensors cannot be read
  std::int64_t compute_capability = 0;  ///< 90 for 9.0
  std::int64_t sms = 0;
  std::int64_t threads_per_sm = 0, blocks_per_sm = 0, registers_per_sm = 0;
  std::int64_t shared_bytes_per_sm = 0, shared_bytes_per_block = 0;
  std::int64_t l2_bytes = 0, dram_bytes = 0, memory_bus_bits = 0;
  std::int64_t cuda_driver_version = 0, cuda_runtime_version = 0;  ///< 13000 for 13.0
  std::int64_t cublaslt_version = 0;                               ///< 0: cuBLASLt was not opened
  double boost_hz = kUnknown, memory_clock_hz = kUnknown;          ///< highest the board allows
  double power_limit_w = kUnknown, default_power_limit_w = kUnknown;
  std::int64_t seed = 0;  ///< of the random operands
};

/// State of the board while something ran.
struct BoardSummary {
  double power_w = kUnknown;      ///< from the energy counter, over window_s
  double window_s = kUnknown;     ///< between the two counter steps used
  double sm_clock_hz = kUnknown;  ///< mean of the readings
  double sm_clock_min_hz = kUnknown;
  double memory_clock_hz = kUnknown;
  double temperature_c = kUnknown;     ///< highest
  std::int64_t throttle_reasons = -1;  ///< NVML's bits, those of all readings together; -1 = not known
};

/// One timed GEMM kernel.
struct GemmRow {
  std::string task;           ///< key of the task in the plan
  std::string kernel;         ///< "cublaslt", "tiled"
  std::int64_t rank = 0;      ///< place in cuBLASLt's own ranking, from 0
  std::string algorithm;      ///< configuration of the library's kernel
  std::int64_t tile = 0;      ///< edge of the plain kernel's tile; 0 for cuBLASLt
  std::string dtype, layout;  ///< as in hindsight::gpu
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  std::string mode;             ///< "burst": milliseconds after an idle moment; "sustained": clocks settled under load
  std::string status;           ///< "ok", "unsupported", "failed"
  std::string message;          ///< why it is not ok, or what of an "ok" row its reader must know
  double latency_s = kUnknown;  ///< median of the samples, one kernel
  double latency_min_s = kUnknown;
  double spread_frac = kUnknown;  ///< 1.4826 x median absolute deviation / median of the samples
  std::int64_t samples = 0;
  std::int64_t kernels_per_sample = 0;
  std::int64_t copies = 0;         ///< sets of operands in rotation
  std::int64_t rotated_bytes = 0;  ///< input bytes of all sets; below 2 x L2 the inputs may be warm
  std::int64_t graph = 0;          ///< 1: replayed as a CUDA graph
  std::int64_t workspace_bytes = 0;
  double energy_j = kUnknown;  ///< of one kernel: board.power_w x latency_s
  BoardSummary board;
  std::string measured_at;  ///< UTC, ISO 8601
};

/// One number about the device.
struct Quantity {
  std::string task;
  std::string name;            ///< ends in its unit
  std::string detail;          ///< what exactly was run
  double argument = kUnknown;  ///< e.g. the size of the buffer; NaN where there is none
  double value = kUnknown;
  double spread_frac = kUnknown;
  std::int64_t samples = 0;
  BoardSummary board;
  std::string measured_at;
};

/// Calls visit(name, field) for every field, in the order of columns; the record may be const.
template <class Board, class Visit>
void for_each_board_field(Board& board, Visit&& visit) {
  visit("power_w", board.power_w);
  visit("window_s", board.window_s);
  visit("sm_clock_hz", board.sm_clock_hz);
  visit("sm_clock_min_hz", board.sm_clock_min_hz);
  visit("memory_clock_hz", board.memory_clock_hz);
  visit("temperature_c", board.temperature_c);
  visit("throttle_reasons", board.throttle_reasons);
}

template <class Record, class Visit>
void for_each_session_field(Record& r, Visit&& visit) {
  visit("command_line", r.command_line);
  visit("version", r.version);
  visit("commit_hash", r.commit);
  visit("host", r.host);
  visit("started_at", r.started_at);
  visit("gpu_name", r.gpu_name);
  visit("gpu_uuid", r.gpu_uuid);
  visit("driver_version", r.driver_version);
  visit("sensor", r.sensor);
  visit("compute_capability", r.compute_capability);
  visit("sms", r.sms);
  visit("threads_per_sm", r.threads_per_sm);
  visit("blocks_per_sm", r.blocks_per_sm);
  visit("registers_per_sm", r.registers_per_sm);
  visit("shared_bytes_per_sm", r.shared_bytes_per_sm);
  visit("shared_bytes_per_block", r.shared_bytes_per_block);
  visit("l2_bytes", r.l2_bytes);
  visit("dram_bytes", r.dram_bytes);
  visit("memory_bus_bits", r.memory_bus_bits);
  visit("cuda_driver_version", r.cuda_driver_version);
  visit("cuda_runtime_version", r.cuda_runtime_version);
  visit("cublaslt_version", r.cublaslt_version);
  visit("boost_hz", r.boost_hz);
  visit("memory_clock_hz", r.memory_clock_hz);
  visit("power_limit_w", r.power_limit_w);
  visit("default_power_limit_w", r.default_power_limit_w);
  visit("seed", r.seed);
}

template <class Record, class Visit>
void for_each_gemm_field(Record& r, Visit&& visit) {
  visit("task", r.task);
  visit("kernel", r.kernel);
  visit("rank", r.rank);
  visit("algorithm", r.algorithm);
  visit("tile", r.tile);
  visit("dtype", r.dtype);
  visit("layout", r.layout);
  visit("m", r.m);
  visit("n", r.n);
  visit("k", r.k);
  visit("batch", r.batch);
  visit("mode", r.mode);
  visit("status", r.status);
  visit("message", r.message);
  visit("latency_s", r.latency_s);
  visit("latency_min_s", r.latency_min_s);
  visit("spread_frac", r.spread_frac);
  visit("samples", r.samples);
  visit("kernels_per_sample", r.kernels_per_sample);
  visit("copies", r.copies);
  visit("rotated_bytes", r.rotated_bytes);
  visit("graph", r.graph);
  visit("workspace_bytes", r.workspace_bytes);
  visit("energy_j", r.energy_j);
  for_each_board_field(r.board, visit);
  visit("measured_at", r.measured_at);
}

template <class Record, class Visit>
void for_each_quantity_field(Record& r, Visit&& visit) {
  visit("task", r.task);
  visit("name", r.name);
  visit("detail", r.detail);
  visit("argument", r.argument);
  visit("value", r.value);
  visit("spread_frac", r.spread_frac);
  visit("samples", r.samples);
  for_each_board_field(r.board, visit);
  visit("measured_at", r.measured_at);
}

}  // namespace hindsight::measure
