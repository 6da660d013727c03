/// Proposals as a user asks for them: from a model file and names to designs, with everything known about each.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hindsight/accel/optimum/landscape.h"
#include "hindsight/core/provenance.h"
#include "hindsight/dataset/dataset.h"
#include "hindsight/log/log.h"
#include "hindsight/optimize/baselines.h"
#include "hindsight/optimize/propose.h"
#include "hindsight/study/front.h"
#include "hindsight/study/limits.h"
#include "hindsight/study/verdict.h"
#include "hindsight/surrogate/model.h"
#include "hindsight/surrogate/novelty.h"

namespace hindsight::study {

struct ProposalRequest {
  std::string model;                   ///< file
  std::vector<std::string> workloads;  ///< see applications()
  std::vector<std::string> contexts;   ///< see applications()
  LimitWords limits;
  /// Name or file; empty: none. Must describe the model's space; its derived quantities can be limited and are shown.
  std::string space = {};
  std::vector<std::string> pareto = {};  ///< see resolve_front(); empty: the best by the objective
  /// Nothing: weighted with weights, mean for an objective or a label of the front that was not learned on a
  /// logarithmic scale, else geomean.
  std::optional<optimize::Aggregate> aggregate;
  std::string log;        ///< empty: none. Start designs, distances, what it knows about the proposals
  std::string evaluator;  ///< of the log's rows, where it has several
  optimize::Risk risk = optimize::Risk::balanced;
  // Nothing: as the risk has it (optimize::options_of)
  std::optional<double> min_p_feasible = {}, pessimism = {};
  std::optional<std::size_t> diversity = {};
  std::optional<optimize::Portfolio> portfolio = {};
  std::optional<std::size_t> member_every = {};
  /// Whether predictions are lifted to what arithmetic and DRAM traffic allow, where that is known. False for studies
  /// of what the bounds change.
  bool bounds = true;
  bool simulate = false;       ///< asks the evaluator about every proposal afterwards
  bool record = true;          ///< with `simulate` and a log: what was evaluated goes there
  std::string landscape = {};  ///< file; empty: none. With `simulate`: where proposals stand among all designs
  /// With `simulate` and a front: how much of the exact front it is. Evaluates random designs besides.
  bool exact_front = false;
  std::string technology = {};  ///< of the built-in model; empty: the one that the model learnt from
  /// With `simulate`: makes what answers, for the model's space. What is proposed does not depend on it. Null: the
  /// built-in model, where the space describes an accelerator.
  std::function<KnownEvaluator(const space::DesignSpace& space)> simulator = {};
  /// The model that ships for any network and answers what `model` is asked, with these labels; "" where none does.
  std::function<std::string(const surrogate::Model& model, const std::vector<std::string>& labels)> any_model = {};
  /// How to search and rank. What the above says is filled in from there.
  optimize::ProposeOptions options;
};

/// What is known about one proposal besides what the model says in detail.
struct Knowledge {
  double predicted = 0;                              ///< the objective over all applications, in its unit
  std::optional<optimize::LoggedTruth> logged = {};  ///< what the log has of this design
  std::optional<Verdict> verdict = {};               ///< what the simulator said, if asked
  std::optional<double> simulated = {};              ///< the objective over all applications; nothing when infeasible
  std::vector<double> true_front = {};  ///< metrics of the front over all applications; none when infeasible
  /// Among all designs that meet the limits; where it was simulated, is feasible and a landscape was given.
  std::optional<accel::optimum::Rank> rank = {};
  /// Predicted metrics that are limited, as they were simulated, in the order of the limits: the largest over the
  /// applications; none when infeasible.
  std::vector<std::pair<std::string, double>> limited = {};
  /// Those of them that exceed their limits.
  std::vector<std::string> exceeded = {};
};

struct Proposals {
  std::string model_file;
  surrogate::Model model;
  std::unique_ptr<const dataset::Dataset> logged;  ///< null without a log
  optimize::ProposeOptions options;
  optimize::ProposeResult result;
  std::vector<Knowledge> known;                  ///< one per proposal
  std::vector<std::string> also_measured = {};   ///< metrics that the log's rows have besides, but the built-in model's
  std::optional<double> best_in_log;             ///< of logged designs that meet the same limits; of a front none
  std::optional<FrontTruth> front_truth = {};    ///< of a front that was simulated
  std::optional<FrontShares> front_shares = {};  ///< where the exact front was asked for
  /// Of proposals that were simulated: proposals x applications, and what answered; else none.
  std::vector<evaluator::Row> evaluated = {};
  std::shared_ptr<const Verifier> verifier = {};  ///< null where nothing is simulated
  bool has_landscape = false;                     ///< ranks are asked for
  std::optional<std::size_t> recorded = {};       ///< of `evaluated`, new to the log; nothing: they were not recorded
  DerivedQuantities derived = nullptr;            ///< of the request's space
  /// Area of designs (n x parameters); null where the built-in model does not know the space.
  std::function<Eigen::VectorXd(const optimize::LevelMatrix& levels)> area_mm2 = {};
  std::vector<surrogate::Novelty> novelties;  ///< of applications that the model sees by their layers and did not learn
  std::vector<std::string> doubts;            ///< why the model must not be trusted here, each a sentence
  /// Whose facts, limits and rows these are, where they are not those of what the model learnt from, and that it learnt
  /// from few; each a sentence.
  std::vector<std::string> remarks = {};
  /// Of each application (options.contexts), inferences at a time; 0 where no network of it is at hand.
  std::vector<std::int64_t> batches = {};
  /// Applications that others have lower bounds beside: no network that is at hand is the model's of their name.
  std::vector<std::string> unbounded = {};
  std::uint64_t simulator_queries = 0;  ///< evaluations asked for while this was made, but those of front_shares
  bool interrupted = false;             ///< the search, or what was asked for besides; the proposals are whole
  std::string technology;
  double seconds = 0;  ///< of loading and proposing, without simulating
};

/// What a search for `options` asks a log.
[[nodiscard]] optimize::LoggedQuestion logged_question(const optimize::ProposeOptions& options);

/// What is done once all is known that is known before the search.
enum class SearchStep { search, leave_out };
/// Called once everything is loaded and found valid, before the search begins, with all but its results. What it throws
/// ends propose(); `leave_out` too, with no proposals.
using BeforeSearch = std::function<SearchStep(const Proposals& so_far)>;
/// Where the model learnt from the built-in model at a technology of version 2 the watts of the technology's cooling
/// class are a limit of peak_power_w, and its exposure field one of area_mm2, unless smaller ones are given. Of a model
/// that was adapted from such a one to another evaluator they are, too, unless any are given or most feasible rows of
/// the log are beyond them, or feasibility was learnt from rows of the adaptation alone (surrogate::kLimitsOf); both is
/// said (Proposals::remarks).
/// Error{usage, incompatible, no_feasible}: see applications(), load_logged(), resolve_limits(), resolve_front(),
/// optimize::propose(). Error{usage} when the space cannot be simulated, Error{incompatible} when the model learnt from
/// another technology.
[[nodiscard]] Proposals propose(const ProposalRequest& request, const BeforeSearch& before_search = {});

/// Of a model that learnt from few feasible or few infeasible rows for its parameters: predictions that its networks
/// may agree about and be wrong, and a p_feasible that so few rows cannot calibrate. "" of others, of models that were
/// adapted (their base learnt from more), and where the card does not say.
[[nodiscard]] std::string remark_on_few_rows(const surrogate::Model& model);

/// Every predicted value is above that of the log's best design, which meets the same limits.
[[nodiscard]] bool all_worse_than_log(const Proposals& proposals);

/// Why proposal `index` is in the list: "best", "the log's best" (first where the log lowered the threshold), "next
/// best", "another pes_x": the best one whose value of that parameter differs from the first one's, or of hedged lists
/// (optimize::Hedge) "best of network 2", "p_feasible 0.99", "optimistic".
[[nodiscard]] std::string why(const Proposals& proposals, std::size_t index);

/// The derived quantities that no limit and no front names, which have values of their own among these.
[[nodiscard]] std::vector<std::string> derived_names(const Proposals& proposals);
/// Their values for proposal `index`.
[[nodiscard]] std::vector<double> derived_values(const Proposals& proposals, std::size_t index);

/// Of proposal `index`, as JSON: what the model said, and what the simulator said, if asked.
[[nodiscard]] std::string prediction_json(const Proposals& proposals, std::size_t index);
[[nodiscard]] std::optional<std::string> verdict_json(const Proposals& proposals, std::size_t index);

/// The run of a request in its log, begun before the search: a log that cannot keep proposals is refused before they
/// cost time, and a search that fails leaves a run that says so.
class ProposalRecord {
 public:
  /// `options`: as the search takes them. Error when the log cannot be written.
  ProposalRecord(const ProposalRequest& request, const optimize::ProposeOptions& options, const Provenance& provenance);
  /// Notes the model and the proposals, and appends what was evaluated (ProposalRequest::record; how much of it is new
  /// is `proposals.recorded` then); the run is finished or interrupted. `model_sha256`: of the model's file;
  /// `card_json`: everything of it but its weights.
  void finish(Proposals& proposals, const std::string& model_sha256, const std::string& card_json);

 private:
  void record_evaluations(Proposals& proposals, std::int64_t space_id);

  log::Log log_;
  log::Run run_;
  bool records_;
};

}  // namespace hindsight::study
