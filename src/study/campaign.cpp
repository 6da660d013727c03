/// Rounds of proposing, evaluating and learning, each step in the log before the next.
#include "hindsight/study/campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>
#include <unordered_map>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/json_bounds.h"
#include "hindsight/core/json_line.h"
#include "hindsight/core/text.h"
#include "hindsight/core/thread_pool.h"
#include "hindsight/log/asked.h"
#include "hindsight/log/new_log.h"
#include "hindsight/log/query.h"
#include "hindsight/space/rules.h"
#include "hindsight/study/next_designs.h"
#include "hindsight/sweep/definitions.h"
#include "study/campaign_state.h"

namespace hindsight::study {
namespace {

using Json = nlohmann::ordered_json;

/// Bumped whenever the same options give other designs.
constexpr int kCampaignVersion = 1;

/// What the log has of a design: which networks have a row, and metrics of the scoring where it is feasible.
struct Answer {
  std::vector<bool> present;   ///< per network
  std::vector<double> values;  ///< networks x metrics
  bool infeasible = false;     ///< on some network
  [[nodiscard]] bool complete() const { return std::find(present.begin(), present.end(), false) == present.end(); }
};
using Answers = std::unordered_map<std::string, Answer>;  // by text id

/// What the words of a campaign mean.
struct Resolved {
  explicit Resolved(const CampaignOptions& options) {
    sweep.evaluator = options.evaluator;
    search = resolve_search(options.words, sweep);
  }
  sweep::SweepOptions sweep;
  SimulatorSearch search;
};

/// SHA-256 over everything that decides a campaign's designs but the rows of its log and the number of rounds.
std::string definition_hash(const CampaignOptions& options, const Resolved& resolved) {
  const SimulatorSearch& search = resolved.search;
  const space::DesignSpace& space = options.evaluator->space();
  std::string text =
      fmt::format("campaign, format {}\nspace|{}|{}\nevaluator|{}\nobjective|{}|{}\n", kCampaignVersion,
                  space.definition_hash(), space.derived_hash(), sha256_hex(options.evaluator->definition()),
                  to_string(search.objective), to_string(search.aggregate));
  for (const workload::Network& network : options.networks) text += "network|" + network.definition_hash() + "\n";
  for (const auto* limits : {&resolved.sweep.limits, &search.outcome_limits}) {
    for (const sweep::FactLimit& one : *limits) text += fmt::format("max|{}|{}\n", one.fact, shortest(one.limit));
  }
  for (const auto& [name, value] : resolved.sweep.search_settings) text += fmt::format("{}|{}\n", name, value);
  text += fmt::format("batch|{}|{}\nrecipe|{}\nseed|{}\n", options.batch, options.drawn, options.recipe, options.seed);
  return sha256_hex(text);
}

class Campaign {
 public:
  Campaign(const CampaignOptions& options, const Resolved& resolved, const AfterRound& after_round)
      : options_(options),
        after_round_(after_round),
        log_(log::Log::open(options.log, log::OpenMode::read_write_create)),
        search_(resolved.search),
        limits_(problem_within(resolved.sweep)),
        scoring_(scoring_of(search_)),
        evaluator_definition_(sha256_hex(options.evaluator->definition())) {
    limits_.allowed = search_.allowed;
    summary_.definition_hash = definition_hash(options, resolved);
    summary_.objective = to_string(search_.objective);
    require_known_limits();
    if (log::spaces(log_).empty()) require_any_design();
    space_id_ = sweep::register_space(log_, options.evaluator->space());
    for (const workload::Network& network : options.networks) {
      workload_ids_.push_back(sweep::register_workload(log_, network));
    }
    evaluator_id_ = sweep::register_evaluator(log_, *options.evaluator);
    kept_ = log_.checkpoint(key());
    if (kept_) state_ = parse_campaign_state(*kept_, options.log);
    summary_.rounds_before = state_.rounds.size();
  }

  [[nodiscard]] CampaignSummary so_far() const {
    CampaignSummary summary = summary_;
    summary.rounds = state_.rounds;
    return summary;
  }

