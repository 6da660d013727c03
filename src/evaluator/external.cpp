/// Puts questions to a pool of processes, and takes their answers in the order of the questions.
#include "hindsight/evaluator/external.h"

#include <fmt/format.h>

#include <atomic>
#include <map>
#include <set>
#include <utility>

#include "evaluator/simulator_pool.h"
#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"

namespace hindsight::evaluator {
namespace {

constexpr EnumNames<Faults, 3> kFaults{
    {{Faults::automatic, "auto"}, {Faults::stop, "stop"}, {Faults::record, "record"}}};

[[noreturn]] void fail(const std::string& problem) { throw Error(ErrorKind::usage, problem); }

void require_name(const char* option, const std::string& text) {
  if (is_printable(text)) return;
  fail(fmt::format("{} '{}': it holds characters that cannot be seen", option, printable(text)));
}

ExternalCommand checked(ExternalCommand command) {
  require_command(command.text);
  if (command.name.empty()) command.name = command.text;
  require_name(command.name == command.text ? "--evaluator" : "--evaluator-name", command.name);
  require_name("--evaluator-version", command.version);
  if (!(command.timeout_s > 0 && command.timeout_s <= kLongestTimeout_s)) {
    fail(fmt::format("--evaluator-timeout {}: expected seconds above 0, at most {}", command.timeout_s,
                     shortest(kLongestTimeout_s)));
  }
  if (command.workers < 1 || command.workers > kMostWorkers) {
    fail(fmt::format("--evaluator-workers {}: expected 1 to {}", command.workers, kMostWorkers));
  }
  if (command.retries > kMostRetries) {
    fail(fmt::format("--evaluator-retries {}: expected at most {}", command.retries, kMostRetries));
  }
  std::set<std::string> names;
  for (const std::string& metric : command.metrics) {
    require_name("--evaluator-metrics", metric);
    if (metric.empty()) fail("--evaluator-metrics: a name is empty");
    if (!names.insert(metric).second) fail(fmt::format("--evaluator-metrics: '{}' is named twice", metric));
  }
  return command;
}

class External final : public Evaluator {
 public:
  External(space::DesignSpace space, const ExternalCommand& command)
      : Evaluator(std::move(space)), command_(checked(command)), pool_(this->space(), command_) {}

  [[nodiscard]] std::string name() const override { return command_.name; }
  [[nodiscard]] std::string definition() const override { return definition_of(command_); }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> settings() const override {
    std::vector<std::pair<std::string, std::string>> settings{
        {"evaluator", command_.name},
        {"evaluator_command", command_.text},
        {"evaluator_timeout_s", shortest(command_.timeout_s)},
        {"evaluator_retries", fmt::format("{}", command_.retries)},
        {"evaluator_workers", fmt::format("{}", command_.workers)},
        {"evaluator_faults", to_string(command_.faults)}};
    if (!command_.version.empty()) settings.emplace_back("evaluator_version", command_.version);
    return settings;
  }
  [[nodiscard]] const std::vector<std::string>& metrics() const override { return command_.metrics; }
  [[nodiscard]] const std::vector<std::string>& fact_names() const override { return none_; }
  [[nodiscard]] std::optional<double> smallest_fact(const std::string& /*name*/) const override { return std::nullopt; }
  [[nodiscard]] const std::vector<std::string>& reasons() const override { return none_; }
  [[nodiscard]] std::size_t designs_at_once() const override { return command_.workers; }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> remarks() const override {
    const std::string said = pool_.said();
    if (said.empty()) return {};
    return {{"evaluator_stderr", said}};
  }

 private:
  /// Questions with the same key have the same answer.
  using Key = std::pair<const std::string*, std::vector<std::uint16_t>>;  // text of a workload in workloads_, design
  [[nodiscard]] static Key key_of(std::span<const std::uint16_t> design,
                                  const std::shared_ptr<const std::string>& workload) {
    return {workload.get(), {design.begin(), design.end()}};
  }

