/// The program: parses the command line, runs one verb, and turns every failure into one line and an exit code.
#include <csignal>
#include <new>
#include <string>
#include <vector>

#include "command_line.h"
#include "hindsight/core/error.h"
#include "output.h"

int main(int argc, char** argv) {
  namespace app = hindsight::app;
  // A closed pipe and a file at its size limit are error codes of write(), not signals that end a sweep in the middle.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    app::Session session{.provenance = hindsight::make_provenance(argc, argv), .action = {}};
    app::parse_command_line(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc), session);
    return session.action();
  } catch (const app::OutputClosed&) {
    return 0;
  } catch (const hindsight::Error& error) {
    app::complain(error.what());
    return hindsight::exit_code(error.kind());
  } catch (const std::bad_alloc&) {
    app::complain("out of memory");
    return hindsight::exit_code(hindsight::ErrorKind::failure);
  } catch (const std::exception& error) {
    app::complain(std::string(error.what()) + " (this is a bug in Hindsight; please report it with the command line)");
    return hindsight::kInternalErrorExitCode;
  }
}
