/// hindsight check: designs against GPUs that one can buy.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "design_argument.h"
#include "dry_run.h"
#include "file_roles.h"
#include "given_calibrations.h"
#include "hindsight/accel/config.h"
#include "hindsight/accel/technology.h"
#include "hindsight/check/gpus.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/foreign_name.h"
#include "hindsight/core/json_bounds.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/text.h"
#include "hindsight/log/log.h"
#include "hindsight/log/query.h"
#include "hindsight/report/gpu_check.h"
#include "hindsight/space/design_space.h"
#include "hindsight/study/log_names.h"
#include "hindsight/workload/network.h"
#include "hindsight/workload/synthetic.h"
#include "output.h"
#include "proposals_file.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

using Json = nlohmann::ordered_json;

struct CheckOptions {
  std::string log;
  std::string proposals = "latest";
  std::string file;
  std::string design;
  std::string space;  ///< empty: edge
  std::string workloads;
  std::string gpus = "l4,rtx-4090,l40s,h100-sxm5,h200";
  std::string calibrations;
  std::string technology;  ///< empty: that of the space, or of the chip
  std::int64_t top = 1;
  bool top_given = false;
  bool json = false;
};

/// A design to judge.
struct Candidate {
  std::string name;
  accel::AcceleratorConfig config;
  std::string technology = {};      ///< of its log, its space or its chip; empty: nothing says
  std::string why_technology = {};  ///< of a reference chip
  std::optional<accel::PublishedArea> published_area = {};
  std::optional<std::int64_t> rank = {};
  std::optional<std::int64_t> proposal_id = {};
  std::optional<std::string> earlier_verdict = {};
  std::vector<std::string> networks = {};      ///< to judge it on
  std::vector<std::string> proposed_for = {};  ///< as its log or file says
};

/// What a proposal was verified with, else its design was evaluated with.
std::string technology_of(const CheckOptions& options, const log::Log& log, const log::ProposalRecord& proposal) {
  if (proposal.verdict_json) {
    if (std::string own = study::technology_of_verdict(*proposal.verdict_json); !own.empty()) return own;
  }
  return own_technology(
      options.technology, study::technologies_of(log, proposal.design_text_id),
      fmt::format("{}: run {} does not say its technology, and the log has", options.log, proposal.run_id));
}

/// That of all designs. Error{usage} where they have several and none was asked for.
accel::Technology common_technology(const CheckOptions& options, const std::vector<Candidate>& designs) {
  std::vector<std::string> own;
  for (const Candidate& design : designs) {
    const bool known = design.technology.empty() || std::ranges::find(own, design.technology) != own.end();
    if (!known) own.push_back(design.technology);
  }
  const std::string one = own_technology(options.technology, own, options.log + ": its proposals have");
  const bool is_chip =
      !options.design.empty() && !is_text_id(options.design) && !names_logged(options.design, options.log);
  return is_chip ? technology_of_chip(options.technology, options.design, one)
                 : technology_for(options.technology, one);
}

std::vector<Candidate> from_log(const CheckOptions& options) {
  std::optional<std::int64_t> run;
  if (options.proposals != "latest") {
    run = parse_int(options.proposals);
    if (!run || *run < 1) {
      throw Error(ErrorKind::usage, fmt::format("--proposals: '{}' is neither a run's number nor 'latest'",
                                                printable(options.proposals)));
    }
  }
  const log::Log log = log::Log::open(options.log, log::OpenMode::read_only);
  const std::vector<log::SpaceSummary> spaces = log::spaces(log);
  std::vector<Candidate> candidates;
  for (const log::ProposalRecord& proposal : log::proposals(log, run)) {
    if (candidates.size() == static_cast<std::size_t>(options.top)) break;
    const auto space = std::find_if(spaces.begin(), spaces.end(),
                                    [&](const log::SpaceSummary& one) { return one.name == proposal.space; });
    HINDSIGHT_EXPECT(space != spaces.end());
    candidates.push_back(
        {.name = proposal.design_text_id,
         .config =
             configuration_of(space::space_from_definition(space->name, space->definition), proposal.design_text_id),
         .technology = technology_of(options, log, proposal),
         .rank = proposal.rank,
         .proposal_id = proposal.proposal_id,
         .earlier_verdict = proposal.verdict_json,
         .networks = predicted_networks(Json::parse(bounded_json(proposal.predicted_json), nullptr, false))});
  }
  if (candidates.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: the log has no proposals (there is nothing to check). Run 'hindsight "
                            "propose --log' first, or name a --design",
                            options.log));
  }
  return candidates;
}

