/// Cooperative Ctrl-C: the first SIGINT/SIGTERM asks loops to stop at the next safe point,
/// the second ends the process at once.
#pragma once

namespace hindsight {

/// Installs the handlers (idempotent).
void install_interrupt_handlers();
/// True once SIGINT or SIGTERM has arrived.
[[nodiscard]] bool interrupt_requested();
/// True once it arrived a second ago: where one step of a loop may take long, what works in it ends, too. Loops of
/// short steps have ended by then, and kept what they had.
[[nodiscard]] bool interrupt_overdue();
/// 128 + the signal that asked first: 130 for SIGINT (Ctrl-C), 143 for SIGTERM, 129 for SIGHUP. 130 before any did.
[[nodiscard]] int interrupt_exit_code();
/// For tests: sets or clears the flag.
void set_interrupt_requested(bool requested);

/// A process group that must not outlive this process: the signal that ends it at once kills the group before
/// (SIGKILL). `group` is above 1.
void end_with_us(int group);
void no_longer_with_us(int group);

}  // namespace hindsight
