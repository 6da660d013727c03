/// Exit codes of errors, and the failure path of contracts.
#include "hindsight/core/error.h"

#include <fmt/format.h>

#include "hindsight/core/interrupt.h"

namespace hindsight {

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::failure:
      return 1;
    case ErrorKind::usage:
      return 2;
    case ErrorKind::no_feasible:
      return 3;
    case ErrorKind::incompatible:
      return 4;
    case ErrorKind::unavailable:
      return 5;
    case ErrorKind::interrupted:
      return interrupt_exit_code();
  }
  return kInternalErrorExitCode;
}

void contract_failed(const char* kind, const char* expression, const char* file, int line) {
  throw ContractViolation(fmt::format("{}:{}: internal error: {} ({}). Please report this as a bug in Hindsight.", file,
                                      line, expression, kind));
}

}  // namespace hindsight
