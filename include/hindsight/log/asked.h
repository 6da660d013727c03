/// Designs that somebody was asked to evaluate, and that no evaluation answers yet.
///
/// They are the proposals of runs of the kind `ask`, one per design and workload. Nothing else is stored: an answer is
/// an evaluation, however it came into the log, by the version that the ask is of, where it is of one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/log/log.h"

namespace hindsight::log {

/// A design on a workload that awaits its answer.
struct PendingDesign {
  std::int64_t proposal_id = 0;
  std::int64_t run_id = 0;
  std::string asked_at;  ///< UTC, ISO 8601
  std::int64_t space_id = 0;
  std::string design_text_id;
  std::string workload;
  std::string evaluator;        ///< name of what is to answer
  std::string definition = {};  ///< hash of the definition of the version that the ask is of; empty: of any
  std::string reference;        ///< evaluator_reference() of that version; the name where it is of any
  std::string objective;
  std::optional<double> predicted = {};   ///< of the objective over all workloads asked for; nothing: drawn
  std::optional<double> p_feasible = {};  ///< smallest of these workloads; nothing: drawn, or asked by older versions
};
/// In the order they were asked for; a pair that was asked for twice stands once for each version, as first asked.
[[nodiscard]] std::vector<PendingDesign> pending_designs(const Log& log);

/// A design by its text id, and a workload by its name; an empty name is any.
struct AnsweredDesign {
  std::string design_text_id, workload;
};
/// Who is to answer for these designs of a space, by PendingDesign::reference, in the order of the asks; where none is
/// pending, who was asked for them; empty where nobody was. A name alone is left out beside a version of it.
[[nodiscard]] std::vector<std::string> asked_evaluators(const Log& log, std::int64_t space_id,
                                                        const std::vector<AnsweredDesign>& answered);
/// Definition of an evaluator that is known by name alone, as its answers come in tables.
[[nodiscard]] std::string told_definition(const std::string& evaluator);

/// What an ask noted besides its designs.
struct AskRun {
  std::int64_t run_id = 0;
  std::string space, evaluator;      ///< names
  std::string reference;             ///< as PendingDesign::reference
  std::string objective;             ///< as it is minimised
  std::vector<std::string> metrics;  ///< to answer with
};
/// The runs of the kind `ask`, newest first. One whose options another program wrote otherwise is left out.
[[nodiscard]] std::vector<AskRun> asks(const Log& log);

/// They are pending no more, and may be asked for again.
void forget(Log& log, const std::vector<PendingDesign>& pending);

}  // namespace hindsight::log
