/// Hands questions to workers, asks again where it may help, and decides what a fault means.
#include "evaluator/simulator_pool.h"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>

#include <limits>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/text.h"

namespace hindsight::evaluator {
namespace {

constexpr std::size_t kShownCommand = 40, kShownDesign = 60;  ///< [chosen] characters in a message of one line
constexpr std::size_t kShownMessage = 120;                    ///< [chosen]
constexpr std::size_t kShownSaid = 60;                        ///< [chosen]
constexpr const char* kAnswerForm = R"({"id": N, "metrics": {"NAME": NUMBER}} or {"id": N, "infeasible": "REASON"})";

Row infeasible(const std::string& code, const std::string& message) {
  constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
  Row row;
  row.violations.push_back({.code = code, .value = kNoNumber, .limit = kNoNumber, .message = message});
  return row;
}

/// Signals are for the thread that was there before; a pipe that nobody reads is an error code here.
void block_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

}  // namespace

SimulatorPool::SimulatorPool(const space::DesignSpace& space, const ExternalCommand& command)
    : space_(space), command_(command), metrics_(command.metrics) {}

SimulatorPool::~SimulatorPool() {
  {
    const std::scoped_lock lock(mutex_);  // else a worker may miss it between asking and waiting, and never wake
    stopping_ = true;
  }
  something_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

std::future<Row> SimulatorPool::submit(Job job) {
  std::future<Row> row = job.row.get_future();
  {
    const std::scoped_lock lock(mutex_);
    queue_.push_back(std::move(job));
    if (workers_.size() < command_.workers) workers_.emplace_back([this] { work(); });
  }
  something_.notify_one();
  return row;
}

std::string SimulatorPool::said() const {
  const std::scoped_lock lock(mutex_);
  return said_;
}

void SimulatorPool::work() {
  block_signals();
  SimulatorProcess process(command_, [this] { return given_up(); });
  while (true) {
    std::unique_lock lock(mutex_);
    something_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (stopping_) break;
    Job job = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    try {
      Row row = answer(process, job);
      remember(process);  // before anybody knows that there is an answer
      job.row.set_value(std::move(row));
    } catch (...) {
      remember(process);
      job.row.set_exception(std::current_exception());
    }
  }
  if (interrupt_requested()) {
    process.kill();
  } else {
    process.end();
  }
  remember(process);
}

bool SimulatorPool::given_up() const { return stopping_ || interrupt_requested(); }

void SimulatorPool::remember(const SimulatorProcess& process) {
  std::string text = process.said().text();
  const std::scoped_lock lock(mutex_);
  if (!text.empty()) said_ = std::move(text);
}

std::optional<Outcome> SimulatorPool::ask(SimulatorProcess& process, const Job& job) {
  {
    const std::scoped_lock lock(mutex_);
    if (broken_) throw *broken_;
  }
  if (given_up()) return std::nullopt;
  return process.ask(job.asked);
}

Row SimulatorPool::answer(SimulatorProcess& process, const Job& job) {
  Failed last;
  for (unsigned attempt = 0; attempt <= command_.retries; ++attempt) {
    std::optional<Outcome> outcome;
    try {
      outcome = ask(process, job);
      if (outcome && std::holds_alternative<Said>(*outcome)) return accept(std::get<Said>(*outcome), job);
    } catch (const NoFiniteMetric& error) {
      return no_number(process, error, job);
    } catch (const CannotRun& error) {
      process.end();
      const std::scoped_lock lock(mutex_);
      if (!broken_) broken_ = Error(ErrorKind::failure, about(job) + error.what());
      throw *broken_;
    } catch (const Error& error) {
      process.end();
      const std::scoped_lock lock(mutex_);
      if (!broken_) broken_ = failure(job, error.what(), process.newest_said());
      throw *broken_;
    }
    if (!outcome) {
      process.kill();
      throw Error(ErrorKind::interrupted, fmt::format("interrupted while '{}' was asked; that question is not kept",
                                                      printable(command_.text, kShownCommand)));
    }
    if (const auto* refused = std::get_if<Refused>(&*outcome)) {
      const std::scoped_lock lock(mutex_);
      answered_ = true;
      faults_in_a_row_ = 0;
      return infeasible(refused->code, refused->message);
    }
    last = std::get<Failed>(std::move(*outcome));
  }
  return fault(last, job, command_.retries + 1);
}

Row SimulatorPool::accept(const Said& said, const Job& job) {
  const std::scoped_lock lock(mutex_);
  const bool by_line = !runs_per_design(command_.text);
  Row row = parse_answer(said.text, {.id = by_line ? std::optional(job.asked.id) : std::nullopt,
                                     .space = &space_,
                                     .design = &job.design,
                                     .metrics = metrics_});
  if (row.feasible && metrics_.empty()) {
    for (const auto& [name, value] : row.metrics) metrics_.push_back(name);
  }
  answered_ = true;
  faults_in_a_row_ = 0;
  return row;
}

Row SimulatorPool::no_number(SimulatorProcess& process, const NoFiniteMetric& error, const Job& job) {
  try {
    return fault({"not_finite", error.what()}, job, 1);  // asked again it would say the same
  } catch (const Error&) {
    process.end();  // nobody asks it any more
    throw;
  }
}

Row SimulatorPool::fault(const Failed& failed, const Job& job, unsigned times) {
  const std::scoped_lock lock(mutex_);
  ++faults_in_a_row_;
  const std::string attempts = times == 1 ? "" : fmt::format(", {} times", times);
  std::string why;
  if (command_.faults == Faults::stop) why = "--evaluator-faults stop";
  if (command_.faults == Faults::automatic && !answered_) why = "it has answered nothing so far";
  if (command_.faults == Faults::automatic && faults_in_a_row_ >= kMostFaultsInARow) {
    why = fmt::format("{} in a row", faults_in_a_row_);
  }
  if (why.empty()) return infeasible(failed.code, failed.message + attempts);
  if (!broken_) {
    // Of a command that never answered it would make every design infeasible for good.
    const char* remedy = answered_ ? "--evaluator-faults record keeps it as the design's reason"
                                   : "Run it by hand to see why (a fault of this design: --evaluator-faults record)";
    broken_ = Error(ErrorKind::failure, fmt::format("{}{}: {}{} ({}). {}", about(job), failed.code,
                                                    printable(failed.message, kShownMessage), attempts, why, remedy));
  }
  throw *broken_;
}

std::string SimulatorPool::about(const Job& job) const {
  return fmt::format("evaluator '{}', design {} on {}: ", printable(command_.text, kShownCommand),
                     printable(space_.text_id(job.design), kShownDesign), printable(job.workload));
}

Error SimulatorPool::failure(const Job& job, const std::string& problem, const Tail& said) const {
  const std::string last = printable(said.last_line(), kShownSaid);
  return {
      ErrorKind::failure,
      fmt::format("{}{}{}{} Expected {}", about(job), problem, last.empty() ? "" : fmt::format(" (it says: {})", last),
                  last.empty() && (problem.ends_with('.') || problem.ends_with('?')) ? "" : ".", kAnswerForm)};
}

}  // namespace hindsight::evaluator
