/// Writing, checking and joining of the parts of a model.
#include "surrogate/part_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/parts.h"
#include "hindsight/core/text.h"
#include "surrogate/checkpoint.h"
#include "surrogate/json_entries.h"
#include "surrogate/tensor_file.h"

namespace hindsight::surrogate {
namespace {

/// Raised whenever the layout of the file changes.
constexpr const char* kPartVersion = "1";
/// Most shards of a training. [chosen] as many as members
constexpr std::int64_t kMostShards = 1'000'000;

/// An array of an ensemble's weights by its name.
struct NamedValues {
  std::string name;
  std::vector<float>* values;
};
std::vector<NamedValues> values_of(EnsembleWeights& weights) {
  std::vector<NamedValues> all;
  for (std::size_t j = 0; j < weights.layers.size(); ++j) {
    all.push_back({fmt::format("{}.weight", j), &weights.layers[j].weight});
    all.push_back({fmt::format("{}.bias", j), &weights.layers[j].bias});
  }
  all.push_back({"sums.weight", &weights.sums.weight});
  all.push_back({"sums.skip", &weights.sums.skip});
  all.push_back({"sums.layer_skip", &weights.sums.layer_skip});
  all.push_back({"sums.sharpness", &weights.sums.sharpness});
  all.push_back({"scale", &weights.scale});
  return all;
}

std::string pass_prefix(std::size_t head, const char* pass) { return fmt::format("head.{}.{}.", head, pass); }

void write_pass(std::size_t head, const char* pass, EnsembleWeights weights, TensorFile& file) {
  for (const NamedValues& one : values_of(weights)) {
    if (one.values->empty()) continue;
    file.tensors.emplace_back(pass_prefix(head, pass) + one.name,
                              Tensor{.shape = {std::ssize(*one.values)}, .values = *one.values});
  }
}

Json write_heads(const std::vector<TrainedHead>& heads, TensorFile& file) {
  Json entries = Json::array();
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (heads[i].selected) write_pass(i, "selected", *heads[i].selected, file);
    if (heads[i].final) write_pass(i, "final", *heads[i].final, file);
    entries.push_back({{"selected", heads[i].selected.has_value()}, {"final", heads[i].final.has_value()}});
  }
  return entries;
}

/// The weights of a pass over a head, of the shapes of `start`.
EnsembleWeights read_pass(std::map<std::string, Tensor>& arrays, std::size_t head, const char* pass,
                          EnsembleWeights start, std::size_t scales) {
  start.scale.resize(scales);
  for (const NamedValues& one : values_of(start)) {
    if (one.values->empty()) continue;
    const std::string name = pass_prefix(head, pass) + one.name;
    const auto found = arrays.find(name);
    if (found == arrays.end()) refuse(fmt::format("its '{}' is missing", name));
    if (found->second.values.size() != one.values->size()) {
      refuse(fmt::format("its '{}' does not fit the training", name));
    }
    *one.values = std::move(found->second.values);
  }
  return start;
}

std::vector<TrainedHead> read_heads(const Json& entries, std::vector<std::pair<std::string, Tensor>> tensors,
                                    const TableTraining& tables, std::int64_t members) {
  const std::vector<HeadTask>& tasks = tables.tasks();
  if (entries.size() != tasks.size()) refuse("its heads are not those of the training");
  std::map<std::string, Tensor> arrays(std::make_move_iterator(tensors.begin()),
                                       std::make_move_iterator(tensors.end()));
  std::vector<TrainedHead> heads(tasks.size());
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const bool scaled = tasks[i].loss == EnsembleLoss::margins;
    const auto scales = static_cast<std::size_t>(scaled ? members * tasks[i].outputs : 0);
    const auto read = [&](const char* pass) { return read_pass(arrays, i, pass, tables.start_of(i), scales); };
    if (truth_of(entries[i], "selected")) heads[i].selected = read("selected");
    if (truth_of(entries[i], "final")) heads[i].final = read("final");
  }
  return heads;
}

std::map<std::string, std::string> texts_by_name(const Json& object) {
  std::map<std::string, std::string> texts;
  for (const auto& [name, value] : object.items()) texts[name] = text_of(object, name.c_str());
  return texts;
}

void require_part_version(const std::string& version) {
  if (version == kPartVersion) return;
  refuse(fmt::format("part version {}, this program reads version {}. Join the parts by the program that wrote them",
                     printable(version), kPartVersion));
}

