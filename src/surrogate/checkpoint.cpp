/// Writing and reading of members, complete and unfinished.
#include "surrogate/checkpoint.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/text.h"
#include "surrogate/json_entries.h"
#include "surrogate/tensor_file.h"

namespace hindsight::surrogate {
namespace {

/// Raised whenever the same recipe and data give other weights.
constexpr int kTrainingVersion = 5;
/// Raised whenever the layout of the file changes.
constexpr const char* kCheckpointVersion = "1";

// Words of the file: names of arrays after the member's prefix, and states of members.
constexpr const char* kSelected = "selected.";
constexpr const char* kFinal = "final.";
constexpr const char* kBest = "best.";
constexpr const char* kPresent = "present.";
constexpr const char* kMeanGradient = "adam.mean_gradient";
constexpr const char* kMeanSquaredGradient = "adam.mean_squared_gradient";
constexpr const char* kDropout = "dropout";
constexpr const char* kNegatives = "negatives.";
constexpr const char* kComplete = "complete";
constexpr const char* kUnfinished = "unfinished";
constexpr const char* kAbsent = "absent";

/// Gathers the arrays of one member; what is empty is left out.
class ArrayWriter {
 public:
  ArrayWriter(TensorFile& file, std::size_t member) : file_(file), prefix_(member_prefix(member)) {}
  void weights(const std::string& name, const Weights& weights) {
    for (const auto& [weight, tensor] : weights) file_.tensors.emplace_back(prefix_ + name + weight, tensor);
  }
  /// Whole numbers below 2^24 are exact as float32.
  template <typename Values>
  void numbers(const std::string& name, const Values& values, const std::vector<std::int64_t>& shape) {
    if (values.size() == 0) return;
    file_.tensors.emplace_back(prefix_ + name, Tensor{.shape = shape, .values = {values.begin(), values.end()}});
  }

 private:
  TensorFile& file_;
  std::string prefix_;
};

Json write_complete(const TrainedMember& member, ArrayWriter arrays) {
  arrays.weights(kSelected, member.selected.weights());
  arrays.weights(kFinal, member.final.weights());
  return {{"state", kComplete},
          {"kendall_tau", metric(member.kendall_tau)},
          {"selected_step", member.selected_step},
          {"steps_done", member.steps_done},
          {"diverged", member.diverged}};
}

Json write_unfinished(const MemberState& state, ArrayWriter arrays) {
  const LearnerState& learner = state.learner;
  if (state.best) arrays.weights(kBest, state.best->weights());
  arrays.weights(kPresent, learner.weights);
  arrays.numbers(kMeanGradient, learner.mean_gradient, {std::ssize(learner.mean_gradient)});
  arrays.numbers(kMeanSquaredGradient, learner.mean_squared_gradient, {std::ssize(learner.mean_squared_gradient)});
  arrays.numbers(kDropout, learner.dropout, {std::ssize(learner.dropout)});
  for (std::size_t context = 0; context < state.pass.negatives.designs.size(); ++context) {
    const LevelMatrix& designs = state.pass.negatives.designs[context];
    arrays.numbers(kNegatives + std::to_string(context), designs.reshaped<Eigen::RowMajor>(),
                   {designs.rows(), designs.cols()});
  }
  Json json{{"state", kUnfinished},
            {"in_final_pass", state.in_final_pass},
            {"steps_done", state.steps_done},
            {"pass_steps", state.pass.steps},
            {"batch_draws", state.pass.batch_draws},
            {"negative_draws", state.pass.negatives.draws},
            {"adam_steps", learner.steps},
            {"judged", state.best.has_value()},
            {"selected_step", state.selected_step},
            {"evaluations_since_best", state.evaluations_since_best}};
  if (state.best_tau) json["best_kendall_tau"] = metric(*state.best_tau);
  return json;
}

/// Hands out the arrays of one member, checked against what its training has.
class ArrayReader {
 public:
  ArrayReader(std::map<std::string, Tensor>& arrays, std::size_t member, const MemberInputs& inputs)
      : arrays_(arrays), prefix_(member_prefix(member)), inputs_(inputs), shapes_(weight_shapes(inputs.architecture)) {}

