/// hindsight train --from: a trained model adapted to the rows of a log.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hindsight/core/provenance.h"
#include "hindsight/dataset/selection.h"
#include "hindsight/log/log.h"
#include "hindsight/surrogate/model.h"

namespace hindsight::app {

struct AdaptRequest {
  std::string from;  ///< model file
  std::string log, out;
  dataset::Selection selection;
  std::vector<std::string> rows_words;  ///< the options of a command that name the rows
  std::string options_json;             ///< what the log notes of the run
  std::uint64_t seed = 1;
  unsigned threads = 0;
  bool quiet = false, json = false;
};
/// Adapts, writes the model and shows what became of it. Error{failure} when learning from the rows alone is better.
int adapt_model(const AdaptRequest& request, const surrogate::Model& base, const Provenance& provenance);

/// Error{usage} when the log has what the model predicts in another unit only: latency_ms, and no row has latency_s.
void require_unit(const surrogate::Model& base, const log::Log& log);

/// Error{usage} when `objective`, in the words of a log, is not what the model predicts.
void require_objective(const surrogate::Model& base, const dataset::Objective& objective);

}  // namespace hindsight::app