/// A part as it was read.
struct ReadPart {
  PartFacts facts;
  Json description;
  std::vector<std::pair<std::string, Tensor>> tensors;
};

ReadPart parse_part(std::string_view bytes) {
  TensorFile file = parse_tensor_file(bytes, FileKind::part, require_part_version);
  Json json = parse_bounded_json(file.text, "the description of a part");
  const std::int64_t index = integer_of(json, "shard"), count = integer_of(json, "shards");
  if (count < 1 || count > kMostShards || index < 0 || index >= count) {
    refuse(fmt::format("its shard {} of {} is none", index, count));
  }
  PartFacts facts{
      .shard = {.index = static_cast<std::uint64_t>(index), .count = static_cast<std::uint64_t>(count)},
      .version = text_of(json, "version"),
      .commit = text_of(json, "commit"),
      .library = text_of(json, "library"),
      .device = text_of(json, "device"),
      .recipe_text = text_of(json, "recipe"),
      .space_sha256 = text_of(json, "space_sha256"),
      .data_sha256 = text_of(json, "data_sha256"),
      .request_json = text_of(json, "request"),
      .provenance = texts_by_name(entry(json, "provenance")),
  };
  return {.facts = std::move(facts), .description = std::move(json), .tensors = std::move(file.tensors)};
}

/// `body` on the file's content; what it refuses names the file.
template <class Body>
auto of_part(const std::filesystem::path& file, const Body& body) {
  try {
    return body(parse_part(read_file(file, kMaxFileBytes)));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::incompatible) throw;
    throw Error(ErrorKind::incompatible, fmt::format("{}: {}", printable(file.string(), 200), error.what()));
  }
}

/// The first line in which two recipes differ: "'seed: 2', and 'seed: 1'".
std::string first_difference(const std::string& a, const std::string& b) {
  const std::vector<std::string> left = split(a, '\n'), right = split(b, '\n');
  for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    const std::string one = i < left.size() ? left[i] : "", other = i < right.size() ? right[i] : "";
    if (one != other) return fmt::format("'{}', and '{}'", printable(one, 60), printable(other, 60));
  }
  return {};
}

/// Shown of hashes.
std::string brief(const std::string& hash) { return "'" + printable(hash, 12) + "'"; }

void require_same_training(const PartFacts& part, const std::string& file, const PartFacts& first,
                           const std::string& first_file) {
  const auto differ = [&](const std::string& what, const std::string& values) {
    throw Error(ErrorKind::incompatible,
                fmt::format("{}: belongs to another training than {}: {} {}. Join the parts of one `hindsight train`",
                            file, first_file, what, values));
  };
  const auto compare = [&](const std::string& what, const std::string& one, const std::string& other) {
    if (one != other) differ(what, fmt::format("'{}', and '{}'", printable(one, 60), printable(other, 60)));
  };
  compare("version", part.version, first.version);
  compare("commit", part.commit, first.commit);
  if (part.recipe_text != first.recipe_text) differ("recipe", first_difference(part.recipe_text, first.recipe_text));
  if (part.space_sha256 != first.space_sha256) {
    differ("design space", brief(part.space_sha256) + ", and " + brief(first.space_sha256));
  }
  if (part.data_sha256 != first.data_sha256) {
    differ("rows of the log", brief(part.data_sha256) + ", and " + brief(first.data_sha256));
  }
  compare("number of shards", std::to_string(part.shard.count), std::to_string(first.shard.count));
  compare("library", part.library, first.library);
  compare("device", part.device, first.device);
}

/// What the part has of the training's units is put among the others.
void take_units(ReadPart part, const Preparation& prepared, const TableTraining* tables, TrainedUnits& units) {
  const Recipe& recipe = prepared.inputs.plan.recipe;
  const Json& entries = list_of(part.description, tables != nullptr ? "heads" : "members");
  if (tables != nullptr) {
    std::vector<TrainedHead> heads = read_heads(entries, std::move(part.tensors), *tables, recipe.ensemble);
    units.heads.resize(heads.size());
    for (std::size_t i = 0; i < heads.size(); ++i) {
      if (part.facts.shard.has(i)) units.heads[i] = std::move(heads[i]);
    }
    return;
  }
  if (std::ssize(entries) != recipe.ensemble) refuse("its members are not those of the recipe");
  std::vector<MemberOutcome> members = read_members(entries, std::move(part.tensors), prepared.inputs);
  units.members.resize(members.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (part.facts.shard.has(i)) units.members[i] = std::move(members[i]);
  }
}

}  // namespace

