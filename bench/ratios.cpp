/// How near are evaluation, log and sweep to what this machine can do? One table: ours, the limit, their ratio.
///
/// Ours and a limit are measured in turn, the best of several turns each (of sweeps the middle of what turns give, that
/// of their ratios too, in processes of their own), in CPU time where nothing is said of threads: other programs on the
/// machine disturb ratios less than rates. Run by bench/run.sh.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>
#include <functional>
#include <future>
#include <limits>

#include "hindsight/accel/memory_costs.h"
#include "hindsight/accel/metrics.h"
#include "hindsight/accel/network_set.h"
#include "hindsight/core/error.h"
#include "hindsight/core/statistics.h"
#include "hindsight/core/table.h"
#include "hindsight/core/units.h"
#include "hindsight/evaluator/built_in.h"
#include "hindsight/space/sampling.h"
#include "hindsight/sweep/sweep.h"
#include "log_rows.h"

namespace hindsight::bench {
namespace {

constexpr double kAreaLimit_mm2 = 100;  // the study of the nine applications
constexpr int kTurns = 5;
constexpr int kSweepTurns = 7;  // their middle: what writes files is disturbed both ways

double clock_s(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
double cpu_s() { return clock_s(CLOCK_PROCESS_CPUTIME_ID); }
double wall_s() { return clock_s(CLOCK_MONOTONIC); }

/// The fewest seconds of each of `bodies` over several turns, run one after the other in every turn.
std::vector<double> fewest_s(double (*now_s)(), const std::vector<std::function<void()>>& bodies, int turns = kTurns) {
  std::vector<double> fewest(bodies.size(), std::numeric_limits<double>::infinity());
  for (int turn = 0; turn < turns; ++turn) {
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      const double start = now_s();
      bodies[i]();
      fewest[i] = std::min(fewest[i], now_s() - start);
    }
  }
  return fewest;
}

/// Keeps the optimiser from dropping what is not looked at.
volatile double sink = 0;

class Report {
 public:
  Report() {
    for (const char* header : {"what", "unit"}) table_.add_column(header, Align::left);
    for (const char* header : {"ours", "limit", "ours/limit"}) table_.add_column(header, Align::right);
    table_.add_column("the limit is", Align::left);
  }
  void rule() { table_.add_rule(); }
  void row(const std::string& what, const std::string& unit, double ours, double limit, const std::string& limit_is) {
    row(what, unit, ours, limit, ours / limit, limit_is);
  }
  /// Of several turns: the middle of each column.
  void row(const std::string& what, const std::string& unit, double ours, double limit, double ratio,
           const std::string& limit_is) {
    table_.add_row({what, unit, number(ours), number(limit), fmt::format("{:.3f}", ratio), limit_is});
  }
  void row(const std::string& what, const std::string& unit, double ours) {
    table_.add_row({what, unit, number(ours), "", "", ""});
  }
  [[nodiscard]] std::string text() const { return table_.markdown(); }

 private:
  static std::string number(double value) { return fmt::format("{:.{}f}", value, value < 100 ? 2 : 0); }
  Table table_;
};

/// Everything that several measurements ask.
struct Setting {
  explicit Setting(const std::string& name) : technology(accel::load_technology(name)) {}

