/// Random designs, layers and parts of the edge space for the tests of the exact optimum.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "hindsight/accel/optimum/optimum.h"
#include "hindsight/core/random.h"
#include "hindsight/workload/network.h"

namespace hindsight::accel::optimum::test {

/// Seed of every random choice; part of every failure's text.
inline constexpr std::uint64_t kSeed = 20261123;

/// The edge space, the default technology and networks, read once.
struct Inputs {
  space::DesignSpace space = space::load_space("edge");
  ConfigBinding binding{space};
  Technology technology = load_technology("22nm");
  std::vector<workload::Network> networks = workload::load_networks("prime9,resnet50,vit_b_16,bert_base");
};
inline const Inputs& inputs() {
  static const Inputs shared;
  return shared;
}

/// A source of random numbers.
class Dice {
 public:
  explicit Dice(const std::string& name) : stream_(kSeed, name) {}
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) { return stream_.below(word_++, bound); }
  [[nodiscard]] space::Design design() { return inputs().space.design(below(*inputs().space.size())); }
  [[nodiscard]] const workload::Network& network() { return inputs().networks[below(inputs().networks.size())]; }
  /// Of every parameter some levels at random, about as many as make `designs` in all.
  [[nodiscard]] AllowedLevels levels(std::uint64_t designs) {
    const auto& parameters = inputs().space.parameters();
    AllowedLevels allowed(parameters.size());
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      allowed[p].resize(parameters[p].level_count());
      std::iota(allowed[p].begin(), allowed[p].end(), std::uint16_t{0});
    }
    const auto count = [&] {
      return std::accumulate(allowed.begin(), allowed.end(), 1.0,
                             [](double product, const auto& one) { return product * static_cast<double>(one.size()); });
    };
    while (count() > static_cast<double>(designs)) {
      auto& one = allowed[below(allowed.size())];
      if (one.size() > 1) one.erase(one.begin() + static_cast<std::ptrdiff_t>(below(one.size())));
    }
    return allowed;
  }

 private:
  RandomStream stream_;
  std::uint64_t word_ = 0;
};

}  // namespace hindsight::accel::optimum::test
