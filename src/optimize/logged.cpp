/// Start designs and distances from the rows of a log.
#include "optimize/logged.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "optimize/judge.h"

namespace hindsight::optimize {
namespace {

/// [chosen] Best rows per application that are looked at for ones that meet the constraints.
constexpr std::size_t kRowsPerContext = 5000;

/// Feasible rows of one context, best first.
std::vector<Eigen::Index> best_rows(const dataset::Dataset& logged, std::int32_t context) {
  std::vector<Eigen::Index> rows;
  for (std::size_t i = 0; i < logged.size(); ++i) {
    if (logged.context[i] == context && logged.feasible[i]) rows.push_back(static_cast<Eigen::Index>(i));
  }
  const std::size_t kept = std::min(rows.size(), kRowsPerContext);
  std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(kept), rows.end(),
                    [&](Eigen::Index a, Eigen::Index b) {
                      const double left = logged.objective[a];
                      const double right = logged.objective[b];
                      return left != right ? left < right : a < b;
                    });
  rows.resize(kept);
  return rows;
}

/// Those of `rows` that are allowed and meet the cheap constraints.
std::vector<space::Design> acceptable(const dataset::Dataset& logged, const Problem& problem,
                                      const std::vector<Eigen::Index>& rows) {
  LevelMatrix levels(static_cast<Eigen::Index>(rows.size()), logged.levels.cols());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    levels.row(static_cast<Eigen::Index>(i)) = logged.levels.row(rows[i]);
  }
  Problem cheap{.space = problem.space, .allowed = problem.allowed, .constraints = {}, .model = {}};
  for (const Constraint& constraint : problem.constraints) {
    if (!constraint.learned()) cheap.constraints.push_back(constraint);
  }
  cheap.model = [](const LevelMatrix& matrix) {
    return Learned{.score = Eigen::VectorXd::Zero(matrix.rows()), .values = {}};
  };
  std::vector<double> smallest(cheap.constraints.size(), std::numeric_limits<double>::infinity());
  const std::vector<Fitness> fitness = Judge(cheap).fitness(levels, smallest);
  std::vector<space::Design> designs;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::uint16_t* row = levels.data() + static_cast<Eigen::Index>(i) * levels.cols();
    if (fitness[i].feasible() && problem.is_allowed(row)) {
      designs.push_back({std::vector<std::uint16_t>(row, row + levels.cols())});
    }
  }
  return designs;
}

using Levels = std::u16string;
Levels levels_at(const LevelMatrix& matrix, Eigen::Index row) {
  const std::uint16_t* first = matrix.data() + row * matrix.cols();
  return {first, first + matrix.cols()};
}

/// Designs with an infeasible row, and no feasible one, of one of the applications.
void add_infeasible(const ProposeOptions& options, std::unordered_set<Levels>& designs) {
  const dataset::Dataset& logged = *options.logged;
  for (const dataset::Context& context : options.contexts) {
    for (const std::int32_t place : contexts_of(logged, {context.name})) {
      std::unordered_map<Levels, bool> feasible;
      for (std::size_t i = 0; i < logged.size(); ++i) {
        if (logged.context[i] != place) continue;
        bool& one = feasible[levels_at(logged.levels, static_cast<Eigen::Index>(i))];
        one = one || logged.feasible[i];
      }
      for (const auto& [levels, can_be_built] : feasible) {
        if (!can_be_built) designs.insert(levels);
      }
    }
  }
}

}  // namespace

std::vector<space::Design> logged_starts(const dataset::Dataset& logged, const Problem& problem,
                                         const std::vector<dataset::Context>& contexts, std::size_t count) {
  std::vector<std::int32_t> wanted;
  std::vector<std::int32_t> all;
  for (std::size_t c = 0; c < logged.contexts.size(); ++c) {
    all.push_back(static_cast<std::int32_t>(c));
    const bool asked = std::any_of(contexts.begin(), contexts.end(), [&](const dataset::Context& context) {
      return context.name == logged.contexts[c].name;
    });
    if (asked) wanted.push_back(static_cast<std::int32_t>(c));
  }
  std::vector<std::vector<space::Design>> by_context;
  std::size_t longest = 0;
  for (const std::int32_t context : wanted.empty() ? all : wanted) {
    by_context.push_back(acceptable(logged, problem, best_rows(logged, context)));
    longest = std::max(longest, by_context.back().size());
  }
  std::vector<space::Design> starts;
  std::set<std::vector<std::uint16_t>> seen;
  for (std::size_t rank = 0; rank < longest && starts.size() < count; ++rank) {
    for (const auto& designs : by_context) {
      if (rank < designs.size() && starts.size() < count && seen.insert(designs[rank].levels).second) {
        starts.push_back(designs[rank]);
      }
    }
  }
  return starts;
}

std::vector<std::int32_t> contexts_of(const dataset::Dataset& data, const std::vector<std::string>& applications) {
  std::vector<std::int32_t> contexts;
  for (const std::string& name : applications) {
    const auto found = std::find_if(data.contexts.begin(), data.contexts.end(),
                                    [&](const dataset::Context& context) { return context.name == name; });
    if (found == data.contexts.end()) return {};
    contexts.push_back(static_cast<std::int32_t>(found - data.contexts.begin()));
  }
  return contexts;
}

std::optional<Constraint> not_proposed(const ProposeOptions& options, bool by_facts) {
  const auto designs = std::make_shared<std::unordered_set<Levels>>();  // problems are copied, what they keep is not
  if (options.only_new) {
    for (Eigen::Index row = 0; row < options.logged->levels.rows(); ++row) {
      designs->insert(levels_at(options.logged->levels, row));
    }
  } else if (by_facts && options.logged != nullptr) {
    add_infeasible(options, *designs);
  }
  for (const space::Design& design : options.never) designs->emplace(design.levels.begin(), design.levels.end());
  if (designs->empty() && !options.only_new) return std::nullopt;
  return Constraint{.name = "logged_before",
                    .limit = 0,
                    .value =
                        [designs](const LevelMatrix& levels) {
                          Eigen::VectorXd logged_before(levels.rows());
                          for (Eigen::Index i = 0; i < levels.rows(); ++i) {
                            logged_before[i] = designs->contains(levels_at(levels, i)) ? 1 : 0;
                          }
                          return logged_before;
                        },
                    .text = [](double /*value*/) { return std::string(); }};
}

std::optional<std::size_t> nearest_logged_distance(const dataset::Dataset& logged, const space::Design& design) {
  if (logged.size() == 0) return std::nullopt;
  const auto parameters = design.levels.size();
  std::size_t nearest = parameters + 1;
  for (std::size_t i = 0; i < logged.size() && nearest > 0; ++i) {
    const std::uint16_t* row = logged.levels.data() + i * parameters;
    std::size_t different = 0;
    for (std::size_t p = 0; p < parameters; ++p) different += row[p] == design.levels[p] ? 0 : 1;
    nearest = std::min(nearest, different);
  }
  return nearest;
}

}  // namespace hindsight::optimize
