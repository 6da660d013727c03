/// Cuts a question's chips into batches that an engine can hold.
#include "accel/optimum/batches.h"

#include <algorithm>
#include <array>
#include <deque>
#include <span>

#include "accel/optimum/energy_floor.h"
#include "accel/optimum/enumeration.h"
#include "accel/optimum/making.h"
#include "accel/optimum/sites.h"
#include "hindsight/core/error.h"
#include "hindsight/core/thread_pool.h"

namespace hindsight::accel::optimum {
namespace {

/// What is kept of a chip while a batch has the rest.
struct WaitingChip {
  Point point{};
  std::uint16_t bandwidths = 0;
};
/// The chips of one group, waiting for a batch or for its answers.
struct WaitingGroup {
  std::uint64_t number = 0;
  ChipFacts chip;
  GroupChips found;  ///< without the chips once they are in a batch
  std::vector<WaitingChip> chips;
};

WaitingGroup enumerate(const Making& making, std::uint64_t number) {
  WaitingGroup waiting{.number = number, .chip = {}, .found = {}, .chips = {}};
  const auto group = making.chips.group(making.axes.group_point(number));
  if (!group) return waiting;
  waiting.chip = group->chip;
  list_chips(making.axes, making.legality, making.chips, *group, waiting.found);
  return waiting;
}

/// A batch with the groups that it is made of.
struct Round {
  SiteBatch batch;
  std::vector<WaitingGroup> groups;
  std::vector<std::uint64_t> first_point;  ///< per group
  explicit Round(const SiteQuestion& question) : batch(question) {}
};

/// Cuts all groups into rounds, in order.
class Rounds {
 public:
  Rounds(const Making& making, std::uint64_t most_bytes) : making_(making), most_bytes_(most_bytes) {}
  /// Fills `round` with the next groups; false when there is none, or the watch ended it.
  [[nodiscard]] bool fill(Round& round) {
    round.batch.clear();
    round.groups.clear();
    round.first_point.clear();
    while (round.batch.bytes() < most_bytes_) {
      if (waiting_.empty() && !enumerate_more()) break;
      WaitingGroup group = std::move(waiting_.front());
      waiting_.pop_front();
      if (group.found.chips.empty()) continue;
      round.first_point.push_back(round.batch.points());
      round.batch.add_group(group.chip);
      for (const BuildableChip& chip : group.found.chips) {
        round.batch.add_chip(batch_chip(chip));
        group.chips.push_back({.point = chip.point, .bandwidths = chip.bandwidths});
      }
      group.found.chips = {};
      round.groups.push_back(std::move(group));
    }
    return !interrupted_ && !round.groups.empty();
  }
  [[nodiscard]] bool interrupted() const { return interrupted_; }

 private:
  bool enumerate_more() {
    const std::uint64_t all = groups_of(making_);
    if (next_ >= all || interrupted_) return false;
    interrupted_ = !goes_on(making_, next_);
    if (interrupted_) return false;
    waiting_.resize(static_cast<std::size_t>(std::min(groups_per_look(making_), all - next_)));
    parallel_for(waiting_.size(), 1, making_.threads, [&](std::size_t begin, std::size_t end, unsigned) {
      for (std::size_t i = begin; i < end; ++i)
        waiting_[i] = enumerate(making_, making_.question.slice.group(next_ + i));
    });
    next_ += waiting_.size();
    return true;
  }

