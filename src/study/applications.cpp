/// Names and columns to contexts, checked against what the model and the log know under these names.
#include "hindsight/study/applications.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hindsight/core/error.h"
#include "hindsight/core/foreign_name.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/context.h"
#include "hindsight/dataset/load.h"
#include "hindsight/dataset/network_context.h"
#include "hindsight/dataset/stored_space.h"
#include "hindsight/log/log.h"
#include "hindsight/log/query.h"
#include "hindsight/workload/context.h"

namespace hindsight::study {
namespace {

/// [chosen] Characters of a name in an error that names it twice.
constexpr std::size_t kLongestShown = 60;

/// Whether these columns of contexts are those that a workload file gives.
bool describe_networks(const std::vector<std::string>& names) {
  const auto& features = workload::context_features();
  return std::equal(
      names.begin(), names.end(), features.begin(), features.end(),
      [](const std::string& name, const workload::ContextFeature& feature) { return name == feature.name; });
}

/// Whether the contexts of the model are.
bool takes_networks(const surrogate::Model& model) {
  return describe_networks(model.parts().context_scaler.feature_names);
}

/// An application must not pass for another one of its name, whose scale and logged designs would be taken for its own.
void require_same(const dataset::Context& application, const std::vector<dataset::Context>& known,
                  const std::string& where) {
  for (const dataset::Context& context : known) {
    if (!dataset::contradict(application, context)) continue;
    throw Error(ErrorKind::incompatible,
                fmt::format("the network '{}' is not the one of that name in {} (their features or layers differ). "
                            "Rename it in its file",
                            printable(application.name), where));
  }
}

/// What a message offers beside applications that the model learnt; empty where their columns describe no other one.
std::string unseen_by_columns(const surrogate::Model& model, const std::string& offer) {
  const surrogate::Model::Parts& parts = model.parts();
  const auto columns = dataset::context_columns(parts.training_contexts, parts.context_scaler.words);
  const bool any_free = std::ranges::any_of(columns, [](const auto& column) { return column.words.empty(); });
  return any_free ? offer : "";
}

/// Nothing was named: of a model that learnt one application that one is meant.
Application only_application(const surrogate::Model& model) {
  const std::vector<dataset::Context>& known = model.parts().training_contexts;
  if (known.size() == 1) return {.context = known.front(), .network = known.front().name, .unnamed = true};
  if (takes_networks(model)) {
    throw Error(ErrorKind::usage, "for which application? Name a network or its file with --workload");
  }
  constexpr std::size_t kMostNamed = 5;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(known.size(), kMostNamed); ++i) names.push_back(printable(known[i].name));
  const std::string others = known.size() > kMostNamed ? ", ..." : "";
  throw Error(ErrorKind::usage, fmt::format("for which application? Name one that the model learnt ({}{}) with "
                                            "--workload{}",
                                            fmt::join(names, ", "), others,
                                            unseen_by_columns(model,
                                                              ", or an unseen one by its columns with "
                                                              "--context")));
}

[[noreturn]] void refuse_unknown(const std::string& name, const surrogate::Model& model) {
  std::vector<std::string> names;
  for (const dataset::Context& context : model.parts().training_contexts) names.push_back(context.name);
  const std::string columns = unseen_by_columns(model, " Describe an unseen one by its columns with --context");
  throw Error(ErrorKind::usage, fmt::format("the model was not trained on '{}' (its contexts are no networks).{}{}",
                                            printable(name), did_you_mean(name, names), columns));
}

/// Whether a network is what the model knows under its name. What other features than a network's describe cannot be
/// told from it.
bool is_application(const workload::Network& network, const dataset::Context& known) {
  dataset::Context here = dataset::context_of(network);
  here.name = known.name;
  return here.feature_names != known.feature_names || !dataset::contradict(here, known);
}

/// The network of the application's name. One that only a log has is no mistake of a name that ships.
workload::Network network_by_name(const Application& application) {
  try {
    return workload::load_network(application.network);
  } catch (const Error& error) {
    const bool is_of_model = application.network == application.context.name;
    if (!is_of_model || error.kind() != ErrorKind::usage) throw;
    const std::string name = printable(application.context.name, kLongestShown);
    if (describe_networks(application.context.feature_names)) {
      throw Error(ErrorKind::incompatible,
                  fmt::format("the model learnt {0} from a log, and no network that ships is called {0}. Name its file "
                              "(--workload FILE)",
                              name));
    }
    throw Error(ErrorKind::incompatible,
                fmt::format("the model knows {} from a table alone, and evaluators are asked about networks. Leave "
                            "--simulate and --evaluator out, add --csv next.csv, write what your simulator says into "
                            "its last columns, then `hindsight tell next.csv --log LOG`",
                            name));
  }
}

workload::Network network_of(const Application& application) {
  if (application.loaded) return *application.loaded;
  constexpr const char* kRemedy = "Name its file with --workload";
  if (application.unnamed) foreign_name(application.network, "the model's application", kRemedy);
  workload::Network network = network_by_name(application);
  if (is_application(network, application.context)) return network;
  throw Error(ErrorKind::incompatible,
              fmt::format("the model's {0} is not the network that ships as {0} (their features or layers differ). "
                          "Name its file (--workload FILE)",
                          printable(application.context.name, kLongestShown)));
}

/// Collects applications, each name once.
class Collection {
 public:
  explicit Collection(const surrogate::Model& model) : model_(model), known_(model.parts().training_contexts) {}

