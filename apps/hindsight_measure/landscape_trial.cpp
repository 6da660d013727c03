/// Draws applications like those of vision networks, and chips with the levels of the edge space and finer ones.
#include "landscape_trial.h"

#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <memory>
#include <random>

#include "hindsight/accel/optimum/site_batch.h"
#include "hindsight/measure/site_engine.h"

namespace hindsight::measure {
namespace {

using accel::optimum::BatchChip;
using accel::optimum::SiteAnswers;
using accel::optimum::SiteBatch;
using accel::optimum::SiteEngine;
using accel::optimum::SiteQuestion;

constexpr std::uint64_t kSeed = 20261123;          // [chosen] any
constexpr std::size_t kApplications = 9;           // [chosen] as many as PRIME has
constexpr std::size_t kLayersPerApplication = 51;  // [chosen] those have 457 in all
constexpr double kMostMacs = 65'536;               // [chosen] more than fit 100 mm2
constexpr double kMostMemoryBytes = 64e6;          // [chosen] likewise

template <class Values>
auto one_of(const Values& values, std::mt19937_64& random) {
  return values[random() % values.size()];
}

/// A convolution, a depthwise one, or a product of matrices.
workload::GemmLayer draw_layer(std::mt19937_64& random) {
  constexpr std::array<std::int64_t, 6> kExtents{7, 14, 28, 56, 112, 224};
  constexpr std::array<std::int64_t, 8> kChannels{3, 16, 24, 40, 96, 192, 320, 960};
  constexpr std::array<std::int64_t, 4> kKernels{1, 1, 3, 5};
  workload::GemmLayer layer;
  const std::uint64_t kind = random() % 4;
  if (kind == 3) {
    layer.m = one_of(std::array<std::int64_t, 3>{1, 128, 384}, random);
    layer.n = one_of(kChannels, random) * 2;
    layer.k = layer.in_channels = one_of(kChannels, random);
    layer.out_width = layer.m;
    layer.input_bytes = static_cast<double>(layer.m * layer.k);
    layer.weights_are_activations = random() % 4 == 0;
  } else {
    const std::int64_t out = one_of(kExtents, random), stride = static_cast<std::int64_t>(random() % 2) + 1;
    layer.depthwise = kind == 2;
    layer.kernel_height = layer.kernel_width = layer.depthwise ? 3 : one_of(kKernels, random);
    layer.stride_height = layer.stride_width = stride;
    layer.in_channels = layer.depthwise ? 1 : one_of(kChannels, random);
    layer.m = out * out;
    layer.out_width = out;
    layer.n = one_of(kChannels, random);
    layer.k = layer.kernel_height * layer.kernel_width * layer.in_channels;
    layer.input_bytes =
        static_cast<double>(out * stride * out * stride * (layer.depthwise ? layer.n : layer.in_channels));
  }
  layer.repeat = random() % 4 == 0 ? 3 : 1;
  layer.macs = static_cast<double>(layer.m) * static_cast<double>(layer.n) * static_cast<double>(layer.k);
  layer.weight_bytes = static_cast<double>(layer.n * layer.k);
  layer.output_bytes = static_cast<double>(layer.m * layer.n);
  return layer;
}

/// Levels from `from` to `to`, `steps` per doubling.
std::vector<double> levels(double from, double to, int steps) {
  std::vector<double> values;
  for (int i = 0; values.empty() || values.back() < to; ++i) values.push_back(from * std::pow(2.0, i / double(steps)));
  for (double& value : values) value = std::round(value);
  return values;
}

/// The memories and bandwidths of the edge space, `finer` levels for each of its own.
SiteQuestion draw_question(int finer, bool energies) {
  constexpr double kKib = 1024;
  SiteQuestion question;
  std::mt19937_64 random(kSeed);
  for (std::size_t a = 0; a < kApplications; ++a) {
    std::vector<accel::LayerShape> shapes;
    for (std::size_t i = 0; i < kLayersPerApplication; ++i) shapes.push_back(accel::layer_shape(draw_layer(random)));
    question.add_application(shapes);
  }
  question.memories = {levels(256 * kKib, 16 * kKib * kKib, finer), levels(4 * kKib, 4 * kKib * kKib, finer),
                       levels(256, 16 * kKib, finer)};
  for (int i = 1; i <= 6 * finer; ++i) question.bandwidths_gb_per_s.push_back(5.0 * i / finer);
  question.parameter_entries = levels(2 * kKib, 32 * kKib, 1);
  question.instruction_entries = levels(8 * kKib, 64 * kKib, 1);
  question.energies = energies;
  return question;
}

/// Groups of the edge space in an order that mixes large and small ones, those whose PEs would not fit left out.
class Groups {
 public:
  bool next(accel::ChipFacts& chip) {
    constexpr std::array<double, 10> kSides{1, 2, 4, 6, 8, 10, 12, 14, 16, 32};
    constexpr std::array<double, 7> kCores{4, 8, 16, 32, 64, 128, 256};
    constexpr std::uint64_t kAll = 7'000, kStride = 2'741;  // coprime: every group once
    while (taken_ < kAll) {
      std::uint64_t number = taken_++ * kStride % kAll;
      const auto digit = [&](std::uint64_t base) {
        const std::uint64_t value = number % base;
        number /= base;
        return value;
      };
      chip = {};
      chip.config.pes_x = kSides[digit(10)];
      chip.config.pes_y = kSides[digit(10)];
      chip.config.compute_lanes = kSides[digit(10)];
      chip.config.cores_per_pe = kCores[digit(7)];
      if (chip.config.macs_per_cycle() <= kMostMacs) return true;
    }
    return false;
  }

