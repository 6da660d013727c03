/// Launchers that start shards in a folder of their own.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "apps/process.h"
#include "temporary_folder.h"

namespace hindsight::cluster::test {

/// Skips a test whose programs are not all there; says which are not and where Debian has them.
#define HINDSIGHT_NEEDS_PROGRAMS(package, ...)                                      \
  if (const std::string missing = missing_program({__VA_ARGS__}); !missing.empty()) \
  GTEST_SKIP() << missing << " is not installed: what starts by it was not run (Debian's package " << (package) << ")"

/// The first that is not on the PATH; empty: all are.
std::string missing_program(const std::vector<std::string>& programs);

/// What a shell command said, standard output and error together.
struct Said {
  int exit_code = -1;
  std::string text;
};

class Engine : public ::testing::Test {
 protected:
  /// A command line in the test's folder, with the built `hindsight` first on the PATH and none of a launcher's
  /// variables that this process may have.
  [[nodiscard]] Said shell(const std::string& command) const;
  /// The folder's files whose names begin and end so, in order.
  [[nodiscard]] std::vector<std::string> files(const std::string& begin, const std::string& end) const;
  [[nodiscard]] std::string file(const std::string& name) const { return (folder_ / name).string(); }
  /// SHA-256 of a log's content; of several logs, of what they merge to.
  [[nodiscard]] std::string content_of(const std::string& log) const;
  [[nodiscard]] std::string merged(const std::vector<std::string>& logs) const;
  /// Content of the sweep with kOptions by one process.
  [[nodiscard]] std::string by_one_process() const;
  /// configs/cluster/NAME, quoted.
  [[nodiscard]] static std::string launcher(const std::string& name);

  static constexpr const char* kOptions = "--space tiny --workloads m6,unet --samples 300 --seed 3";

  hindsight::test::TemporaryFolder temporary_;
  std::filesystem::path folder_ = temporary_.path();
};

}  // namespace hindsight::cluster::test
