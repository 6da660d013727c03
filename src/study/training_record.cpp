/// Runs of the kind "train", how they go, and their models.
#include "hindsight/study/training_record.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "hindsight/core/hash.h"

namespace hindsight::study {
namespace {

/// [chosen] as often as somebody looks, and nothing beside the training's own work
constexpr std::chrono::seconds kNoteEvery{2};
constexpr std::size_t kFewestPoints = 16;  // [chosen] of a member: still a curve

}  // namespace

void TrainingCurve::add(const surrogate::TrainProgress& progress) {
  members_.resize(std::max(members_.size(), static_cast<std::size_t>(progress.members)));
  steps_ = std::max(steps_, progress.steps);
  Member& member = members_[static_cast<std::size_t>(progress.member)];
  const bool is_last = progress.step >= progress.steps;
  if (member.waiting > 0 && !is_last) {
    --member.waiting;
    return;
  }
  member.waiting = member.every - 1;
  if (!std::isfinite(progress.loss)) return;
  member.points.push_back({.step = progress.step, .loss = progress.loss, .kendall_tau = progress.kendall_tau});
  const std::size_t most = std::max(kMostPoints / members_.size(), kFewestPoints);
  if (member.points.size() <= most) return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < member.points.size(); i += 2) member.points[kept++] = member.points[i];
  member.points.resize(kept);
  member.every *= 2;
}

std::string TrainingCurve::json(const std::string& model, const std::string& started_at) const {
  nlohmann::ordered_json points = nlohmann::ordered_json::array();
  for (std::size_t m = 0; m < members_.size(); ++m) {
    for (const Point& point : members_[m].points) {
      const nlohmann::ordered_json tau =
          std::isfinite(point.kendall_tau) ? nlohmann::ordered_json(point.kendall_tau) : nlohmann::ordered_json();
      points.push_back({m, point.step, point.loss, tau});
    }
  }
  const nlohmann::ordered_json json{{"model", model},
                                    {"started_at", started_at},
                                    {"members", members_.size()},
                                    {"steps", steps_},
                                    {"points", std::move(points)}};
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

TrainingRecord::TrainingRecord(const std::filesystem::path& log, const Provenance& provenance,
                               const std::string& options_json)
    : log_(log::Log::open(log, log::OpenMode::read_write)),
      run_(log_, log::RunKind::train, provenance, options_json),
      started_at_(provenance.started_at),
      key_(kTrainingKey + hex64(content_hash(fmt::format("{}\n{}\n{}\n{}", provenance.host, ::getpid(),
                                                         provenance.started_at, provenance.command_line)))) {}

void TrainingRecord::note(const surrogate::TrainProgress& progress, const std::string& model) {
  curve_.add(progress);
  const auto now = std::chrono::steady_clock::now();
  if (noted_ && now - *noted_ < kNoteEvery && progress.step < progress.steps) return;
  noted_ = now;
  log_.set_checkpoint({.key = key_, .value_json = curve_.json(model, started_at_)});
}

std::int64_t TrainingRecord::finish(const space::DesignSpace& space, const log::ModelRow& model) {
  const std::int64_t space_id = log_.add_space(space.name(), space.canonical_definition(), space.definition_hash());
  const std::int64_t id = log_.add_model(run_.id(), space_id, model);
  run_.finish(log::RunStatus::finished);
  return id;
}

}  // namespace hindsight::study