 private:
  std::uint64_t taken_ = 0;
};

/// Every memory of a group that a chip of its PEs has room for, at all bandwidths, with prices of 1 pJ.
void add_chips(SiteBatch& batch, const accel::ChipFacts& chip) {
  const SiteQuestion& question = batch.question();
  batch.add_group(chip);
  BatchChip next{.bandwidths = static_cast<std::uint16_t>(question.bandwidths_gb_per_s.size()),
                 .pj = {.core_read = 1, .core_write = 1, .pe_read = 1, .pe_write = 1},
                 .accumulator_pj = 1,
                 .dram_pj_per_byte = 1};
  const double cores = chip.config.cores_per_pe;
  const auto count = [&](std::size_t memory) { return static_cast<std::uint16_t>(question.memories[memory].size()); };
  for (std::uint16_t pe = 0; pe < count(0); ++pe) {
    for (std::uint16_t core = 0; core < count(1); ++core) {
      const double bytes = question.memories[0][pe] + cores * question.memories[1][core];
      if (chip.config.pes() * bytes > kMostMemoryBytes) break;
      for (std::uint16_t sums = 0; sums < count(2); ++sums) {
        if (question.memories[2][sums] < 2 * cores * chip.config.compute_lanes) continue;
        next.memories = {pe, core, sums};
        batch.add_chip(next);
      }
    }
  }
}

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

bool same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

std::uint64_t differences(const SiteAnswers& a, const SiteAnswers& b) {
  std::uint64_t different = 0;
  for (std::size_t i = 0; i < a.latency_s.size(); ++i) {
    bool equal = same(a.latency_s[i], b.latency_s[i]) && a.parameter[i] == b.parameter[i] &&
                 a.instruction[i] == b.instruction[i];
    if (!a.energy.empty()) {
      equal = equal && same(a.energy[i].fixed_j, b.energy[i].fixed_j) &&
              same(a.energy[i].parameter_read_bytes, b.energy[i].parameter_read_bytes) &&
              same(a.energy[i].instruction_read_bytes, b.energy[i].instruction_read_bytes) &&
              same(a.energy[i].noc_hop_bytes, b.energy[i].noc_hop_bytes);
    }
    different += equal ? 0 : 1;
  }
  return different;
}

/// Forty groups at the levels of the edge space, with energies.
void compare(SiteEngine& engine, LandscapeTrial& trial) {
  constexpr std::size_t kGroups = 40;  // [chosen] some seconds of one host thread
  const SiteQuestion question = draw_question(1, true);
  SiteBatch batch(question);
  Groups groups;
  accel::ChipFacts chip;
  for (std::size_t i = 0; i < kGroups && groups.next(chip); ++i) add_chips(batch, chip);
  engine.start(batch);  // the first launch loads the kernels: not timed
  (void)engine.finish();
  double start_s = now_s();
  engine.start(batch);
  const SiteAnswers device = engine.finish();
  trial.device_s = now_s() - start_s;
  start_s = now_s();
  const SiteAnswers host = accel::optimum::answer_on_host(batch);
  trial.host_s = now_s() - start_s;
  trial.compared = host.latency_s.size();
  trial.different = differences(device, host);
  trial.small_mappings = host.mappings;
  if (device.mappings != host.mappings) ++trial.different;
}

/// Finer levels, two batches under way, until the groups or the budget are spent.
void time_large(SiteEngine& engine, double budget_s, LandscapeTrial& trial) {
  constexpr int kFiner = 2;  // [chosen] eight times the memories, twice the bandwidths of each group
  const SiteQuestion question = draw_question(kFiner, false);
  std::array<SiteBatch, 2> batches{SiteBatch(question), SiteBatch(question)};
  Groups groups;
  std::size_t started = 0, finished = 0;
  const auto take = [&] {
    const SiteAnswers answers = engine.finish();
    trial.points += batches[finished++ % 2].points();
    trial.answers += answers.latency_s.size();
    trial.mappings += answers.mappings;
  };
  const double start_s = now_s();
  for (bool more = true; more && now_s() - start_s < budget_s;) {
    SiteBatch& batch = batches[started % 2];
    batch.clear();
    accel::ChipFacts chip;
    while (batch.bytes() < engine.batch_bytes() && (more = groups.next(chip))) add_chips(batch, chip);
    if (batch.points() == 0) break;
    engine.start(batch);
    if (++started - finished == 2) take();
  }
  while (finished < started) take();
  trial.large_s = now_s() - start_s;
}

}  // namespace

LandscapeTrial try_landscape(int device, double budget_s) {
  const std::unique_ptr<SiteEngine> engine = cuda_site_engine(device);
  LandscapeTrial trial;
  compare(*engine, trial);
  time_large(*engine, budget_s, trial);
  return trial;
}

std::string to_json_line(const LandscapeTrial& trial, const std::string& provenance) {
  const auto rate = [](std::uint64_t count, double seconds) {
    return std::to_string(seconds > 0 ? static_cast<double>(count) / seconds : 0.0);
  };
  return "{\"record\":\"landscape\"" + provenance + ",\"compared\":" + std::to_string(trial.compared) +
         ",\"different\":" + std::to_string(trial.different) +
         ",\"small_mappings\":" + std::to_string(trial.small_mappings) + ",\"host_s\":" + std::to_string(trial.host_s) +
         ",\"device_s\":" + std::to_string(trial.device_s) + ",\"points\":" + std::to_string(trial.points) +
         ",\"answers\":" + std::to_string(trial.answers) + ",\"mappings\":" + std::to_string(trial.mappings) +
         ",\"large_s\":" + std::to_string(trial.large_s) +
         ",\"mappings_per_s\":" + rate(trial.mappings, trial.large_s) +
         ",\"answers_per_s\":" + rate(trial.answers, trial.large_s) + "}";
}

}  // namespace hindsight::measure
