/// The loop of a worker, and its heartbeat.
#include "hindsight/study/worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "hindsight/core/error.h"
#include "hindsight/core/foreign_name.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/json_line.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/stored_space.h"
#include "hindsight/log/asked.h"
#include "hindsight/log/query.h"
#include "hindsight/sweep/definitions.h"
#include "hindsight/workload/network.h"

namespace hindsight::study {
namespace {

/// [chosen] Pauses of a worker without work, from the first on doubled: not felt beside simulations, and thousands of
/// workers that wait do not load a server.
constexpr std::chrono::milliseconds kFirstPause{250}, kLongestPause{30'000};

/// Renews the leases of a worker from a thread and a connection of its own, three times while one lasts.
class Heartbeat {
 public:
  Heartbeat(std::filesystem::path log, std::string worker, std::chrono::seconds lease)
      : log_(std::move(log)), worker_(std::move(worker)), lease_(lease), thread_([this] { run(); }) {}
  ~Heartbeat() {
    {
      const std::lock_guard lock(mutex_);
      stops_ = true;
    }
    wakes_.notify_all();
    thread_.join();
  }
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  [[nodiscard]] std::uint64_t beats() const { return beats_; }

 private:
  void run() {
    std::optional<log::Log> log;
    std::unique_lock lock(mutex_);
    const auto pause = std::chrono::duration_cast<std::chrono::milliseconds>(lease_) / 3;
    while (!wakes_.wait_for(lock, pause, [this] { return stops_; })) {
      lock.unlock();
      try {
        if (!log) log = log::Log::open(log_, log::OpenMode::read_write);
        log::renew_tasks(*log, worker_, lease_);
        ++beats_;
      } catch (const std::exception&) {
        log.reset();  // the next beat tries again; should the lease end, another worker gets the task, which is no harm
      }
      lock.lock();
    }
  }

  std::filesystem::path log_;
  std::string worker_;
  std::chrono::seconds lease_;
  std::mutex mutex_;
  std::condition_variable wakes_;
  bool stops_ = false;
  std::atomic<std::uint64_t> beats_ = 0;
  std::thread thread_;  // last: it uses the others
};

class Worker {
 public:
  Worker(const WorkerOptions& options, const std::function<void(const WorkerSummary&)>& after)
      : options_(options), after_(after), log_(log::Log::open(options.log, log::OpenMode::read_write)) {
    for (const std::string& list : options.workloads) {
      for (const std::string& name : workload::pieces_of_list(list)) {
        for (const workload::Network& network : workload::load_networks(name)) given_.emplace(network.name(), network);
      }
    }
  }

  WorkerSummary work() {
    require_awaited();
    log::Run run(log_, log::RunKind::worker, options_.provenance, options_json());
    const Heartbeat heartbeat(options_.log, options_.name, options_.lease);
    try {
      summary_.end = loop(run);
    } catch (...) {
      give_back();
      throw;
    }
    give_back();
    for (const auto& [space, evaluator] : evaluators_) {
      for (const auto& [name, text] : evaluator.evaluator->remarks()) run.note(name, text);
    }
    run.finish(summary_.end == WorkerEnd::interrupted ? log::RunStatus::interrupted : log::RunStatus::finished);
    summary_.heartbeats = heartbeat.beats();
    summary_.left = log::task_counts(log_, options_.identity);
    return summary_;
  }

 private:
  struct OfSpace {
    std::shared_ptr<const evaluator::Evaluator> evaluator;
    std::int64_t id = 0;  ///< of the evaluator in the log
  };

  [[nodiscard]] std::string options_json() const {
    return json_line(nlohmann::ordered_json{{"evaluator", options_.identity.name},
                                            {"evaluator_definition", options_.identity.definition},
                                            {"worker", options_.name},
                                            {"lease_s", options_.lease.count()},
                                            {"block", options_.block}});
  }

  /// A name or a version that nothing waits for is a slip, unless new work is waited for.
  void require_awaited() {
    const log::TaskEvaluator& own = options_.identity;
    const std::vector<log::TaskEvaluator> awaited = log::awaited_evaluators(log_);
    const bool is_awaited = std::any_of(awaited.begin(), awaited.end(), [&](const log::TaskEvaluator& one) {
      return one.name == own.name && (one.definition.empty() || one.definition == own.definition);
    });
    if (is_awaited || awaited.empty() || options_.wait.count() > 0) return;
    const std::vector<log::EvaluatorSummary> all = log::evaluators(log_);
    std::vector<std::string> quoted;
    bool has_other_version = false;
    for (const log::TaskEvaluator& one : awaited) {
      const auto known = std::find_if(all.begin(), all.end(), [&](const log::EvaluatorSummary& summary) {
        return summary.name == one.name && summary.definition_hash == one.definition;
      });
      const std::string version = known == all.end() ? "" : version_of(*known);
      quoted.push_back(fmt::format("'{}'{}", printable(one.name, 60), version));
      has_other_version = has_other_version || one.name == own.name;
    }
    const std::string shown_list = printable(join(quoted, ", "), 80);  // [chosen] of a line that somebody reads
    if (has_other_version) {
      throw Error(
          ErrorKind::usage,
          fmt::format("{}: nothing waits for this version of '{}', only for {}. Give the --evaluator-version that "
                      "was asked, or ask under a name of its own (ask --evaluator, here --evaluator-name)",
                      printable(options_.log.string(), 100), printable(own.name, 40), shown_list));
    }
    throw Error(ErrorKind::usage, fmt::format("{}: nothing waits for '{}', only for {}. Name it by --evaluator-name",
                                              shown(), printable(own.name, 60), shown_list));
  }

  /// " of version 2", as the definition says it; of an evaluator whose answers came by `tell`, that.
  [[nodiscard]] static std::string version_of(const log::EvaluatorSummary& evaluator) {
    if (evaluator.definition == log::told_definition(evaluator.name)) return " whose answers are told";
    constexpr std::string_view kKey = "version=";
    for (const std::string& line : split(evaluator.definition, '\n')) {
      if (!line.starts_with(kKey)) continue;
      const std::string version = line.substr(kKey.size());
      return version.empty() ? " without a version" : fmt::format(" of version {}", printable(version, 40));
    }
    return "";
  }

  [[nodiscard]] std::string shown() const { return printable(options_.log.string(), 200); }

  /// After an error the server may be gone, too: the leases end by themselves.
  void give_back() noexcept {
    try {
      log::release_tasks(log_, options_.name);
    } catch (const std::exception&) {
    }
  }

  WorkerEnd loop(log::Run& run) {
    auto idle_since = std::chrono::steady_clock::now();
    std::chrono::milliseconds pause = kFirstPause;
    for (;;) {
      if (interrupt_requested()) return WorkerEnd::interrupted;
      if (is_enough()) return WorkerEnd::enough;
      const std::vector<log::Task> tasks =
          log::claim_tasks(log_, options_.identity, options_.name, block(), options_.lease);
      if (!tasks.empty()) {
        if (!evaluate(run, tasks)) return interrupt_requested() ? WorkerEnd::interrupted : WorkerEnd::enough;
        idle_since = std::chrono::steady_clock::now();
        pause = kFirstPause;
        continue;
      }
      const log::TaskCounts counts = log::task_counts(log_, options_.identity);
      const bool waited = std::chrono::steady_clock::now() - idle_since >= options_.wait;
      if (counts.open + counts.leased + counts.expired == 0 && waited) return WorkerEnd::no_more_work;
      // In short pieces: Ctrl-C ends a worker that waits.
      constexpr std::chrono::milliseconds kLook{100};
      const auto until = std::chrono::steady_clock::now() + pause;
      while (std::chrono::steady_clock::now() < until && !interrupt_requested()) std::this_thread::sleep_for(kLook);
      pause = std::min(2 * pause, kLongestPause);
    }
  }

  [[nodiscard]] bool is_enough() const { return options_.most && summary_.evaluated >= *options_.most; }

  [[nodiscard]] std::size_t block() const {
    std::size_t size = options_.block;
    if (options_.most) size = std::min<std::size_t>(size, *options_.most - summary_.evaluated);
    return std::max<std::size_t>(size, 1);
  }

  /// False: it ends before all is done.
  bool evaluate(log::Run& run, const std::vector<log::Task>& tasks) {
    for (const log::Task& task : tasks) {
      const OfSpace& of_space = evaluator_for(task);
      of_space.evaluator->announce(levels_of(of_space, task), {&network_of(task), 1});
    }
    for (const log::Task& task : tasks) {
      if (interrupt_requested() || is_enough()) return false;
      summary_.taken_over += task.attempts > 1 ? 1 : 0;
      try {
        answer(run, task);
      } catch (const Error& error) {
        if (error.kind() == ErrorKind::interrupted) return false;
        throw;
      }
      if (after_) after_(summary_);
    }
    return true;
  }

  void answer(log::Run& run, const log::Task& task) {
    const OfSpace& of_space = evaluator_for(task);
    const space::DesignSpace& space = of_space.evaluator->space();
    std::vector<evaluator::Row> rows =
        of_space.evaluator->evaluate(levels_of(of_space, task), {&network_of(task), 1}, 1);
    evaluator::Row& row = rows.at(0);
    row.design_text_id = task.design_text_id;
    row.design_hash = space.content_hash(space.parse_design(task.design_text_id));
    row.workload_id = task.workload_id;
    summary_.infeasible += row.feasible ? 0 : 1;
    const log::AppendResult appended = log_.append(run.id(), task.space_id, of_space.id, rows);
    ++summary_.evaluated;
    summary_.already_there += appended.already_present;
    summary_.contradicting += appended.rejected.size();
    log::finish_tasks(log_, {task.proposal_id});
  }

  [[nodiscard]] static std::vector<std::uint16_t> levels_of(const OfSpace& of_space, const log::Task& task) {
    return of_space.evaluator->space().parse_design(task.design_text_id).levels;
  }

  const OfSpace& evaluator_for(const log::Task& task) {
    const auto [found, is_new] = evaluators_.try_emplace(task.space_id);
    if (!is_new) return found->second;
    for (const log::SpaceSummary& known : log::spaces(log_)) {
      if (known.space_id != task.space_id) continue;
      found->second.evaluator = options_.evaluator(dataset::stored_space(log_, known.name));
      // What this process registered itself can be kept in a file when the server goes away.
      static_cast<void>(sweep::register_space(log_, found->second.evaluator->space()));
      found->second.id = sweep::register_evaluator(log_, *found->second.evaluator);
      return found->second;
    }
    throw Error(ErrorKind::incompatible,
                fmt::format("{}: a task names space {}, which is not there", shown(), task.space_id));
  }

  /// As the log defines it: answers about another network would stand under its name.
  const workload::Network& network_of(const log::Task& task) {
    if (const auto known = networks_.find(task.workload_id); known != networks_.end()) return known->second;
    for (const log::WorkloadRecord& record : log::workloads(log_)) {
      if (record.workload_id != task.workload_id) continue;
      const auto given = given_.find(record.name);
      const workload::Network network = given != given_.end() ? given->second : shipped(record.name);
      if (network.definition_hash() != record.definition_hash) {
        throw Error(ErrorKind::usage,
                    fmt::format("{}: its workload '{}' has other layers than the one here. Name the file it was asked "
                                "with by --workload",
                                shown(), printable(record.name, 100)));
      }
      static_cast<void>(sweep::register_workload(log_, network));
      return networks_.emplace(task.workload_id, network).first->second;
    }
    throw Error(ErrorKind::incompatible,
                fmt::format("{}: a task names workload {}, which is not there", shown(), task.workload_id));
  }

  [[nodiscard]] workload::Network shipped(const std::string& name) const {
    constexpr const char* kRemedy = "Name the network's file by --workload";
    try {
      return workload::load_network(foreign_name(name, fmt::format("{}: its workload", shown()), kRemedy));
    } catch (const Error&) {
      throw Error(ErrorKind::usage, fmt::format("{}: work is asked for on '{}', which is no network that ships. {}",
                                                shown(), printable(name, 100), kRemedy));
    }
  }

  const WorkerOptions& options_;
  const std::function<void(const WorkerSummary&)>& after_;
  log::Log log_;
  std::map<std::string, workload::Network> given_;
  std::map<std::int64_t, OfSpace> evaluators_;
  std::map<std::int64_t, workload::Network> networks_;
  WorkerSummary summary_;
};

}  // namespace

WorkerSummary work(const WorkerOptions& options, const std::function<void(const WorkerSummary&)>& after) {
  return Worker(options, after).work();
}

}  // namespace hindsight::study
