/// Is a design that is proposed one whose DRAM holds the network, as the model would say?
#include "study/dram_capacity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hindsight/accel/evaluation.h"
#include "hindsight/core/error.h"
#include "hindsight/core/random.h"
#include "hindsight/space/rules.h"
#include "hindsight/study/proposals.h"
#include "hindsight/surrogate/model.h"
#include "repository.h"
#include "temporary_folder.h"

namespace hindsight::study {
namespace {

TEST(DramCapacity, IsWhatTheModelRefuses) {
  const space::DesignSpace space = space::load_space("datacenter");
  const accel::Technology technology = accel::load_technology("5nm-silicon");
  const accel::ConfigBinding binding(space);
  const std::vector<std::optional<workload::Network>> networks{workload::load_network("bert_base"), std::nullopt,
                                                               workload::load_network("mixtral_8x7b_decode")};
  const auto constraint = dram_capacity_constraint(space, networks);
  ASSERT_TRUE(constraint);
  const RandomStream stream(3, "dram capacity");
  std::size_t refused = 0, held = 0;
  for (std::uint64_t i = 0; refused < 20 || held < 20; ++i) {
    ASSERT_LT(i, 10000U);
    const space::Design design = space.design(stream.below(i, space.size().value()));
    if (space.is_constrained() && !space.rules()->is_legal(design.levels)) continue;
    optimize::LevelMatrix levels(1, std::ssize(design.levels));
    for (std::size_t p = 0; p < design.levels.size(); ++p) levels(0, static_cast<Eigen::Index>(p)) = design.levels[p];
    const bool fits = constraint->value(levels)[0] <= constraint->limit;
    const accel::Evaluation evaluation = accel::evaluate(accel::chip_facts(binding.bind(space, design), technology),
                                                         *networks[2], accel::Depth::all_checks);
    bool is_listed = false;
    for (const accel::Violation& one : evaluation.violations.view()) {
      is_listed = is_listed || one.reason == accel::Reason::dram_capacity;
    }
    EXPECT_EQ(fits, !is_listed) << space.text_id(design);
    ++(fits ? held : refused);
  }
}

/// 671e9 parameters of one byte; twelve packages of LPDDR5 of 16 GB, as HBM has six stacks at the most.
TEST(DramCapacity, TheLargestMemoryOfTheSpaceIsLookedAtFirst) {
  const space::DesignSpace space = space::load_space("datacenter");
  const std::vector<std::optional<workload::Network>> large{workload::load_network("bert_base"),
                                                            workload::load_network("deepseek_v3_decode")};
  const auto problem_with = [&](const space::AllowedLevels& allowed,
                                const std::vector<std::optional<workload::Network>>& networks) -> std::string {
    try {
      require_dram_holds(space, allowed, networks);
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::no_feasible);
      return error.what();
    }
  };
  const std::string problem = problem_with({}, large);
  EXPECT_THAT(problem, ::testing::HasSubstr("deepseek_v3_decode needs 67"));
  EXPECT_THAT(problem, ::testing::HasSubstr("holds 192 GB"));
  EXPECT_EQ(problem_with({}, {large.front()}), "");
  // Of HBM3 alone six stacks are legal; mixtral's 47 GB fit them, and not two of them.
  space::AllowedLevels allowed(space.parameters().size());
  const std::size_t type = space.find("dram_type").value(), devices = space.find("dram_devices").value();
  allowed[type] = {3};
  const std::vector<std::optional<workload::Network>> mixtral{workload::load_network("mixtral_8x7b_decode")};
  EXPECT_THAT(problem_with(allowed, large), ::testing::HasSubstr("holds 96 GB"));
  EXPECT_EQ(problem_with(allowed, mixtral), "");
  allowed[devices] = {0, 1};
  EXPECT_THAT(problem_with(allowed, mixtral), ::testing::HasSubstr("holds 32 GB"));
  EXPECT_NO_THROW(require_dram_holds(space::load_space("edge"), {}, large));
}

TEST(DramCapacity, IsNotAskedWhereTheSpaceChoosesNoDevices) {
  EXPECT_FALSE(dram_capacity_constraint(space::load_space("edge"), {workload::load_network("bert_base")}));
  EXPECT_FALSE(dram_capacity_constraint(space::load_space("datacenter"), {std::nullopt}));
}

/// Limits of a search with a model of the data centre's space whose rows are said to be of this evaluator.
std::vector<std::string> limits_of_rows_by(const std::string& evaluator) {
  const hindsight::test::TemporaryFolder folder;
  const std::filesystem::path file = folder / "model.safetensors";
  const auto shipped = surrogate::load_model(hindsight::test::repository() / "models" / "datacenter-any.safetensors");
  surrogate::Model::Parts parts = shipped.parts();
  parts.provenance["evaluator"] = evaluator;
  surrogate::save_model(surrogate::Model(std::move(parts)), file);
  ProposalRequest request;
  request.model = file.string();
  request.workloads = {"mixtral_8x7b_decode"};
  request.technology = "5nm-silicon@liquid";
  std::vector<std::string> names;
  (void)propose(request, [&names](const Proposals& so_far) {
    for (const optimize::Constraint& limit : so_far.options.constraints) names.push_back(limit.name);
    return SearchStep::leave_out;
  });
  return names;
}

TEST(DramCapacity, IsAskedOfRowsOfTheModelThatKnowsItAlone) {
  EXPECT_THAT(limits_of_rows_by("hindsight-accel 3 5nm-silicon@liquid"), ::testing::Contains(kDramFilled));
  // Another simulator may page, or count other bytes: what it refuses, its rows teach.
  EXPECT_THAT(limits_of_rows_by("their simulator"), ::testing::IsEmpty());
}

}  // namespace
}  // namespace hindsight::study
