/// Moves bytes between a question, a process and its answer, with bounds on both.
#include "evaluator/simulator_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <utility>

#include "evaluator/program_file.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/scratch_folder.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"
#include "hindsight/evaluator/protocol.h"

namespace hindsight::evaluator {
namespace {

namespace fs = std::filesystem;

/// [chosen] Ctrl-C and the end of a process whose children hold its pipes are seen after so long at the latest.
constexpr std::chrono::milliseconds kLookEvery{50};
/// [chosen] What a process may take to end by itself when its input ends.
constexpr std::chrono::milliseconds kPoliteEnd{1000};
constexpr std::size_t kChunkBytes = 65536;  ///< [chosen] of one read: what a pipe holds
/// [chosen] Of standard error at a time, so that one who never stops writing does not keep the answer waiting.
constexpr int kMostChunks = 16;
constexpr std::size_t kShownOutput = 40;              ///< [chosen] characters of a wrong line in a message
constexpr std::size_t kShownReason = 120;             ///< [chosen] of what a shell says
constexpr int kCannotExecute = 126, kNotFound = 127;  ///< POSIX: exit codes of what starts a program in vain
constexpr int kSignalBase = 128;                      ///< a shell's child died of signal N: 128 + N
constexpr std::array<std::string_view, 3> kPlaceholders{"{design.json}", "{workload.json}", "{out.json}"};

void write(const fs::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text << '\n';
  out.close();
  if (out) return;
  throw Error(ErrorKind::failure,
              fmt::format("{}: cannot be written (a simulator reads its question there). Is the disk "
                          "full? Make room, or set TMPDIR to a folder on another",
                          printable(file.string(), 200)));
}

std::string without_braces(std::string_view placeholder) {
  return std::string(placeholder.substr(1, placeholder.size() - 2));
}

/// Whether a word is text that a shell reads: the one behind `sh -c`.
bool is_text_of_shell(const std::vector<std::string>& words, std::size_t word) {
  constexpr std::array<std::string_view, 5> kShells{"sh", "dash", "bash", "ksh", "zsh"};
  return word == 2 && words[1] == "-c" &&
         std::ranges::find(kShells, fs::path(words[0]).filename().string()) != kShells.end();
}

std::vector<std::string> with_files(std::vector<std::string> words, const ScratchFolder& folder) {
  for (const std::string_view placeholder : kPlaceholders) {
    const std::string plain = (folder / without_braces(placeholder)).string();
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string path = is_text_of_shell(words, i) ? shell_quoted(plain) : plain;
      std::string& word = words[i];
      for (auto at = word.find(placeholder); at != std::string::npos; at = word.find(placeholder, at + path.size())) {
        word.replace(at, placeholder.size(), path);
      }
    }
  }
  return words;
}

/// A command that cannot be run at all is no fault of a design.
void require_runnable(const ProcessEnd& end, const Tail& said, const std::string& program) {
  if (end.exit_code != kNotFound && end.exit_code != kCannotExecute) return;
  throw CannotRun(ErrorKind::failure,
                  fmt::format("cannot be run (exit code {}: {}).{}", end.exit_code,
                              printable(said.last_line(), kShownReason), remedy_of_program(program)));
}

/// A word that is a place without the ending of its file, or ends in `=` and it, would go to the program as it is.
/// Other words with one are the program's own, such as run_{design}.txt.
void require_endings(const std::vector<std::string>& words) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::vector<std::string> own = is_text_of_shell(words, i) ? split(words[i], ' ') : std::vector{words[i]};
    all.insert(all.end(), own.begin(), own.end());
  }
  for (const std::string& word : all) {
    for (const std::string_view placeholder : kPlaceholders) {
      const std::string bare = std::string(placeholder.substr(0, placeholder.find('.'))) + "}";
      if (word != bare && !word.ends_with("=" + bare)) continue;
      throw Error(ErrorKind::usage,
                  fmt::format("{}: there is no {}. Did you mean {}?", kCommandOption, bare, placeholder));
    }
  }
}

std::string with_last_line(const std::string& sentence, const Tail& said) {
  const std::string line = said.last_line();
  return line.empty() ? sentence : fmt::format("{}: {}", sentence, line);
}

}  // namespace

