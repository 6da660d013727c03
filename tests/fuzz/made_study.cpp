/// A log with a row of every table, and values to write over some of them.
#include <SQLiteCpp/SQLiteCpp.h>

#include "fuzz/log_values.h"
#include "fuzz/made.h"
#include "fuzz/reader.h"
#include "hindsight/core/files.h"
#include "hindsight/core/hash.h"
#include "hindsight/log/gpu_measurements.h"
#include "hindsight/log/log.h"
#include "hindsight/measure/json_lines.h"
#include "hindsight/space/design_space.h"
#include "log/schema.h"
#include "study/campaign_state.h"

namespace hindsight::fuzz {
namespace {

constexpr const char* kLayers =
    R"([{"name":"fc","type":"fully_connected","depthwise":false,"m":16,"n":32,"k":64,"count":1,"repeat":2,)"
    R"("kernel_height":1,"kernel_width":1,"stride_height":1,"stride_width":1,"out_width":16,"macs":32768,)"
    R"("weight_bytes":2048,"input_bytes":1024,"output_bytes":512}])";
constexpr const char* kQuestion =
    R"({"workloads":[{"name":"layered"}],"aggregate":"geomean","max":["area_mm2=29"],"min":[],"set":[]})";
constexpr const char* kPrediction =
    R"({"p_feasible":0.9,"extrapolated":true,"lifted":false,"nearest_logged_distance":2,)"
    R"("workloads":[{"name":"layered","objective":0.001,"p_feasible":0.9}]})";
constexpr const char* kVerdict =
    R"({"value":0.0011,"technology":"22nm","rank":{"optimum":0.0009},)"
    R"("workloads":[{"name":"layered","objective":0.0011}],)"
    R"("gpus":{"technology":"22nm","networks":[{"network":"layered","verdict":"Twice as fast as l4."}]}})";
constexpr const char* kProof =
    R"({"proof":"branch and bound","metrics":{"layered":{"latency_s":0.0009,"area_mm2":20}}})";
constexpr const char* kAsked =
    R"({"space":"tiny","evaluator":"simulator","objective":"latency_s","metrics":["latency_s","area_mm2"]})";
constexpr const char* kCard = R"({"metrics":{"kendall_tau":0.5,"feasibility_auc":0.75,"calibration_error":0.125},)"
                              R"("provenance":{"recipe_chosen":"margins, of 3 backtests"}})";
constexpr const char* kCurve = R"({"model":"m","started_at":"2026-01-31T12:00:00Z","members":1,"steps":60,)"
                               R"("points":[[0,1,0.5,null],[0,20,0.25,0.5]]})";
constexpr const char* kSwept = R"({"samples":4,"definition_hash":"ab"})";
constexpr const char* kSweep =
    R"({"candidates":8,"constrained":1,"repeated":1,"accepted":4,"designs":4,"exhausted":false,"workloads":[)"
    R"({"name":"mobilenet_v2","feasible":3,"infeasible":1,"beyond_limits":1,"reasons":{"noc_timing":1}}],)"
    R"("thresholds":[{"badness":0.5,"number":3}],)"
    R"("found":{"feasible":3,"beyond_limits":0,"number":2,"design":"pes_x=4","score":0.5,"values":[0.5]}})";

std::string campaign_state() {
  const study::CampaignRound round{.learned = true,
                                   .why = "a model chose",
                                   .designs = 4,
                                   .infeasible = 1,
                                   .beyond_limits = 1,
                                   .best = 0.002,
                                   .best_so_far = 0.001,
                                   .best_design = "pes_x=4",
                                   .true_over_predicted = 1.25,
                                   .choose_s = 2,
                                   .evaluate_s = 3};
  study::CampaignState state{.rounds = {round, round}, .batch = std::nullopt};
  state.batch = study::CampaignBatch{
      .designs = {"pes_x=4"}, .predicted = {0.001}, .learned = true, .why = "a model chose", .choose_s = 2};
  return study::to_json(state);
}

/// What the rows that come to the made log are of.
struct Known {
  space::DesignSpace space = space::load_space("tiny");
  std::int64_t space_id = 0, evaluator = 0, workload = 0;