  space::DesignSpace space = space::load_space("edge");
  accel::Technology technology;
  std::vector<workload::Network> networks = workload::load_networks("prime9");
  std::shared_ptr<const evaluator::Evaluator> evaluator = evaluator::built_in(space, technology);
};

/// Levels of uniformly drawn designs within an area limit, one after the other.
std::vector<std::uint16_t> drawn_levels(const space::DesignSpace& space, const accel::Technology& technology,
                                        std::size_t designs, double most_mm2 = kAreaLimit_mm2) {
  const accel::ConfigBinding binding(space);
  const auto sampler = space::make_sampler(space::SamplerKind::uniform, space, 1, designs, 0);
  std::vector<std::uint16_t> levels, drawn(space.parameters().size());
  std::vector<double> values(drawn.size());
  const accel::Metric& area_mm2 = *accel::find_metric("area_mm2");
  for (std::uint64_t i = 0; levels.size() < designs * drawn.size(); ++i) {
    sampler->sample(i, drawn);
    space.values(drawn, values);
    if (area_mm2.of_design(binding.bind(values), technology) > most_mm2) continue;
    levels.insert(levels.end(), drawn.begin(), drawn.end());
  }
  return levels;
}

std::vector<accel::AcceleratorConfig> configs(const space::DesignSpace& space,
                                              const std::vector<std::uint16_t>& levels) {
  const accel::ConfigBinding binding(space);
  const std::size_t parameters = space.parameters().size();
  std::vector<double> values(parameters);
  std::vector<accel::AcceleratorConfig> out;
  for (std::size_t i = 0; i < levels.size(); i += parameters) {
    space.values(std::span(levels).subspan(i, parameters), values);
    out.push_back(binding.bind(values));
  }
  return out;
}

/// A register of the widest instructions and arithmetic on it, eight chains at once so that no chain waits.
using Vector [[gnu::vector_size(64)]] = double;
[[gnu::target_clones("avx512f", "arch=haswell", "default")]] double multiply_add(std::size_t steps) {
  constexpr double kFactor = 0.999999, kTerm = 1e-6;
  Vector sums[8] = {};
  for (std::size_t i = 0; i < steps; ++i) {
    for (Vector& sum : sums) sum = sum * kFactor + kTerm;
  }
  Vector total = {};
  for (const Vector& sum : sums) total += sum;
  return total[0] + total[7];
}

/// Operations of the model's equations for a layer whose mapping is known: each operation, ceiling or maximum counted
/// as one. [chosen] counted by hand: shares 58, tiles and plan 55, loads and cycles 60, DRAM 45, traffic, energy and
/// program 100; and the sums over layers, two for each of 25 fields.
constexpr double kOperationsPerShape = 318;
constexpr double kOperationsPerLayer = 50;

/// What facts of designs take that fail a check, against those of designs that pass.
void facts_rows(const std::string& which, const space::DesignSpace& space, const accel::Technology& technology,
                double most_mm2, Report& report) {
  std::vector<accel::AcceleratorConfig> passing, failing;
  for (const auto& config : configs(space, drawn_levels(space, technology, 1500, most_mm2))) {
    (accel::chip_facts(config, technology).violations.count == 0 ? passing : failing).push_back(config);
  }
  using enum accel::Remedies;
  accel::MemoryCosts costs(technology);
  const auto plain = [&](const std::vector<accel::AcceleratorConfig>& some, accel::Remedies remedies) {
    return [&some, &technology, remedies] {
      for (const auto& config : some) sink = accel::chip_facts(config, technology, remedies).leakage_w;
    };
  };
  const auto kept = [&](const std::vector<accel::AcceleratorConfig>& some, accel::Remedies remedies) {
    return [&some, &costs, remedies] {
      for (const auto& config : some) sink = accel::chip_facts(config, costs, remedies).leakage_w;
    };
  };
  constexpr int kFactTurns = 200;  // of a millisecond
  const std::vector<double> times = fewest_s(cpu_s,
                                             {plain(passing, named), plain(failing, left_out), plain(failing, named),
                                              kept(passing, named), kept(failing, left_out), kept(failing, named)},
                                             kFactTurns);
  const double passing_per_s = static_cast<double>(passing.size()) / times[0];
  const double kept_per_s = static_cast<double>(passing.size()) / times[3];
  const auto row = [&](const std::string& what, std::size_t designs, double seconds, double limit, const char* is) {
    report.row(fmt::format("facts of {}: {}", which, what), "designs/s/core", static_cast<double>(designs) / seconds,
               limit, is);
  };
  row("designs that fail a check", failing.size(), times[1], passing_per_s, "designs that pass");
  row("the same, with what would pass", failing.size(), times[2], passing_per_s, "designs that pass");
  row("designs that pass, costs of memories kept", passing.size(), times[3], passing_per_s, "designs that pass");
  row("designs that fail, costs kept", failing.size(), times[4], kept_per_s, "designs that pass, kept");
  row("costs kept, with what would pass", failing.size(), times[5], kept_per_s, "designs that pass, kept");
}

void evaluation_rows(const Setting& setting, Report& report) {
  const std::vector<accel::AcceleratorConfig> all =
      configs(setting.space, drawn_levels(setting.space, setting.technology, 1500));
  const accel::NetworkSet set(setting.networks);
  accel::SetEvaluator evaluator(set);
  std::vector<accel::Evaluation> out(set.size());
  const auto passing = static_cast<double>(std::ranges::count_if(all, [&](const accel::AcceleratorConfig& config) {
    return accel::chip_facts(config, setting.technology).violations.count == 0;
  }));
  constexpr std::size_t kSteps = 10'000'000;
  const std::vector<double> times =
      fewest_s(cpu_s, {[&] {
                         for (const auto& config : all) {
                           evaluator.evaluate(accel::chip_facts(config, setting.technology),
                                              accel::Depth::stop_at_hardware, out);
                         }
                       },
                       [&] {
                         for (const auto& config : all) {
                           const accel::ChipFacts chip = accel::chip_facts(config, setting.technology);
                           for (const auto& network : setting.networks) {
                             sink = accel::evaluate(chip, network, accel::Depth::stop_at_hardware).peak_power_w;
                           }
                         }
                       },
                       [&] { sink = multiply_add(kSteps); }});
  std::size_t layers = 0;
  for (std::size_t i = 0; i < set.size(); ++i) layers += set.layers(i).size();
  const double operations = passing * (kOperationsPerShape * static_cast<double>(set.shapes().size()) +
                                       kOperationsPerLayer * static_cast<double>(layers));
  const double peak_per_s = 2.0 * 8 * 8 * kSteps / times[2];
  const auto designs = static_cast<double>(all.size());
  report.row("random designs x nine applications", "designs/s/core", designs / times[0],
             designs * peak_per_s / operations,
             fmt::format("the chosen mappings' arithmetic at {:.0f} Gop/s", 1e-9 * peak_per_s));
  report.row("the same, each network alone", "designs/s/core", designs / times[1], designs / times[0], "all together");
  facts_rows("edge under 100 mm2", setting.space, setting.technology, kAreaLimit_mm2, report);
  const space::DesignSpace datacenter = space::load_space("datacenter");
  facts_rows("datacenter", datacenter, accel::load_technology("", datacenter), std::numeric_limits<double>::infinity(),
             report);
}

void log_rows(Report& report) {
  constexpr std::size_t kRows = 36'000, kBatch = 4500;
  const auto batches = [](const Ids& ids) {
    std::vector<std::vector<EvaluationRow>> out;
    for (std::size_t i = 0; i < kRows / kBatch; ++i) out.push_back(rows_of(ids, i * kBatch, kBatch));
    return out;
  };
  std::vector<double> fewest(3, std::numeric_limits<double>::infinity());
  for (int turn = 0; turn < kTurns; ++turn) {
    for (std::size_t way = 0; way < fewest.size(); ++way) {
      const ScratchLog scratch;
      Log log = Log::open(scratch.file, OpenMode::read_write_create);
      const Ids ids = register_all(log);
      const auto rows = batches(ids);
      std::vector<std::vector<PlainRow>> plain;
      for (const auto& batch : rows) plain.push_back(plain_rows_of(batch));
      BareTables tables(scratch.file, way == 1);
      const double start = cpu_s();
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (way == 0) {
          log.append(ids.run, ids.space, ids.evaluator, rows[i], log::Checkpoint{"k", "{}"});
        } else {
          tables.append(ids, plain[i]);
        }
      }
      fewest[way] = std::min(fewest[way], cpu_s() - start);
    }
  }
  report.row("appending to a log", "rows/s/core", kRows / fewest[0], kRows / fewest[1],
             "bare SQLite: same tables, indexes, rows, foreign keys");
  report.row("", "rows/s/core", kRows / fewest[0], kRows / fewest[2], "the same, what a row refers to not looked up");
}

double resident_mib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;  // Linux counts KiB
}