std::vector<Candidate> from_file(const CheckOptions& options) {
  const ProposalsFile file = read_proposals_file(options.file, options.space, static_cast<std::size_t>(options.top));
  std::vector<Candidate> candidates;
  for (const ProposedDesign& design : file.designs) {
    candidates.push_back({.name = design.name,
                          .config = design.config,
                          .technology = file.technology,
                          .rank = static_cast<std::int64_t>(candidates.size() + 1),
                          .networks = design.networks});
  }
  return candidates;
}

/// A text id names a design of the space, a short id one of the log; anything else is a reference chip.
std::vector<Candidate> from_design(const CheckOptions& options) {
  if (names_logged(options.design, options.log)) {
    require_own_space(options.space);
    const LoggedDesign logged = logged_design(options.log, options.design);
    return {{.name = logged.space.text_id(logged.design),
             .config = accel::ConfigBinding(logged.space).bind(logged.space, logged.design),
             .technology = own_technology(options.technology, logged.technologies,
                                          fmt::format("{}: has rows of {} with", options.log, options.design))}};
  }
  if (is_text_id(options.design)) {
    const space::DesignSpace space = space_of_text_id(options.design, options.space);
    return {
        {.name = options.design, .config = configuration_of(space, options.design), .technology = space.technology()}};
  }
  const auto [chip, why] = asked_chip(options.design, options.technology);
  if (!options.space.empty()) {  // which may be a default
    remark(fmt::format("--space {}: is not read, as {} is a reference chip and no design of a space",
                       printable(options.space, 100), printable(options.design, 100)));
  }
  return {{.name = chip.name,
           .config = chip.config,
           .technology = chip.technology,
           .why_technology = why,
           .published_area = chip.published_area}};
}

std::vector<Candidate> candidates(const CheckOptions& options) {
  const bool from_file_alone = !options.file.empty() && options.log.empty() && options.design.empty();
  const bool from_log_or_name = options.file.empty() && (!options.log.empty() || !options.design.empty());
  if (!from_file_alone && !from_log_or_name) {
    throw Error(ErrorKind::usage,
                "check: name one source of designs: --log FILE, --file PROPOSALS.json or --design ID");
  }
  if (options.proposals != "latest" && (options.log.empty() || !options.design.empty())) {
    throw Error(ErrorKind::usage,
                fmt::format("--proposals {}: names a run of a log whose designs are checked, and {} names them here. "
                            "Leave one of the two out",
                            printable(options.proposals, 100), options.design.empty() ? "--file" : "--design"));
  }
  if (options.top_given && !options.design.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("--top {}: counts the proposals of a log or file that are checked, and --design names one "
                            "design. Leave one of the two out",
                            options.top));
  }
  std::vector<Candidate> found =
      !options.design.empty() ? from_design(options) : (!options.log.empty() ? from_log(options) : from_file(options));
  for (Candidate& candidate : found) {
    candidate.proposed_for = candidate.networks;
    if (!options.workloads.empty()) candidate.networks = {options.workloads};
    if (candidate.networks.empty()) {
      throw Error(ErrorKind::usage, "check: no workload is known for the design. Name one with --workload");
    }
  }
  return found;
}

/// Networks by the names that the user wrote, or that a log or file of proposals (`proposed_by`, else empty) has; each
/// list is read once, as a pipe can be.
class NetworkLists {
 public:
  explicit NetworkLists(std::string proposed_by) : proposed_by_(std::move(proposed_by)) {}
  const std::vector<workload::Network>& of(const std::string& list) {
    const auto known = lists_.find(list);
    return known != lists_.end() ? known->second : lists_.emplace(list, read(list)).first->second;
  }

