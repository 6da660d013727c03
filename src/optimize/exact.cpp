/// The proven best designs of a space too large to judge one by one: boxes beyond a limit are left out whole, designs
/// whose score is bounded above the worst one kept are not judged, and all others are.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

#include "hindsight/core/interrupt.h"
#include "hindsight/core/thread_pool.h"
#include "optimize/algorithms.h"
#include "optimize/operators.h"

namespace hindsight::optimize {
namespace {

using space::Rules;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// [chosen] Designs of a box that is listed rather than divided: facts of a box cost as much as those of two designs.
constexpr std::uint64_t kListedDesigns = 64;
/// [chosen] Designs per question to the model, and boxes among which threads share a space.
constexpr Eigen::Index kAskedRows = 2048;
constexpr std::size_t kLeastTasks = 2000;
/// [chosen] Designs by which bounds and the order of parameters are chosen, and the tries for one within the limits.
constexpr std::size_t kSampleDesigns = 512, kOrderDesigns = 32, kMostTries = 200'000;
/// Bounds and scores are computed in float by different sums (hindsight/surrogate/box_bounds.h, kBoxRounding).
constexpr double kRounding = 1e-4;

/// Designs that wait for the next question, and what is known about each.
class Rows {
 public:
  Rows(Eigen::Index parameters, Eigen::Index known) : levels_(kRoom, parameters), known_(kRoom, known) {}
  /// `known`: of the step before, a row of its own matrix.
  void add(const std::uint16_t* levels, const Eigen::MatrixXd& known, Eigen::Index row) {
    if (count_ == levels_.rows()) {
      levels_.conservativeResize(2 * count_, Eigen::NoChange);
      known_.conservativeResize(2 * count_, Eigen::NoChange);
    }
    std::copy(levels, levels + levels_.cols(), levels_.data() + count_ * levels_.cols());
    if (known.size() > 0) known_.row(count_) = known.row(row);
    ++count_;
  }
  [[nodiscard]] Eigen::Index count() const { return count_; }
  [[nodiscard]] LevelMatrix levels() const { return levels_.topRows(count_); }
  [[nodiscard]] Eigen::MatrixXd known() const { return known_.topRows(count_); }
  void clear() { count_ = 0; }

 private:
  static constexpr Eigen::Index kRoom = 4096;
  LevelMatrix levels_;
  Eigen::MatrixXd known_;
  Eigen::Index count_ = 0;
};

struct Counts {
  std::uint64_t beyond_limits = 0, bounded = 0, judged = 0;
  std::uint64_t illegal = 0;  ///< designs that constraints of the space leave out
};
/// What one thread keeps.
struct Scanner {
  Scanner(const SearchOptions& options, std::size_t constraints, std::size_t parameters, const ScoreBounds& bounds)
      : best(options.keep),
        smallest(constraints, kInfinity),
        waiting(bounds.steps.size() + 1, Rows(static_cast<Eigen::Index>(parameters), bounds.known)) {}
  BestDesigns best;
  std::vector<double> smallest;
  std::vector<Rows> waiting;  ///< for each bound in turn, and last for the model
  Counts counts;
};

class ExactSearch {
 public:
  ExactSearch(const Problem& problem, const LevelSpace& space, const SearchOptions& options)
      : problem_(problem), space_(space), options_(options), judge_(problem), first_(options.keep) {}

  Solution run() {
    Solution first = search_first();
    if (first.termination == Termination::interrupted) return first;
    choose_order();
    choose_bounds();
    const unsigned threads = resolve_threads(options_.threads);
    scanners_.assign(threads, Scanner(options_, problem_.constraints.size(), space_.dimensions(), bounds_));
    const Tasks tasks = make_tasks();
    std::atomic<std::uint64_t> finished = 0;
    parallel_for(tasks.count, 1, threads, [&](std::size_t begin, std::size_t end, unsigned w) {
      for (std::size_t task = begin; task < end && !stopped(); ++task) {
        scan(tasks, task, scanners_[w]);
        if (options_.progress) options_.progress(++finished, tasks.count);
      }
    });
    if (!stopped()) {
      parallel_for(scanners_.size(), 1, threads, [&](std::size_t begin, std::size_t end, unsigned) {
        for (std::size_t i = begin; i < end; ++i) finish(scanners_[i]);
      });
    }
    return merged(std::move(first));
  }

 private:
  /// Boxes of which every one fixes the levels of the first parameters in order_.
  struct Tasks {
    std::size_t depth = 0, count = 1;
  };

  /// What a search by chance finds: a cutoff from the start on.
  Solution search_first() {
    SearchOptions options = options_;
    options.kind = SearchKind::mixed;
    SearchState state(problem_, space_, options);
    search_mixed(state, options);
    Solution solution = state.solution();
    for (const Candidate& candidate : solution.best) {
      first_.offer(candidate.design.levels.data(), space_.dimensions(),
                   {.score = candidate.score, .violation = candidate.violation});
    }
    cutoff_ = first_.cutoff();
    return solution;
  }