sweep::SweepOptions sweep_options(const Setting& setting, const fs::path& log, std::uint64_t samples,
                                  unsigned threads) {
  return {.evaluator = setting.evaluator,
          .networks = setting.networks,
          .sampler = space::SamplerKind::uniform,
          .samples = samples,
          .seed = 1,
          .limits = {{.fact = "area_mm2", .limit = kAreaLimit_mm2}},
          .shard = {},
          .log = log,
          .threads = threads,
          .quiet = true,
          .provenance = {}};
}

/// The rows that a sweep of `levels` would append, with their identities.
std::vector<EvaluationRow> identified(const Setting& setting, const std::vector<std::uint16_t>& levels,
                                      const std::vector<std::int64_t>& workloads) {
  std::vector<EvaluationRow> rows = setting.evaluator->evaluate(levels, setting.networks, 1);
  const std::size_t parameters = setting.space.parameters().size();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto* first = levels.data() + i / workloads.size() * parameters;
    const space::Design design{.levels = {first, first + parameters}};
    rows[i].workload_id = workloads[i % workloads.size()];
    rows[i].design_text_id = setting.space.text_id(design);
    rows[i].design_hash = setting.space.content_hash(design);
  }
  return rows;
}

/// Evaluation alone, appending alone, both at once without a word between them, and the sweep that does both, in
/// batches of a sweep's size.
struct SweepTurn {
  double evaluation_s, appending_s, both_s, sweep_s;
  [[nodiscard]] double sum_s() const { return evaluation_s + appending_s; }
};
/// Middle of what the turns give.
double middle(const std::vector<SweepTurn>& turns, const std::function<double(const SweepTurn&)>& of) {
  std::vector<double> values;
  for (const SweepTurn& turn : turns) values.push_back(of(turn));
  return median(values);
}
/// Seconds of what `prepare` gives back, by a clock of the child process that runs both: as a command is, with no
/// memory that others used and left in pieces. Throws when the child does not end well.
double child_s(double (*now_s)(), const std::function<std::function<void()>()>& prepare) {
  int ends[2];
  HINDSIGHT_ENSURE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  HINDSIGHT_ENSURE(child >= 0);
  if (child == 0) {
    const std::function<void()> body = prepare();
    const double start = now_s();
    body();
    const double seconds = now_s() - start;
    ::_exit(::write(ends[1], &seconds, sizeof seconds) == sizeof seconds ? 0 : 1);
  }
  ::close(ends[1]);
  double seconds = 0;
  const bool told = ::read(ends[0], &seconds, sizeof seconds) == sizeof seconds;
  ::close(ends[0]);
  int status = 0;
  HINDSIGHT_ENSURE(::waitpid(child, &status, 0) == child && status == 0 && told);
  return seconds;
}

