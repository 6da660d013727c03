/// The one exception type of the project: something that ends a command, with a message for a person.
///
/// Infeasible designs, non-convergence and missing optional data are values, never exceptions.
/// Message grammar: `file:line[:column]: problem (why it matters). Remedy?`
#pragma once

#include <stdexcept>
#include <string>

namespace hindsight {

/// Why a command cannot go on; decides the exit code of the program.
enum class ErrorKind {
  failure,       ///< exit 1: the run failed (disk full, file unreadable ...)
  usage,         ///< exit 2: bad flags, bad configuration, unknown names
  no_feasible,   ///< exit 3: no feasible design, and why
  incompatible,  ///< exit 4: an artifact of another version, or a corrupt one
  unavailable,   ///< exit 5: not built in, or no such device
  interrupted,   ///< exit 130: Ctrl-C
};

/// Process exit code of an error kind (see `docs/cli.md`).
[[nodiscard]] int exit_code(ErrorKind kind);

/// Exit code of a broken contract, that is of a bug in Hindsight itself.
inline constexpr int kInternalErrorExitCode = 70;

/// Thrown where a command cannot go on; caught once, in `main`.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  [[nodiscard]] ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

/// Thrown by a failed contract: a bug in Hindsight, unreachable from user input.
class ContractViolation : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Throws ContractViolation naming the expression and its place.
[[noreturn]] void contract_failed(const char* kind, const char* expression, const char* file, int line);

}  // namespace hindsight

/// Always-on check of a caller's duty inside the project; its failure is a bug (exit 70).
#define HINDSIGHT_EXPECT(condition) \
  ((condition) ? static_cast<void>(0) : ::hindsight::contract_failed("expects", #condition, __FILE__, __LINE__))
/// Always-on check of a function's own promise; its failure is a bug (exit 70).
#define HINDSIGHT_ENSURE(condition) \
  ((condition) ? static_cast<void>(0) : ::hindsight::contract_failed("ensures", #condition, __FILE__, __LINE__))