  [[nodiscard]] std::string design(std::uint64_t number) const { return space.text_id(space.design(number)); }
  [[nodiscard]] log::ProposalRow proposal(std::uint64_t number, const char* predicted) const {
    return {.design_text_id = design(number),
            .design_hash = content_hash(design(number)),
            .workload_id = workload,
            .rank = 1,
            .objective = "latency_s",
            .predicted_value = 0.001,
            .predicted_json = predicted};
  }
};

void add_sweep(log::Log& log, const Known& known) {
  Provenance provenance = made_provenance();
  provenance.command_line = "hindsight sweep --space=tiny --workloads 'layered' --samples 4 --shard 0/2 --log s.db";
  log::Run run(log, log::RunKind::sweep, provenance, kSwept);
  std::vector<log::EvaluationRow> rows;
  for (std::uint64_t i = 0; i < 3; ++i) {
    rows.push_back({.workload_id = known.workload,
                    .design_text_id = known.design(i * 7),
                    .design_hash = content_hash(known.design(i * 7)),
                    .feasible = true,
                    .metrics = {{"latency_s", 0.001 * static_cast<double>(i + 1)}, {"area_mm2", 25.5}}});
  }
  log.append(run.id(), known.space_id, known.evaluator, rows, log::Checkpoint{"sweep/ab", kSweep});
  log.set_checkpoint({"campaign:cd", campaign_state()});
  log.set_checkpoint({"training:ef", kCurve});
  run.finish();
}

void add_proposals(log::Log& log, const Known& known) {
  log::Run asking(log, log::RunKind::ask, made_provenance(), kAsked);
  log.add_proposals(asking.id(), known.space_id, std::nullopt, {known.proposal(3, "{}")});
  asking.finish();
  log::Run proving(log, log::RunKind::optimum, made_provenance(), kQuestion);
  log.add_proposals(proving.id(), known.space_id, std::nullopt, {known.proposal(1, kProof)});
  proving.finish();
  log::Run proposing(log, log::RunKind::propose, made_provenance(), kQuestion);
  const std::int64_t model = log.add_model(
      proposing.id(), known.space_id,
      {.name = "n", .kind = "margins", .file = "n.safetensors", .file_sha256 = sha256_hex("n"), .card_json = kCard});
  log::ProposalRow best = known.proposal(7, kPrediction);
  best.verdict_json = kVerdict;
  log.add_proposals(proposing.id(), known.space_id, model, {best});
  proposing.finish();
}

void add_measurements(log::Log& log) {
  log::Run run(log, log::RunKind::measure_import, made_provenance());
  for (const measure::SessionRecords& records : measure::parse_json_lines(made_measurements(), "made.jsonl")) {
    log::append_measurements(log, run.id(), records);
  }
  run.finish();
}

/// Rows in the tables of version 1 and 2.
constexpr const char* kOldRows = R"sql(
INSERT INTO runs (kind, status, command_line, version, commit_hash, host, user, cwd, started_at)
  VALUES ('sweep', 'finished', 'hindsight sweep', '0.1.0', 'abc', 'host', 'user', '/tmp', '2026-01-31T12:00:00Z');
INSERT INTO spaces VALUES (1, 'edge', 'definition of edge', 'hash-edge', NULL);
INSERT INTO workloads VALUES (1, 'net_a', 1, 'layers of a', 'hash-a', '[]', 1);
INSERT INTO evaluators VALUES (1, 'pe_array', 'hash-constants', 'model 1');
INSERT INTO designs (design_id, space_id, content_hash, text_id) VALUES (1, 1, 11, 'x=1'), (2, 1, 12, 'x=2');
INSERT INTO evaluations (evaluation_id, design_id, workload_id, evaluator_id, run_id, feasible, latency_s)
  VALUES (1, 1, 1, 1, 1, 1, 0.5), (2, 2, 1, 1, 1, 0, NULL);
INSERT INTO evaluation_metrics VALUES (1, 'mac_j', 0.25);
INSERT INTO evaluation_violations VALUES (2, 0, 'reticle', '', NULL, NULL, NULL, NULL, NULL);
)sql";

}  // namespace

std::string made_study_log() {
  const std::string begun = made_log();
  const std::filesystem::path file = free_path("study.sqlite");
  write_file_atomically(file, begun);
  {
    log::Log log = log::Log::open(file, log::OpenMode::read_write);
    Known known;
    known.space_id =
        log.add_space(known.space.name(), known.space.canonical_definition(), known.space.definition_hash());
    known.evaluator = log.add_evaluator("pe_array", "hash-constants", "model 1");
    known.workload = log.add_workload("layered", "layers of it", "hash-layered", 1, kLayers, 1, {{"macs", 3e6}});
    add_sweep(log, known);
    add_proposals(log, known);
    add_measurements(log);
  }
  make_pages_small(file);
  return read_file(file);
}

std::string made_older_log(std::size_t version) {
  const std::filesystem::path file = free_path("older.sqlite");
  {
    SQLite::Database database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    log::migrate(database, file, log::migrations().first(version));
    database.exec(kOldRows);
  }
  make_pages_small(file);
  return read_file(file);
}

std::string made_values() {
  return value_bytes("proposals.predicted_json", 3, kPrediction) + value_bytes("proposals.verdict_json", 3, kVerdict) +
         value_bytes("runs.options_json", 1, kQuestion);
}

std::string made_checkpoints() {
  return value_bytes("checkpoints.value_json", 0, campaign_state()) + value_bytes("checkpoints.value_json", 2, kSweep) +
         value_bytes("checkpoints.value_json", 3, kCurve);
}

std::string made_card() {
  return value_bytes("models.card_json", 0, kCard) + value_bytes("models.card_json", 1, R"({"provenance":[1]})") +
         value_bytes("workloads.layers_json", 1, kLayers);
}

std::string made_numbers() {
  return value_bytes("evaluations.latency_s", 0, "1e308") + value_bytes("evaluations.feasible", 1, "2") +
         value_bytes("proposals.rank", 0, "-1") + value_bytes("proposals.workload_id", 0, kNullValue) +
         value_bytes("evaluation_violations.value", 0, kNullValue) +
         value_bytes("proposals.predicted_json", 3, R"({"workloads":[{"name":"layered","p_feasible":1e300}]})");
}

std::string made_words() {
  return value_bytes("runs.command_line", 1, "hindsight sweep --space='a b' --shard 1/3 -q --samples=9 'x") +
         value_bytes("workloads.name", 0, "mobilenet 'v2'\n") +
         value_bytes("evaluators.name", 0, "pe_array 22nm +noise 5 %") +
         value_bytes("proposals.objective", 3, "energy_j * latency_s^2") + value_bytes("runs.options_json", 3, kAsked);
}

}  // namespace hindsight::fuzz
