/// Draws applications like those of vision networks, and chips with the levels of the edge space and finer ones.
#include "landscape_trial.h"

#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <random>
#include <sstream>
#include <vector>

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
    question.add_application(shapes, {});
  }
  question.memories = {levels(256 * kKib, 16 * kKib * kKib, finer),
                       levels(4 * kKib, 4 * kKib * kKib, finer),
                       levels(256, 16 * kKib, finer),
                       {32 * kKib}};
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
        next.memories = {pe, core, sums, 0};
        batch.add_chip(next);
      }
    }
  }
}

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

bool same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

/// Answers of `a` from number `first` on that differ in any bit from those of `b`.
std::uint64_t differences(const SiteAnswers& a, std::size_t first, const SiteAnswers& b) {
  std::uint64_t different = 0;
  for (std::size_t i = 0; i < b.latency_s.size(); ++i) {
    const std::size_t k = first + i;
    bool equal = same(a.latency_s[k], b.latency_s[i]) && a.parameter[k] == b.parameter[i] &&
                 a.instruction[k] == b.instruction[i];
    if (!b.energy.empty()) {
      equal = equal && same(a.energy[k].fixed_j, b.energy[i].fixed_j) &&
              same(a.energy[k].parameter_read_bytes, b.energy[i].parameter_read_bytes) &&
              same(a.energy[k].instruction_read_bytes, b.energy[i].instruction_read_bytes) &&
              same(a.energy[k].noc_hop_bytes, b.energy[i].noc_hop_bytes);
    }
    different += equal ? 0 : 1;
  }
  return different;
}

/// Groups on the device and, one by one, on the host; false when it was stopped.
bool compare_batch(SiteEngine& engine, const SiteBatch& batch, const std::vector<accel::ChipFacts>& groups,
                   const Stop& stop, LandscapeTrial& trial) {
  std::vector<SiteAnswers> device;
  // The first launch on each of the engine's two lanes loads kernels and takes memory: not timed, but compared.
  for (std::size_t lane = 0; trial.compared == 0 && lane < 2; ++lane) engine.start(batch);
  for (std::size_t lane = 0; trial.compared == 0 && lane < 2; ++lane) device.push_back(engine.finish());
  double start_s = now_s();
  engine.start(batch);
  device.push_back(engine.finish());
  trial.device_s += now_s() - start_s;
  SiteBatch one(batch.question());
  std::size_t first = 0;
  std::uint64_t mappings = 0;
  for (const accel::ChipFacts& group : groups) {
    if (stop()) return false;
    one.clear();
    add_chips(one, group);
    if (one.points() == 0) continue;
    start_s = now_s();
    const SiteAnswers host = accel::optimum::answer_on_host(one);
    trial.host_s += now_s() - start_s;
    for (const SiteAnswers& answers : device) trial.different += differences(answers, first, host);
    first += host.latency_s.size();
    mappings += host.mappings;
  }
  trial.compared += first;
  trial.small_mappings += mappings;
  for (const SiteAnswers& answers : device) trial.different += answers.mappings == mappings ? 0 : 1;
  return true;
}

/// Groups at the levels of the edge space, with energies; false when it was stopped.
bool compare(SiteEngine& engine, std::size_t count, const Stop& stop, LandscapeTrial& trial) {
  const SiteQuestion question = draw_question(1, true);
  SiteBatch batch(question);
  Groups groups;
  std::vector<accel::ChipFacts> taken;
  accel::ChipFacts chip;
  for (std::size_t i = 0; i < count; ++i) {
    if (stop()) return false;
    const bool more = groups.next(chip);
    if (more) {
      add_chips(batch, chip);
      taken.push_back(chip);
    }
    const bool complete = batch.bytes() >= engine.batch_bytes() || !more || i + 1 == count;
    if (!complete || batch.points() == 0) continue;
    if (!compare_batch(engine, batch, taken, stop, trial)) return false;
    batch.clear();
    taken.clear();
  }
  return true;
}

/// Finer levels, two batches under way, until the groups or the budget are spent; false when it was stopped.
bool time_large(SiteEngine& engine, double budget_s, const Stop& stop, LandscapeTrial& trial) {
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
  bool stopped = false;
  for (bool more = true; more && now_s() - start_s < budget_s;) {
    SiteBatch& batch = batches[started % 2];
    batch.clear();
    accel::ChipFacts chip;
    while (batch.bytes() < engine.batch_bytes() && !(stopped = stop()) && (more = groups.next(chip))) {
      add_chips(batch, chip);
    }
    if (stopped || batch.points() == 0) break;
    engine.start(batch);
    if (++started - finished == 2) take();
  }
  while (finished < started) take();
  trial.large_s = now_s() - start_s;
  return !stopped;
}

}  // namespace

std::optional<LandscapeTrial> try_landscape(SiteEngine& engine, const LandscapeTrialOptions& options) {
  LandscapeTrial trial;
  if (!compare(engine, options.groups, options.stop, trial)) return std::nullopt;
  if (!time_large(engine, options.budget_s, options.stop, trial)) return std::nullopt;
  return trial;
}

bool has_landscape(const std::string& content, const std::string& gpu_uuid, const std::string& commit) {
  std::istringstream lines(content.substr(0, content.rfind('\n') + 1));
  for (std::string line; std::getline(lines, line);) {
    const auto has = [&](const std::string& part) { return line.find(part) != std::string::npos; };
    if (has("\"gpu_uuid\":\"" + gpu_uuid + '"') && has("\"commit\":\"" + commit + '"') && has("\"different\":0,"))
      return true;
  }
  return false;
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