  CampaignSummary run() {
    summary_.status = CampaignStatus::already_finished;
    if (state_.rounds.size() < options_.rounds) {
      require_alone();
      log::Run run(log_, log::RunKind::campaign, options_.provenance, options_json());
      summary_.status = rounds(run);
      for (const auto& [name, text] : options_.evaluator->remarks()) run.note(name, text);
      run.finish(summary_.status == CampaignStatus::interrupted ? log::RunStatus::interrupted
                                                                : log::RunStatus::finished);
    }
    summary_.rounds = state_.rounds;
    return summary_;
  }

 private:
  [[nodiscard]] std::string key() const { return "campaign:" + summary_.definition_hash; }
  [[nodiscard]] const space::DesignSpace& space() const { return options_.evaluator->space(); }

  [[nodiscard]] std::string options_json() const {
    Json json{{"space", space().name()},
              {"evaluator", options_.evaluator->name()},
              {"objective", summary_.objective},
              {"aggregate", to_string(search_.aggregate)},
              {"rounds", options_.rounds},
              {"batch", options_.batch},
              {"drawn", options_.drawn},
              {"recipe", options_.recipe},
              {"seed", options_.seed},
              {"max", options_.words.limits.max},
              {"min", options_.words.limits.min},
              {"set", options_.words.limits.set},
              {"definition_hash", summary_.definition_hash},
              {"process", this_process()}};
    for (const auto& [name, value] : options_.evaluator->settings()) json[name] = value;
    for (const workload::Network& network : options_.networks) json["workloads"].push_back(network.name());
    return json_line(json);
  }

  [[noreturn]] void refuse_second() const {
    throw Error(ErrorKind::failure, fmt::format("{}: another process runs this campaign. Let it end, or stop it",
                                                printable(options_.log.string(), 200)));
  }

  /// Error{failure} where another process of this machine runs the campaign: what this one chose would come to nothing.
  void require_alone() const {
    for (const log::RunInfo& run : log::unended_runs(log_, log::RunKind::campaign, options_.provenance.host)) {
      const Json options = Json::parse(bounded_json(run.options_json), nullptr, false);
      const auto text = [&](const char* name) {
        const bool has = options.is_object() && options.contains(name) && options.at(name).is_string();
        return has ? options.at(name).get<std::string>() : std::string();
      };
      const std::string process = text("process");
      if (text("definition_hash") != summary_.definition_hash || process == this_process()) continue;
      if (is_process_running(process)) refuse_second();
    }
  }

  void keep_state(std::int64_t run) {
    log::Transaction whole(log_);
    keep_state_inside(run);
    whole.commit();
  }

  /// Inside a transaction. Error{failure} when somebody else has kept another state meanwhile.
  void keep_state_inside(std::int64_t run) {
    if (log_.checkpoint(key()) != kept_) refuse_second();
    kept_ = to_json(state_);
    (void)log_.append(run, space_id_, evaluator_id_, {}, log::Checkpoint{.key = key(), .value_json = *kept_});
  }

  /// Chooses a batch and keeps it. With workers it is asked for in the same transaction, unless somebody else has asked
  /// for one of its designs meanwhile, or even got its answer: then another is chosen.
  void begin_round(std::int64_t run) {
    constexpr int kMostTries = 20;  // [chosen] so many others ask while this one chooses
    for (int attempt = 0; attempt < kMostTries; ++attempt) {
      state_.batch = choose();
      log::Transaction whole(log_);
      if (options_.by_workers && is_asked_by_others()) {
        state_.batch.reset();
        continue;
      }
      keep_state_inside(run);
      if (options_.by_workers) ask_workers();
      whole.commit();
      return;
    }
    throw Error(ErrorKind::failure, fmt::format("{}: others asked for the same designs each time. Run this again",
                                                printable(options_.log.string(), 200)));
  }

  /// A design of the batch, which was new when it was chosen, is pending or has a row.
  [[nodiscard]] bool is_asked_by_others() const {
    const std::vector<std::string>& designs = state_.batch->designs;
    const auto is_chosen = [&](const std::string& design) {
      return std::find(designs.begin(), designs.end(), design) != designs.end();
    };
    for (const log::PendingDesign& one : log::pending_designs(log_)) {
      if (one.space_id == space_id_ && is_chosen(one.design_text_id)) return true;
    }
    const Answers known = answers();
    return std::any_of(known.begin(), known.end(), [&](const auto& answer) { return is_chosen(answer.first); });
  }

