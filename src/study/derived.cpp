/// Derived quantities of a space as constraints of a problem.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/study/limits.h"
#include "hindsight/study/proposals.h"

namespace hindsight::study {
namespace {

/// The box with all levels where it names none.
optimize::AllowedLevels filled(const optimize::AllowedLevels& box, const space::Rules& rules) {
  optimize::AllowedLevels full = box;
  full.resize(rules.parameters().size());
  for (std::size_t p = 0; p < full.size(); ++p) {
    if (!full[p].empty()) continue;
    full[p].resize(rules.parameters()[p].level_count());
    std::iota(full[p].begin(), full[p].end(), std::uint16_t{0});
  }
  return full;
}

}  // namespace

DerivedQuantities derived_quantities(const std::string& name_or_path, const space::DesignSpace& space) {
  if (name_or_path.empty()) return nullptr;
  const space::DesignSpace file = space::load_space(name_or_path);
  if (file.definition_hash() == space.definition_hash()) return file.rules();
  throw Error(ErrorKind::incompatible,
              fmt::format("{}: describes another space than '{}' of the model (parameters, values, constraints or "
                          "conditions differ). Name a model of this space (--model; hindsight train makes one), or the "
                          "file that the model's log was made with",
                          printable(name_or_path, 120), space.name()));
}

std::optional<optimize::Constraint> derived_constraint(const DerivedQuantities& derived, const std::string& name,
                                                       double limit) {
  if (!derived) return std::nullopt;
  const auto& all = derived->derived();
  const auto found = std::ranges::find(all, name, &space::Rules::Derived::name);
  if (found == all.end()) return std::nullopt;
  const auto place = static_cast<std::size_t>(found - all.begin());
  return optimize::Constraint{.name = name,
                              .limit = limit,
                              .value =
                                  [derived, place](const optimize::LevelMatrix& levels) {
                                    Eigen::VectorXd values(levels.rows());
                                    std::vector<double> of_design(derived->derived().size());
                                    for (Eigen::Index i = 0; i < levels.rows(); ++i) {
                                      const auto width = static_cast<std::size_t>(levels.cols());
                                      derived->derive({levels.data() + i * levels.cols(), width}, of_design);
                                      values[i] = of_design[place];
                                    }
                                    return values;
                                  },
                              .range =
                                  [derived, place](const optimize::AllowedLevels& box) {
                                    const optimize::AllowedLevels full = filled(box, *derived);
                                    const std::vector<std::span<const std::uint16_t>> view(full.begin(), full.end());
                                    const space::ExpressionRange range = derived->derived_range(place, view);
                                    return optimize::ValueRange{.smallest = range.low, .largest = range.high};
                                  }};
}

std::vector<std::string> derived_names(const Proposals& proposals) {
  std::vector<std::string> names;
  if (!proposals.derived) return names;
  for (const space::Rules::Derived& derived : proposals.derived->derived()) {
    const auto& limited = proposals.options.constraints;
    const auto& traded = proposals.options.front;
    if (std::ranges::find(limited, derived.name, &optimize::Constraint::name) == limited.end() &&
        std::ranges::find(traded, derived.name, &optimize::FrontMetric::name) == traded.end()) {
      names.push_back(derived.name);
    }
  }
  return names;
}

std::vector<double> derived_values(const Proposals& proposals, std::size_t index) {
  std::vector<double> values;
  if (!proposals.derived) return values;
  std::vector<double> all(proposals.derived->derived().size());
  proposals.derived->derive(proposals.result.proposals[index].design.levels, all);
  const std::vector<std::string> names = derived_names(proposals);
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (std::ranges::find(names, proposals.derived->derived()[k].name) != names.end()) values.push_back(all[k]);
  }
  return values;
}

}  // namespace hindsight::study
