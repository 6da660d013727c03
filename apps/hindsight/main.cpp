/// The program: parses the command line, runs one verb, and turns every failure into one line and an exit code.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command_line.h"
#include "given_defaults.h"
#include "hindsight/core/error.h"
#include "hindsight/core/patience.h"
#include "hindsight/log/address.h"
#include "output.h"

namespace {

/// Facts of this run, with the whole command line: defaults of environment and files included.
hindsight::Provenance provenance_of(const char* program, const std::vector<std::string>& arguments) {
  std::vector<const char*> words{program};
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  return hindsight::make_provenance(static_cast<int>(words.size()), words.data());
}

namespace app = hindsight::app;

/// A program that is started without standard output (`>&-`) would get its number for the next file that it opens, and
/// print into that. What takes the place here fails when it is used.
void keep_standard_streams_apart() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(number, F_GETFD) >= 0) continue;
    static_cast<void>(::open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY));  // the lowest free number
  }
}

std::atomic<bool> memory_ran_out{false};

/// Once: what ends after the message may run out of it again.
void say_out_of_memory() {
  static std::atomic<bool> said{false};
  if (said.exchange(true)) return;
  constexpr std::string_view kMessage =
      "hindsight: error: out of memory; what was committed is kept. Free some, or give it less at a time.\n";
  static_cast<void>(::write(STDERR_FILENO, kMessage.data(), kMessage.size()) == 0);
}

/// Destructors of libraries allocate (nlohmann::json's, SQLiteCpp's), and end the program where they cannot. That is no
/// crash: a log outlives it as it outlives a kill.
void keep_memory_failures_orderly() {
  std::set_new_handler([] {
    memory_ran_out.store(true);
    throw std::bad_alloc();
  });
  std::set_terminate([] {
    if (!memory_ran_out.load()) std::abort();
    say_out_of_memory();
    ::_exit(hindsight::exit_code(hindsight::ErrorKind::failure));
  });
}

/// A log remembers the command that wrote it, others see the list of processes, and output is shown around.
void hide_passwords(const std::vector<std::string>& arguments, hindsight::Provenance& provenance) {
  provenance.command_line = hindsight::log::without_passwords(provenance.command_line);
  bool found = false;
  for (const std::string& argument : arguments) {
    const std::string value = argument.substr(argument.starts_with("--") ? argument.find('=') + 1 : 0);
    if (!hindsight::log::has_password(value)) continue;
    app::replace_in_output(value, hindsight::log::without_passwords(value));
    found = true;
  }
  if (!found) return;
  app::remark(
      "a password on the command line is seen by everybody on this machine; it is stored nowhere. PostgreSQL reads it "
      "from ~/.pgpass or PGPASSFILE instead");
}

/// Whether a person at the terminal is told what a silent command is at: not with --quiet, not by what waits for others
/// all day, and not while that person types.
bool tells_what_it_is_at(const app::Session& session, const std::vector<std::string>& arguments) {
  const auto given = [&](std::string_view word) {
    return std::find(arguments.begin(), arguments.end(), word) != arguments.end();
  };
  const bool waits = session.verb == "hindsight serve" || session.verb == "hindsight worker";
  const bool typed = ::isatty(STDIN_FILENO) != 0 && (given("-") || given("/dev/stdin"));
  return !session.verb.empty() && !given("--quiet") && !given("-q") && !waits && !typed;
}

/// Runs one verb; its errors are said and become its exit code.
int run(int argc, char** argv) {
  app::CompleteLine line{.arguments = {argv + (argc > 0 ? 1 : 0), argv + argc}};
  try {
    app::obey_colour(line.arguments);
    line = app::with_defaults(line.arguments, app::places_of_process());
    app::Session session{
        .provenance = provenance_of(argc > 0 ? argv[0] : "hindsight", line.arguments), .action = {}, .verb = {}};
    app::parse_command_line(line.arguments, session);
    hide_passwords(line.arguments, session.provenance);
    std::optional<hindsight::Patience> patience;
    if (tells_what_it_is_at(session, line.arguments)) patience.emplace(session.verb);
    return session.action();
  } catch (const app::OutputClosed&) {
    return 0;
  } catch (const hindsight::Error& error) {
    app::complain(line.explained(error.what()));
    return hindsight::exit_code(error.kind());
  } catch (const std::bad_alloc&) {
    throw;  // not even a message can be made
  } catch (const std::exception& error) {
    app::complain(std::string(error.what()) + " (this is a bug in Hindsight; please report it with the command line)");
    return hindsight::kInternalErrorExitCode;
  }
}

}  // namespace

int main(int argc, char** argv) {
  // A closed pipe and a file at its size limit are error codes of write(), not signals that end a sweep in the middle.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  keep_standard_streams_apart();
  keep_memory_failures_orderly();
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    say_out_of_memory();
    return hindsight::exit_code(hindsight::ErrorKind::failure);
  }
}