 private:
  [[nodiscard]] std::vector<workload::Network> read(const std::string& list) const {
    if (proposed_by_.empty()) return workload::load_networks(list);
    try {
      const std::string where = fmt::format("{}: its network", printable(proposed_by_, 100));
      if (!workload::names_synthetic_set(list)) foreign_name(list, where, "");
      return workload::load_networks(list);
    } catch (const Error& error) {
      const std::size_t at = list.rfind('@');
      throw Error(error.kind(),
                  fmt::format("{} The design was proposed for a network of that name. Give its file: --workload FILE{}",
                              error.what(), at == std::string::npos ? "" : printable(list.substr(at), 20)));
    }
  }

  std::string proposed_by_;
  std::map<std::string, std::vector<workload::Network>> lists_;
};

/// Proposals of one network may be asked about another; whoever does so by mistake reads it.
void remark_other_networks(const CheckOptions& options, const std::vector<Candidate>& designs, NetworkLists& networks) {
  if (options.workloads.empty()) return;
  const std::vector<workload::Network>& asked = networks.of(options.workloads);
  for (const Candidate& design : designs) {
    const auto is_known = [&](const workload::Network& network) {
      return std::ranges::find(design.proposed_for, network.name()) != design.proposed_for.end();
    };
    if (design.proposed_for.empty() || std::ranges::all_of(asked, is_known)) continue;
    remark(fmt::format("note: the design of rank {} was proposed for {}{}", design.rank.value_or(1),
                       printable(join(design.proposed_for, ", "), 200),
                       options.log.empty() ? "" : ". Other runs' designs: --proposals RUN (log show names them)"));
    return;
  }
}

/// Runs of networks on all GPUs, each computed once.
class Judge {
 public:
  Judge(const std::string& gpus, const std::string& calibrations)
      : specs_(gpu::load_gpus(gpus)), given_(read_given_calibrations(calibrations, specs_)) {}
  std::vector<check::NetworkComparison> judge(const Candidate& candidate, const accel::Technology& technology,
                                              NetworkLists& networks) {
    std::vector<check::NetworkComparison> comparisons;
    for (const std::string& list : candidate.networks) {
      for (const workload::Network& network : networks.of(list)) {
        comparisons.push_back(check::compare(candidate.config, technology, network,
                                             runs_of(network, candidate.config.precision), candidate.published_area));
      }
    }
    return comparisons;
  }

 private:
  const std::vector<check::GpuRuns>& runs_of(const workload::Network& network, accel::Precision precision) {
    const std::string hash = network.definition_hash() + std::string(accel::to_string(precision));
    for (const auto& [known, runs] : runs_) {
      if (known == hash) return runs;
    }
    std::vector<check::GpuRuns> runs;
    for (const check::GpuContender& contender : contenders(precision)) {
      runs.push_back(check::run_on_gpu(contender, network));
    }
    return runs_.emplace_back(hash, std::move(runs)).second;
  }

  /// Made when the first design of a format is judged.
  const std::vector<check::GpuContender>& contenders(accel::Precision precision) {
    std::vector<check::GpuContender>& made = contenders_[static_cast<std::size_t>(precision)];
    if (made.empty()) {
      for (const gpu::GpuSpec& spec : specs_) made.push_back(check::contender(spec, given_, precision));
    }
    return made;
  }

  std::vector<gpu::GpuSpec> specs_;
  std::vector<gpu::Calibration> given_;
  std::array<std::vector<check::GpuContender>, accel::kPrecisionCount> contenders_;  ///< by the design's format
  std::vector<std::pair<std::string, std::vector<check::GpuRuns>>> runs_;
};

/// Into the log, or says so in a dry run.
void store(const CheckOptions& options, const report::GpuCheckReport& report, const std::vector<Candidate>& candidates,
           const Session& session) {
  if (session.dry_run) {
    remark(fmt::format("dry run: {} would get the {} above", printable(options.log, 400),
                       counted(candidates.size(), "verdict")));
    return;
  }
  std::vector<std::pair<std::int64_t, std::string>> verdicts;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    verdicts.emplace_back(*candidates[i].proposal_id,
                          report::gpu_verdict_json(report, report.designs[i], candidates[i].earlier_verdict));
  }
  log::Log::open(options.log, log::OpenMode::read_write_create).set_verdicts(verdicts);
}