  [[nodiscard]] std::vector<Point> points_within(std::size_t count) const {
    Random random(options_.seed, "exact search");
    std::vector<Point> within;
    for (std::size_t tried = 0; within.size() < count && tried < kMostTries; tried += count) {
      std::vector<Point> points;
      for (std::size_t i = 0; i < count; ++i) points.push_back(random_point(space_, random));
      const Eigen::MatrixXd values = judge_.cheap(space_.levels_of(points));
      for (std::size_t i = 0; i < count && within.size() < count; ++i) {
        if (meets(values.row(static_cast<Eigen::Index>(i)))) within.push_back(points[i]);
      }
    }
    return within;
  }
  [[nodiscard]] bool meets(const Eigen::RowVectorXd& values) const {
    Eigen::Index j = 0;
    for (const Constraint& constraint : problem_.constraints) {
      if (!constraint.learned() && !(values[j++] <= constraint.limit)) return false;
    }
    return true;
  }

  /// Parameters by how much they move what limits the designs, the strongest first: boxes leave the limits early.
  void choose_order() {
    order_.resize(space_.dimensions());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    const auto limit = std::find_if(problem_.constraints.begin(), problem_.constraints.end(),
                                    [](const Constraint& constraint) { return static_cast<bool>(constraint.range); });
    if (limit == problem_.constraints.end()) return;
    Random random(options_.seed, "order of parameters");
    std::vector<double> moved(order_.size(), 0);
    for (std::size_t i = 0; i < kOrderDesigns; ++i) {
      const Point point = random_point(space_, random);
      for (std::size_t p = 0; p < order_.size(); ++p) {
        AllowedLevels box = box_of(point);
        box[p].clear();
        for (std::size_t at = 0; at < space_.count(p); ++at) box[p].push_back(space_.level(p, at));
        const ValueRange range = limit->range(box);
        if (range.largest > range.smallest) moved[p] += (range.largest - range.smallest) / std::abs(range.largest);
      }
    }
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) { return moved[a] > moved[b]; });
  }
  [[nodiscard]] AllowedLevels box_of(const Point& point) const {
    AllowedLevels box(point.size());
    for (std::size_t p = 0; p < point.size(); ++p) box[p] = {space_.level(p, point[p])};
    return box;
  }

  void choose_bounds() {
    if (!problem_.score_bounds) return;
    const std::vector<Point> sample = points_within(kSampleDesigns);
    if (!sample.empty()) bounds_ = problem_.score_bounds(space_.levels_of(sample), cutoff_);
  }

  [[nodiscard]] Tasks make_tasks() const {
    Tasks tasks;
    while (tasks.depth < order_.size() && tasks.count < kLeastTasks) tasks.count *= space_.count(order_[tasks.depth++]);
    return tasks;
  }
  [[nodiscard]] std::uint64_t designs_below(std::size_t depth) const {
    std::uint64_t count = 1;
    for (std::size_t i = depth; i < order_.size(); ++i) count *= space_.count(order_[i]);
    return count;
  }

  void scan(const Tasks& tasks, std::size_t task, Scanner& scanner) {
    AllowedLevels box(order_.size());
    for (std::size_t p = 0; p < box.size(); ++p) {
      for (std::size_t at = 0; at < space_.count(p); ++at) box[p].push_back(space_.level(p, at));
    }
    for (std::size_t i = tasks.depth; i-- > 0;) {
      const std::size_t p = order_[i];
      box[p] = {space_.level(p, task % space_.count(p))};
      task /= space_.count(p);
    }
    divide(tasks.depth, box, scanner);
  }

  /// Accounts for every design of the box, in which the parameters before `depth` have one level each.
  void divide(std::size_t depth, AllowedLevels& box, Scanner& scanner) {
    if (stopped()) return;
    const Rules::OnBox legal = legal_of(box);
    if (legal == Rules::OnBox::all_break) {
      scanner.counts.illegal += designs_below(depth);
      return;
    }
    bool all_meet = legal == Rules::OnBox::all_meet;
    std::size_t c = 0;
    for (const Constraint& constraint : problem_.constraints) {
      const std::size_t place = c++;
      if (constraint.learned()) continue;
      if (!constraint.range) {
        all_meet = false;
        continue;
      }
      const ValueRange range = constraint.range(box);
      if (range.smallest > constraint.limit) {
        scanner.smallest[place] = std::min(scanner.smallest[place], range.smallest);
        scanner.counts.beyond_limits += designs_below(depth);
        return;
      }
      all_meet = all_meet && range.largest <= constraint.limit;
    }
    if (designs_below(depth) <= kListedDesigns) {
      list(box, all_meet, scanner);
      return;
    }
    const std::size_t p = order_[depth];
    const std::vector<std::uint16_t> levels = box[p];
    for (const std::uint16_t level : levels) {
      box[p] = {level};
      divide(depth + 1, box, scanner);
    }
    box[p] = levels;
  }

