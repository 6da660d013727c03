/// How a program that was asked to stop says by what.
#pragma once

namespace hindsight {

/// 128 + the signal that asked first: 130 for SIGINT (Ctrl-C), 143 for SIGTERM, 129 for SIGHUP. 130 before any did.
[[nodiscard]] int interrupt_exit_code();

}  // namespace hindsight