  Network network(const std::string& name) { return {inputs_.architecture, weights(name)}; }
  Weights weights(const std::string& name) {
    Weights weights;
    for (const auto& [weight, shape] : shapes_) {
      Tensor tensor = take(name + weight);
      if (tensor.shape != shape) odd(name + weight);
      weights.emplace(weight, std::move(tensor));
    }
    return weights;
  }
  /// One number per weight.
  std::vector<float> moments(const std::string& name) {
    std::size_t count = 0;
    for (const auto& [weight, shape] : shapes_) {
      std::size_t size = 1;
      for (const std::int64_t length : shape) size *= static_cast<std::size_t>(length);
      count += size;
    }
    Tensor tensor = take(name);
    if (tensor.values.size() != count) odd(name);
    return std::move(tensor.values);
  }
  /// Empty where there are none.
  std::vector<std::uint8_t> bytes(const std::string& name) {
    if (!arrays_.contains(prefix_ + name)) return {};
    std::vector<std::uint8_t> bytes;
    for (const float value : take(name).values) bytes.push_back(whole<std::uint8_t>(value, 256, name));
    return bytes;
  }
  /// Levels of designs of the space; no row where there are none.
  LevelMatrix designs(const std::string& name) {
    const std::vector<std::int64_t>& counts = inputs_.architecture.level_counts;
    LevelMatrix designs(0, std::ssize(counts));
    if (!arrays_.contains(prefix_ + name)) return designs;
    const Tensor tensor = take(name);
    if (tensor.shape.size() != 2 || tensor.shape[1] != std::ssize(counts)) odd(name);
    designs.resize(tensor.shape[0], tensor.shape[1]);
    for (Eigen::Index i = 0; i < designs.size(); ++i) {
      const auto column = static_cast<std::size_t>(i % designs.cols());
      designs.data()[i] = whole<std::uint16_t>(tensor.values[static_cast<std::size_t>(i)], counts[column], name);
    }
    return designs;
  }

 private:
  Tensor take(const std::string& name) {
    const auto found = arrays_.find(prefix_ + name);
    if (found == arrays_.end()) refuse(fmt::format("its '{}{}' is missing", prefix_, name));
    return std::move(found->second);
  }
  template <typename Whole>
  Whole whole(float value, std::int64_t bound, const std::string& name) const {
    if (!(value >= 0 && value < static_cast<float>(bound))) odd(name);
    return static_cast<Whole>(value);
  }
  [[noreturn]] void odd(const std::string& name) const {
    refuse(fmt::format("its '{}{}' does not fit the training", prefix_, name));
  }