void Tail::add(std::string_view text) {
  bytes_ += text;
  if (bytes_.size() > 2 * kMostBytes) bytes_.erase(0, bytes_.size() - kMostBytes);
}

std::string Tail::text() const {
  const std::string_view last = std::string_view(bytes_).substr(bytes_.size() - std::min(bytes_.size(), kMostBytes));
  std::vector<std::string> lines;
  for (const std::string& line : split(last, '\n')) lines.push_back(printable(line, kMostBytes));
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return join(lines, "\n");
}

std::string Tail::last_line() const {
  const std::string whole = text();
  return whole.substr(whole.find_last_of('\n') + 1);  // npos + 1 is 0
}

bool runs_per_design(const std::string& command) {
  return std::any_of(kPlaceholders.begin(), kPlaceholders.end(),
                     [&](std::string_view placeholder) { return command.find(placeholder) != std::string::npos; });
}

void require_placeholders(const std::string& command) {
  const std::vector<std::string> known(kPlaceholders.begin(), kPlaceholders.end());
  for (auto end = command.find(".json}"); end != std::string::npos; end = command.find(".json}", end + 1)) {
    const auto begin = command.rfind('{', end);
    if (begin == std::string::npos) continue;
    const std::string word = command.substr(begin, end - begin + std::string_view(".json}").size());
    if (word.find(' ') != std::string::npos || std::find(known.begin(), known.end(), word) != known.end()) continue;
    throw Error(ErrorKind::usage,
                fmt::format("--evaluator: there is no {}.{}", printable(word), did_you_mean(word, known)));
  }
  require_endings(command_words(command, kCommandOption));
  if (!runs_per_design(command) || command.find("{out.json}") != std::string::npos) return;
  throw Error(ErrorKind::usage,
              "--evaluator: a command that is run per design writes its answer to {out.json}, which is not in it");
}

SimulatorProcess::SimulatorProcess(const ExternalCommand& command, std::function<bool()> given_up)
    : command_(command), words_(command_words(command.text, kCommandOption)), given_up_(std::move(given_up)) {}

std::optional<Outcome> SimulatorProcess::ask(const Asked& asked) {
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(command_.timeout_s));
  return runs_per_design(command_.text) ? ask_once(asked, deadline) : ask_line(asked, deadline);
}

std::optional<Outcome> SimulatorProcess::ask_line(const Asked& asked, Clock::time_point deadline) {
  if (process_) {
    const bool ended = process_->ended().has_value();
    drain();
    if (!output_.empty()) {
      throw Error(ErrorKind::failure,
                  fmt::format("said '{}' without being asked", printable(trimmed(output_), kShownOutput)));
    }
    if (ended) end();  // between two questions: it owes nobody an answer
  }
  if (!process_) start(words_, ChildInput::pipe);
  switch (converse(question_line(asked.id, asked.design_json, *asked.workload_json) + "\n", deadline)) {
    case Event::line:
      return take_line();
    case Event::given_up:
      return std::nullopt;
    case Event::timeout:
      return timed_out();
    case Event::too_long:
      throw Error(ErrorKind::failure, fmt::format("said a line of more than {}: '{}'", binary_bytes(kMostAnswerBytes),
                                                  printable(output_, kShownOutput)));
    case Event::end:
      break;
  }
  (void)process_->wait(kPoliteEnd);
  const bool half = !output_.empty();
  const ProcessEnd end = finish();
  require_runnable(end, newest_tail_, words_.front());
  return Failed{"crash", with_last_line(fmt::format("the process {} {}", to_string(end),
                                                    half ? "in the middle of its answer" : "without an answer"),
                                        newest_tail_)};
}

std::optional<Outcome> SimulatorProcess::ask_once(const Asked& asked, Clock::time_point deadline) {
  const ScratchFolder folder("the files of a question");
  write(folder / "design.json", asked.design_json);
  write(folder / "workload.json", *asked.workload_json);
  start(with_files(words_, folder), ChildInput::none);
  std::string_view nothing;
  while (!process_->ended()) {
    if (given_up_()) return std::nullopt;
    if (Clock::now() >= deadline) return timed_out();
    move_bytes(nothing, deadline);
    hear(std::exchange(output_, {}));
  }
  const ProcessEnd end = finish();
  require_runnable(end, newest_tail_, words_.front());
  if (end.signal != 0 || end.exit_code > kSignalBase) {
    return Failed{"crash", with_last_line(fmt::format("the process {}", to_string(end)), newest_tail_)};
  }
  if (end.exit_code != 0) return Refused{fmt::format("exit_code_{}", end.exit_code), newest_tail_.last_line()};
  if (!fs::exists(folder / "out.json")) throw Error(ErrorKind::failure, "exited with 0 and left no {out.json}");
  return Said{read_file(folder / "out.json", kMostAnswerBytes)};
}

