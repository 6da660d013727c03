/// The applications that a user names to a model, and the rows that a log has for them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hindsight/dataset/dataset.h"
#include "hindsight/log/log.h"
#include "hindsight/surrogate/model.h"
#include "hindsight/workload/network.h"

namespace hindsight::study {

/// An application to propose for, and what names its network for an evaluator.
struct Application {
  dataset::Context context;
  std::string network;   ///< name or file
  bool unnamed = false;  ///< nobody wrote its name: the model has it
  /// Of one that the model did not learn: read once, as a pipe can be.
  std::optional<workload::Network> loaded = {};
};

/// What a user names: each of `workloads` is a list a,b of names of training contexts, networks by name or file, and
/// "prime9"; each of `columns` describes one application by the context columns of an imported log, "m=4096,n=512".
/// Repeated ones count once; where nothing is named, the only application of a model that learnt one. Error{usage} for
/// a name that is neither, for two networks of one name, and see dataset::context_from_columns; Error{incompatible}
/// when a network passes for another one of its name, which the model was trained on.
[[nodiscard]] std::vector<Application> applications(const surrogate::Model& model,
                                                    const std::vector<std::string>& workloads,
                                                    const std::vector<std::string>& columns);

/// The networks of the applications, for an evaluator. Error{incompatible} where a model learnt another network than
/// the one that its name stands for here, and where a name that stands in a model alone names a file; Error{usage}: see
/// workload::load_network().
[[nodiscard]] std::vector<workload::Network> networks_of(const std::vector<Application>& wanted);
/// The same for what can do without: nothing where an application is no network that is at hand as the model knows it.
[[nodiscard]] std::vector<std::optional<workload::Network>> networks_at_hand(const std::vector<Application>& wanted);

/// What the log calls the model's space. Error{incompatible} that says in what they differ where it has another: asked
/// before rows are read, as those of another space have other metrics; Error{usage} where it has no designs.
[[nodiscard]] std::string space_of_model(const log::Log& log, const surrogate::Model& model);

/// Rows of the log for the model's space and objective, of the evaluator of that name (needed where it has several),
/// with those of `labels`, metrics, that the log has.
/// Error{incompatible} when the log has another application under the name of one of `wanted`.
[[nodiscard]] dataset::Dataset load_logged(const std::string& log, const std::string& evaluator,
                                           const surrogate::Model& model, const std::vector<Application>& wanted,
                                           const std::vector<std::string>& labels);

}  // namespace hindsight::study
