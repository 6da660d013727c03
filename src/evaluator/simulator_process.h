/// One worker's process of an external evaluator: questions in, answers out, within a time, with its standard error.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hindsight/core/child_process.h"
#include "hindsight/core/error.h"
#include "hindsight/evaluator/external.h"

namespace hindsight::evaluator {

/// The last bytes of what was written.
class Tail {
 public:
  static constexpr std::size_t kMostBytes = 4096;  ///< [chosen] the end of a Python traceback
  void add(std::string_view text);
  /// Fit for a message and for JSON; lines stay lines.
  [[nodiscard]] std::string text() const;
  /// The last line that is not empty.
  [[nodiscard]] std::string last_line() const;

 private:
  std::string bytes_;
};

/// What a question asks, as texts.
struct Asked {
  std::int64_t id = 0;
  std::string design_json;
  std::shared_ptr<const std::string> workload_json;
};

/// The text of an answer.
struct Said {
  std::string text;
};
/// A process that ended, or was ended, without an answer, or whose answer has no number.
struct Failed {
  std::string code;     ///< `timeout`, `crash` or `not_finite`
  std::string message;  ///< one sentence
};
/// One process per question: its exit code, other than 0.
struct Refused {
  std::string code;     ///< exit_code_3
  std::string message;  ///< the last line of what it wrote
};
using Outcome = std::variant<Said, Failed, Refused>;

/// The command cannot be run at all: no design's fault, and no answer that is wrong.
class CannotRun : public Error {
 public:
  using Error::Error;
};

inline constexpr std::string_view kCommandOption = "--evaluator";  ///< where a command is given, for messages

/// Whether a placeholder stands in the command.
[[nodiscard]] bool runs_per_design(const std::string& command);
/// Error{usage}: a placeholder that is none or lacks its ending, or {out.json} left out.
void require_placeholders(const std::string& command);

/// Asks by the command's own way. One thread.
class SimulatorProcess {
 public:
  /// `given_up`: looked at several times a second while an answer is awaited.
  SimulatorProcess(const ExternalCommand& command, std::function<bool()> given_up);

  /// Nothing: given up. CannotRun; Error{failure} for what breaks the protocol's frame (too long a line).
  /// After Failed the next question gets a new process.
  [[nodiscard]] std::optional<Outcome> ask(const Asked& asked);
  /// Ends the process, if there is one: by the end of its input, if need be by force.
  void end();
  /// By force, at once.
  void kill();
  /// The end of all that its processes said besides answers, and of what the newest of them did.
  [[nodiscard]] const Tail& said() const { return tail_; }
  [[nodiscard]] const Tail& newest_said() const { return newest_tail_; }

 private:
  enum class Event { line, end, timeout, too_long, given_up };
  using Clock = std::chrono::steady_clock;

  std::optional<Outcome> ask_line(const Asked& asked, Clock::time_point deadline);
  std::optional<Outcome> ask_once(const Asked& asked, Clock::time_point deadline);
  /// Sends the question and reads until there is a line, which ends at searched_.
  Event converse(const std::string& question, Clock::time_point deadline);
  Said take_line();
  /// Waits until bytes can be moved, for a short while at the longest, and moves them.
  void move_bytes(std::string_view& unsent, Clock::time_point deadline);
  void start(const std::vector<std::string>& words, ChildInput input);
  /// Reads what is there.
  void drain();
  void hear(std::string_view text);
  Failed timed_out();
  /// Ends the process now.
  ProcessEnd finish();

  const ExternalCommand& command_;
  std::vector<std::string> words_;  ///< of the command
  std::function<bool()> given_up_;
  std::optional<ChildProcess> process_;
  std::string output_;        ///< read, not yet taken
  std::size_t searched_ = 0;  ///< bytes of output_ without an end of line
  Tail tail_, newest_tail_;
};

}  // namespace hindsight::evaluator
