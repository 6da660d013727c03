/// Writing and reading of finished members.
#include "surrogate/checkpoint.h"

#include <fmt/format.h>

#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/text.h"

namespace hindsight::surrogate {
namespace {

/// Raised whenever the same recipe and data give other weights.
constexpr int kTrainingVersion = 3;
constexpr const char* kIdentityKey = "checkpoint_identity";

std::string member_key(std::size_t index) { return fmt::format("checkpoint_member_{}", index); }

}  // namespace

std::string training_identity(const Recipe& recipe, const std::string& data_hash) {
  return sha256_hex(fmt::format("hindsight training {}\n{}\ndata {}\n", kTrainingVersion, to_yaml(recipe), data_hash));
}

void save_checkpoint(const std::filesystem::path& file, const Model::Parts& frame, const std::string& identity,
                     const std::vector<std::optional<TrainedMember>>& members) {
  Model::Parts parts = frame;
  parts.provenance[kIdentityKey] = identity;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!members[i] || members[i]->interrupted) continue;
    const TrainedMember& member = *members[i];
    parts.provenance[member_key(i)] = fmt::format("{} {} {} {} {}", parts.members.size(), shortest(member.kendall_tau),
                                                  member.selected_step, member.steps_done, member.diverged ? 1 : 0);
    parts.members.push_back(member.selected);
    parts.members.push_back(member.final);
  }
  save_model(Model(std::move(parts)), file, Card::left_out);
}

std::vector<std::optional<TrainedMember>> load_checkpoint(const std::filesystem::path& file,
                                                          const std::string& identity, std::size_t count) {
  std::vector<std::optional<TrainedMember>> members(count);
  if (!std::filesystem::exists(file)) return members;
  const Model model = load_model(file);
  const Model::Parts& parts = model.parts();
  const auto stored = parts.provenance.find(kIdentityKey);
  if (stored == parts.provenance.end() || stored->second != identity) {
    throw Error(ErrorKind::incompatible,
                fmt::format("{}: is not a checkpoint of this training (the recipe, a flag or the data differ). Start "
                            "afresh without resuming, or name another checkpoint",
                            file.string()));
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto found = parts.provenance.find(member_key(i));
    if (found == parts.provenance.end()) continue;
    const std::vector<std::string> fields = split(found->second, ' ');
    const auto whole = [&](std::size_t field) {
      return field < fields.size() ? parse_int(fields[field]).value_or(-1) : -1;
    };
    const std::int64_t first = whole(0);
    if (first < 0 || first + 1 >= std::ssize(parts.members) || fields.size() != 5) {
      throw Error(ErrorKind::incompatible, fmt::format("{}: the entry of member {} is corrupt", file.string(), i));
    }
    members[i] = TrainedMember{.selected = parts.members[static_cast<std::size_t>(first)],
                               .final = parts.members[static_cast<std::size_t>(first) + 1],
                               .kendall_tau = parse_double(fields[1]).value_or(0),
                               .selected_step = whole(2),
                               .steps_done = whole(3),
                               .diverged = whole(4) == 1};
  }
  return members;
}

}  // namespace hindsight::surrogate
