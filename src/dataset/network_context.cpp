/// Context features of a network, as a sweep logs them.
#include "hindsight/dataset/network_context.h"

#include "hindsight/workload/context.h"

namespace hindsight::dataset {

Context context_of(const workload::Network& network) {
  Context context{.name = network.name(), .feature_names = {}, .features = {}};
  const std::vector<double> values = workload::context_vector(network);
  context.features = Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
  for (const workload::ContextFeature& feature : workload::context_features()) {
    context.feature_names.emplace_back(feature.name);
  }
  return context;
}

}  // namespace hindsight::dataset