  /// The batch becomes work. Inside a transaction.
  void ask_workers() {
    const Json options{{"space", space().name()},
                       {"evaluator", options_.evaluator->name()},
                       {"evaluator_definition", evaluator_definition_},
                       {"objective", summary_.objective},
                       {"metrics", options_.evaluator->metrics()},
                       {"campaign", summary_.definition_hash}};
    std::vector<log::ProposalRow> rows;
    const bool is_reciprocal = dataset::maximised_metric(search_.objective).has_value();
    for (std::size_t i = 0; i < state_.batch->designs.size(); ++i) {
      const std::string& design = state_.batch->designs[i];
      const double predicted = state_.batch->predicted[i].value_or(std::numeric_limits<double>::quiet_NaN());
      for (const std::int64_t workload : workload_ids_) {
        rows.push_back(
            {.design_text_id = design,
             .design_hash = space().content_hash(space().parse_design(design)),
             .workload_id = workload,
             .rank = static_cast<std::int64_t>(i + 1),
             .objective = summary_.objective,
             .predicted_value = is_reciprocal ? 1 / predicted : predicted,  // in the unit of the metric, as by `ask`
             .predicted_json = "{}"});
      }
    }
    log::Run asking(log_, log::RunKind::ask, options_.provenance, json_line(options));
    log_.add_proposals(asking.id(), space_id_, std::nullopt, rows);
    asking.finish();
  }

