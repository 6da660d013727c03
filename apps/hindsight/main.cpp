/// The program: parses the command line, runs one verb, and turns every failure into one line and an exit code.
#include <csignal>
#include <new>
#include <string>
#include <vector>

#include "command_line.h"
#include "given_defaults.h"
#include "hindsight/core/error.h"
#include "output.h"

namespace {

/// Facts of this run, with the whole command line: defaults of environment and files included.
hindsight::Provenance provenance_of(const char* program, const std::vector<std::string>& arguments) {
  std::vector<const char*> words{program};
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  return hindsight::make_provenance(static_cast<int>(words.size()), words.data());
}

}  // namespace

int main(int argc, char** argv) {
  namespace app = hindsight::app;
  // A closed pipe and a file at its size limit are error codes of write(), not signals that end a sweep in the middle.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  app::CompleteLine line{.arguments = {argv + (argc > 0 ? 1 : 0), argv + argc}};
  try {
    app::obey_colour(line.arguments);
    line = app::with_defaults(line.arguments, app::places_of_process());
    app::Session session{.provenance = provenance_of(argc > 0 ? argv[0] : "hindsight", line.arguments), .action = {}};
    app::parse_command_line(line.arguments, session);
    return session.action();
  } catch (const app::OutputClosed&) {
    return 0;
  } catch (const hindsight::Error& error) {
    app::complain(line.explained(error.what()));
    return hindsight::exit_code(error.kind());
  } catch (const std::bad_alloc&) {
    app::complain("out of memory");
    return hindsight::exit_code(hindsight::ErrorKind::failure);
  } catch (const std::exception& error) {
    app::complain(std::string(error.what()) + " (this is a bug in Hindsight; please report it with the command line)");
    return hindsight::kInternalErrorExitCode;
  }
}