std::vector<SweepTurn> sweep_turns(const Setting& setting, double (*now_s)(), unsigned threads, std::size_t designs) {
  const std::vector<std::uint16_t> levels = drawn_levels(setting.space, setting.technology, designs);
  const std::size_t batch = sweep::SweepOptions{}.batch_designs * setting.space.parameters().size();
  const auto batches = [&](const std::function<void(std::vector<std::uint16_t>)>& body) {
    for (std::size_t i = 0; i < levels.size(); i += batch) {
      body({levels.begin() + static_cast<std::ptrdiff_t>(i),
            levels.begin() + static_cast<std::ptrdiff_t>(std::min(i + batch, levels.size()))});
    }
  };
  const auto evaluate = [&] {
    batches([&](const std::vector<std::uint16_t>& some) {
      sink = static_cast<double>(setting.evaluator->evaluate(some, setting.networks, threads).size());
    });
  };
  // From the opening of a new log to its closing, as a sweep has it.
  const auto appending = [&](const ScratchLog& scratch, bool beside_evaluation) {
    const auto rows = std::make_shared<std::vector<std::vector<EvaluationRow>>>();
    Log other = Log::open(scratch.folder / "ids.db", OpenMode::read_write_create);
    const Ids same = register_all(other);  // a new log gives the same
    batches([&](const auto& some) { rows->push_back(identified(setting, some, same.workloads)); });
    return [=, &scratch] {
      std::future<void> evaluation;
      if (beside_evaluation) evaluation = std::async(std::launch::async, evaluate);
      {
        Log log = Log::open(scratch.file, OpenMode::read_write_create);
        const Ids ids = register_all(log);
        for (const auto& some : *rows) {
          log.append(ids.run, ids.space, ids.evaluator, some, log::Checkpoint{"k", "{}"});
        }
      }
      if (evaluation.valid()) evaluation.get();
    };
  };
  const auto timed_s = [&](const std::function<std::function<void()>(const ScratchLog&)>& prepare) {
    const ScratchLog scratch;
    return child_s(now_s, [&] { return prepare(scratch); });
  };
  std::vector<SweepTurn> turns;
  for (int i = 0; i < kSweepTurns; ++i) {
    SweepTurn& turn = turns.emplace_back();
    turn.evaluation_s = timed_s([&](const ScratchLog&) { return evaluate; });
    turn.appending_s = timed_s([&](const ScratchLog& scratch) { return appending(scratch, false); });
    turn.both_s = timed_s([&](const ScratchLog& scratch) { return appending(scratch, true); });
    turn.sweep_s = timed_s([&](const ScratchLog& scratch) {
      return [&] { sink = run_sweep(sweep_options(setting, scratch.folder / "sweep.db", designs, threads)).elapsed_s; };
    });
  }
  return turns;
}