  [[nodiscard]] Rules::OnBox legal_of(const AllowedLevels& box) const {
    return space_.is_constrained() ? space_.space().rules()->on_box(box) : Rules::OnBox::all_meet;
  }

  void list(const AllowedLevels& box, bool all_meet, Scanner& scanner) {
    std::size_t count = 1;
    for (const std::vector<std::uint16_t>& own : box) count *= own.size();
    LevelMatrix levels(static_cast<Eigen::Index>(count), static_cast<Eigen::Index>(box.size()));
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t left = i;
      for (std::size_t p = 0; p < box.size(); ++p) {
        levels.data()[i * box.size() + p] = box[p][left % box[p].size()];
        left /= box[p].size();
      }
    }
    Eigen::MatrixXd values;
    if (!all_meet) values = judge_.cheap(levels);
    for (std::size_t i = 0; i < count; ++i) {
      if (!all_meet && !space_.is_legal(levels.data() + i * box.size())) {
        ++scanner.counts.illegal;
        continue;
      }
      if (!all_meet && !meets(values.row(static_cast<Eigen::Index>(i)))) {
        ++scanner.counts.beyond_limits;
        continue;
      }
      scanner.waiting.front().add(levels.data() + i * box.size(), {}, 0);
    }
    if (scanner.waiting.front().count() >= kAskedRows) ask(0, scanner);
  }

  /// Puts the designs that wait to bound number `stage`, or to the model.
  void ask(std::size_t stage, Scanner& scanner) {
    const LevelMatrix levels = scanner.waiting[stage].levels();
    Eigen::MatrixXd known = scanner.waiting[stage].known();
    scanner.waiting[stage].clear();
    const auto width = static_cast<std::size_t>(levels.cols());
    const auto count = static_cast<std::size_t>(levels.rows());
    if (count == 0) return;
    if (stage == bounds_.steps.size()) {
      const std::vector<Fitness> fitness = judge_.fitness(levels, scanner.smallest);
      for (std::size_t i = 0; i < count; ++i) scanner.best.offer(levels.data() + i * width, width, fitness[i]);
      scanner.counts.judged += count;
      lower_cutoff(scanner.best.cutoff());
      return;
    }
    const Eigen::VectorXd bound = bounds_.steps[stage](levels, known);
    const double cutoff = cutoff_;
    const double beyond = cutoff + kRounding * (1 + std::abs(cutoff));
    for (std::size_t i = 0; i < count; ++i) {
      if (bound[static_cast<Eigen::Index>(i)] > beyond) {
        ++scanner.counts.bounded;
      } else {
        scanner.waiting[stage + 1].add(levels.data() + i * width, known, static_cast<Eigen::Index>(i));
      }
    }
    if (scanner.waiting[stage + 1].count() >= kAskedRows) ask(stage + 1, scanner);
  }
  void finish(Scanner& scanner) {
    for (std::size_t stage = 0; stage <= bounds_.steps.size(); ++stage) ask(stage, scanner);
  }
  void lower_cutoff(double value) {
    double now = cutoff_;
    while (value < now && !cutoff_.compare_exchange_weak(now, value)) {
    }
  }
  bool stopped() {
    if (interrupt_requested()) interrupted_ = true;
    return interrupted_;
  }

  Solution merged(Solution first) const {
    BestDesigns best = first_;
    Proof proof{.designs = *space_.size()};
    Solution solution;
    solution.smallest_constraint_value = std::move(first.smallest_constraint_value);
    for (const Scanner& scanner : scanners_) {
      best.merge(scanner.best);
      proof.beyond_limits += scanner.counts.beyond_limits;
      proof.bounded += scanner.counts.bounded;
      proof.judged += scanner.counts.judged;
      proof.designs -= scanner.counts.illegal;
      for (std::size_t c = 0; c < scanner.smallest.size(); ++c) {
        double& smallest = solution.smallest_constraint_value[c];
        smallest = std::min(smallest, scanner.smallest[c]);
      }
    }
    solution.best = best.candidates();
    solution.evaluations = first.evaluations + proof.judged;
    if (!first.best.empty() && first.best.front().violation <= 0) proof.found_before = first.best.front().score;
    solution.termination = interrupted_ ? Termination::interrupted : Termination::enumerated;
    solution.proof = proof;
    return solution;
  }

  const Problem& problem_;
  const LevelSpace& space_;
  const SearchOptions& options_;
  Judge judge_;
  BestDesigns first_;
  std::vector<std::size_t> order_;
  ScoreBounds bounds_;
  std::vector<Scanner> scanners_;
  std::atomic<double> cutoff_ = kInfinity;  ///< no design that scores worse will be kept
  std::atomic<bool> interrupted_ = false;
};

}  // namespace

Solution search_exact(const Problem& problem, const LevelSpace& space, const SearchOptions& options) {
  return ExactSearch(problem, space, options).run();
}

}  // namespace hindsight::optimize
