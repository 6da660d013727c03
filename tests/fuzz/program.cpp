/// Readers that need the whole program: command lines, defaults, tables and results that its verbs take.
#include <array>
#include <memory>
#include <optional>

#include "apps/hindsight/command_line.h"
#include "apps/hindsight/command_tree.h"
#include "apps/hindsight/default_files.h"
#include "apps/hindsight/defaults.h"
#include "apps/hindsight/gemm_rows.h"
#include "apps/hindsight/proposals_file.h"
#include "apps/hindsight/trained_model.h"
#include "apps/hindsight/w50_results.h"
#include "fuzz/reader.h"
#include "hindsight/accel/technology.h"
#include "hindsight/check/offline.h"
#include "hindsight/check/optima.h"
#include "hindsight/check/play_score.h"
#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/csv_stream.h"
#include "hindsight/report/joined.h"
#include "hindsight/report/w50.h"

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

/// A variable a line.
void read_variables(std::string_view bytes) {
  app::DefaultPlaces places;
  for (const std::string_view line : split(bytes, '\n')) places.environment.emplace_back(line);
  std::vector<app::Default> found;
  static const app::KnownVariables known = app::known_variables(program());
  app::read_environment(program(), known, places, found);
  for (const app::Default& one : found) {
    require(!one.values.empty() && !one.key.empty(), "a default has an option and a value");
  }
}

void read_offline_results(std::string_view bytes) { (void)check::read_results(as_file(bytes, ".jsonl")); }

void read_optima(std::string_view bytes) {
  static const accel::Technology technology = accel::load_technology("22nm-silicon");
  (void)check::parse_optima(std::string(bytes), technology, "optima.csv");
}

void read_proposals(std::string_view bytes) {
  constexpr std::size_t kMost = 8;
  const app::ProposalsFile proposals = app::read_proposals_file(as_file(bytes, ".json").string(), "", kMost);
  require(!proposals.designs.empty() && proposals.designs.size() <= kMost, "as many designs as were asked for");
}

/// Designs of `bench score`.
void read_played_designs(std::string_view bytes) {
  static const space::DesignSpace space = space::load_space("edge");
  for (const space::Design& design : check::read_designs(as_file(bytes, ".csv"), space)) {
    require(space.parse_design(space.text_id(design)) == design, "a design's name reads back");
  }
}

void read_play_results(std::string_view bytes) { check::require_results(as_file(bytes, ".jsonl")); }

/// A table that goes on is the one that was read, whatever the order of its rows was.
void read_w50_results(std::string_view bytes) {
  constexpr sweep::Shard kShard{.index = 0, .count = 2};
  constexpr std::uint64_t kCells = 6;
  const std::string head = report::table_of_shard("# hindsight bench w50\n" + report::w50_csv_names(), kShard, kCells);
  const auto read = [&](std::string_view text) {
    return app::read_w50_results(as_file(text, ".csv").string(), head, kShard, kCells);
  };
  std::string again = head;
  const auto rows = read(bytes);
  for (const auto& [cell, text] : rows) {
    require(cell < kCells && cell % kShard.count == kShard.index, "rows are of the shard's cells");
    again += text;
  }
  require(read(again) == rows, "a table of results reads back");
}

/// Rows of `gemm --csv`: products that can be predicted.
void read_gemm_table(std::string_view bytes) {
  dataset::CsvStream stream(as_file(bytes, ".csv"));
  const app::GemmRowReader reader(stream.header(), "input.csv", app::GemmRowReader::Defaults());
  (void)reader.unused_columns();
  dataset::CsvBlock block;
  while (stream.next(block, 3)) {
    for (std::size_t row = 0; row < block.rows(); ++row) {
      require(gpu::size_problem(reader.read(block, row)).empty(), "a product has sizes that can be");
    }
  }
}

/// What a part of a model says that it was learnt from.
void read_learning_request(std::string_view bytes) {
  std::string choice, choice_again;
  const app::LearningRows rows = app::rows_of_request(std::string(bytes), {}, "tiny", choice);
  const std::string again = app::request_json(rows, choice);
  const app::LearningRows copy = app::rows_of_request(again, {}, "tiny", choice_again);
  require(app::request_json(copy, choice_again) == again, "a request reads back");
}

}  // namespace

std::span<const Reader> program_readers() {
  static constexpr std::array kReaders{
      Reader{.name = "command_line", .read = read_command_line, .dictionary = "command_line"},
      Reader{.name = "defaults", .read = read_defaults, .dictionary = "yaml"},
      Reader{.name = "offline_results", .read = read_offline_results, .dictionary = "json"},
      Reader{.name = "optima", .read = read_optima, .dictionary = "table"},
      Reader{.name = "environment", .read = read_variables, .dictionary = "environment"},
      Reader{.name = "proposals", .read = read_proposals, .dictionary = "json"},
      Reader{.name = "played_designs", .read = read_played_designs, .dictionary = "table"},
      Reader{.name = "play_results", .read = read_play_results, .dictionary = "json"},
      Reader{.name = "w50_results", .read = read_w50_results, .dictionary = "table"},
      Reader{.name = "gemm_rows", .read = read_gemm_table, .dictionary = "table"},
      Reader{.name = "learning_request", .read = read_learning_request, .dictionary = "json"},
  };
  return kReaders;
}

}  // namespace hindsight::fuzz
