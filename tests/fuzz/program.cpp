/// Readers that need the whole program: command lines, defaults, results of studies.
#include <array>
#include <memory>
#include <optional>

#include "apps/hindsight/command_line.h"
#include "apps/hindsight/command_tree.h"
#include "apps/hindsight/default_files.h"
#include "fuzz/reader.h"
#include "hindsight/accel/technology.h"
#include "hindsight/check/offline.h"
#include "hindsight/check/optima.h"
#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight::fuzz {
namespace {

/// The program's verbs and options. To describe them takes as long as some hundred command lines to read, so they serve
/// many of them; what one leaves behind (values of options) is gone with the next description.
class Program {
 public:
  /// Errors: those of parse_command_line(). What else is thrown is what a program says that has read nothing before.
  void parse(const std::vector<std::string>& arguments) {
    constexpr int kUses = 256;  // [chosen] the description costs less than the lines then
    if (!line_ || ++uses_ == kUses) describe();
    session_ = app::Session();
    try {
      line_->parse(arguments);
    } catch (const Error&) {
      throw;
    } catch (const std::exception&) {
      describe();
      line_->parse(arguments);
    }
  }

 private:
  void describe() {
    line_.emplace(session_);
    uses_ = 0;
  }
  app::Session session_;
  std::optional<app::CommandLine> line_;
  int uses_ = 0;
};

/// One argument a line. Nothing runs: the action is only made.
void read_command_line(std::string_view bytes) {
  std::vector<std::string> arguments;
  for (const std::string_view piece : split(bytes, '\n')) arguments.emplace_back(piece);
  for (std::string& argument : arguments) {
    if (const std::size_t end = argument.find('\0'); end != std::string::npos) argument.resize(end);
  }
  app::obey_colour(arguments);
  // The build's own verb for man pages writes a folder, which no input is to name.
  if (arguments.size() == 2 && arguments.front() == "__pages") return;
  static Program program;
  program.parse(arguments);
}

/// The tree of verbs, described once.
const CLI::App& program() {
  static app::Session session;
  static const std::unique_ptr<CLI::App> program = [] {
    auto tree = std::make_unique<CLI::App>();
    app::describe_program(*tree);
    app::add_verbs(*tree, session);
    return tree;
  }();
  return *program;
}

void read_defaults(std::string_view bytes) {
  std::vector<app::Default> found;
  app::read_default_file(program(), app::DefaultLayer::project, as_file(bytes, ".yaml"), found);
}

void read_offline_results(std::string_view bytes) { (void)check::read_results(as_file(bytes, ".jsonl")); }

void read_optima(std::string_view bytes) {
  static const accel::Technology technology = accel::load_technology("22nm-silicon");
  (void)check::parse_optima(std::string(bytes), technology, "optima.csv");
}

}  // namespace

std::span<const Reader> program_readers() {
  static constexpr std::array kReaders{
      Reader{.name = "command_line", .read = read_command_line, .dictionary = "command_line"},
      Reader{.name = "defaults", .read = read_defaults, .dictionary = "yaml"},
      Reader{.name = "offline_results", .read = read_offline_results, .dictionary = "json"},
      Reader{.name = "optima", .read = read_optima, .dictionary = "table"},
  };
  return kReaders;
}

}  // namespace hindsight::fuzz
