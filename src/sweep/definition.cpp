/// Parsing and identity of a sweep's definition.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/text.h"
#include "hindsight/space/rules.h"
#include "hindsight/sweep/sweep.h"

namespace hindsight::sweep {
namespace {
constexpr EnumNames<KeepKind, 2> kKeepKinds{{{KeepKind::worst, "worst"}, {KeepKind::random, "random"}}};

/// Bumped whenever the same options give another sequence of rows.
constexpr int kSequenceVersion = 1;

/// Whether a derived quantity is limited.
bool limits_derived(const SweepOptions& options) {
  const std::vector<std::string>& facts = options.evaluator->fact_names();
  return std::ranges::any_of(
      options.limits, [&](const FactLimit& bound) { return std::ranges::find(facts, bound.fact) == facts.end(); });
}
}  // namespace

std::vector<std::string> known_facts(const evaluator::Evaluator& evaluator) {
  std::vector<std::string> names = evaluator.fact_names();
  if (!evaluator.space().rules()) return names;
  for (const space::Rules::Derived& derived : evaluator.space().rules()->derived()) names.push_back(derived.name);
  return names;
}

FactLimit parse_fact_limit(std::string_view text, const std::vector<std::string>& facts) {
  const std::vector<std::string> pieces = split(text, '=');
  if (pieces.size() != 2) {
    throw Error(ErrorKind::usage, fmt::format("'{}' is not a limit. Write METRIC=NUMBER, e.g. area_mm2=100", text));
  }
  if (pieces[0].ends_with('<') || pieces[0].ends_with('>')) {
    const std::string name(trimmed(pieces[0].substr(0, pieces[0].find_last_not_of("<> ") + 1)));
    throw Error(ErrorKind::usage,
                pieces[0].ends_with('>')
                    ? fmt::format("'{}' is not a limit of --max: {} has an upper limit alone", text, name)
                    : fmt::format("'{}' is not a limit. Write {}={}, an upper limit", text, name, pieces[1]));
  }
  if (std::find(facts.begin(), facts.end(), pieces[0]) == facts.end()) {
    throw Error(ErrorKind::usage, fmt::format("'{}' is not a metric that is known before a design is evaluated.{}",
                                              pieces[0], did_you_mean(pieces[0], facts)));
  }
  const auto limit = parse_double(pieces[1]);
  if (!limit || !(*limit > 0)) {
    throw Error(ErrorKind::usage, fmt::format("'{}' is not a limit of {}: it must be a number above 0, e.g. {}=100",
                                              pieces[1], pieces[0], pieces[0]));
  }
  return {.fact = pieces[0], .limit = *limit};
}

void add_limit(std::string_view text, SweepOptions& options) {
  std::vector<std::string> known = known_facts(*options.evaluator);
  const std::string name(text.substr(0, text.find('=')));
  const bool is_fact = std::ranges::find(known, name) != known.end();
  if (is_fact || !options.evaluator->fact_names().empty()) {
    options.limits.push_back(parse_fact_limit(text, known));
    return;
  }
  const std::vector<std::string>& metrics = options.evaluator->metrics();
  known.insert(known.end(), metrics.begin(), metrics.end());
  // Where it does not say before what it gives, its answers will tell.
  if (!metrics.empty()) (void)index_of_name("metric of --max", name, known);
  options.outcome_limits.push_back(parse_fact_limit(text, {name}));
}

Shard parse_shard(std::string_view text) {
  const std::vector<std::string> pieces = split(text, '/');
  if (pieces.size() == 2) {
    const std::int64_t index = parse_int(pieces[0]).value_or(-1);
    const std::int64_t count = parse_int(pieces[1]).value_or(0);
    if (index >= 0 && index < count) {
      return {.index = static_cast<std::uint64_t>(index), .count = static_cast<std::uint64_t>(count)};
    }
  }
  throw Error(ErrorKind::usage,
              fmt::format("'{}' is not a shard. Write INDEX/COUNT with INDEX from 0 to COUNT-1, e.g. 0/8", text));
}

Keep parse_keep(std::string_view text) {
  const std::vector<std::string> pieces = split(text, ':');
  const auto kind = pieces.size() == 2 ? find_enum(pieces[0], kKeepKinds) : std::nullopt;
  if (!kind) {
    throw Error(ErrorKind::usage,
                fmt::format("'{}' does not say which rows to keep. Write worst:SHARE or random:SHARE, e.g. worst:0.5",
                            printable(text)));
  }
  const auto share = parse_double(pieces[1]);
  if (!share || !(*share > 0 && *share < 1)) {
    throw Error(ErrorKind::usage, fmt::format("'{}' is not a share of rows to keep: it must be a number between 0 and "
                                              "1, e.g. {}:0.5 (all rows stay without --keep)",
                                              printable(pieces[1]), pieces[0]));
  }
  return {.kind = *kind, .share_frac = *share};
}

std::string to_string(const Keep& keep) {
  return fmt::format("{}:{}", name_in(kKeepKinds, keep.kind), shortest(keep.share_frac));
}

std::string sampler_name(const SweepOptions& options) {
  if (!options.search.empty()) return options.search;
  return options.around ? "around" : space::to_string(options.sampler);
}

bool is_grid(const SweepOptions& options) {
  return options.search.empty() && !options.around && options.sampler == space::SamplerKind::grid;
}

std::string_view to_string(SweepStatus status) {
  switch (status) {
    case SweepStatus::finished:
      return "finished";
    case SweepStatus::already_finished:
      return "already finished";
    case SweepStatus::interrupted:
      return "interrupted";
    case SweepStatus::exhausted:
      return "exhausted";
  }
  return "";
}

std::string definition_hash(const SweepOptions& options) {
  const std::string sampler = sampler_name(options);
  std::vector<std::string> constraints;
  for (const FactLimit& bound : options.limits) {
    constraints.push_back(bound.fact + "<=" + shortest(bound.limit));
  }
  std::sort(constraints.begin(), constraints.end());
  std::string text = fmt::format(
      "hindsight sweep {}\nspace {} {}\nsampler {}\nseed {}\nconstraints {}\nshard {}/{}\nevaluator {}\n",
      kSequenceVersion, options.space().name(), options.space().definition_hash(), sampler, options.seed,
      join(constraints, " "), options.shard.index, options.shard.count, sha256_hex(options.evaluator->definition()));
  if (limits_derived(options)) text += fmt::format("derived {}\n", options.space().derived_hash());
  std::vector<std::string> outcomes;
  for (const FactLimit& bound : options.outcome_limits) outcomes.push_back(bound.fact + "<=" + shortest(bound.limit));
  std::sort(outcomes.begin(), outcomes.end());
  if (!outcomes.empty()) text += fmt::format("max of evaluations {}\n", join(outcomes, " "));
  for (const workload::Network& network : options.networks) {
    text += fmt::format("workload {} {}\n", network.name(), network.definition_hash());
  }
  if (options.around) {
    const std::string centre = options.space().text_id(options.around->centre);
    text += options.search.empty() ? fmt::format("around {} steps {}\n", centre, options.around->steps)
                                   : fmt::format("begins with {}\n", centre);
  }
  if (!options.objective.empty()) text += fmt::format("objective {}\n", options.objective);
  for (const auto& [name, value] : options.search_settings) text += fmt::format("search {} {}\n", name, value);
  if (options.networks_per_design > 0) text += fmt::format("networks per design {}\n", options.networks_per_design);
  if (options.keep) text += fmt::format("keep {} of {}\n", to_string(*options.keep), options.samples);
  if (sampler == space::to_string(space::SamplerKind::lhs)) text += fmt::format("strata {}\n", options.samples);
  return sha256_hex(text);
}

}  // namespace hindsight::sweep