  const Making& making_;
  std::uint64_t most_bytes_;
  std::uint64_t next_ = 0;
  std::deque<WaitingGroup> waiting_;
  bool interrupted_ = false;
};

Site site_of(const SiteAnswers& answers, std::uint64_t i) {
  return {.latency_s = answers.latency_s[i],
          .parameter = answers.parameter[i],
          .instruction = answers.instruction[i],
          .energy = answers.energy.empty() ? EnergyParts{} : answers.energy[i]};
}

/// Holds one chip of a round, at all its bandwidths, against the reference: the last of the group in the middle.
/// Error{failure} for an engine that computes otherwise.
void require_reference(const Round& round, const SiteAnswers& answers, const Making& making, const Layers& layers) {
  const std::size_t middle = round.groups.size() / 2;
  const WaitingGroup& group = round.groups[middle];
  const auto whole = making.chips.group(making.axes.group_point(group.number));
  HINDSIGHT_EXPECT(whole.has_value());
  Sites reference(making.axes, layers, making.metrics);
  const auto [point, bandwidths] = group.chips.back();
  const BuildableChip chip{.point = point, .core = making.chips.core(*whole, point), .bandwidths = bandwidths};
  reference.open(*whole);
  reference.visit({&chip, 1});
  const std::uint64_t end = middle + 1 < round.groups.size() ? round.first_point[middle + 1] : round.batch.points();
  for (std::uint16_t bandwidth = 0; bandwidth < chip.bandwidths; ++bandwidth) {
    const auto expected = reference.of(0, bandwidth);
    for (std::size_t a = 0; a < expected.size(); ++a) {
      if (site_of(answers, (end - chip.bandwidths + bandwidth) * expected.size() + a) == expected[a]) continue;
      throw Error(ErrorKind::failure,
                  "the device does not compute as the host does: a chip that both were asked about has other costs. "
                  "Leave --device out?");
    }
  }
}

/// Hands the answers about one group to a keeper.
void keep(const WaitingGroup& group, std::uint64_t point, std::size_t applications, const SiteAnswers& answers,
          Keeper& keeper) {
  std::vector<Site> sites(applications);
  for (std::size_t c = 0; c < group.chips.size(); ++c) {
    const WaitingChip& chip = group.chips[c];
    keeper.chip(group.number, chip.point, chip.bandwidths, group.found.allowed_of(c));
    for (std::uint16_t bandwidth = 0; bandwidth < chip.bandwidths; ++bandwidth, ++point) {
      for (std::size_t a = 0; a < applications; ++a) sites[a] = site_of(answers, point * applications + a);
      keeper.sites(bandwidth, sites);
    }
  }
}

}  // namespace

SiteQuestion site_question(const Axes& axes, const std::vector<const workload::Network*>& networks,
                           LandscapeMetrics metrics) {
  SiteQuestion question;
  const TemplateRules& rules = axes.rules();
  for (const workload::Network* network : networks) {
    std::vector<LayerShape> shapes;
    for (const workload::GemmLayer& gemm : network->gemms()) shapes.push_back(layer_shape(gemm));
    question.add_application(shapes, rules);
  }
  question.memories = {axes[Role::pe_memory].values, axes[Role::core_memory].values, axes[Role::activation].values,
                       axes[Role::parameter].values};
  if (!rules.constants_in_halves) question.memories.back().resize(1);
  question.bandwidths_gb_per_s = axes[Role::bandwidth].values;
  question.parameter_entries = axes[Role::parameter].values;
  question.instruction_entries = axes[Role::instruction].values;
  question.energies = metrics == LandscapeMetrics::latency_and_energy;
  return question;
}

BatchChip batch_chip(const BuildableChip& chip) {
  const BytePrices prices = byte_prices(chip.core, {});
  return {.memories = {at(chip.point, Role::pe_memory), at(chip.point, Role::core_memory),
                       at(chip.point, Role::activation), at(chip.point, Role::parameter)},
          .bandwidths = chip.bandwidths,
          .pj = prices.pj,
          .accumulator_pj = prices.accumulator_pj,
          .dram_pj_per_byte = chip.core.chip.event.dram_pj_per_byte};
}

Made make_in_batches(const Making& making, SiteEngine& engine) {
  const SiteQuestion question = site_question(making.axes, making.question.networks, making.metrics);
  const std::vector<std::unique_ptr<Keeper>> keepers = make_keepers(making);
  const Layers layers(making.question.networks, making.axes.rules());
  Made made;
  made.records.reserve(making.reserve);
  const auto take = [&](const Round& round) {
    const SiteAnswers answers = engine.finish();
    require_reference(round, answers, making, layers);
    made.summary.mappings += answers.mappings;
    std::vector<std::string> parts(round.groups.size());
    parallel_for(parts.size(), 1, making.threads, [&](std::size_t begin, std::size_t end, unsigned worker) {
      for (std::size_t i = begin; i < end; ++i) {
        keep(round.groups[i], round.first_point[i], question.applications.size(), answers, *keepers[worker]);
        parts[i] = keepers[worker]->take_records();
      }
    });
    for (const std::string& part : parts) made.records += part;
  };
  std::array<Round, 2> rounds{Round(question), Round(question)};
  Rounds source(making, engine.batch_bytes());
  std::size_t started = 0, taken = 0;
  while (source.fill(rounds[started % 2])) {
    engine.start(rounds[started++ % 2].batch);
    if (started - taken == 2) take(rounds[taken++ % 2]);
  }
  if (started > taken) take(rounds[taken % 2]);
  merge(keepers, made);
  made.summary.interrupted = source.interrupted();
  return made;
}

}  // namespace hindsight::accel::optimum
