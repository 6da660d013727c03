/// Logs, studies, networks and landscapes for the fuzzer.
#include "fuzz/made.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include "fuzz/reader.h"
#include "hindsight/accel/optimum/landscape.h"
#include "hindsight/core/files.h"
#include "hindsight/core/hash.h"
#include "hindsight/evaluator/protocol.h"
#include "hindsight/gpu/residual.h"
#include "hindsight/log/log.h"
#include "hindsight/measure/json_lines.h"
#include "hindsight/space/design_space.h"
#include "hindsight/workload/network.h"
#include "log/optuna_database.h"

namespace hindsight::fuzz {
namespace {

log::EvaluationRow row(std::int64_t workload, const std::string& design, bool feasible) {
  log::EvaluationRow row{
      .workload_id = workload, .design_text_id = design, .design_hash = content_hash(design), .feasible = feasible};
  row.metrics = {{"area_mm2", 25.5}, {"own_metric", 3.0}};
  if (feasible) {
    row.metrics.insert(row.metrics.end(), {{"latency_s", 0.001}, {"energy_j", 0.5}});
  } else {
    row.violations = {{.code = "noc_timing",
                       .quantity = "delay_ns",
                       .value = 2.5,
                       .limit = 1.25,
                       .nearest_passing = 8.0,
                       .layer = "conv1",
                       .message = "too slow"}};
  }
  return row;
}

void fill(log::Log& log) {
  const space::DesignSpace space = space::load_space("tiny");
  const workload::Network network = workload::load_network("mobilenet_v2");
  log::Run run(log, log::RunKind::sweep, made_provenance(), R"({"samples":4})");
  const std::int64_t space_id = log.add_space(space.name(), space.canonical_definition(), space.definition_hash());
  const std::int64_t first = log.add_workload(network.name(), network.canonical_definition(), network.definition_hash(),
                                              1, R"([{"name":"conv1","type":"conv"}])", 1, {{"macs", 1e6}});
  const std::int64_t second =
      log.add_workload("other", "layers", "hash", 8, R"([{"name":"conv1","type":"conv"}])", 1, {{"macs", 2e6}});
  const std::int64_t evaluator = log.add_evaluator("pe_array", "hash-constants", "model 1");
  std::vector<log::EvaluationRow> rows;
  for (std::uint64_t i = 0; i < 4; ++i) {
    rows.push_back(row(i % 2 == 0 ? first : second, space.text_id(space.design(i * 7)), i != 3));
  }
  log.append(run.id(), space_id, evaluator, rows, log::Checkpoint{"sweep", R"({"next":4})"});
  const std::string design = space.text_id(space.design(0));
  const std::int64_t model = log.add_model(
      run.id(), space_id,
      {.name = "m", .kind = "prime", .file = "m.safetensors", .file_sha256 = sha256_hex("m"), .card_json = "{}"});
  log.add_proposals(run.id(), space_id, model,
                    {{.design_text_id = design,
                      .design_hash = content_hash(design),
                      .workload_id = first,
                      .rank = 1,
                      .objective = "latency_s",
                      .predicted_value = 0.001,
                      .predicted_json = R"({"p_feasible":0.9})"}});
  run.note("why", "for the fuzzer");
  run.finish();
}

constexpr const char* kOptunaStudy = R"sql(
CREATE TABLE studies (study_id INTEGER PRIMARY KEY, study_name VARCHAR(512));
CREATE TABLE study_directions (study_direction_id INTEGER PRIMARY KEY, direction VARCHAR(8), study_id INTEGER,
  objective INTEGER);
CREATE TABLE study_user_attributes (id INTEGER PRIMARY KEY, study_id INTEGER, "key" VARCHAR(512), value_json TEXT);
CREATE TABLE study_system_attributes (id INTEGER PRIMARY KEY, study_id INTEGER, "key" VARCHAR(512), value_json TEXT);
CREATE TABLE trials (trial_id INTEGER PRIMARY KEY, number INTEGER, study_id INTEGER, state VARCHAR(8),
  datetime_start DATETIME, datetime_complete DATETIME);
CREATE TABLE trial_user_attributes (id INTEGER PRIMARY KEY, trial_id INTEGER, "key" VARCHAR(512), value_json TEXT);
CREATE TABLE trial_system_attributes (id INTEGER PRIMARY KEY, trial_id INTEGER, "key" VARCHAR(512), value_json TEXT);
CREATE TABLE trial_params (param_id INTEGER PRIMARY KEY, trial_id INTEGER, param_name VARCHAR(512), param_value FLOAT,
  distribution_json TEXT);
CREATE TABLE trial_values (trial_value_id INTEGER PRIMARY KEY, trial_id INTEGER, objective INTEGER, value FLOAT,
  value_type VARCHAR(7));
CREATE TABLE trial_intermediate_values (id INTEGER PRIMARY KEY, trial_id INTEGER, step INTEGER,
  intermediate_value FLOAT, intermediate_value_type VARCHAR(7));
INSERT INTO studies VALUES (1, 'tune');
INSERT INTO study_directions VALUES (1, 'MINIMIZE', 1, 0);
INSERT INTO study_system_attributes VALUES (1, 1, 'study:metric_names', '["Latency (ms)"]');
INSERT INTO trials VALUES (1, 0, 1, 'COMPLETE', NULL, NULL), (2, 1, 1, 'COMPLETE', NULL, NULL),
  (3, 2, 1, 'FAIL', NULL, NULL), (4, 3, 1, 'PRUNED', NULL, NULL), (5, 4, 1, 'RUNNING', NULL, NULL);
INSERT INTO trial_params SELECT NULL, trial_id, 'tile', trial_id, '{"name": "IntDistribution",
  "attributes": {"log": false, "step": 1, "low": 1, "high": 16}}' FROM trials WHERE trial_id < 5;
INSERT INTO trial_params SELECT NULL, trial_id, 'rate', 0.5, '{"name": "FloatDistribution",
  "attributes": {"step": 0.5, "low": 0.5, "high": 1.0, "log": false}}' FROM trials WHERE trial_id < 5;
