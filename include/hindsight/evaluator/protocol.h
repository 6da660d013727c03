/// What is said between Hindsight and a simulator outside of it: questions and answers, one JSON object a line.
///
/// Fields, units and order: docs/external-evaluators.md. Numbers are written so that they read back as the same double.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/evaluator/evaluator.h"
#include "hindsight/space/design_space.h"
#include "hindsight/workload/network.h"

namespace hindsight::evaluator {

/// Bumped whenever the same answer would mean another row.
inline constexpr int kProtocolVersion = 1;
/// The longest line that is read. [chosen] A row of a thousand metrics has 50 kB, the longest question of a shipped
/// network 0.3 MB.
inline constexpr std::size_t kMostAnswerBytes = std::size_t{1} << 20U;
inline constexpr std::size_t kMostQuestionBytes = std::size_t{1} << 26U;

/// One design on one workload, by the number that its answer repeats.
struct Question {
  std::int64_t id = 0;
  space::Design design;
  workload::Network network;
};

/// Objects of a question, as JSON texts of one line.
[[nodiscard]] std::string design_json(const space::DesignSpace& space, const space::Design& design);
[[nodiscard]] std::string workload_json(const workload::Network& network);
/// The line without its end.
[[nodiscard]] std::string question_line(std::int64_t id, const std::string& design_json,
                                        const std::string& workload_json);
/// The answer's line without its end; the row's identities are not part of it.
[[nodiscard]] std::string answer_line(std::int64_t id, const Row& row);

/// Reads questions about designs of one space. A workload that is, byte for byte, the one of the question before is not
/// read again.
class QuestionReader {
 public:
  /// `space` must outlive it.
  explicit QuestionReader(const space::DesignSpace& space) : space_(space) {}
  /// Error{usage}, without a place: what is wrong with the line and what is expected.
  [[nodiscard]] Question read(std::string_view line);

 private:
  const space::DesignSpace& space_;
  std::string known_text_;  ///< of known_: from the comma before "workload" to the line's end
  std::optional<workload::Network> known_ = {};
};

/// What an answer must agree with.
struct Expected {
  std::optional<std::int64_t> id = {};  ///< nothing: the answer needs none
  const space::DesignSpace* space = nullptr;
  const space::Design* design = nullptr;
  std::vector<std::string> metrics = {};  ///< of a feasible row, exactly these; empty: any
};
/// An answer as it should be, but for a metric that is NaN, infinite or null: what a simulator says that failed on this
/// design.
class NoFiniteMetric : public Error {
 public:
  using Error::Error;
};
/// Error{failure}, without a place: what is wrong with the answer and what was expected; NoFiniteMetric. NaN and the
/// infinities may be written as programs print them, though JSON has none.
[[nodiscard]] Row parse_answer(std::string_view text, const Expected& expected);

}  // namespace hindsight::evaluator
