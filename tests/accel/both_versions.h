/// Random designs on random networks by two versions of the model, for tests of what a version changes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hindsight/accel/config.h"
#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/technology.h"
#include "hindsight/core/random.h"
#include "hindsight/workload/network.h"

namespace hindsight::accel::test {

/// Designs of the edge space at 22 nm, cooled by a liquid.
class BothVersions {
 public:
  struct Case {
    const workload::Network& network;
    Evaluation before, now;
  };
  /// `networks`: as workload::load_networks() takes them. `version`: compared with the one before it.
  BothVersions(const std::string& networks, const RandomStream& stream, int version)
      : networks_(workload::load_networks(networks)), stream_(stream), version_(version) {}

  /// The i-th of an endless sequence.
  [[nodiscard]] Case at(std::uint64_t i) const {
    const AcceleratorConfig config = binding_.bind(space_, space_.design(stream_.below(2 * i, space_.size().value())));
    const workload::Network& network = networks_[stream_.below(2 * i + 1, networks_.size())];
    const auto by_version = [&](int version) {
      Technology technology = technology_;
      technology.model_version = version;
      return evaluate(chip_facts(config, technology), network, Depth::stop_at_hardware);
    };
    return {.network = network, .before = by_version(version_ - 1), .now = by_version(version_)};
  }

 private:
  space::DesignSpace space_ = space::load_space("edge");
  ConfigBinding binding_{space_};
  Technology technology_ = load_technology("22nm-silicon@liquid");
  std::vector<workload::Network> networks_;
  RandomStream stream_;
  int version_;
};

}  // namespace hindsight::accel::test