INSERT INTO trial_params SELECT NULL, trial_id, 'mode', trial_id % 2, '{"name": "CategoricalDistribution",
  "attributes": {"choices": ["ws", null]}}' FROM trials WHERE trial_id < 5;
INSERT INTO trial_values VALUES (1, 1, 0, 2.5, 'FINITE'), (2, 2, 0, NULL, 'INF_POS');
INSERT INTO trial_intermediate_values VALUES (1, 4, 0, 7.5, 'FINITE');
INSERT INTO trial_user_attributes VALUES (1, 1, 'area', '12.5');
INSERT INTO trial_system_attributes VALUES (1, 2, 'constraints', '[0.25]');
)sql";

/// Eight designs: the other parameters of `tiny` have one value.
space::DesignSpace eight_designs() {
  const space::DesignSpace tiny = space::load_space("tiny");
  std::vector<space::Parameter> parameters = tiny.parameters();
  std::size_t varied = 0;
  for (space::Parameter& parameter : parameters) {
    const std::size_t keep = parameter.level_count() > 1 && varied++ < 3 ? 2 : 1;
    parameter.labels.resize(keep);
    if (!parameter.values.empty()) parameter.values.resize(keep);
  }
  return {"eight", "", std::move(parameters)};
}

/// What a made landscape is about.
struct MadeQuestion {
  space::DesignSpace space = eight_designs();
  accel::Technology technology;
  workload::Network network = workload::load_network("mobilenet_v2");
  accel::optimum::Question question{.space = &space, .technology = &technology, .networks = {&network}};
  explicit MadeQuestion(const std::string& name) : technology(accel::load_technology(name)) {}
  MadeQuestion(const MadeQuestion&) = delete;
  MadeQuestion& operator=(const MadeQuestion&) = delete;
};

}  // namespace

Provenance made_provenance() {
  Provenance provenance;
  provenance.command_line = "hindsight";
  provenance.version = "0.1.0";
  return provenance;
}

void make_pages_small(const std::filesystem::path& file) {
  SQLite::Database database(file.string(), SQLite::OPEN_READWRITE);
  database.exec("PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM;");
}

