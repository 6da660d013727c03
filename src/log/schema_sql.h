/// SQL of schema versions 1 and 3. The comments inside stay in the file: `.schema` of the sqlite3 shell shows them.
/// Private to the log layer; documented for people in docs/log-schema.md.
#pragma once

namespace hindsight::log {

inline constexpr const char* kSchemaTablesSql = R"sql(
CREATE TABLE schema_migrations (
  schema_version INTEGER PRIMARY KEY,
  applied_at TEXT NOT NULL,          -- UTC, ISO 8601
  hindsight_version TEXT NOT NULL    -- the version that applied it
) STRICT;

CREATE TABLE runs (
  run_id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,                -- 'sweep', 'import', ...
  status TEXT NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'finished', 'interrupted', 'failed')),
  command_line TEXT NOT NULL,
  version TEXT NOT NULL,             -- of Hindsight
  commit_hash TEXT NOT NULL,
  host TEXT NOT NULL,
  user TEXT NOT NULL,
  cwd TEXT NOT NULL,
  started_at TEXT NOT NULL,          -- UTC, ISO 8601
  ended_at TEXT,                     -- NULL: still running, or killed
  options_json TEXT NOT NULL DEFAULT '{}',
  evaluations_inserted INTEGER NOT NULL DEFAULT 0,
  evaluations_present INTEGER NOT NULL DEFAULT 0,  -- appended again, kept once
  rows_rejected INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE spaces (
  space_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  definition TEXT NOT NULL,          -- canonical text
  definition_hash TEXT NOT NULL UNIQUE,
  designs_view TEXT                  -- view with one column per parameter; NULL before the first design
) STRICT;