SimulatorProcess::Event SimulatorProcess::converse(const std::string& question, Clock::time_point deadline) {
  std::string_view unsent = question;
  while (true) {
    const bool ended = process_->ended().has_value();  // before what it left is read
    if (ended) drain();
    searched_ = output_.find('\n', searched_);
    if (searched_ != std::string::npos && searched_ <= kMostAnswerBytes) return Event::line;
    searched_ = output_.size();
    if (output_.size() > kMostAnswerBytes) return Event::too_long;
    if (ended || !process_->output().open()) return Event::end;
    if (given_up_()) return Event::given_up;
    if (Clock::now() >= deadline) return Event::timeout;
    move_bytes(unsent, deadline);
  }
}

Said SimulatorProcess::take_line() {
  Said said{output_.substr(0, searched_)};
  output_.erase(0, searched_ + 1);
  searched_ = 0;
  return said;
}

void SimulatorProcess::move_bytes(std::string_view& unsent, Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
  const auto patience = std::clamp(left + std::chrono::milliseconds(1), std::chrono::milliseconds(0), kLookEvery);
  Descriptor& input = process_->input();
  if (!process_->output().open() && !process_->error().open()) {
    (void)process_->wait(patience);
    return;
  }
  std::array<pollfd, 3> ends{{{unsent.empty() ? -1 : input.number(), POLLOUT, 0},
                              {process_->output().number(), POLLIN, 0},
                              {process_->error().number(), POLLIN, 0}}};
  (void)::poll(ends.data(), ends.size(), static_cast<int>(patience.count()));
  if (ends[0].revents != 0) {
    const ssize_t written = ::write(input.number(), unsent.data(), unsent.size());
    if (written > 0) unsent.remove_prefix(static_cast<std::size_t>(written));
    if (written < 0 && errno != EAGAIN && errno != EINTR) unsent = {};  // its end will tell why nobody reads
  }
  drain();
}

void SimulatorProcess::start(const std::vector<std::string>& words, ChildInput input) {
  newest_tail_ = {};  // what one before said is about another design
  process_.emplace(words, input);
}

void SimulatorProcess::hear(std::string_view text) {
  tail_.add(text);
  newest_tail_.add(text);
}

void SimulatorProcess::drain() {
  std::array<char, kChunkBytes> chunk;
  const auto take = [&](Descriptor& from, const auto& most, const auto& put) {
    while (from.open() && most()) {
      const ssize_t count = ::read(from.number(), chunk.data(), chunk.size());
      if (count > 0) put(std::string_view(chunk.data(), static_cast<std::size_t>(count)));
      if (count < 0 && errno == EINTR) continue;
      if (count == 0 || (count < 0 && errno != EAGAIN)) from.close();
      if (count <= 0) return;
    }
  };
  int chunks = 0;
  take(
      process_->output(), [&] { return output_.size() <= kMostAnswerBytes; },
      [&](std::string_view text) { output_ += text; });
  take(
      process_->error(), [&] { return chunks++ < kMostChunks; }, [&](std::string_view text) { hear(text); });
}

Failed SimulatorProcess::timed_out() {
  Failed failed{"timeout", fmt::format("no answer within {} s", shortest(command_.timeout_s))};
  (void)finish();
  failed.message = with_last_line(failed.message, newest_tail_);
  return failed;
}

ProcessEnd SimulatorProcess::finish() {
  drain();
  if (runs_per_design(command_.text)) hear(output_);
  const ProcessEnd end = process_->stop();
  process_.reset();
  output_.clear();
  searched_ = 0;
  return end;
}

void SimulatorProcess::end() {
  if (!process_) return;
  process_->input().close();
  (void)process_->wait(kPoliteEnd);
  (void)finish();
}

void SimulatorProcess::kill() {
  if (process_) (void)finish();
}

}  // namespace hindsight::evaluator