std::string made_log() {
  const std::filesystem::path file = free_path("made.sqlite");
  {
    log::Log log = log::Log::open(file, log::OpenMode::read_write_create);
    fill(log);
  }
  make_pages_small(file);
  return read_file(file);
}

std::string made_log_with_block() {
  const std::filesystem::path file = free_path("made.sqlite");
  {
    log::Log log = log::Log::open(file, log::OpenMode::read_write_create);
    fill(log);
    log.set_checkpoint({"block:000000000000",
                        R"({"version":1,"counted":true,"designs_to":4,"designs":[[1,4]],"metrics":4,"violations":1,)"
                        R"("metric_names":["own_metric"],"groups":[[1,1,1,3,2,0,true,[["noc_timing",1]],)"
                        R"([[[0.001,1]],[[0.5,1]],[],[],[[25.5,1],[25.5,3]]]]]})"});
  }
  make_pages_small(file);
  return read_file(file);
}

std::string made_optuna_study() {
  const std::filesystem::path file = free_path("made.db");
  {
    SQLite::Database database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    database.exec(kOptunaStudy);
  }
  make_pages_small(file);
  return read_file(file);
}

std::string made_old_optuna_study() {
  const std::filesystem::path file = free_path("made.db");
  test::make_optuna_database(file, test::kOptunaReleases.front());
  make_pages_small(file);
  return read_file(file);
}

std::string made_landscape(const std::string& technology) {
  const std::filesystem::path file = free_path("made.landscape");
  (void)accel::optimum::write_landscape(MadeQuestion(technology).question, file, {.threads = 1});
  return read_file(file);
}

void rank_in_made_space(const accel::optimum::Landscape& landscape) {
  static const MadeQuestion first("22nm"), second("22nm-silicon");
  const bool is_first = landscape.identity().evaluator == accel::evaluator_name(first.technology);
  (void)landscape.ranks(is_first ? first.question : second.question, {1e-4, 1e-3, 1e-2});
}

std::string made_question(const space::DesignSpace& space, const std::string& network) {
  return evaluator::question_line(3, evaluator::design_json(space, space.design(5)),
                                  evaluator::workload_json(workload::load_network(network)));
}

std::string made_measurements() {
  measure::Session session;
  session.command_line = "hindsight-measure";
  session.gpu_name = "NVIDIA H100 80GB HBM3";
  session.boost_hz = 1.98e9;
  measure::GemmRow row;
  row.task = "gemm/cublaslt/bf16/nt/b1/16x32x64/burst/top1";
  row.kernel = "cublaslt";
  row.dtype = "bf16";
  row.m = 16;
  row.n = 32;
  row.k = 64;
  row.status = "ok";
  row.latency_s = 2.7e-6;
  measure::Quantity quantity;
  quantity.task = "device/latency";
  quantity.name = "l2_latency_cycles";
  quantity.value = 0.1;
  return measure::to_json_line(session) + "\n" + measure::to_json_line(row) + "\n" + measure::to_json_line(quantity) +
         "\n";
}

std::string made_residual() {
  gpu::Residual residual;
  residual.gpu = "h100-sxm5";
  residual.sms = 132;
  residual.sheet = residual.constants = "0123456789abcdef";
  residual.data = "rows.csv 0123";
  residual.row_count = 1;
  gpu::include(residual.range, {.m = 16, .n = 32, .k = 64, .dtype = gpu::DType::bf16}, 1e-5);
  residual.sizes = {{5, 6}};
  residual.trees = gpu::ResidualTrees({0, 1}, {{.value = 0.5F, .feature = -1, .right = 0},
                                               {.value = 2, .feature = 0, .right = 3},
                                               {.value = 0.25F, .feature = -1, .right = 0},
                                               {.value = -0.25F, .feature = -1, .right = 0}});
  return gpu::to_yaml(residual, "hindsight calibrate", "2026-01-31");
}

std::string made_definition() { return space::load_space("tiny").canonical_definition(); }

}  // namespace hindsight::fuzz
