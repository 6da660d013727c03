/// Draws end by Ctrl-C, however long one takes. Private to the space layer.
#pragma once

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"

namespace hindsight::space {

/// Error{interrupted} a second after Ctrl-C. Draws whose constraints are short end before, with their loop.
inline void stop_draws_if_overdue() {
  if (interrupt_overdue()) throw Error(ErrorKind::interrupted, "interrupted while designs were drawn");
}

}  // namespace hindsight::space
