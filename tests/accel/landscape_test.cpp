/// Does a landscape hold what every design costs, to the last digit, and refuse questions that it cannot answer?
#include "hindsight/accel/optimum/landscape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <map>

#include "accel/host_engine.h"
#include "accel/landscape_seal.h"
#include "accel/optimum/axes.h"
#include "accel/optimum/landscape_format.h"
#include "accel/space_parts.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/random.h"
#include "temporary_folder.h"

namespace hindsight::accel::optimum::test {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kEnergies = 10;  ///< of a site: behind a latency and two levels

class LandscapeTest : public testing::Test {
 protected:
  /// 2,304 designs of the edge space on three applications.
  LandscapeTest()
      : space_(part_of_edge({{1, 2, 4}, {1, 4}, {0, 2}, {0, 2}, {1, 5}, {2, 8}, {0, 2}, {0, 2}, {1, 3, 6}, {0, 5}})),
        binding_(space_) {
    question_.space = &space_;
    question_.technology = &inputs().technology;
    question_.networks = {&inputs().networks[1], &inputs().networks[5], &inputs().networks[7]};
  }
  /// Values of all designs that meet the question's limits, by the ordinary `evaluate`, ascending.
  [[nodiscard]] std::vector<double> truth(const Question& question) {
    if (evaluated_.empty()) evaluate_all();
    const Axes axes(question);
    std::vector<double> values;
    for (const auto& [design, evaluations] : evaluated_) {
      if (!axes.point_of(design)) continue;
      std::vector<double> each;
      bool within = true;
      for (const workload::Network* network : question.networks) {
        const Evaluation& evaluation = evaluations.at(network);
        within = within && evaluation.feasible();
        if (!within) break;
        for (const Limit& limit : question.limits) within = within && limit.metric->value(evaluation) <= limit.most;
        each.push_back(question.goal.value(evaluation.metrics->latency_s, evaluation.metrics->energy_j,
                                           evaluation.area.total_mm2(), evaluation.peak_power_w));
      }
      if (within) values.push_back(aggregate_value(each, question.aggregate, question.weights));
    }
    std::sort(values.begin(), values.end());
    return values;
  }
  void evaluate_all() {
    for (std::uint64_t i = 0; i < *space_.size(); ++i) {
      const space::Design design = space_.design(i);
      const ChipFacts chip = chip_facts(binding_.bind(space_, design), inputs().technology);
      if (chip.violations.count > 0) continue;
      auto& evaluations = evaluated_.emplace_back(design, decltype(evaluated_.back().second){}).second;
      for (const workload::Network* network : question_.networks) {
        evaluations[network] = evaluate(chip, network->gemms(), Depth::stop_at_hardware);
      }
    }
  }
  [[nodiscard]] std::string file() const { return (folder_.path() / "all.landscape").string(); }
  /// What a stranger makes of the landscape `good`: its file, with the bytes of every site changed, under right
  /// checksums.
  void change_sites(const std::string& good, const std::function<void(char* site)>& change) const {
    const LandscapeIdentity identity = Landscape::read(file()).identity();
    std::string bytes = good;
    for (std::size_t at = good.find("\n\n") + 2; at < good.size();) {
      std::string_view rest = std::string_view(good).substr(at);
      const ChipRecord record = take_chip(rest, identity.by_parameter_memory);
      at += ChipRecord::bytes(identity.by_parameter_memory);
      for (std::size_t b = 0; b < record.bandwidths; ++b, at += site_bytes(identity.metrics)) change(&bytes[at]);
    }
    std::ofstream(file(), std::ios::binary) << hindsight::test::sealed_landscape(bytes);
  }

