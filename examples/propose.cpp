/// Sweeps a small space into a log, learns from the log, proposes without the simulator, and records the proposals.
#include <hindsight/dataset/load.h>
#include <hindsight/evaluator/built_in.h>
#include <hindsight/log/log.h>
#include <hindsight/optimize/propose.h>
#include <hindsight/surrogate/train.h>
#include <hindsight/sweep/sweep.h>

#include <cstdio>

using namespace hindsight;
int main(int argc, char** argv) {
  const Provenance provenance = make_provenance(argc, argv);
  const space::DesignSpace space = space::load_space("tiny");
  (void)sweep::run_sweep({.evaluator = evaluator::built_in(space, accel::load_technology("22nm")),
                          .networks = {workload::load_network("mobilenet_v2")},
                          .samples = 200,
                          .log = "study.sqlite",
                          .provenance = provenance});

  const auto latency = dataset::parse_objective("latency_s", dataset::Direction::minimise);
  const dataset::Dataset data = dataset::load_dataset("study.sqlite", {.objective = latency});
  const surrogate::TrainResult trained = surrogate::train(data, {.steps = 250}, {});
  const auto found = optimize::propose(trained.model, {.contexts = data.contexts, .logged = &data});
  std::vector<log::ProposalRow> rows;
  for (const optimize::Proposal& proposal : found.proposals) {
    rows.push_back({.design_text_id = space.text_id(proposal.design),
                    .design_hash = space.content_hash(proposal.design),
                    .rank = std::ssize(rows) + 1,
                    .objective = latency.text,
                    .predicted_value = proposal.objective[0],
                    .predicted_json = "{}"});
    std::printf("%.2f ms expected of %s\n", 1e3 * proposal.objective[0], rows.back().design_text_id.c_str());
  }
  log::Log log = log::Log::open("study.sqlite", log::OpenMode::read_write_create);
  log::Run run(log, log::RunKind::propose, provenance);
  log.add_proposals(run.id(), log.add_space(space.name(), space.canonical_definition(), space.definition_hash()), {},
                    rows);
  run.finish();
}
