/// Does text become the sweep that a person means, and does the hash tell sweeps apart?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/sweep/sweep.h"
#include "sweep/sweep_fixture.h"

namespace hindsight::sweep {
namespace {

using test::options;
using ::testing::HasSubstr;

const std::vector<std::string> kFacts{"area_mm2", "peak_power_w"};

std::string message_of(void (*body)()) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "no error";
}

TEST(FactLimit, ParsesMetricAndLimit) {
  const FactLimit bound = parse_fact_limit("area_mm2=27.5", kFacts);
  EXPECT_EQ(bound.fact, "area_mm2");
  EXPECT_EQ(bound.limit, 27.5);
}

TEST(FactLimit, OffersTheNearestMetric) {
  EXPECT_THAT(message_of([] { (void)parse_fact_limit("aera_mm2=1", kFacts); }), HasSubstr("Did you mean 'area_mm2'?"));
  EXPECT_THAT(message_of([] { (void)parse_fact_limit("latency_s=1", kFacts); }), HasSubstr("area_mm2, peak_power_w"));
}

TEST(FactLimit, RefusesWhatIsNoLimit) {
  EXPECT_THAT(message_of([] { (void)parse_fact_limit("area_mm2", kFacts); }), HasSubstr("METRIC=NUMBER"));
  EXPECT_THAT(message_of([] { (void)parse_fact_limit("area_mm2=big", kFacts); }), HasSubstr("'big'"));
  EXPECT_THAT(message_of([] { (void)parse_fact_limit("area_mm2=-1", kFacts); }), HasSubstr("above 0"));
  EXPECT_THAT(message_of([] { (void)parse_fact_limit("area_mm2=nan", kFacts); }), HasSubstr("'nan'"));
  EXPECT_EQ(message_of([] { (void)parse_fact_limit("area_mm2 <=9", kFacts); }),
            "'area_mm2 <=9' is not a limit. Write area_mm2=9, an upper limit");
  EXPECT_EQ(message_of([] { (void)parse_fact_limit("loss>=9", {"loss>"}); }),
            "'loss>=9' is not a limit of --max: loss has an upper limit alone");
}

TEST(Shard, ParsesIndexAndCount) {
  const Shard shard = parse_shard("2/8");
  EXPECT_EQ(shard.index, 2U);
  EXPECT_EQ(shard.count, 8U);
}

TEST(Shard, RefusesWhatIsNoShard) {
  for (const char* text : {"", "1", "8/8", "-1/4", "0/0", "a/b", "0/1/2", "1.5/2"}) {
    EXPECT_THROW((void)parse_shard(text), Error) << text;
  }
}

TEST(DefinitionHash, TellsSweepsApartAndNothingElse) {
  const SweepOptions sweep = options("a.sqlite", 10);
  const std::string hash = definition_hash(sweep);
  SweepOptions other = sweep;
  other.threads = 7;
  other.batch_designs = 3;
  other.log = "b.sqlite";
  other.samples = 99;
  other.quiet = !sweep.quiet;
  EXPECT_EQ(definition_hash(other), hash);

  other = sweep;
  other.seed = 8;
  EXPECT_NE(definition_hash(other), hash);
  other = sweep;
  other.sampler = space::SamplerKind::sobol;
  EXPECT_NE(definition_hash(other), hash);
  other = sweep;
  other.shard = {.index = 0, .count = 2};
  EXPECT_NE(definition_hash(other), hash);
  other = sweep;
  other.limits = {{.fact = "area_mm2", .limit = 100}};
  EXPECT_NE(definition_hash(other), hash);
  other = sweep;
  other.networks.pop_back();
  EXPECT_NE(definition_hash(other), hash);
  other = sweep;
  other.evaluator = evaluator::built_in(sweep.space(), accel::load_technology("7nm"));
  EXPECT_NE(definition_hash(other), hash);
}

TEST(DefinitionHash, StaysWhatOldLogsHoldOfTheFirstFourSamplers) {
  SweepOptions sweep = options("a.sqlite", 10);
  sweep.limits = {{.fact = "area_mm2", .limit = 100}};
  sweep.shard = {.index = 1, .count = 2};
  for (const auto sampler :
       {space::SamplerKind::uniform, space::SamplerKind::lhs, space::SamplerKind::sobol, space::SamplerKind::grid}) {
    sweep.sampler = sampler;
    // The text as it was before there were other samplers: with another one no old sweep would go on.
    const std::string text =
        "hindsight sweep 1\nspace tiny " + sweep.space().definition_hash() + "\nsampler " + space::to_string(sampler) +
        "\nseed 7\nconstraints area_mm2<=100\nshard 1/2\nevaluator " + sha256_hex(sweep.evaluator->definition()) +
        "\nworkload small " + sweep.networks[0].definition_hash() + "\nworkload large " +
        sweep.networks[1].definition_hash() + "\n" + (sampler == space::SamplerKind::lhs ? "strata 10\n" : "");
    EXPECT_EQ(definition_hash(sweep), sha256_hex(text)) << space::to_string(sampler);
  }
}

TEST(DefinitionHash, DependsOnHowManyNetworksADesignTakes) {
  SweepOptions sweep = options("a.sqlite", 10);
  const std::string hash = definition_hash(sweep);
  sweep.networks_per_design = 1;
  const std::string of_one = definition_hash(sweep);
  sweep.networks_per_design = 2;
  EXPECT_NE(of_one, hash);
  EXPECT_NE(definition_hash(sweep), of_one);
}

TEST(DefinitionHash, DependsOnTheSamplesOfAHypercube) {
  SweepOptions sweep = options("a.sqlite", 10);
  sweep.sampler = space::SamplerKind::lhs;
  const std::string hash = definition_hash(sweep);
  sweep.samples = 11;
  EXPECT_NE(definition_hash(sweep), hash);
}

TEST(DefinitionHash, DoesNotDependOnTheOrderOfTheLimits) {
  SweepOptions sweep = options("a.sqlite", 10);
  sweep.limits = {{.fact = "area_mm2", .limit = 100}, {.fact = "peak_power_w", .limit = 5}};
  const std::string hash = definition_hash(sweep);
  std::swap(sweep.limits[0], sweep.limits[1]);
  EXPECT_EQ(definition_hash(sweep), hash);
}

}  // namespace
}  // namespace hindsight::sweep