  hindsight::test::TemporaryFolder folder_;
  space::DesignSpace space_;
  ConfigBinding binding_;
  Question question_;
  std::vector<std::pair<space::Design, std::map<const workload::Network*, Evaluation>>> evaluated_;
};

TEST_F(LandscapeTest, RanksAreThoseOfEveryDesignEvaluated) {
  const LandscapeSummary summary =
      write_landscape(question_, file(), {.metrics = LandscapeMetrics::latency_and_energy, .threads = 2});
  const Landscape landscape = Landscape::read(file());
  EXPECT_EQ(summary.designs, *space_.size());
  EXPECT_EQ(summary.runnable, truth(question_).size());
  EXPECT_GT(summary.runnable, 100U);
  const Metric* const area = find_metric("area_mm2");
  const Metric* const latency = find_metric("latency_s");
  const Metric* const energy = find_metric("energy_j");
  std::vector<Question> questions(5, question_);
  questions[1].goal = {.latency = 0, .energy = 1};
  questions[1].limits = {{area, 20}};
  questions[2].goal = {.latency = 1, .energy = 1};
  questions[2].aggregate = Aggregate::worst;
  questions[2].limits = {{latency, 5e-4}, {energy, 1e-3}};
  questions[3].networks = {question_.networks[2]};  // one of them alone
  questions[3].limits = {{find_metric("peak_power_w"), 6}};
  questions[4].networks = {question_.networks[2], question_.networks[0]};  // in another order
  questions[4].aggregate = Aggregate::geomean;
  questions[4].goal = {.latency = 1, .area = 1};
  questions[3].allowed.resize(space_.parameters().size());
  questions[3].allowed[0] = {0, 2};  // levels may be restricted
  questions[3].allowed[9] = {1};
  for (std::size_t q = 0; q < questions.size(); ++q) {
    SCOPED_TRACE("question " + std::to_string(q));
    const std::vector<double> all = truth(questions[q]);
    ASSERT_FALSE(all.empty());
    const std::vector<double> values{all.front(), all[all.size() / 3], all.back(), all.back() * 2};
    const std::vector<Rank> ranks = landscape.ranks(questions[q], values);
    for (std::size_t v = 0; v < values.size(); ++v) {
      EXPECT_EQ(ranks[v].feasible, all.size());
      EXPECT_EQ(ranks[v].better,
                static_cast<std::uint64_t>(std::lower_bound(all.begin(), all.end(), values[v]) - all.begin()));
    }
    EXPECT_EQ(ranks.front().best, all.front());
    EXPECT_EQ(find_optimum(questions[q]).best.front().value, all.front());
  }
}

/// More levels of the bandwidth than are added up at a time; memories that some layers do not fit; layers of one of
/// everything, among them a repeated one and one far larger than any memory.
TEST_F(LandscapeTest, ManyBandwidthsAndOddLayers) {
  std::vector<space::Parameter> parameters = space_.parameters();
  for (space::Parameter& parameter : parameters) {
    if (parameter.name == "dram_bandwidth_gb_per_s") {
      parameter.values = {1, 2, 3, 5, 8, 10, 16, 20, 25, 30, 60};
    } else if (parameter.values.size() > 2) {
      parameter.values.resize(2);
    }
    if (parameter.name == "pe_memory_bytes") parameter.values = {8192, 262144};
  }
  space_ = {"odd", "", parameters};
  binding_ = ConfigBinding(space_);
  const auto dense = [](const std::string& name, std::int64_t rows, std::int64_t columns, std::int64_t reduction) {
    workload::Layer layer;
    layer.name = name;
    layer.type = workload::LayerType::fully_connected;
    layer.rows = rows;
    layer.columns = columns;
    layer.reduction = reduction;
    return layer;
  };
  workload::Layer again = dense("again", 1, 7, 1);
  again.repeat = 5;
  workload::Layer last = again;
  last.name = "last";
  workload::Layer image;
  image.name = "image";
  image.in_height = image.in_width = 96;
  image.in_channels = 12;
  image.out_channels = 40;
  image.kernel_height = image.kernel_width = 3;
  workload::Layer depthwise = image;
  depthwise.name = "depthwise";
  depthwise.type = workload::LayerType::depthwise_convolution;
  depthwise.out_channels = depthwise.groups = 12;
  const workload::Network odd("odd", "", "", false, 1,
                              {dense("one", 1, 1, 1), again, dense("large", 64, 1024, 4096), depthwise, last});
  const workload::Network windows("windows", "", "", false, 1, {image, depthwise, dense("last", 1, 1000, 64)});
  question_.networks = {&odd, &windows, &inputs().networks[5]};
  write_landscape(question_, file(), {.metrics = LandscapeMetrics::latency_and_energy});
  const Landscape landscape = Landscape::read(file());
  Question alone = question_;
  std::size_t smallest = std::numeric_limits<std::size_t>::max(), largest = 0;
  for (const workload::Network* const network : {&odd, &windows, &inputs().networks[5]}) {
    alone.networks = {network};
    const std::vector<double> all = truth(alone);
    const std::vector<Rank> ranks = landscape.ranks(alone, all);
    for (std::size_t v = 0; v < all.size(); ++v) {
      ASSERT_EQ(ranks[v].feasible, all.size()) << network->name();
      ASSERT_EQ(ranks[v].better,
                static_cast<std::uint64_t>(std::lower_bound(all.begin(), all.end(), all[v]) - all.begin()))
          << network->name() << " " << v;
    }
    smallest = std::min(smallest, all.size());
    largest = std::max(largest, all.size());
  }
  EXPECT_GT(smallest, 50U);
  EXPECT_LT(smallest, largest) << "some memories are too small for some network";
}

TEST_F(LandscapeTest, TheBytesDoNotDependOnThreads) {
  write_landscape(question_, file(), {.threads = 1});
  const std::string other = file() + "2";
  write_landscape(question_, other, {.threads = 2});
  EXPECT_EQ(read_file(file()), read_file(other));
}

TEST_F(LandscapeTest, QuestionsItCannotAnswerAreRefused) {
  question_.limits = {{find_metric("area_mm2"), 27}};
  write_landscape(question_, file(), {});
  const Landscape landscape = Landscape::read(file());
  EXPECT_NO_THROW(landscape.require_answers(question_));
  const auto refused = [&](const Question& question, const std::string& part) {
    try {
      landscape.require_answers(question);
      ADD_FAILURE() << part;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::incompatible);
      EXPECT_THAT(error.what(), HasSubstr(part));
    }
  };
  Question other = question_;
  other.networks.push_back(&inputs().networks[0]);
  refused(other, "has no application");
  other.network_words.assign(other.networks.size(), "nets/mine.yaml");
  refused(other, " --workloads nets/mine.yaml,nets/mine.yaml");
  other = question_;
  other.space = &inputs().space;
  refused(other, "another space");
  other = question_;
  Technology changed = inputs().technology;
  changed.mac_int8_pj *= 2;
  other.technology = &changed;
  refused(other, "evaluator");
  other = question_;
  other.limits.clear();
  refused(other, "tighter limits");
  other = question_;
  other.goal = {.latency = 0, .energy = 1};
  refused(other, "no energies");
}