CREATE TABLE space_parameters (
  space_id INTEGER NOT NULL REFERENCES spaces,
  position INTEGER NOT NULL,         -- from 0, in the order of the text id
  name TEXT NOT NULL,
  PRIMARY KEY (space_id, position),
  UNIQUE (space_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE workloads (
  workload_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  batch INTEGER NOT NULL,
  definition TEXT NOT NULL,          -- canonical text
  definition_hash TEXT NOT NULL UNIQUE,
  layers_json TEXT NOT NULL,         -- one JSON object per layer; see v_workload_layers
  context_version INTEGER NOT NULL
) STRICT;

CREATE TABLE workload_context (
  workload_id INTEGER NOT NULL REFERENCES workloads,
  position INTEGER NOT NULL,         -- from 0, in the order of the feature vector
  name TEXT NOT NULL,
  value REAL NOT NULL,
  PRIMARY KEY (workload_id, position),
  UNIQUE (workload_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE evaluators (
  evaluator_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  definition_hash TEXT NOT NULL,
  definition TEXT NOT NULL,          -- model, version, constants
  UNIQUE (name, definition_hash)
) STRICT;

CREATE TABLE designs (
  design_id INTEGER PRIMARY KEY,
  space_id INTEGER NOT NULL REFERENCES spaces,
  content_hash INTEGER NOT NULL,     -- 64 bits of content_hash(text_id), as a signed integer
  text_id TEXT NOT NULL,             -- 'pes_x=4,pes_y=4,...'
  parameters TEXT GENERATED ALWAYS AS
    ('{"' || replace(replace(text_id, '=', '":"'), ',', '","') || '"}') VIRTUAL,  -- JSON object; values as text
  UNIQUE (space_id, content_hash)
) STRICT;

CREATE TABLE evaluations (
  evaluation_id INTEGER PRIMARY KEY,
  design_id INTEGER NOT NULL REFERENCES designs,
  workload_id INTEGER NOT NULL REFERENCES workloads,
  evaluator_id INTEGER NOT NULL REFERENCES evaluators,
  run_id INTEGER NOT NULL REFERENCES runs,
  feasible INTEGER NOT NULL CHECK (feasible IN (0, 1)),
  latency_s REAL,                    -- one inference of the whole batch
  latency_cycles REAL,
  energy_j REAL,                     -- one inference of the whole batch
  average_power_w REAL,
  area_mm2 REAL,
  utilisation_frac REAL,             -- useful MACs per MAC slot, 0..1
  dram_read_bytes REAL,
  dram_write_bytes REAL,
  weights_cached_frac REAL,          -- share of the weights that stays on chip, 0..1
  instructions REAL,
  peak_power_w REAL,
  UNIQUE (design_id, workload_id, evaluator_id),
  CHECK (feasible = 1 OR (latency_s IS NULL AND energy_j IS NULL))
) STRICT;

CREATE TABLE evaluation_metrics (
  evaluation_id INTEGER NOT NULL REFERENCES evaluations,
  name TEXT NOT NULL,                -- ends in its unit
  value REAL NOT NULL,
  PRIMARY KEY (evaluation_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE evaluation_violations (
  evaluation_id INTEGER NOT NULL REFERENCES evaluations,
  position INTEGER NOT NULL,         -- from 0, in the order the evaluator gave
  code TEXT NOT NULL,                -- stable word, e.g. 'noc_timing'
  quantity TEXT NOT NULL,            -- what was measured, ends in its unit; may be ''
  value REAL,                        -- of the quantity; NULL: not known
  limit_value REAL,                  -- what the quantity must keep; NULL: not known
  nearest_passing REAL,              -- nearest value of the driving parameter that passes
  layer TEXT,                        -- NULL: the whole chip
  message TEXT,
  PRIMARY KEY (evaluation_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE models (
  model_id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES runs,
  space_id INTEGER NOT NULL REFERENCES spaces,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,                -- kind of surrogate
  file TEXT NOT NULL,                -- path as given
  file_sha256 TEXT NOT NULL UNIQUE,
  card_json TEXT NOT NULL,           -- data, options, quality
  created_at TEXT NOT NULL
) STRICT;

CREATE TABLE proposals (
  proposal_id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES runs,
  model_id INTEGER REFERENCES models,           -- NULL: proposed without a surrogate
  design_id INTEGER NOT NULL REFERENCES designs,
  workload_id INTEGER REFERENCES workloads,     -- NULL: for several workloads together
  rank INTEGER NOT NULL CHECK (rank >= 1),      -- 1 = best
  objective TEXT NOT NULL,                      -- what was minimised, ends in its unit
  predicted_value REAL,
  predicted_json TEXT NOT NULL DEFAULT '{}',
  verdict_json TEXT,                            -- NULL: not checked yet
  created_at TEXT NOT NULL
) STRICT;

CREATE TABLE checkpoints (
  key TEXT PRIMARY KEY,
  value_json TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
)sql";

inline constexpr const char* kSchemaViewsSql = R"sql(
CREATE VIEW v_evaluations AS
  SELECT e.evaluation_id, s.name AS space, w.name AS workload, ev.name AS evaluator, e.run_id, e.feasible,
         (SELECT group_concat(v.code, ' ') FROM evaluation_violations v
           WHERE v.evaluation_id = e.evaluation_id) AS reasons,
         e.latency_s, e.latency_cycles, e.energy_j, e.average_power_w, e.area_mm2, e.utilisation_frac,
         e.dram_read_bytes, e.dram_write_bytes, e.weights_cached_frac, e.instructions, e.peak_power_w,
         d.text_id AS design, e.design_id
    FROM evaluations e
    JOIN designs d ON d.design_id = e.design_id
    JOIN spaces s ON s.space_id = d.space_id
    JOIN workloads w ON w.workload_id = e.workload_id
    JOIN evaluators ev ON ev.evaluator_id = e.evaluator_id;

CREATE VIEW v_reasons AS
  WITH counted AS (
    SELECT e.workload_id, e.evaluator_id, v.code, count(DISTINCT v.evaluation_id) AS evaluations
      FROM evaluation_violations v JOIN evaluations e ON e.evaluation_id = v.evaluation_id
     GROUP BY e.workload_id, e.evaluator_id, v.code),
  totals AS (
    SELECT workload_id, evaluator_id, count(*) AS evaluations, sum(feasible = 0) AS infeasible
      FROM evaluations GROUP BY workload_id, evaluator_id)
  SELECT w.name AS workload, ev.name AS evaluator, c.code AS reason, c.evaluations,
         1.0 * c.evaluations / t.infeasible AS share_of_infeasible_frac,
         1.0 * c.evaluations / t.evaluations AS share_of_all_frac
    FROM counted c
    JOIN totals t ON t.workload_id = c.workload_id AND t.evaluator_id = c.evaluator_id
    JOIN workloads w ON w.workload_id = c.workload_id
    JOIN evaluators ev ON ev.evaluator_id = c.evaluator_id
   ORDER BY w.name, ev.name, c.evaluations DESC, c.code;

CREATE VIEW v_workloads AS
  WITH totals AS (
    SELECT workload_id, count(*) AS evaluations, sum(feasible) AS feasible, min(latency_s) AS best_latency_s,
           min(energy_j) AS best_energy_j
      FROM evaluations GROUP BY workload_id)
  SELECT w.workload_id, w.name, w.batch, json_array_length(w.layers_json) AS layers,
         coalesce(t.evaluations, 0) AS evaluations, coalesce(t.feasible, 0) AS feasible,
         1.0 * t.feasible / t.evaluations AS feasible_frac, t.best_latency_s, t.best_energy_j
    FROM workloads w LEFT JOIN totals t ON t.workload_id = w.workload_id
   ORDER BY w.name;

CREATE VIEW v_workload_layers AS
  SELECT w.name AS workload, j.key AS position, j.value ->> '$.name' AS layer, j.value AS layer_json
    FROM workloads w, json_each(w.layers_json) j;

CREATE VIEW v_runs AS
  SELECT run_id, kind, status, started_at, ended_at,
         round(86400.0 * (julianday(ended_at) - julianday(started_at))) AS duration_s,
         evaluations_inserted, evaluations_present, rows_rejected, user, host, version, commit_hash, command_line
    FROM runs ORDER BY run_id DESC;
)sql";

/// Version 3: an evaluation may be repeated. The table is rebuilt because its UNIQUE constraint changes; views on it,
/// also those that a user made, are not looked at while it has another name (legacy_alter_table).
inline constexpr const char* kRepeatsSql = R"sql(
PRAGMA legacy_alter_table = ON;

CREATE TABLE repeated_evaluations (
  evaluation_id INTEGER PRIMARY KEY,
  design_id INTEGER NOT NULL REFERENCES designs,
  workload_id INTEGER NOT NULL REFERENCES workloads,
  evaluator_id INTEGER NOT NULL REFERENCES evaluators,
  repeat INTEGER NOT NULL DEFAULT 0 CHECK (repeat >= 0),  -- number of the measurement, from 0
  run_id INTEGER NOT NULL REFERENCES runs,
  feasible INTEGER NOT NULL CHECK (feasible IN (0, 1)),
  latency_s REAL,                    -- one inference of the whole batch
  latency_cycles REAL,
  energy_j REAL,                     -- one inference of the whole batch
  average_power_w REAL,
  area_mm2 REAL,
  utilisation_frac REAL,             -- useful MACs per MAC slot, 0..1
  dram_read_bytes REAL,
  dram_write_bytes REAL,
  weights_cached_frac REAL,          -- share of the weights that stays on chip, 0..1
  instructions REAL,
  peak_power_w REAL,
  UNIQUE (design_id, workload_id, evaluator_id, repeat),
  CHECK (feasible = 1 OR (latency_s IS NULL AND energy_j IS NULL))
) STRICT;

INSERT INTO repeated_evaluations
  SELECT evaluation_id, design_id, workload_id, evaluator_id, 0, run_id, feasible, latency_s, latency_cycles, energy_j,
         average_power_w, area_mm2, utilisation_frac, dram_read_bytes, dram_write_bytes, weights_cached_frac,
         instructions, peak_power_w
    FROM evaluations;
DROP TABLE evaluations;
ALTER TABLE repeated_evaluations RENAME TO evaluations;
PRAGMA legacy_alter_table = OFF;

DROP VIEW v_evaluations;
CREATE VIEW v_evaluations AS
  SELECT e.evaluation_id, s.name AS space, w.name AS workload, ev.name AS evaluator, e.run_id, e.repeat, e.feasible,
         (SELECT group_concat(v.code, ' ') FROM evaluation_violations v
           WHERE v.evaluation_id = e.evaluation_id) AS reasons,
         e.latency_s, e.latency_cycles, e.energy_j, e.average_power_w, e.area_mm2, e.utilisation_frac,
         e.dram_read_bytes, e.dram_write_bytes, e.weights_cached_frac, e.instructions, e.peak_power_w,
         d.text_id AS design, e.design_id
    FROM evaluations e
    JOIN designs d ON d.design_id = e.design_id
    JOIN spaces s ON s.space_id = d.space_id
    JOIN workloads w ON w.workload_id = e.workload_id
    JOIN evaluators ev ON ev.evaluator_id = e.evaluator_id;
)sql";

/// A log of version 2 read as one of version 3, without a change to the file.
inline constexpr const char* kReadWithoutRepeatsSql =
    "CREATE TEMP VIEW evaluations AS SELECT *, 0 AS repeat FROM main.evaluations";

}  // namespace hindsight::log