void save_part(const std::filesystem::path& file, const PartFacts& facts, const TrainedUnits& units) {
  TensorFile content{.format_version = kPartVersion, .text = {}, .tensors = {}};
  Json json{{"shard", facts.shard.index},
            {"shards", facts.shard.count},
            {"version", facts.version},
            {"commit", facts.commit},
            {"library", facts.library},
            {"device", facts.device},
            {"recipe", facts.recipe_text},
            {"space_sha256", facts.space_sha256},
            {"data_sha256", facts.data_sha256},
            {"request", facts.request_json},
            {"provenance", Json(facts.provenance)}};
  std::vector<MemberOutcome> own = units.members;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (!facts.shard.has(i)) own[i] = {};  // a checkpoint of other shards may have had more
  }
  json["members"] = write_members(own, content);
  json["heads"] = write_heads(units.heads, content);
  content.text = json.dump();
  write_file_atomically(file, serialise(content, FileKind::part));
}

PartFacts read_part_facts(const std::filesystem::path& file) {
  return of_part(file, [](ReadPart part) { return std::move(part.facts); });
}

std::vector<PartFacts> read_whole_training(const std::vector<std::filesystem::path>& files) {
  HINDSIGHT_EXPECT(!files.empty());
  std::vector<PartFacts> parts;
  std::map<std::uint64_t, std::string> file_of;
  const std::string first = printable(files.front().string(), 100);
  for (const std::filesystem::path& file : files) {
    const std::string name = printable(file.string(), 100);
    parts.push_back(read_part_facts(file));
    require_same_training(parts.back(), name, parts.front(), first);
    const auto [place, is_new] = file_of.emplace(parts.back().shard.index, name);
    if (!is_new) {
      throw Error(ErrorKind::usage, fmt::format("shard {}/{} is there twice: {} and {}. Leave one of them out",
                                                place->first, parts.front().shard.count, place->second, name));
    }
  }
  std::set<std::uint64_t> have;
  for (const PartFacts& part : parts) have.insert(part.shard.index);
  const std::vector<std::uint64_t> missing = missing_parts(have, parts.front().shard.count);
  if (!missing.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("of {} shards {} {} missing. Give all parts, or run `hindsight train "
                            "--shard {}/{}` first",
                            parts.front().shard.count, ranges_text(missing), missing.size() == 1 ? "is" : "are",
                            missing.front(), parts.front().shard.count));
  }
  std::ranges::sort(parts, {}, [](const PartFacts& part) { return part.shard.index; });
  return parts;
}

std::unique_ptr<TableTraining> tables_of(const Preparation& prepared) {
  if (!by_tables(prepared.inputs.plan.recipe.method)) return nullptr;
  return std::make_unique<TableTraining>(prepared.inputs, prepared.heads);
}

std::vector<MemberOutcome> members_of(const TrainedUnits& units, const TableTraining* tables) {
  return tables == nullptr ? units.members : tables->members(units.heads);
}

TrainResult join_parts(const dataset::Dataset& data, const TrainingPlan& plan,
                       const std::vector<std::filesystem::path>& files) {
  const auto start = std::chrono::steady_clock::now();
  const std::vector<PartFacts> facts = read_whole_training(files);
  const PartFacts& first = facts.front();
  const Preparation prepared = prepare_training(data, plan, false);
  if (prepared.data_sha256 != first.data_sha256) {
    throw Error(
        ErrorKind::incompatible,
        fmt::format("{}: learnt from other rows ({}) than the log has now ({}). Give the log as it was, "
                    "join with the program that trained, or train the parts again",
                    printable(files.front().string(), 100), brief(first.data_sha256), brief(prepared.data_sha256)));
  }
  const auto tables = tables_of(prepared);
  TrainedUnits units;
  for (const std::filesystem::path& file : files) {
    of_part(file, [&](ReadPart part) {
      take_units(std::move(part), prepared, tables.get(), units);
      return 0;
    });
  }
  TrainResult result = assemble_model(data, prepared, members_of(units, tables.get()),
                                      {.library = first.library, .device = first.device});
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  result.seconds = elapsed.count();
  return result;
}

}  // namespace hindsight::surrogate