  /// False: interrupted; the same command waits on.
  bool wait_for_workers() {
    // [chosen] pauses that are not felt beside simulations, from the first on doubled
    constexpr std::chrono::milliseconds kFirstPause{100}, kLongestPause{10'000};
    std::chrono::milliseconds pause = kFirstPause;
    while (!is_answered()) {
      const auto until = std::chrono::steady_clock::now() + pause;
      while (std::chrono::steady_clock::now() < until) {
        if (interrupt_requested()) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      }
      pause = std::min(2 * pause, kLongestPause);
    }
    return true;
  }

  /// Nothing of the batch is pending. What was forgotten (ask --forget) is an error: it would be waited for for ever.
  [[nodiscard]] bool is_answered() const {
    const std::vector<std::string>& designs = state_.batch->designs;
    for (const log::PendingDesign& one : log::pending_designs(log_)) {
      const bool of_version = one.definition.empty() || one.definition == evaluator_definition_;
      const bool ours = one.space_id == space_id_ && one.evaluator == options_.evaluator->name() && of_version &&
                        std::find(designs.begin(), designs.end(), one.design_text_id) != designs.end();
      if (ours) return false;
    }
    const Answers known = answers();
    for (const std::string& design : designs) {
      const auto found = known.find(design);
      if (found != known.end() && found->second.complete()) continue;
      throw Error(
          ErrorKind::failure,
          fmt::format("{}: {} of this round was forgotten or answered by another version of the evaluator. Give "
                      "workers and campaign the same --evaluator-name and --evaluator-version, or begin another "
                      "campaign (--seed)",
                      printable(options_.log.string(), 200), printable(design, 80)));
    }
    return true;
  }

  CampaignStatus rounds(log::Run& running) {
    const std::int64_t run = running.id();
    while (state_.rounds.size() < options_.rounds) {
      if (!state_.batch) {
        try {
          begin_round(run);
        } catch (const Error& error) {
          if (error.kind() == ErrorKind::interrupted) return CampaignStatus::interrupted;
          if (error.kind() != ErrorKind::no_feasible || state_.rounds.empty()) throw;
          summary_.why_exhausted = error.what();
          return CampaignStatus::exhausted;
        }
      }
      const auto start = std::chrono::steady_clock::now();
      if (!(options_.by_workers ? wait_for_workers() : evaluate(run))) return CampaignStatus::interrupted;
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
      state_.rounds.push_back(outcome(elapsed.count()));
      state_.batch.reset();
      keep_state(run);
      summary_.rounds = state_.rounds;
      if (after_round_) after_round_(summary_);
      if (interrupt_requested()) break;
    }
    return state_.rounds.size() < options_.rounds ? CampaignStatus::interrupted : CampaignStatus::finished;
  }

  /// Error{usage} where a limit is of a metric that nothing names: an evaluator that was not asked yet has said none.
  void require_known_limits() const {
    if (!options_.evaluator->metrics().empty()) return;  // resolve_search() knew them
    std::vector<std::string> known = log::metric_names(log_);
    for (const sweep::FactLimit& one : search_.outcome_limits) {
      if (std::find(known.begin(), known.end(), one.fact) != known.end()) continue;
      const space::DesignSpace& searched = space();
      for (const space::Parameter& parameter : searched.parameters()) known.push_back(parameter.name);
      if (const space::Rules* rules = searched.rules().get()) {
        for (const space::Rules::Derived& derived : rules->derived()) known.push_back(derived.name);
      }
      const auto nearest = nearest_name(one.fact, known);  // all the known ones would not fit
      throw Error(ErrorKind::usage,
                  fmt::format("--max {}: neither a parameter nor a derived quantity, and nothing says yet that the "
                              "evaluator gives it. If it does, name all that it gives: --evaluator-metrics {}.{}",
                              printable(one.fact), printable(join(scoring_.metrics, ",")),
                              nearest ? fmt::format(" Did you mean '{}'?", printable(*nearest)) : ""));
    }
  }

  /// Error{no_feasible} where nothing is within the limits: said before anything is written to a log that has nothing.
  void require_any_design() const {
    NextQuestion one = next_question();
    one.count = one.drawn = 1;
    static_cast<void>(next_designs(one));
  }

  [[nodiscard]] NextQuestion next_question() const {
    NextQuestion question{.log = options_.log,
                          .space = space(),
                          .applications = {},
                          .objective = search_.objective,
                          .aggregate = search_.aggregate,
                          .limits = options_.words.limits,
                          .metrics = options_.evaluator->metrics(),
                          .facts = options_.evaluator,
                          .evaluator = options_.evaluator->name(),
                          .evaluator_definition = evaluator_definition_,
                          .recipe = options_.recipe,
                          .count = options_.batch,
                          .drawn = std::min(options_.drawn, options_.batch),
                          .seed = options_.seed + state_.rounds.size(),
                          .threads = options_.threads,
                          .progress = options_.progress,
                          // Of an earlier round it would be out of date: the next model has learnt more.
                          .explains = state_.rounds.size() + 1 == options_.rounds};
    for (const workload::Network& network : options_.networks) question.applications.push_back(network.name());
    for (const log::PendingDesign& one : log::pending_designs(log_)) {
      if (one.space_id == space_id_) question.pending.push_back(space().parse_design(one.design_text_id));
    }
    return question;
  }

  [[nodiscard]] CampaignBatch choose() const {
    NextDesigns next = next_designs(next_question());
    if (options_.after_choice) options_.after_choice();
    CampaignBatch batch{
        .designs = {}, .predicted = {}, .learned = next.learned, .why = std::move(next.why), .choose_s = next.seconds};
    for (const NextDesign& one : next.designs) {
      batch.designs.push_back(space().text_id(one.design));
      batch.predicted.push_back(one.predicted);
    }
    return batch;
  }

  /// What the log has of every design on the networks of this campaign.
  [[nodiscard]] Answers answers() const {
    const std::size_t metrics = scoring_.metrics.size();
    const auto& standard = log::standard_metrics();
    const auto value_of = [&](const log::EvaluationRecord& record, const std::string& metric) {
      const auto column = std::find(standard.begin(), standard.end(), metric) - standard.begin();
      if (column < std::ssize(standard)) return record.standard[static_cast<std::size_t>(column)];
      for (const auto& [name, value] : record.other_metrics) {
        if (name == metric) return value;
      }
      return std::numeric_limits<double>::quiet_NaN();
    };
    Answers answers;
    const log::EvaluationFilter filter{.evaluator = options_.evaluator->name(), .space = space().name()};
    log::for_each_evaluation(log_, filter, log::Detail::all, [&](const log::EvaluationRecord& record) {
      const auto network = std::find(workload_ids_.begin(), workload_ids_.end(), record.workload_id);
      if (record.evaluator_id != evaluator_id_ || record.repeat != 0 || network == workload_ids_.end()) return true;
      const auto index = static_cast<std::size_t>(network - workload_ids_.begin());
      Answer& answer = answers[record.design_text_id];
      answer.present.resize(workload_ids_.size());
      answer.values.resize(workload_ids_.size() * metrics, std::numeric_limits<double>::quiet_NaN());
      answer.present[index] = true;
      answer.infeasible = answer.infeasible || !record.feasible;
      for (std::size_t i = 0; record.feasible && i < metrics; ++i) {
        answer.values[index * metrics + i] = value_of(record, scoring_.metrics[i]);
      }
      return true;
    });
    return answers;
  }

  /// Evaluates what the log does not have of the batch, and commits as it goes. False: interrupted.
  bool evaluate(std::int64_t run) {
    const Answers known = answers();
    std::vector<std::string> missing;
    for (const std::string& design : state_.batch->designs) {
      const auto found = known.find(design);
      if (found != known.end()) require_metrics(found->second, design);  // before more is paid for
      if (found == known.end() || !found->second.complete()) missing.push_back(design);
    }
    // Answers that take long are kept one by one, while the next ones are worked on.
    const bool slow = options_.evaluator->designs_at_once() > 0;
    const std::size_t step = slow ? 1 : resolve_threads(options_.threads);
    for (const std::string& design : missing) {
      options_.evaluator->announce(space().parse_design(design).levels, options_.networks);
    }
    for (std::size_t begin = 0; begin < missing.size(); begin += step) {
      if (interrupt_requested()) return false;
      try {
        append(run, std::span(missing).subspan(begin, std::min(step, missing.size() - begin)));
      } catch (const Error& error) {
        if (error.kind() == ErrorKind::interrupted) return false;
        throw;
      }
    }
    return true;
  }

  void append(std::int64_t run, std::span<const std::string> designs) {
    std::vector<std::uint16_t> levels;
    std::vector<std::uint64_t> hashes;
    for (const std::string& text : designs) {
      const space::Design design = space().parse_design(text);
      levels.insert(levels.end(), design.levels.begin(), design.levels.end());
      hashes.push_back(space().content_hash(design));
    }
    std::vector<evaluator::Row> rows = options_.evaluator->evaluate(levels, options_.networks, options_.threads);
    const std::size_t networks = options_.networks.size();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i].design_text_id = designs[i / networks];
      rows[i].design_hash = hashes[i / networks];
      rows[i].workload_id = workload_ids_[i % networks];
    }
    const log::AppendResult appended = log_.append(run, space_id_, evaluator_id_, rows);
    if (!appended.rejected.empty()) {
      throw Error(ErrorKind::failure,
                  fmt::format("{}: {}", printable(options_.log.string(), 200), appended.rejected.front().reason));
    }
    summary_.evaluations_this_run += rows.size();
    for (const evaluator::Row& row : rows) {  // kept, whatever they lack
      for (const std::string& metric : scoring_.metrics) {
        if (row.feasible) (void)evaluator::required_metric(*options_.evaluator, row, metric);
      }
    }
  }

