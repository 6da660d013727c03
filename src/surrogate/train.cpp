/// Training of an ensemble: the members side by side, or the units of one shard of it.
#include "hindsight/surrogate/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/text.h"
#include "hindsight/core/thread_pool.h"
#include "hindsight/surrogate/parts.h"
#include "surrogate/checkpoint.h"
#include "surrogate/margin_training.h"
#include "surrogate/member.h"
#include "surrogate/part_file.h"
#include "surrogate/preparation.h"

namespace hindsight::surrogate {
namespace {

using TrainingClock = std::chrono::steady_clock;

double seconds_since(TrainingClock::time_point start) {
  return std::chrono::duration<double>(TrainingClock::now() - start).count();
}

bool choose_cuda(Device device, LearnerFactory& factory) {
  const bool available = device != Device::cpu && factory.cuda_available();
  if (device == Device::cuda && !available) {
    throw Error(ErrorKind::unavailable, fmt::format("{} finds no CUDA device. Use the device cpu, or a LibTorch built "
                                                    "with CUDA on a machine with a GPU",
                                                    factory.description()));
  }
  return available;
}

/// The errors of the learner's library as ours.
template <class Body>
auto with_library_errors(const LearnerFactory& factory, const Body& body) {
  try {
    return body();
  } catch (const Error&) {
    throw;
  } catch (const std::runtime_error& error) {
    throw Error(ErrorKind::failure, fmt::format("{}: {}", factory.description(), printable(error.what(), 400)));
  }
}

/// Ranks take the steps of one member after the other.
unsigned threads_of(const TrainOptions& options) { return options.ranks ? 1 : options.threads; }

/// Where the members begin: "0 0 213".
std::string starts_text(const std::vector<MemberOutcome>& members) {
  std::string text;
  for (const MemberOutcome& member : members) {
    const std::int64_t steps = member.complete     ? member.complete->steps_done
                               : member.unfinished ? member.unfinished->steps_done
                                                   : 0;
    text += fmt::format("{} ", steps);
  }
  return text;
}

/// Trains the members of a shard that the checkpoint does not have complete, side by side, and keeps there what becomes
/// of them.
std::vector<MemberOutcome> train_members(const MemberInputs& inputs, const std::string& data_hash,
                                         LearnerFactory& factory, const TrainOptions& options,
                                         const TrainingShard& shard) {
  const auto count = static_cast<std::size_t>(inputs.plan.recipe.ensemble);
  std::vector<MemberOutcome> members(count);
  const std::string identity = training_identity(inputs.plan.recipe, data_hash);
  if (options.resume && options.checkpoint) members = load_checkpoint(*options.checkpoint, identity, inputs);
  with_library_errors(factory, [&] { factory.require_same_in_ranks("checkpoint", starts_text(members)); });
  const bool writes = options.checkpoint && (!options.ranks || options.ranks->index == 0);
  std::mutex storing;
  const auto store = [&](std::size_t member, MemberOutcome outcome) {
    const std::scoped_lock lock(storing);
    members[member] = std::move(outcome);
    const bool worth_keeping = members[member].complete || members[member].unfinished;
    if (writes && worth_keeping) save_checkpoint(*options.checkpoint, identity, members);
  };
  ProgressRelay relay(options.progress);
  const auto threads = static_cast<unsigned>(std::min<std::size_t>(resolve_threads(threads_of(options)), count));
  parallel_for(count, 1, threads, [&](std::size_t member, std::size_t, unsigned) {
    if (!shard.has(member) || members[member].complete) return;
    if (with_library_errors(factory, [&] { return stop_requested(factory); })) return;
    const std::optional<MemberState> start = members[member].unfinished;  // which stays until there is more
    KeepStates keep{.interval = options.checkpoint_interval, .keep = {}};
    if (writes) {
      keep.keep = [&](MemberState state) { store(member, {.complete = {}, .unfinished = std::move(state)}); };
    }
    store(member, with_library_errors(factory, [&] {
            return train_member(inputs, static_cast<std::int64_t>(member), start, factory, relay, keep);
          }));
  });
  return members;
}

std::vector<TrainedHead> train_heads(const TableTraining& tables, const MemberInputs& inputs, LearnerFactory& factory,
                                     const TrainOptions& options, const TrainingShard& shard) {
  if (options.resume) {
    throw Error(ErrorKind::usage,
                fmt::format("--resume: a training of the method {} keeps nothing to go on from. Leave --resume out",
                            to_string(inputs.plan.recipe.method)));
  }
  ProgressRelay relay(options.progress);
  return with_library_errors(factory, [&] { return tables.train(factory, relay, threads_of(options), shard); });
}

/// Sums over layers need the layers of every application, and costs above 0.
void require_layers(const dataset::Dataset& data, const TrainingPlan& plan) {
  for (const dataset::Context& context : data.contexts) {
    if (!context.layers.empty()) continue;
    throw Error(ErrorKind::usage,
                fmt::format("the method layers needs the layers of every application, and the log has none of '{}' "
                            "(tables of others have none). Use another method, or leave '{}' out",
                            printable(context.name), printable(context.name)));
  }
  if (plan.scales.objective == dataset::ValueScale::logarithmic) return;
  throw Error(ErrorKind::usage, fmt::format("the method layers adds up what layers cost, and the objective {} is 0 or "
                                            "below in some row. Use another method, or another objective",
                                            data.objective_text));
}

/// Ranks that train together, from the rendezvous to the last step.
class RankSession {
 public:
  RankSession(LearnerFactory& factory, const std::optional<Ranks>& ranks, const Recipe& recipe) : factory_(factory) {
    if (!ranks || ranks->count == 1) return;
    if (static_cast<std::uint64_t>(recipe.batch_feasible) < ranks->count) {
      throw Error(ErrorKind::usage,
                  fmt::format("{} ranks share batches of {} feasible rows, and some would have none. Start fewer, or "
                              "set batch_feasible",
                              ranks->count, recipe.batch_feasible));
    }
    with_library_errors(factory, [&] {
      factory.join_ranks({.index = static_cast<std::int64_t>(ranks->index),
                          .count = static_cast<std::int64_t>(ranks->count),
                          .rendezvous = ranks->rendezvous,
                          .timeout_s = ranks->timeout.count()});
    });
    joined_ = true;
  }
  RankSession(const RankSession&) = delete;
  RankSession& operator=(const RankSession&) = delete;
  /// Without a farewell: an error is on its way.
  ~RankSession() {
    if (joined_) factory_.abandon_ranks();
  }
  /// After the last step.
  void leave() {
    if (joined_) with_library_errors(factory_, [&] { factory_.leave_ranks(); });
    joined_ = false;
  }

