/// When a model must not be trusted with a question.
#pragma once

#include <string>
#include <vector>

#include "hindsight/study/proposals.h"

namespace hindsight::study {

/// Reasons, each a sentence; none for a model that is as good as it can tell.
[[nodiscard]] std::vector<std::string> doubts_about(const Proposals& proposals);

/// Of a front with predicted values that no logged design comes near (FrontValue::beyond_log); "" of others.
[[nodiscard]] std::string remark_on_values_beyond_log(const Proposals& proposals);

/// That the log got rows of these applications after the model was trained on it; "" where it has none, and where it
/// does not say when that was. The proposals are of a log that is loaded.
[[nodiscard]] std::string remark_on_newer_rows(const std::string& log, const Proposals& proposals);

/// Of proposals that were simulated and none of which can be built: what stops how many of them, most first; "" of
/// others.
[[nodiscard]] std::string remark_on_none_built(const Proposals& proposals);

/// Of proposals that were simulated, some of which can be built, but none within the limits of predicted metrics: how
/// near they come; "" of others.
[[nodiscard]] std::string remark_on_none_within(const Proposals& proposals);

/// What to do where nothing is likely to be feasible for these applications and the model has not learnt one of them:
/// no limit need be at fault. `other`: a model that knows any network, "" without one. "" for what the model learnt,
/// and where nobody knows better: its errors on others were measured, and there is no other model.
[[nodiscard]] std::string remedy_for_unlearnt(const surrogate::Model& model,
                                              const std::vector<dataset::Context>& applications,
                                              const std::string& other);

}  // namespace hindsight::study
