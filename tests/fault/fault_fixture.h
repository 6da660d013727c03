/// A folder for the tests of faults, and where the library that makes calls fail cannot be loaded.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "fault/command.h"
#include "fault/scenario.h"
#include "fault/tally.h"
#include "temporary_folder.h"

namespace hindsight::fault::test {

class FaultFixture : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path folder() const { return temporary_.path() / "work"; }
  [[nodiscard]] std::string file(const std::string& name) const { return (temporary_.path() / name).string(); }
  [[nodiscard]] std::string content_hash_of(const std::string& log) const {
    return run({"log", "hash", log}).out.substr(0, 64);
  }

  hindsight::test::TemporaryFolder temporary_;
};

}  // namespace hindsight::fault::test

/// A sanitizer has to be the first library of a program, and so has ours.
#ifdef HINDSIGHT_SANITIZED
#define HINDSIGHT_NEEDS_INTERPOSER() \
  GTEST_SKIP() << "skipped: a sanitizer's library and the failing one exclude each other"
#else
#define HINDSIGHT_NEEDS_INTERPOSER() static_cast<void>(0)
#endif
#define HINDSIGHT_NEEDS_TRAINING() \
  if (!can_train()) GTEST_SKIP() << "skipped: built without LibTorch"
