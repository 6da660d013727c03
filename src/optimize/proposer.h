/// One question to a model: a search within its limits, and what of it is listed or stands on a front.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/optimize/front.h"
#include "hindsight/optimize/propose.h"
#include "optimize/algorithms.h"
#include "optimize/forecast.h"
#include "optimize/go_on.h"
#include "optimize/logged_front.h"
#include "optimize/portfolio.h"

namespace hindsight::optimize {

/// `model` and `options` are kept by reference. Asked once: run() or run_front().
class Proposer {
 public:
  Proposer(const surrogate::Model& model, const ProposeOptions& options);
  [[nodiscard]] ProposeResult run();
  [[nodiscard]] ProposeResult run_front();

 private:
  [[nodiscard]] std::function<Learned(const LevelMatrix&)> asking(Forecast::Question question) const;
  /// A design must be this likely to be feasible for every application.
  [[nodiscard]] Problem with_p_feasible(double threshold) const;
  /// Of the searches beside the one for the best designs: an exact one proves these alone.
  [[nodiscard]] SearchOptions by_chance() const;
  static bool found(const Solution& solution) { return !solution.best.empty() && solution.best.front().violation <= 0; }
  static void require_uninterrupted(const Solution& solution) {
    if (solution.termination == Termination::interrupted) fail_interrupted();
  }
  [[nodiscard]] bool excludes() const { return options_.only_new || !options_.never.empty(); }
  /// With the others ignored: whether the search met any design that is not logged.
  void require_new_left(const Solution& solution) const;
  Solution search_feasible(double& threshold);
  /// Whether the same question finds a design once it is loosened.
  [[nodiscard]] bool finds(const Loosened& loosened) const;
  [[nodiscard]] Advice advice(const std::string& remedy = {}) const;
  /// No design within the limits was found, however unlikely. What lies just beyond them need not reach the threshold,
  /// which gives way by itself where it must: a limit that is nearer at a lower one is named, and said to be so.
  Solution search_beyond_limits(const Solution& solution, double& threshold);
  /// Of what stands in the way at the threshold that was asked for, and at a lower one: the nearer limits, with what
  /// keeps the threshold, and nothing said of the latter where they keep it, too.
  [[nodiscard]] std::string nearer_remedy(const GoneOn& kept, const GoneOn& lowered) const;
  /// The log's best design is feasible for every application. Where the model takes it for better than all that is
  /// likely enough, and for less likely itself, it is too careful there: searches once more with a threshold that this
  /// design passes. Whether it did.
  bool relax_by_log(Solution& solution, double& threshold);
  /// What the searches for the limit in the way come by, likely enough or as likely as not; nothing where they come by
  /// none. Adds to `spent`.
  std::optional<Solution> search_likely(const Solution& solution, std::uint64_t& spent, double& threshold);
  /// Designs that are all but sure to fail are no proposals. What looks for the limit in the way may come by designs
  /// that are likely enough and meet all limits, which the search for the likeliest had missed: these are.
  Solution search_unlikely(const Solution& likeliest, double& threshold, const Solution& solution);

  /// The feasible ones of `pool` by score; ties by p_feasible, then by score and levels.
  [[nodiscard]] std::vector<Candidate> ranked(const std::vector<Candidate>& pool) const;
  /// What the log knows to be feasible stands before what is as likely as the model takes that to be.
  void put_surest_first(std::vector<Candidate>& listed) const;
  /// What the model gives the best logged design of these levels that meets the limits; nothing without any.
  [[nodiscard]] std::optional<double> best_logged_score(const AllowedLevels& allowed) const;
  /// `threshold`: that all of the pool reach.
  std::vector<Candidate> spread_list(const std::vector<Candidate>& pool, double threshold, Solution& solution);
  /// Its first, by rank, stays first.
  [[nodiscard]] std::vector<Asked> hedged(std::vector<Asked> list, const std::vector<Candidate>& pool,
                                          double threshold) const;
  /// Best first, what a search among designs of these levels finds; nothing where there is none, or it was interrupted.
  std::vector<Candidate> best_among(const AllowedLevels& allowed, std::uint64_t evaluations,
                                    const std::vector<Candidate>& pool, Solution& solution);
  /// Adds the best designs that are far enough from all of `chosen`; false when there are none.
  bool add_distant(std::vector<Candidate>& chosen, Solution& solution);
  /// The parameters that a design was asked for by and has otherwise than the first.
  [[nodiscard]] std::vector<std::size_t> asked_otherwise(const space::Design& first, const space::Design& design) const;
  [[nodiscard]] std::vector<Proposal> describe(const std::vector<Candidate>& candidates) const;

  void take_logged_front();
  /// Twice where a log corrects what is predicted: what the first search finds says which logged designs matter.
  [[nodiscard]] Front front_with_log(SearchOptions options);
  /// Predicted metrics, n x metrics, corrected by the log, and not below what they can be.
  [[nodiscard]] Eigen::MatrixXd corrected(const LevelMatrix& levels, const Eigen::MatrixXd& metrics) const;
  void correct(const LevelMatrix& levels, Learned& learned, std::size_t scored) const;
  /// The front of what is predicted and of logged designs; the former without those that the latter may dominate.
  [[nodiscard]] std::vector<FrontMember> beside_log(const std::vector<FrontMember>& predicted,
                                                    ProposeResult& result) const;
  [[noreturn]] void refuse_beaten(const LogBesideFront& log) const;
  /// Of proposals that are there by what the log has of them.
  void take_logged_values(std::vector<Proposal>& proposals) const;
  /// What is known of the objective as a metric of the front is what is said of it everywhere.
  void take_objective(Proposal& proposal, std::size_t m) const;
  /// The designs with the smallest value of each metric of the front, which become starts of the search: a population
  /// that is spread over a front comes late to its ends. `threshold`: lowered to what can be reached.
  Solution search_ends(double& threshold);
  void add_metrics(const ForecastBatch& batch, const LevelMatrix& levels, std::vector<Proposal>& proposals) const;
  void add_metric(const Eigen::VectorXd& scores, const Eigen::MatrixXd& values, std::size_t m,
                  std::vector<Proposal>& proposals) const;

  const surrogate::Model& model_;
  const ProposeOptions& options_;
  SearchOptions search_;
  std::shared_ptr<const Forecast> forecast_;
  bool bars_ = false;                  ///< a limit bars designs that the log or the user rules out
  Forecast::Question question_;        ///< without the threshold of p_feasible
  Problem problem_;                    ///< the question without the threshold of p_feasible
  Problem problem_used_;               ///< with it
  std::optional<Problem> known_ = {};  ///< as problem_, and logged designs are answers; none without a log
  std::map<std::vector<std::uint16_t>, Asked> asked_;  ///< chosen designs of spread_list(), by their levels
  std::vector<Candidate> found_besides_;               ///< of a hedged list: what its searches besides have kept
  std::optional<LoggedFront> logged_front_ = {};
  std::optional<Candidate> surest_;  ///< the log's best design, where it lowered the threshold
  bool exact_ = false;               ///< every allowed design is judged
  bool proves_ = false;              ///< the best designs are proven: SearchKind::exact
};

}  // namespace hindsight::optimize