  /// The objective over all networks; nothing where it is infeasible, incomplete or beyond a limit.
  [[nodiscard]] std::optional<double> score(const Answer& answer) const {
    if (answer.infeasible || !answer.complete()) return std::nullopt;
    return scoring_.score(answer.values);
  }

  /// What is answered has what is compared and limited. Error{failure} names what it lacks.
  void require_metrics(const Answer& answer, const std::string& design) const {
    for (std::size_t i = 0; !answer.infeasible && i < answer.values.size(); ++i) {
      if (!std::isnan(answer.values[i]) || !answer.present[i / scoring_.metrics.size()]) continue;
      throw Error(
          ErrorKind::failure,
          fmt::format("{}: {} was answered without {}, which is compared or limited here. Begin another campaign "
                      "with what answers have (--objective, --max)",
                      printable(options_.log.string(), 200), printable(design, 80),
                      printable(scoring_.metrics[i % scoring_.metrics.size()], 60)));
    }
  }

  [[nodiscard]] CampaignRound outcome(double evaluate_s) const {
    const CampaignBatch& batch = *state_.batch;
    CampaignRound round{.learned = batch.learned,
                        .why = batch.why,
                        .designs = batch.designs.size(),
                        .choose_s = batch.choose_s,
                        .evaluate_s = evaluate_s};
    const Answers known = answers();
    std::vector<double> ratios;
    for (std::size_t i = 0; i < batch.designs.size(); ++i) {
      const auto found = known.find(batch.designs[i]);
      if (found == known.end()) refuse_campaign_state(options_.log);  // an id that no row is written under
      const Answer& answer = found->second;
      require_metrics(answer, batch.designs[i]);
      const std::optional<double> value = score(answer);
      round.infeasible += answer.infeasible ? 1 : 0;
      round.beyond_limits += !answer.infeasible && !value ? 1 : 0;
      if (!value) continue;
      if (!round.best || *value < *round.best) round.best = value;
      if (batch.predicted[i]) ratios.push_back(*value / *batch.predicted[i]);
    }
    if (!ratios.empty()) {
      std::nth_element(ratios.begin(), ratios.begin() + std::ssize(ratios) / 2, ratios.end());
      round.true_over_predicted = ratios[ratios.size() / 2];
    }
    add_best(known, round);
    return round;
  }