 private:
  LearnerFactory& factory_;
  bool joined_ = false;
};

/// A training that is ready for its first step, and what is to train it.
struct ReadyTraining {
  LearnerFactory& factory;
  Preparation prepared;
  TrainedBy by;
};

ReadyTraining make_ready(const dataset::Dataset& data, const TrainingPlan& plan, Device device) {
  if (plan.recipe.method == Method::layers) require_layers(data, plan);
  LearnerFactory& factory = learner_factory();
  const bool cuda = choose_cuda(device, factory);
  return {.factory = factory,
          .prepared = prepare_training(data, plan, cuda),
          .by = {.library = factory.description(), .device = cuda ? "cuda" : "cpu"}};
}

MemberProgress progress_of(const MemberOutcome& outcome) {
  if (outcome.complete) return {.steps_done = outcome.complete->steps_done, .complete = true};
  return {.steps_done = outcome.unfinished ? outcome.unfinished->steps_done : 0, .complete = false};
}

/// Trains the units of a shard; `progress`: how far each of them came. `tables`: of methods by tables, else null.
TrainedUnits train_units(const ReadyTraining& ready, const TableTraining* tables, const TrainOptions& options,
                         const TrainingShard& shard, std::vector<MemberProgress>& progress) {
  const MemberInputs& inputs = ready.prepared.inputs;
  TrainedUnits units;
  if (tables == nullptr) {
    units.members = train_members(inputs, ready.prepared.data_sha256, ready.factory, options, shard);
    for (std::size_t unit = 0; unit < units.members.size(); ++unit) {
      if (shard.has(unit)) progress.push_back(progress_of(units.members[unit]));
    }
    return units;
  }
  units.heads = train_heads(*tables, inputs, ready.factory, options, shard);
  for (std::size_t unit = 0; unit < units.heads.size(); ++unit) {
    const bool complete = tables->is_complete(units.heads[unit]);
    if (shard.has(unit)) progress.push_back({.steps_done = complete ? tables->steps() : 0, .complete = complete});
  }
  return units;
}

}  // namespace

void refuse_to_go_on(Method method) {
  throw Error(ErrorKind::interrupted,
              fmt::format("interrupted: a training of the method {} keeps nothing of what it had "
                          "done. The same command starts again",
                          to_string(method)));
}

std::int64_t TrainResult::steps_done() const {
  std::int64_t sum = 0;
  for (const MemberProgress& member : members) sum += member.steps_done;
  return sum;
}

std::int64_t TrainResult::complete_members() const { return std::ranges::count_if(members, &MemberProgress::complete); }

TrainResult train(const dataset::Dataset& data, const Recipe& recipe, const TrainOptions& options) {
  return train(data, plan_training(data, recipe), options);
}

TrainResult train(const dataset::Dataset& data, const TrainingPlan& plan, const TrainOptions& options) {
  const auto start = TrainingClock::now();
  const ReadyTraining ready = make_ready(data, plan, options.device);
  const auto tables = tables_of(ready.prepared);
  std::vector<MemberProgress> progress;
  RankSession session(ready.factory, options.ranks, plan.recipe);
  with_library_errors(ready.factory, [&] {
    ready.factory.require_same_in_ranks("version", build_info().version + build_info().commit + ready.by.library);
    ready.factory.require_same_in_ranks("recipe", to_yaml(plan.recipe));
    ready.factory.require_same_in_ranks("log or choice of rows", ready.prepared.data_sha256);
  });
  const TrainedUnits units = train_units(ready, tables.get(), options, {}, progress);
  session.leave();
  TrainResult result = assemble_model(data, ready.prepared, members_of(units, tables.get()), ready.by);
  if (options.ranks && options.ranks->count > 1) {
    Model::Parts parts = result.model.parts();
    parts.provenance["ranks"] = std::to_string(options.ranks->count);
    result.model = Model(std::move(parts));
  }
  result.seconds = seconds_since(start);
  return result;
}

PartResult train_part(const dataset::Dataset& data, const TrainingPlan& plan, const TrainOptions& options,
                      PartFacts facts, const std::filesystem::path& file) {
  const auto start = TrainingClock::now();
  const ReadyTraining ready = make_ready(data, plan, options.device);
  const auto tables = tables_of(ready.prepared);
  PartResult result;
  const TrainedUnits units = train_units(ready, tables.get(), options, facts.shard, result.units);
  result.interrupted = interrupt_requested() && !std::ranges::all_of(result.units, &MemberProgress::complete);
  if (!result.interrupted) {
    facts.version = build_info().version;
    facts.commit = build_info().commit;
    facts.library = ready.by.library;
    facts.device = ready.by.device;
    facts.recipe_text = to_yaml(plan.recipe);
    facts.space_sha256 = data.space.definition_hash();
    facts.data_sha256 = ready.prepared.data_sha256;
    save_part(file, facts, units);
  }
  result.seconds = seconds_since(start);
  return result;
}

}  // namespace hindsight::surrogate