TEST_F(LandscapeTest, FilesThatAreNoneOrDamagedAreRefused) {
  write_landscape(question_, file(), {});
  const std::string good = read_file(file());
  const auto refused = [&](const std::string& bytes, const std::string& part) {
    std::ofstream(file(), std::ios::binary) << bytes;
    try {
      (void)Landscape::read(file());
      ADD_FAILURE() << part;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::incompatible);
      EXPECT_THAT(error.what(), HasSubstr(part));
    }
  };
  refused("pes_x,pes_y\n", "is no landscape");
  refused("hindsight landscape 1" + good.substr(good.find('\n')), "has format 1");
  refused(good.substr(0, good.size() - 7), "cut short");
  std::string flipped = good;
  flipped.back() = static_cast<char>(flipped.back() ^ 1);
  refused(flipped, "checksum");
  refused(good.substr(0, 40), "cut short");
  const std::size_t header = good.find("\n\n") + 2;
  for (std::size_t at = 0; at < header; ++at) {
    std::string changed = good;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    refused(changed, "");
  }
  for (std::size_t from = 0; from + 1 < header; from = good.find('\n', from) + 1) {
    std::string without = good;
    refused(without.erase(from, good.find('\n', from) + 1 - from), "");
  }
}

TEST_F(LandscapeTest, EveryCutAndEveryChangeIsRefused) {
  question_.networks.resize(1);
  write_landscape(question_, file(), {});
  const std::string good = read_file(file());
  const auto refused = [&](const std::string& bytes) {
    std::ofstream(file(), std::ios::binary) << bytes;
    try {
      (void)Landscape::read(file());
      return false;
    } catch (const Error& error) {
      return error.kind() == ErrorKind::incompatible;
    }
  };
  ASSERT_FALSE(refused(good));
  constexpr std::size_t kEach = 300, kStep = 61;
  for (std::size_t size = 0; size < good.size(); size += size < kEach ? 1 : kStep) {
    ASSERT_TRUE(refused(good.substr(0, size))) << "the first " << size << " bytes";
  }
  ASSERT_TRUE(refused(good + '\0'));
  constexpr std::uint64_t kSeed = 20261129;
  const RandomStream random(kSeed, "changes");
  for (std::uint64_t i = 0; i < 1000; ++i) {
    std::string changed = good;
    const std::uint64_t bit = random.below(i, good.size() * 8);
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
    ASSERT_TRUE(refused(changed)) << "bit " << bit << ", seed " << kSeed;
  }
}