void sweep_rows(const Setting& setting, Report& report) {
  constexpr std::size_t kDesigns = 30'000;
  // Ratios are taken within a turn: the machine's speed is another one some seconds later.
  const auto add = [&](const std::string& what, const std::string& unit, const std::vector<SweepTurn>& turns,
                       double (*limit_s)(const SweepTurn&), const std::string& limit_is) {
    report.row(what, unit, kDesigns / middle(turns, [](const SweepTurn& turn) { return turn.sweep_s; }),
               kDesigns / middle(turns, limit_s),
               middle(turns, [&](const SweepTurn& turn) { return limit_s(turn) / turn.sweep_s; }), limit_is);
  };
  for (const unsigned threads : {1U, 2U}) {
    const std::vector<SweepTurn> turns = sweep_turns(setting, wall_s, threads, kDesigns);
    const bool evaluation_is_slower =
        middle(turns, [](const SweepTurn& turn) { return turn.evaluation_s - turn.appending_s; }) > 0;
    add(
        fmt::format("sweep into a log, {} thread{}", threads, threads == 1 ? "" : "s"), "designs/s", turns,
        evaluation_is_slower ? [](const SweepTurn& turn) { return turn.evaluation_s; }
                             : [](const SweepTurn& turn) { return turn.appending_s; },
        fmt::format("the slower alone: {}", evaluation_is_slower ? "evaluating" : "appending"));
    add(
        "", "designs/s", turns, [](const SweepTurn& turn) { return turn.both_s; }, "both at once, unconnected");
  }
  add(
      "sweep into a log", "designs/s/core", sweep_turns(setting, cpu_s, 1, kDesigns),
      [](const SweepTurn& turn) { return turn.sum_s(); }, "evaluating and appending, in CPU time");
}

void scaling_rows(const Setting& setting, Report& report) {
  const std::vector<std::uint16_t> levels = drawn_levels(setting.space, setting.technology, 6000);
  const auto evaluate = [&](unsigned threads) {
    sink = static_cast<double>(setting.evaluator->evaluate(levels, setting.networks, threads).size());
  };
  const std::vector<double> times = fewest_s(wall_s, {[&] { evaluate(1); }, [&] { evaluate(2); }});
  report.row("evaluating with 2 threads", "designs/s", 6000 / times[1], 2 * 6000 / times[0], "twice one thread");
}

