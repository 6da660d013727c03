/// Is a design judged by its cheap limits first, and the model asked once for the rest?
#include "optimize/judge.h"

#include <gtest/gtest.h>

#include <cmath>

#include "optimize/problems.h"

namespace hindsight::optimize {
namespace {

/// Rows (a, b, c, d, e, f) = (i, 0, 0, 0, 0, 0).
LevelMatrix along_a(Eigen::Index rows) {
  LevelMatrix levels = LevelMatrix::Zero(rows, 6);
  for (Eigen::Index i = 0; i < rows; ++i) levels(i, 0) = static_cast<std::uint16_t>(i);
  return levels;
}

/// a <= 6 cheap; learned power = 2 a <= 8; score = 10 - a. Counts rows and questions.
struct Counted {
  Problem problem;
  std::size_t questions = 0;
  Eigen::Index rows = 0;
  Counted() {
    problem.space = &mixed_space();
    problem.constraints = {{.name = "power_w", .limit = 8},
                           {.name = "a", .limit = 6, .value = batched([](const auto* x) { return 1.0 * x[0]; })}};
    problem.model = [this](const LevelMatrix& levels) {
      ++questions;
      rows += levels.rows();
      const Eigen::VectorXd a = levels.col(0).cast<double>();
      return Learned{.score = 10 - a.array(), .values = 2 * a};
    };
  }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
};

TEST(Judge, AsksTheModelOnceAndOnlyForWhatMeetsTheCheapLimits) {
  Counted counted;
  std::vector<double> smallest(2, 100);
  const std::vector<Fitness> fitness = Judge(counted.problem).fitness(along_a(10), smallest);
  EXPECT_EQ(counted.questions, 1U);
  EXPECT_EQ(counted.rows, 7) << "a = 0 .. 6";
  EXPECT_EQ(smallest, (std::vector<double>{0, 0})) << "in the order of the constraints";
  EXPECT_TRUE(fitness[4].feasible());
  EXPECT_EQ(fitness[4].score, 6);
  EXPECT_FALSE(fitness[5].feasible());
  EXPECT_DOUBLE_EQ(fitness[5].violation, (10.0 - 8) / 8);
  EXPECT_DOUBLE_EQ(fitness[9].violation, (9.0 - 6) / 6 + 1) << "a learned limit that was not asked counts as 1";
}

TEST(Judge, SeparatesWhatIsCheapFromWhatIsLearned) {
  Counted counted;
  const Judge judge(counted.problem);
  const Eigen::MatrixXd cheap = judge.cheap(along_a(3));
  EXPECT_EQ(counted.questions, 0U);
  EXPECT_EQ(cheap, (Eigen::MatrixXd{{0.0}, {1.0}, {2.0}}));
  const Learned learned = judge.learned(along_a(3));
  EXPECT_EQ(learned.score, (Eigen::VectorXd{{10.0, 9.0, 8.0}}));
  EXPECT_EQ(learned.values, (Eigen::MatrixXd{{0.0}, {2.0}, {4.0}}));
}

TEST(Judge, ValuesThatAreNoNumbersViolateAndScoresThatAreNoneComeLast) {
  Problem problem;
  problem.space = &mixed_space();
  problem.constraints = {{.name = "power_w", .limit = 8}};
  problem.model = [](const LevelMatrix&) {
    return Learned{.score = Eigen::VectorXd{{std::nan(""), 1.0}}, .values = Eigen::MatrixXd{{1.0}, {std::nan("")}}};
  };
  std::vector<double> smallest(1, 100);
  const std::vector<Fitness> fitness = Judge(problem).fitness(along_a(2), smallest);
  EXPECT_TRUE(fitness[0].feasible());
  EXPECT_TRUE(std::isinf(fitness[0].score));
  EXPECT_FALSE(fitness[1].feasible());
  EXPECT_EQ(smallest.front(), 1);
}

}  // namespace
}  // namespace hindsight::optimize