  void add_named(const std::string& name) {
    const auto trained = std::find_if(known_.begin(), known_.end(),
                                      [&](const dataset::Context& context) { return context.name == name; });
    if (trained != known_.end()) {
      add({.context = *trained, .network = name});
      return;
    }
    if (!takes_networks(model_)) refuse_unknown(name, model_);
    for (const std::string& one : workload::names_of(name)) {
      workload::Network network = workload::load_network(one);
      dataset::Context context = dataset::context_of(network);
      require_same(context, known_, "the model");
      add({.context = std::move(context), .network = one, .loaded = std::move(network)});
    }
  }
  void add_described(const std::string& columns) {
    dataset::Context context = dataset::context_from_columns(known_, columns, model_.parts().context_scaler.words);
    std::string name = context.name;
    add({.context = std::move(context), .network = std::move(name)});
  }
  [[nodiscard]] std::vector<Application> take() { return std::move(applications_); }

 private:
  /// Results are told apart by name, so that another network of a name is no repetition.
  void add(Application application) {
    const std::string& name = application.context.name;
    const auto same_name = [&](const Application& one) { return one.context.name == name; };
    const auto earlier = std::ranges::find_if(applications_, same_name);
    if (earlier == applications_.end()) {
      applications_.push_back(std::move(application));
      return;
    }
    if (!dataset::contradict(application.context, earlier->context)) return;
    throw Error(ErrorKind::usage,
                fmt::format("'{}' and '{}' are both named '{}' and are not the same network (results are told apart by "
                            "name). Change the name: in one of their files",
                            printable(earlier->network, 100), printable(application.network, 100),
                            printable(name, kLongestShown)));
  }

  const surrogate::Model& model_;
  const std::vector<dataset::Context>& known_;
  std::vector<Application> applications_;
};

}  // namespace

std::vector<Application> applications(const surrogate::Model& model, const std::vector<std::string>& workloads,
                                      const std::vector<std::string>& columns) {
  Collection collection(model);
  std::vector<std::string> known;
  for (const dataset::Context& context : model.parts().training_contexts) known.push_back(context.name);
  for (const std::string& list : workloads) {
    for (const std::string& name : workload::pieces_of_list(list, known)) collection.add_named(name);
  }
  for (const std::string& text : columns) collection.add_described(text);
  std::vector<Application> result = collection.take();
  if (result.empty()) result.push_back(only_application(model));
  return result;
}

std::vector<workload::Network> networks_of(const std::vector<Application>& wanted) {
  std::vector<workload::Network> networks;
  for (const Application& application : wanted) networks.push_back(network_of(application));
  return networks;
}

std::vector<std::optional<workload::Network>> networks_at_hand(const std::vector<Application>& wanted) {
  std::vector<std::optional<workload::Network>> networks;
  for (const Application& application : wanted) {
    auto& network = networks.emplace_back(application.loaded);
    if (network) continue;
    // A name of the model that would open a file names nothing here.
    if (application.network == application.context.name && names_a_file(application.network)) continue;
    try {
      network = network_of(application);
    } catch (const Error&) {
      continue;  // only a log knows it
    }
  }
  return networks;
}

std::string space_of_model(const log::Log& log, const surrogate::Model& model) {
  std::vector<log::SpaceSummary> spaces = log::spaces(log);
  const std::string own = model.parts().space.definition_hash();
  const auto found = std::ranges::find(spaces, own, &log::SpaceSummary::definition_hash);
  if (found != spaces.end()) return found->name;
  std::erase_if(spaces, [](const log::SpaceSummary& space) { return space.designs == 0; });
  // Of several, none of which is the model's, the first says what differs.
  const auto first = spaces.size() > 1 ? std::optional(spaces.front().name) : std::nullopt;
  surrogate::require_space(model, dataset::stored_space(log, first));
  return model.parts().space.name();
}

dataset::Dataset load_logged(const std::string& log, const std::string& evaluator, const surrogate::Model& model,
                             const std::vector<Application>& wanted, const std::vector<std::string>& labels) {
  const surrogate::Model::Parts& parts = model.parts();
  dataset::Selection selection;
  const log::Log opened = log::Log::open(log, log::OpenMode::read_only);
  selection.space = space_of_model(opened, model);
  if (!evaluator.empty()) selection.evaluator = evaluator;
  selection.objective = dataset::parse_objective(parts.objective_text, dataset::Direction::minimise);
  const std::vector<std::string> metrics = log::metric_names(opened);
  for (const std::string& label : labels) {
    if (std::find(metrics.begin(), metrics.end(), label) != metrics.end()) selection.constraints.push_back(label);
  }
  dataset::Dataset data = dataset::load_dataset(log, selection);
  surrogate::require_space(model, data.space);
  for (const Application& application : wanted) require_same(application.context, data.contexts, log);
  return data;
}

}  // namespace hindsight::study
