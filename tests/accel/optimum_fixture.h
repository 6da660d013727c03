/// Random designs, layers and parts of the edge space for the tests of the exact optimum.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/accel/optimum/optimum.h"
#include "hindsight/accel/spatial.h"
#include "hindsight/core/random.h"
#include "hindsight/workload/network.h"
#include "version_under_test.h"

namespace hindsight::accel::optimum::test {

/// Seed of every random choice; part of every failure's text.
inline constexpr std::uint64_t kSeed = 20261123;

/// Version 2's class removes more heat here, so that a few thousand random designs have enough that pass.
inline Technology test_technology() {
  Technology technology = load_technology(hindsight::test::technology_under_test());
  if (technology.is_version_1()) return technology;
  technology.cooling[static_cast<std::size_t>(technology.cooling_class) - 1] = {
      .most_w = 30, .w_per_mm2 = 0.8, .idle_frac = 0.38};
  return technology;
}

/// The edge space, a technology and networks, read once.
struct Inputs {
  space::DesignSpace space = space::load_space("edge");
  ConfigBinding binding{space};
  Technology technology = test_technology();
  std::vector<workload::Network> networks = workload::load_networks("prime9,resnet50,vit_b_16,bert_base");
  /// As chip_facts() makes it.
  [[nodiscard]] AcceleratorConfig config(const space::Design& design) const {
    AcceleratorConfig config = binding.bind(space, design);
    config.rules = template_rules(technology);
    return config;
  }
};
inline const Inputs& inputs() {
  static const Inputs shared;
  return shared;
}

/// A layer on two designs, the second with one larger memory.
struct GrownMemory {
  LayerShape layer;
  AcceleratorConfig less, more;
  std::string memory;  ///< the parameter that grew
};

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

  /// The memories take turns with `n`; nothing where the design has the largest.
  [[nodiscard]] std::optional<GrownMemory> grown_memory(std::size_t n) {
    space::Design drawn = design();
    const AcceleratorConfig less = inputs().config(drawn);
    const auto& gemms = network().gemms();
    const LayerShape layer = layer_shape(gemms[below(gemms.size())]);
    const char* const names[] = {"pe_memory_bytes", "core_memory_bytes", "activation_memory_entries",
                                 "parameter_memory_entries"};
    const std::size_t place = n % (inputs().technology.is_version_1() ? 3 : 4);
    const std::size_t axis = inputs().space.index_of(names[place]);
    if (drawn.levels[axis] + 1U >= inputs().space.parameters()[axis].level_count()) return std::nullopt;
    ++drawn.levels[axis];
    return GrownMemory{layer, less, inputs().config(drawn), names[place]};
  }

 private:
  RandomStream stream_;
  std::uint64_t word_ = 0;
};

}  // namespace hindsight::accel::optimum::test