/// The edge space with some levels of every parameter, evenly spread, or with more between them.
space::DesignSpace space_of_size(const space::DesignSpace& edge, double wanted) {
  std::vector<space::Parameter> parameters = edge.parameters();
  const double share =
      std::pow(wanted / static_cast<double>(*edge.size()), 1.0 / static_cast<double>(parameters.size()));
  for (space::Parameter& parameter : parameters) {
    const std::vector<double> all = parameter.values;
    const auto count = static_cast<std::size_t>(std::max(1.0, std::round(share * static_cast<double>(all.size()))));
    parameter.values.clear();
    parameter.labels.clear();
    for (std::size_t i = 0; i < count; ++i) {
      const double place = count == 1 ? 0 : static_cast<double>(i * (all.size() - 1)) / static_cast<double>(count - 1);
      const auto below = static_cast<std::size_t>(place);
      const double above = all[std::min(below + 1, all.size() - 1)];
      const double value = all[below] + (place - static_cast<double>(below)) * (above - all[below]);
      const double whole = std::round(value);
      if (parameter.values.empty() || whole > parameter.values.back()) parameter.values.push_back(whole);
    }
  }
  return {"edge_part", "Levels of edge, thinned or refined", std::move(parameters)};
}

void size_rows(const Setting& setting, Report& report) {
  for (const double wanted : {1e4, 1e5, 1e6, 1e7, 1e8, 1e9}) {
    const space::DesignSpace space = space_of_size(setting.space, wanted);
    const std::vector<std::uint16_t> levels = drawn_levels(space, setting.technology, 2000);
    const auto evaluator = evaluator::built_in(space, setting.technology);
    const std::vector<double> times = fewest_s(
        cpu_s, {[&] { sink = static_cast<double>(evaluator->evaluate(levels, setting.networks, 1).size()); }}, 3);
    report.row(fmt::format("random designs of a space of {:.2g}", static_cast<double>(*space.size())), "designs/s/core",
               2000 / times[0]);
  }
}

void memory_rows(const Setting& setting, Report& report) {
  // The fewer fill SQLite's page cache, which is no part of what grows.
  constexpr std::uint64_t kFew = 60'000, kMany = 180'000;
  const ScratchLog scratch;
  const auto sweep = [&](std::uint64_t samples) {
    const fs::path file = scratch.folder / fmt::format("{}.db", samples);
    sink = run_sweep(sweep_options(setting, file, samples, 1)).elapsed_s;
    return static_cast<double>(fs::file_size(file)) / units::kMib;
  };
  const double few_log_mib = sweep(kFew);
  const double few_mib = resident_mib();
  const double many_log_mib = sweep(kMany);
  const double per_million = 1e6 / static_cast<double>(kMany - kFew);
  report.row("memory of a sweep, beyond its start", "MiB/million designs", per_million * (resident_mib() - few_mib));
  report.row("its log, nine rows a design", "MiB/million designs", per_million * (many_log_mib - few_log_mib));
}

struct Part {
  const char* name;
  void (*rows)(const Setting&, Report&);
};
constexpr Part kParts[] = {
    {"memory", memory_rows},  // first: it reads the most memory that the process ever had
    {"evaluation", evaluation_rows},
    {"log", [](const Setting&, Report& report) { log_rows(report); }},
    {"sweep", sweep_rows},
    {"scaling", scaling_rows},
    {"sizes", size_rows},
};

std::vector<std::string> part_names() {
  std::vector<std::string> names;
  for (const Part& part : kParts) names.emplace_back(part.name);
  return names;
}

/// The parts named; none: all.
void print_parts(const std::string& technology, const std::vector<std::string>& names) {
  const Setting setting(technology);
  Report report;
  for (const Part& part : kParts) {
    if (!names.empty() && std::ranges::find(names, part.name) == names.end()) continue;
    part.rows(setting, report);
    report.rule();
  }
  fmt::print("{}", report.text());
}

}  // namespace
}  // namespace hindsight::bench

int main(int argc, char** argv) {
  std::string technology = hindsight::accel::kDefaultTechnology;
  CLI::App app("Ratios of what this machine can do.");
  app.add_option("--technology", technology, "Of the accelerator model [22nm-silicon]");
  std::vector<std::string> parts;
  app.add_option("--only", parts, "memory, evaluation, log, sweep, scaling, sizes [all]")
      ->delimiter(',')
      ->check(CLI::IsMember(hindsight::bench::part_names()));
  CLI11_PARSE(app, argc, argv);
  hindsight::bench::print_parts(technology, parts);
  return 0;
}