/// A stranger can write any records under right checksums. None of them is used as an index or believed against the
/// model.
TEST_F(LandscapeTest, RecordsThatNoLandscapeHasAreRefused) {
  write_landscape(question_, file(), {.metrics = LandscapeMetrics::latency_and_energy});
  const std::string good = read_file(file());
  const std::size_t first = good.find("\n\n") + 2;
  Question energy = question_;
  energy.goal = {.latency = 0, .energy = 1};
  const double best = truth(energy).front();
  const auto refused = [&](std::string bytes, const std::string& part) {
    bytes = hindsight::test::sealed_landscape(std::move(bytes));
    std::ofstream(file(), std::ios::binary) << bytes;
    const Landscape landscape = Landscape::read(file());  // its checksums are right
    try {
      (void)landscape.ranks(energy, {best});
      ADD_FAILURE() << part;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::incompatible) << error.what();
      EXPECT_THAT(error.what(), testing::AllOf(HasSubstr("all.landscape: is damaged: " + part), HasSubstr("--out")));
    }
  };
  const auto changed = [&](std::size_t at, auto value) {
    std::string bytes = good;
    std::memcpy(&bytes[first + at], &value, sizeof value);
    return bytes;
  };
  EXPECT_NO_THROW((void)Landscape::read(file()).ranks(energy, {best}));
  const std::size_t head = ChipRecord::bytes(Landscape::read(file()).identity().by_parameter_memory);
  const std::size_t bandwidths = head - sizeof(std::uint16_t);
  const std::string unknown = "a record names what its space does not have";
  refused(changed(0, std::uint32_t{0xffffffff}), unknown);
  for (std::size_t level = sizeof(std::uint32_t); level < bandwidths; level += sizeof(std::uint16_t)) {
    refused(changed(level, std::uint16_t{0xffff}), unknown);
    refused(changed(level, std::uint16_t{3}), unknown);
  }
  refused(changed(bandwidths, std::uint16_t{0xffff}), "a record is cut short");
  refused(changed(bandwidths, std::uint16_t{5}), unknown);
  refused(good.substr(0, first + head - 1), "a record is cut short");
  refused(good.substr(0, good.size() - 1), "a record is cut short");
  for (const double value : {std::nan(""), -1.0, 0.0}) {
    refused(changed(head, value), "a latency or an energy is no number above zero");
  }
  refused(changed(head + kEnergies, std::nan("")), "a latency or an energy is no number above zero");
  refused(good + good.substr(first), "its records are out of order");
  refused(changed(head + sizeof(double), std::uint8_t{0xff}), unknown);
  refused(changed(head + kEnergies, std::numeric_limits<double>::infinity()),
          "a latency or an energy is no number above zero");
}

/// The best design is looked up in the model, which has the last word.
TEST_F(LandscapeTest, AnEnergyThatTheModelDoesNotGiveIsRefused) {
  question_.networks.resize(1);
  write_landscape(question_, file(), {.metrics = LandscapeMetrics::latency_and_energy});
  const std::string good = read_file(file());
  Question energy = question_;
  energy.goal = {.latency = 0, .energy = 1};
  const std::vector<double> all = truth(energy);
  // All sites get a tenth of the energy of the best design, and none for what its memories read.
  change_sites(good, [&](char* site) {
    const std::array<double, 4> energies{all.front() / 10, 0, 0, 0};
    std::memcpy(site + kEnergies, energies.data(), sizeof energies);
  });
  const Landscape landscape = Landscape::read(file());
  try {
    (void)landscape.ranks(energy, {all.back()});
    ADD_FAILURE() << "a value that no design has was believed";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("has a design with a value that the model does not give it"));
  }
}