  std::map<std::string, Tensor>& arrays_;
  std::string prefix_;
  const MemberInputs& inputs_;
  std::map<std::string, std::vector<std::int64_t>> shapes_;
};

TrainedMember read_complete(const Json& json, ArrayReader arrays) {
  return {.selected = arrays.network(kSelected),
          .final = arrays.network(kFinal),
          .kendall_tau = metric_of(json, "kendall_tau"),
          .selected_step = integer_of(json, "selected_step"),
          .steps_done = integer_of(json, "steps_done"),
          .diverged = truth_of(json, "diverged")};
}

std::uint64_t count_of(const Json& json, const char* key) {
  const std::int64_t count = integer_of(json, key);
  if (count < 0) refuse(fmt::format("its '{}' is below 0", key));
  return static_cast<std::uint64_t>(count);
}

MemberState read_unfinished(const Json& json, ArrayReader arrays, const MemberInputs& inputs) {
  MemberState state;
  state.in_final_pass = truth_of(json, "in_final_pass");
  state.steps_done = static_cast<std::int64_t>(count_of(json, "steps_done"));
  state.pass.steps = static_cast<std::int64_t>(count_of(json, "pass_steps"));
  state.pass.batch_draws = count_of(json, "batch_draws");
  state.pass.negatives.draws = count_of(json, "negative_draws");
  for (std::size_t context = 0; context < inputs.train.by_context.size(); ++context) {
    state.pass.negatives.designs.push_back(arrays.designs(kNegatives + std::to_string(context)));
  }
  if (truth_of(json, "judged")) state.best = arrays.network(kBest);
  if (state.in_final_pass && !state.best) refuse("a member takes its final steps from no weights");
  if (json.contains("best_kendall_tau")) state.best_tau = metric_of(json, "best_kendall_tau");
  state.selected_step = integer_of(json, "selected_step");
  state.evaluations_since_best = integer_of(json, "evaluations_since_best");
  state.learner.weights = arrays.weights(kPresent);
  state.learner.steps = static_cast<std::int64_t>(count_of(json, "adam_steps"));
  if (state.learner.steps > 0) {
    state.learner.mean_gradient = arrays.moments(kMeanGradient);
    state.learner.mean_squared_gradient = arrays.moments(kMeanSquaredGradient);
  }
  state.learner.dropout = arrays.bytes(kDropout);
  return state;
}

void require_version(const std::string& version) {
  if (version == kCheckpointVersion) return;
  refuse(
      fmt::format("checkpoint version {}, this program reads version {}. Start afresh without --resume, or use the "
                  "program that wrote it",
                  printable(version), kCheckpointVersion));
}

std::vector<MemberOutcome> parse_checkpoint(std::string_view bytes, const std::string& identity,
                                            const MemberInputs& inputs) {
  TensorFile file = parse_tensor_file(bytes, FileKind::checkpoint, require_version);
  const Json json = parse_bounded_json(file.text, "the description of members");
  const Json& entries = list_of(json, "members");
  if (text_of(json, "identity") != identity || std::ssize(entries) != inputs.plan.recipe.ensemble) {
    refuse(
        "is not a checkpoint of this training (the recipe, a flag or the data differ). Start afresh without "
        "--resume, or repeat the command that began it");
  }
  return read_members(entries, std::move(file.tensors), inputs);
}

}  // namespace

Json write_members(const std::vector<MemberOutcome>& members, TensorFile& file) {
  Json entries = Json::array();
  for (std::size_t i = 0; i < members.size(); ++i) {
    const ArrayWriter writer(file, i);
    if (members[i].complete) {
      entries.push_back(write_complete(*members[i].complete, writer));
    } else if (members[i].unfinished) {
      entries.push_back(write_unfinished(*members[i].unfinished, writer));
    } else {
      entries.push_back({{"state", kAbsent}});
    }
  }
  return entries;
}

std::vector<MemberOutcome> read_members(const Json& entries, std::vector<std::pair<std::string, Tensor>> tensors,
                                        const MemberInputs& inputs) {
  std::map<std::string, Tensor> arrays(std::make_move_iterator(tensors.begin()),
                                       std::make_move_iterator(tensors.end()));
  std::vector<MemberOutcome> members(entries.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::string state = text_of(entries[i], "state");
    const ArrayReader reader(arrays, i, inputs);
    if (state == kComplete) members[i].complete = read_complete(entries[i], reader);
    if (state == kUnfinished) members[i].unfinished = read_unfinished(entries[i], reader, inputs);
  }
  return members;
}

std::string training_identity(const Recipe& recipe, const std::string& data_hash) {
  return sha256_hex(fmt::format("hindsight training {}\n{}\ndata {}\n", kTrainingVersion, to_yaml(recipe), data_hash));
}

void save_checkpoint(const std::filesystem::path& file, const std::string& identity,
                     const std::vector<MemberOutcome>& members) {
  TensorFile content{.format_version = kCheckpointVersion, .text = {}, .tensors = {}};
  const Json json{{"identity", identity}, {"members", write_members(members, content)}};
  content.text = json.dump();
  write_file_atomically(file, serialise(content, FileKind::checkpoint));
}

std::vector<MemberOutcome> load_checkpoint(const std::filesystem::path& file, const std::string& identity,
                                           const MemberInputs& inputs) {
  if (!std::filesystem::exists(file)) return std::vector<MemberOutcome>(inputs.plan.recipe.ensemble);
  const std::string bytes = read_file(file, kMaxFileBytes);
  try {
    return parse_checkpoint(bytes, identity, inputs);
  } catch (const Error& error) {
    throw Error(ErrorKind::incompatible, fmt::format("{}: {}", printable(file.string(), 400), error.what()));
  }
}

}  // namespace hindsight::surrogate
