/// Are exit codes the documented ones, and do contracts name their place?
#include "hindsight/core/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace hindsight {
namespace {

TEST(Error, ExitCodesAreTheDocumentedOnes) {
  EXPECT_EQ(exit_code(ErrorKind::failure), 1);
  EXPECT_EQ(exit_code(ErrorKind::usage), 2);
  EXPECT_EQ(exit_code(ErrorKind::no_feasible), 3);
  EXPECT_EQ(exit_code(ErrorKind::incompatible), 4);
  EXPECT_EQ(exit_code(ErrorKind::unavailable), 5);
  EXPECT_EQ(exit_code(ErrorKind::interrupted), 130);
  EXPECT_EQ(kInternalErrorExitCode, 70);
}

TEST(Error, ContractNamesExpressionAndPlace) {
  const int pes = 0;
  try {
    HINDSIGHT_EXPECT(pes > 0);
    FAIL() << "the contract let 0 pass";
  } catch (const ContractViolation& violation) {
    EXPECT_THAT(violation.what(), testing::HasSubstr("error_test.cpp:"));
    EXPECT_THAT(violation.what(), testing::HasSubstr("pes > 0"));
    EXPECT_THAT(violation.what(), testing::HasSubstr("expects"));
  }
  EXPECT_THROW(HINDSIGHT_ENSURE(pes == 1), ContractViolation);
  EXPECT_NO_THROW(HINDSIGHT_EXPECT(pes == 0));
}

}  // namespace
}  // namespace hindsight
