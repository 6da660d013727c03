/// SQL of schema version 2: measurements of GPUs. Private to the log layer; documented in docs/log-schema.md.
#pragma once

namespace hindsight::log {

inline constexpr const char* kGpuTablesSql = R"sql(
CREATE TABLE gpu_sessions (
  session_id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES runs,   -- the run that stored it
  session_hash TEXT NOT NULL UNIQUE,         -- SHA-256 of the session's JSON line: importing twice changes nothing
  command_line TEXT NOT NULL,                -- of the program that measured
  version TEXT NOT NULL,
  commit_hash TEXT NOT NULL,
  host TEXT NOT NULL,
  started_at TEXT NOT NULL,                  -- UTC, ISO 8601
  gpu_name TEXT NOT NULL,
  gpu_uuid TEXT NOT NULL,
  driver_version TEXT NOT NULL,              -- '' = not known
  sensor TEXT NOT NULL,                      -- 'nvml', or why the board's sensors could not be read
  compute_capability INTEGER NOT NULL,       -- 90 for 9.0
  sms INTEGER NOT NULL,
  threads_per_sm INTEGER NOT NULL,
  blocks_per_sm INTEGER NOT NULL,
  registers_per_sm INTEGER NOT NULL,
  shared_bytes_per_sm INTEGER NOT NULL,
  shared_bytes_per_block INTEGER NOT NULL,
  l2_bytes INTEGER NOT NULL,
  dram_bytes INTEGER NOT NULL,
  memory_bus_bits INTEGER NOT NULL,
  cuda_driver_version INTEGER NOT NULL,      -- 13000 for 13.0
  cuda_runtime_version INTEGER NOT NULL,
  cublaslt_version INTEGER NOT NULL,         -- 0: not opened
  boost_hz REAL,                             -- highest SM clock
  memory_clock_hz REAL,
  power_limit_w REAL,                        -- in force
  default_power_limit_w REAL,
  seed INTEGER NOT NULL                      -- of the random operands
) STRICT;

CREATE TABLE gpu_gemms (
  gemm_id INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES gpu_sessions,
  task TEXT NOT NULL,                        -- key in the plan
  kernel TEXT NOT NULL,                      -- 'cublaslt', 'tiled'
  rank INTEGER NOT NULL,                     -- place in cuBLASLt's ranking, from 0
  algorithm TEXT NOT NULL,                   -- the library's configuration
  tile INTEGER NOT NULL,                     -- edge of the tiled kernel's tile; 0: cuBLASLt
  dtype TEXT NOT NULL,
  layout TEXT NOT NULL,                      -- row-major, 't' = transposed storage: 'nt' is a linear layer
  m INTEGER NOT NULL,
  n INTEGER NOT NULL,
  k INTEGER NOT NULL,
  batch INTEGER NOT NULL,
  mode TEXT NOT NULL,                        -- 'burst', 'sustained'
  status TEXT NOT NULL CHECK (status IN ('ok', 'unsupported', 'failed')),
  message TEXT NOT NULL,                     -- why it is not ok
  latency_s REAL,                            -- median, one kernel
  latency_min_s REAL,
  spread_frac REAL,                          -- robust standard deviation / median of the samples
  samples INTEGER NOT NULL,
  kernels_per_sample INTEGER NOT NULL,
  copies INTEGER NOT NULL,                   -- operand sets in rotation
  rotated_bytes INTEGER NOT NULL,            -- input bytes of all sets; below 2 x L2 the inputs may be warm
  graph INTEGER NOT NULL CHECK (graph IN (0, 1)),  -- replayed as a CUDA graph
  workspace_bytes INTEGER NOT NULL,
  energy_j REAL,                             -- one kernel: power_w x latency_s
  power_w REAL,                              -- of the board, by its energy counter over window_s
  window_s REAL,
  sm_clock_hz REAL,                          -- mean
  sm_clock_min_hz REAL,
  memory_clock_hz REAL,
  temperature_c REAL,                        -- highest
  throttle_reasons INTEGER NOT NULL,         -- NVML's bits; -1 = not known
  measured_at TEXT NOT NULL,                 -- UTC, ISO 8601
  UNIQUE (session_id, task, rank),
  CHECK (status = 'ok' OR latency_s IS NULL)
) STRICT;

CREATE TABLE gpu_quantities (
  quantity_id INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES gpu_sessions,
  task TEXT NOT NULL,
  name TEXT NOT NULL,                        -- ends in its unit
  detail TEXT NOT NULL,                      -- what was run
  argument REAL,                             -- e.g. the size of the buffer in bytes
  value REAL,                                -- NULL: could not be measured
  spread_frac REAL,
  samples INTEGER NOT NULL,
  power_w REAL,
  window_s REAL,
  sm_clock_hz REAL,
  sm_clock_min_hz REAL,
  memory_clock_hz REAL,
  temperature_c REAL,
  throttle_reasons INTEGER NOT NULL,
  measured_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX gpu_quantities_identity ON gpu_quantities (session_id, task, name, ifnull(argument, -1));

CREATE VIEW v_gpu_gemms AS
  SELECT s.gpu_name AS gpu, g.kernel, g.dtype, g.layout, g.batch, g.m, g.n, g.k, g.tile, g.rank, g.mode,
         1e6 * g.latency_s AS latency_us, 2.0 * g.batch * g.m * g.n * g.k / g.latency_s * 1e-12 AS tera_ops_per_s,
         g.power_w, 1e3 * g.energy_j AS energy_mj, 1e-6 * g.sm_clock_hz AS sm_clock_mhz, g.spread_frac, g.status,
         g.message, s.session_id, s.run_id
    FROM gpu_gemms g JOIN gpu_sessions s ON s.session_id = g.session_id;
)sql";

}  // namespace hindsight::log