/// A log's verdicts have a page; a single design has its layers.
void suggest_next(const CheckOptions& options, const std::string& technology) {
  if (options.design.empty()) {
    if (!options.log.empty()) suggest({"hindsight", "report", "--log", options.log, "--out", "report.html"});
    return;
  }
  std::vector<std::string> words{"hindsight", "simulate", "--design", options.design};
  if (!options.space.empty()) words.insert(words.end(), {"--space", options.space});
  if (!options.log.empty()) words.insert(words.end(), {"--log", options.log});
  words.insert(words.end(), {"--workload", options.workloads, "--technology", technology, "--explain"});
  suggest(words);
}

int run(const CheckOptions& options, const Session& session) {
  const std::vector<Candidate> designs = candidates(options);
  const accel::Technology technology = common_technology(options, designs);
  for (const Candidate& candidate : designs) {
    accel::require_expressible(technology, candidate.name, candidate.config);
  }
  NetworkLists networks(!options.workloads.empty() ? "" : options.log.empty() ? options.file : options.log);
  remark_other_networks(options, designs, networks);
  const bool keeps_verdicts = !options.log.empty() && options.design.empty();
  if (keeps_verdicts) FileRoles().appends_log("--log", options.log).require_usable();
  Judge judge(options.gpus, options.calibrations);
  report::GpuCheckReport report{.technology = technology.name,
                                .technology_file = technology.file.value_or(""),
                                .why_technology = designs.front().why_technology};
  for (const Candidate& candidate : designs) {
    report.designs.push_back({.design = candidate.name,
                              .rank = candidate.rank,
                              .proposal_id = candidate.proposal_id,
                              .networks = judge.judge(candidate, technology, networks)});
  }
  if (keeps_verdicts) store(options, report, designs, session);
  print(options.json ? report::gpu_check_json(report) : report::gpu_check_text(report, output_columns()));
  const bool any = std::any_of(report.designs.begin(), report.designs.end(),
                               [](const report::CheckedDesign& design) { return design.feasible(); });
  if (!options.json && !session.dry_run && any) {
    suggest_next(options, options.technology.empty() ? technology.name : options.technology);
  }
  return any ? 0 : exit_code(ErrorKind::no_feasible);
}

}  // namespace

void add_check(CLI::App& app, Session& session) {
  const auto options = std::make_shared<CheckOptions>();
  CLI::App* verb = app.add_subcommand("check", "Designs against GPUs one can buy");
  verb->add_option("--log", options->log, "Log with proposals; keeps the verdicts");
  verb->add_option("--proposals", options->proposals, "Run that proposed, or latest [latest]");
  verb->add_option("--file", options->file, "Output of propose --json");
  verb->add_option("--design", options->design, kDesignHelp);
  verb->add_option("--space", options->space, "Space of a text id, or a --file's [edge]");
  verb->add_option("--workload,--workloads", options->workloads, std::string(kWorkloadsHelp) + "\n[as proposed]");
  verb->add_option("--gpu,--gpus", options->gpus, "GPUs a,b,c or all [l4,rtx-4090,l40s,h100-sxm5,h200]");
  verb->add_option("--calibration", options->calibrations, "Files of calibrate, a.yaml,b.yaml [the shipped ones]");
  verb->add_option("--technology", options->technology, "Node, NODE@CLASS: its cooling [the designs']");
  const CLI::Option* top =
      verb->add_option("--top", options->top, "Best proposals to check [1]")->check(between(1, kMostProposals));
  verb->add_flag("--json", options->json, "Everything, as JSON");
  add_dry_run(*verb, session);
  verb->footer(
      "A batch with '=' is the largest that takes no longer than the design.\n"
      "Exit code 3 when no design can run its workloads.\n"
      "Example: hindsight check --design coral_edge_tpu --workload mobilenet_v2 \\\n"
      "           --gpu l4,h200");
  verb->callback([options, top, &session] {
    options->top_given = top->count() > 0;
    session.action = [options, &session] { return run(*options, session); };
  });
}

}  // namespace hindsight::app
