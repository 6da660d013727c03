/// hindsight serve: the built-in model as an external evaluator: a question a line in, an answer a line out.
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "hindsight/accel/technology.h"
#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/evaluator/built_in.h"
#include "hindsight/evaluator/protocol.h"
#include "output.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

struct ServeOptions {
  std::string space = "edge";
  std::string technology = "22nm";
};

/// The next line without its end; nothing at the end of standard input. What follows the last line end counts as one.
std::optional<std::string> read_line(std::uint64_t number) {
  std::string line;
  std::streambuf& in = *std::cin.rdbuf();
  for (int c = in.sbumpc(); c != std::istream::traits_type::eof(); c = in.sbumpc()) {
    if (c == '\n') return line;
    line.push_back(static_cast<char>(c));
    if (line.size() > evaluator::kMostQuestionBytes) {
      throw Error(ErrorKind::usage, fmt::format("standard input:{}: a line of more than {}", number,
                                                binary_bytes(evaluator::kMostQuestionBytes)));
    }
  }
  return line.empty() ? std::nullopt : std::optional(line);
}

int serve(const ServeOptions& options) {
  std::ios::sync_with_stdio(false);
  const auto model = evaluator::built_in(space::load_space(options.space), accel::load_technology(options.technology));
  evaluator::QuestionReader reader(model->space());
  std::uint64_t number = 0;
  while (const auto line = read_line(++number)) {
    try {
      const evaluator::Question question = reader.read(*line);
      const auto rows = model->evaluate(question.design.levels, {&question.network, 1});
      print_data(evaluator::answer_line(question.id, rows.front()) + "\n");
    } catch (const Error& error) {
      throw Error(error.kind(), fmt::format("standard input:{}: {}", number, error.what()));
    }
  }
  return 0;
}

}  // namespace

void add_serve(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ServeOptions>();
  CLI::App* verb = app.add_subcommand("serve", "Answer questions on standard input, line by line");
  verb->add_option("--space", options->space, "Design space of the questions [edge]");
  verb->add_option("--technology", options->technology, "Node [22nm]; 16nm-silicon[@CLASS]: version 2");
  verb->footer(
      "The built-in model as a process, for programs that ask one (--evaluator):\n"
      "questions and answers are JSON, docs/external-evaluators.md.\n"
      "Example: hindsight sweep --evaluator 'hindsight serve --space tiny' \\\n"
      "           --space tiny --workloads m6 --samples 50 --log served.sqlite");
  verb->callback([options, &session] { session.action = [options] { return serve(*options); }; });
}

}  // namespace hindsight::app