/// Energies of a file are the model's but for their last digits: whoever is as near to a value or a limit is asked
/// about.
TEST_F(LandscapeTest, EnergiesNearWhatIsAskedForAreThoseOfTheModel) {
  question_.networks.resize(1);
  write_landscape(question_, file(), {.metrics = LandscapeMetrics::latency_and_energy});
  const std::string good = read_file(file());
  Question energy = question_;
  energy.goal = {.latency = 0, .energy = 1};
  const std::vector<double> all = truth(energy);
  const auto scale = [&](double by) {
    change_sites(good, [by](char* site) {
      std::array<double, 4> energies{};
      std::memcpy(energies.data(), site + kEnergies, sizeof energies);
      for (double& one : energies) one *= by;
      std::memcpy(site + kEnergies, energies.data(), sizeof energies);
    });
  };
  const auto count_below = [&](double value) {
    return static_cast<std::uint64_t>(std::lower_bound(all.begin(), all.end(), value) - all.begin());
  };
  const auto feasible_within = [&](double most_j) {
    Question within = energy;
    within.limits = {{find_metric("energy_j"), most_j}};
    return Landscape::read(file()).ranks(within, {all.back()}).front().feasible;
  };
  const double middle = all[all.size() / 2];
  scale(1 - 0.4 * kMargin);
  const std::vector<Rank> ranks = Landscape::read(file()).ranks(energy, all);
  for (std::size_t v = 0; v < all.size(); ++v) {
    ASSERT_EQ(ranks[v].better, count_below(all[v])) << v;
    ASSERT_EQ(ranks[v].best, all.front()) << v;
  }
  // A limit a little below: the file says that it is kept.
  const double just_missed = middle * (1 - 0.01 * kMargin);
  EXPECT_EQ(feasible_within(just_missed), count_below(middle));
  scale(1 + 0.4 * kMargin);  // now it says that a limit is missed that is kept exactly
  EXPECT_EQ(feasible_within(middle), count_below(std::nextafter(middle, 1)));
}

/// So is the best latency, and one that is asked for.
TEST_F(LandscapeTest, ALatencyThatTheModelDoesNotGiveIsRefused) {
  question_.networks.resize(1);
  write_landscape(question_, file(), {});
  const std::string good = read_file(file());
  const std::vector<double> all = truth(question_);
  const double asked = all[all.size() / 2];
  EXPECT_EQ(Landscape::read(file()).ranks(question_, {asked}).front().best, all.front());
  const auto refused = [&](const auto& invented) {
    change_sites(good, [&](char* site) {
      double latency_s = 0;
      std::memcpy(&latency_s, site, sizeof latency_s);
      latency_s = invented(latency_s);
      std::memcpy(site, &latency_s, sizeof latency_s);
    });
    EXPECT_THROW((void)Landscape::read(file()).ranks(question_, {asked}), Error);
  };
  refused([](double latency_s) { return latency_s / 2; });  // a better best
  refused([&](double latency_s) { return latency_s == all.front() ? latency_s : asked; });
}

TEST_F(LandscapeTest, OnlyWholeSpacesUnderLimitsOfFacts) {
  Question question = question_;
  question.limits = {{find_metric("latency_s"), 1}};
  EXPECT_THROW(write_landscape(question, file(), {}), Error);
  question = question_;
  question.allowed.resize(space_.parameters().size());
  question.allowed[0] = {0};
  EXPECT_THROW(write_landscape(question, file(), {}), Error);
}

/// Whenever the watch ends it: while the records are counted, and while they are made, on the host or in batches.
TEST_F(LandscapeTest, InterruptsLeaveNoFile) {
  const space::DesignSpace groups =
      part_of_edge({{0, 1, 2, 3, 4, 5}, {0, 1, 2, 3, 4, 5}, {0}, {0, 1}, {0, 1}, {0, 1, 2}, {0}, {0}, {3}, {0}});
  question_.space = &groups;
  for (const bool in_batches : {false, true}) {
    SCOPED_TRACE(in_batches ? "batches" : "host");
    const auto looks_until = [&](int last) {
      HostEngine engine(1);
      int looks = 0;
      const LandscapeOptions options{.threads = 2, .engine = in_batches ? &engine : nullptr};
      const bool interrupted =
          write_landscape(question_, file(), options, [&](const Standing&) { return ++looks != last; }).interrupted;
      EXPECT_EQ(interrupted, last > 0);
      EXPECT_EQ(std::filesystem::exists(file()), !interrupted);
      std::filesystem::remove(file());
      return looks;
    };
    const int all = looks_until(0);
    ASSERT_GE(all, 6) << "three looks or more while counting, as many while making";
    for (int last = 1; last <= all; ++last) EXPECT_EQ(looks_until(last), last);
  }
}

}  // namespace
}  // namespace hindsight::accel::optimum::test
