/// Small simulators written in shell, a space and a workload to ask them about, and what is left of their processes.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/evaluator/external.h"
#include "in_shell.h"
#include "temporary_folder.h"

namespace hindsight::evaluator::test {

/// Not the accelerator's template: eight values of `size`, two names of `flow`.
inline space::DesignSpace toy_space() {
  return {"toy",
          "for tests",
          {{.name = "size", .unit = "count", .description = "", .values = {1, 2, 3, 4, 5, 6, 7, 8}, .labels = {}},
           {.name = "flow",
            .unit = "",
            .description = "",
            .kind = space::ParameterKind::categorical,
            .values = {},
            .labels = {"ws", "os"}}}};
}

inline const std::vector<workload::Network>& one_layer() {
  static const std::vector<workload::Network> networks = [] {
    workload::Layer layer;
    layer.name = "only";
    layer.type = workload::LayerType::fully_connected;
    layer.rows = 4;
    layer.columns = layer.reduction = 8;
    return std::vector<workload::Network>{{"toy_net", "for tests", "made up", true, 1, {layer}}};
  }();
  return networks;
}

/// Levels of designs with these sizes, all of flow `ws`.
inline std::vector<std::uint16_t> sizes(const std::vector<std::uint16_t>& values) {
  std::vector<std::uint16_t> levels;
  for (const std::uint16_t value : values) {
    levels.push_back(static_cast<std::uint16_t>(value - 1));
    levels.push_back(0);
  }
  return levels;
}

/// A simulator that reads questions; `body` sees $id, $size and $line for each.
inline std::string answering(const std::string& body) {
  return "while read -r line; do id=${line#*'\"id\":'}; id=${id%%,*}; size=${line#*'\"size\":'}; size=${size%%,*}; " +
         body + "; done";
}
/// Answers with the size as latency.
inline const std::string kGood = "echo \"{\\\"id\\\":$id,\\\"metrics\\\":{\\\"latency_s\\\":$size}}\"";

/// Not running: gone, or a zombie that nobody has reaped yet.
inline bool is_gone(const std::string& process) {
  std::ifstream in("/proc/" + process + "/stat");
  std::string text;
  if (!std::getline(in, text)) return true;
  const auto state = text.find_last_of(')') + 2;
  return text[state] == 'Z' || text[state] == 'X';
}

class ExternalTest : public ::testing::Test {
 protected:
  [[nodiscard]] static std::shared_ptr<const Evaluator> make(const ExternalCommand& command) {
    return external(toy_space(), command);
  }
  /// One whose command is lines of a shell.
  [[nodiscard]] static std::shared_ptr<const Evaluator> make_shell(ExternalCommand command) {
    command.text = hindsight::test::in_shell(command.text);
    return make(command);
  }
  [[nodiscard]] std::string file(const std::string& name) const { return (folder_ / name).string(); }
  /// A script of this test as a command.
  [[nodiscard]] std::string script(const std::string& name, const std::string& text) const {
    return "sh " + folder_.write(name, text).string();
  }
  [[nodiscard]] std::vector<std::string> lines_of(const std::string& name) const {
    std::ifstream in(file(name));
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }
  /// Every process whose number stands in the file `pids` ends soon.
  void expect_all_gone(std::size_t at_least) const {
    const std::vector<std::string> processes = lines_of("pids");
    EXPECT_GE(processes.size(), at_least);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    for (const std::string& process : processes) {
      while (!is_gone(process) && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
      EXPECT_TRUE(is_gone(process)) << process;
    }
  }

  hindsight::test::TemporaryFolder folder_;
};

/// What evaluate() ends with, as exit code and message.
template <class Body>
std::optional<Error> error_of(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

}  // namespace hindsight::evaluator::test
