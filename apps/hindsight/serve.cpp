/// hindsight serve: the live page of a log, or the built-in model as an external evaluator that answers line by line.
#include <fmt/format.h>

#include <cstdint>
#include <ios>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "file_roles.h"
#include "hindsight/accel/technology.h"
#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/text.h"
#include "hindsight/evaluator/built_in.h"
#include "hindsight/evaluator/protocol.h"
#include "live_study.h"
#include "option_values.h"
#include "output.h"
#include "page_server.h"
#include "shipped_models.h"
#include "study_sources.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

struct ServeOptions {
  std::string space = "edge";
  std::string technology;  ///< empty: that of the space
  std::string log, model;
  std::string gpus = "l4,h100-sxm5";
  int port = 0;
};

constexpr int kLargestPagePort = 65535;  // [spec: tcp] 16 bits

/// The next character of standard input. A disk or a terminal that fails is an exception of the stream's buffer.
int next_character(std::uint64_t line_number) {
  try {
    return std::cin.rdbuf()->sbumpc();
  } catch (const std::ios_base::failure& error) {
    throw Error(ErrorKind::failure, fmt::format("standard input:{}: cannot read: {}. Questions before this line are "
                                                "answered; ask from here on again",
                                                line_number, error.code().message()));
  }
}

/// The next line without its end; nothing at the end of standard input. What follows the last line end counts as one.
std::optional<std::string> read_line(std::uint64_t number) {
  std::string line;
  for (int c = next_character(number); c != std::istream::traits_type::eof(); c = next_character(number)) {
    if (c == '\n') return line;
    line.push_back(static_cast<char>(c));
    if (line.size() > evaluator::kMostQuestionBytes) {
      throw Error(ErrorKind::usage, fmt::format("standard input:{}: a line of more than {}", number,
                                                binary_bytes(evaluator::kMostQuestionBytes)));
    }
  }
  return line.empty() ? std::nullopt : std::optional(line);
}

int serve_page(ServeOptions options) {
  if (!options.model.empty()) options.model = model_file(options.model);
  FileRoles().reads("--model", options.model).reads_log("--log", options.log).require_usable();
  install_interrupt_handlers();
  LiveStudy study(
      {.log = options.log, .gpus = gpu::load_gpus(options.gpus), .importance = importance_of(options.model)});
  PageServer server(study, options.port);
  print(server.url() + "\n");
  remark("open this address in a browser of this machine; who has it may read the log's report. Ctrl-C ends");
  server.serve();
  return 0;
}

int serve_model(const ServeOptions& options) {
  std::ios::sync_with_stdio(false);
  const space::DesignSpace space = space::load_space(options.space);
  const auto model = evaluator::built_in(space, accel::load_technology(options.technology, space));
  evaluator::QuestionReader reader(model->space());
  std::uint64_t number = 0;
  while (const auto line = read_line(++number)) {
    std::string answer;
    try {
      const evaluator::Question question = reader.read(*line);
      const auto rows = model->evaluate(question.design.levels, {&question.network, 1});
      answer = evaluator::answer_line(question.id, rows.front()) + "\n";
    } catch (const Error& error) {
      throw Error(error.kind(), fmt::format("standard input:{}: {}", number, error.what()));
    }
    print_data(answer);
  }
  return 0;
}

}  // namespace

void add_serve(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ServeOptions>();
  CLI::App* verb = app.add_subcommand("serve", "A log's live page, or the model as a process");
  CLI::Option* log = verb->add_option("log,--log", options->log, "Log whose report is shown while it grows");
  verb->add_option("--port", options->port, "Of the page, on 127.0.0.1 [a free one]")
      ->check(between(1, kLargestPagePort))
      ->needs(log);
  verb->add_option("--model", options->model, "File, or shipped model: importance of parameters")->needs(log);
  verb->add_option("--gpu,--gpus", options->gpus, "Roofs beside the design's [l4,h100-sxm5]")->needs(log);
  verb->add_option("--space", options->space, "Without --log: space of the questions [edge]")->excludes(log);
  verb->add_option("--technology", options->technology, "Node, NODE@CLASS: its cooling [the space's]")->excludes(log);
  verb->footer(
      "With --log: the page of 'hindsight report', live while a sweep, a training or\n"
      "a campaign writes. Only this machine reaches it, with the token in the address.\n"
      "Without: the built-in model answers questions on standard input, a line each\n"
      "(--evaluator), docs/external-evaluators.md.\n"
      "Example: hindsight serve --log study.sqlite\n"
      "Example: hindsight sweep --evaluator 'hindsight serve --space tiny' \\\n"
      "           --space tiny --workloads m6 --samples 50 --log served.sqlite");
  verb->callback([options, &session] {
    session.action = [options] { return options->log.empty() ? serve_model(*options) : serve_page(*options); };
  });
}

}  // namespace hindsight::app