  /// The workload's text, made once.
  std::shared_ptr<const std::string> text_of(const workload::Network& network) const {
    std::shared_ptr<const std::string>& text = workloads_[network.name() + "\n" + network.canonical_definition()];
    if (!text) text = std::make_shared<const std::string>(workload_json(network));
    return text;
  }

  /// Calls `body(design, network, workload text)` for every question in order, under the lock.
  template <class Body>
  void for_each_question(std::span<const std::uint16_t> levels, std::span<const workload::Network> workloads,
                         const Body& body) const {
    const std::size_t parameters = space().parameters().size();
    const std::scoped_lock lock(mutex_);
    std::vector<std::shared_ptr<const std::string>> texts;
    for (const workload::Network& network : workloads) texts.push_back(text_of(network));
    for (std::size_t i = 0; i < levels.size(); i += parameters) {
      for (std::size_t j = 0; j < workloads.size(); ++j) body(levels.subspan(i, parameters), workloads[j], texts[j]);
    }
  }

  std::future<Row> submit(std::span<const std::uint16_t> levels, const workload::Network& network,
                          const std::shared_ptr<const std::string>& text) const {
    Job job;
    job.design.levels.assign(levels.begin(), levels.end());
    job.asked = {.id = ++last_id_, .design_json = design_json(space(), job.design), .workload_json = text};
    job.workload = network.name();
    return pool_.submit(std::move(job));
  }

  void begin(std::span<const std::uint16_t> levels, std::span<const workload::Network> workloads) const override {
    for_each_question(levels, workloads, [&](const auto& design, const auto& network, const auto& text) {
      announced_.emplace(key_of(design, text), submit(design, network, text));
    });
  }

  [[nodiscard]] std::vector<Row> answer(std::span<const std::uint16_t> levels,
                                        std::span<const workload::Network> workloads,
                                        unsigned /*threads*/) const override {
    std::vector<std::future<Row>> pending;
    for_each_question(levels, workloads, [&](const auto& design, const auto& network, const auto& text) {
      auto known = announced_.extract(key_of(design, text));
      pending.push_back(known.empty() ? submit(design, network, text) : std::move(known.mapped()));
    });
    std::vector<Row> rows;
    rows.reserve(pending.size());
    for (std::future<Row>& row : pending) rows.push_back(row.get());
    return rows;
  }
  [[nodiscard]] std::vector<double> answer_facts(std::span<const double> /*limits*/,
                                                 std::span<const std::uint16_t> /*levels*/,
                                                 std::span<const std::string> names,
                                                 unsigned /*threads*/) const override {
    HINDSIGHT_EXPECT(names.empty());
    return {};
  }

  ExternalCommand command_;
  std::vector<std::string> none_;
  mutable std::mutex mutex_;  ///< of what follows but the pool
  mutable std::map<std::string, std::shared_ptr<const std::string>> workloads_;
  mutable std::multimap<Key, std::future<Row>> announced_;  ///< begun, not yet asked for
  mutable std::int64_t last_id_ = 0;
  mutable SimulatorPool pool_;  // last: its workers use the command and the space
};

}  // namespace

void require_command(const std::string& text) {
  if (trimmed(text).empty()) fail("--evaluator: the command is empty");
  if (text.find('\0') != std::string::npos) fail("--evaluator: the command holds a zero byte");
  require_placeholders(text);
  (void)command_words(text, kCommandOption);
}

Faults parse_faults(const std::string& text) {
  if (const auto found = find_enum(text, kFaults)) return *found;
  fail_unknown_name("treatment of faults", text, names_in(kFaults));
}

std::string to_string(Faults faults) { return std::string(name_in(kFaults, faults)); }

std::string definition_of(const ExternalCommand& command) {
  return fmt::format("external evaluator protocol={}\nname={}\nversion={}\n", kProtocolVersion,
                     command.name.empty() ? command.text : command.name, command.version);
}

std::shared_ptr<const Evaluator> external(space::DesignSpace space, const ExternalCommand& command) {
  return std::make_shared<const External>(std::move(space), command);
}

}  // namespace hindsight::evaluator