  /// The best of all rows that answer the question, within the limits.
  void add_best(const Answers& known, CampaignRound& round) const {
    for (const auto& [text, answer] : known) {
      const std::optional<double> value = score(answer);
      const bool better = value && (!round.best_so_far || *value < *round.best_so_far ||
                                    (*value == *round.best_so_far && text < round.best_design));
      if (!better || !within_facts(text)) continue;
      round.best_so_far = value;
      round.best_design = text;
    }
  }

  /// Rows that were in the log before may be beyond limits that a campaign never exceeds.
  [[nodiscard]] bool within_facts(const std::string& text) const {
    const space::Design design = space().parse_design(text);
    if (!limits_.is_allowed(design.levels.data())) return false;
    const optimize::LevelMatrix row =
        Eigen::Map<const optimize::LevelMatrix>(design.levels.data(), 1, std::ssize(design.levels));
    return std::all_of(limits_.constraints.begin(), limits_.constraints.end(),
                       [&](const auto& constraint) { return constraint.value(row)[0] <= constraint.limit; });
  }

  const CampaignOptions& options_;
  AfterRound after_round_;
  log::Log log_;
  SimulatorSearch search_;
  optimize::Problem limits_;  ///< known without an evaluation
  sweep::Scoring scoring_;
  std::string evaluator_definition_;  ///< its hash
  std::int64_t space_id_ = 0, evaluator_id_ = 0;
  std::vector<std::int64_t> workload_ids_;
  CampaignState state_;
  std::optional<std::string> kept_;  ///< text of the state in the log, as this process knows it
  CampaignSummary summary_;
};

CampaignOptions with_stated_limits_of(CampaignOptions options) {
  options.words.limits = with_stated_limits(std::move(options.words.limits), *options.evaluator);
  return options;
}

}  // namespace

CampaignSummary run_campaign(const CampaignOptions& asked, const AfterRound& after_round) {
  HINDSIGHT_EXPECT(asked.batch > 0 && !asked.networks.empty());
  const CampaignOptions options = with_stated_limits_of(asked);
  const Resolved resolved(options);  // what is refused here leaves no log behind
  const log::NewLog created(options.log);
  Campaign campaign(options, resolved, after_round);
  created.keep();  // it knows whose it is: what an error leaves, the same command continues
  return campaign.run();
}

CampaignSummary campaign_so_far(const CampaignOptions& asked) {
  HINDSIGHT_EXPECT(asked.batch > 0 && !asked.networks.empty());
  const CampaignOptions options = with_stated_limits_of(asked);
  const Resolved resolved(options);
  return Campaign(options, resolved, {}).so_far();
}

}  // namespace hindsight::study
