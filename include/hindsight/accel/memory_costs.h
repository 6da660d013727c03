/// Costs of a technology's memories, each size worked out once.
#pragma once

#include <bit>
#include <cstdint>
#include <unordered_map>

#include "hindsight/accel/energy.h"
#include "hindsight/accel/technology.h"

namespace hindsight::accel {

/// A design space has few sizes of memories, and their power laws are most of what a chip's facts take to work out.
/// Every cost is the very number that sram_cost() or banked_sram_cost() gives. Not for two threads at once.
class MemoryCosts {
 public:
  /// The technology outlives it.
  explicit MemoryCosts(const Technology& technology) : technology_(&technology) {}

  [[nodiscard]] const Technology& technology() const { return *technology_; }
  /// sram_cost() of `bytes`.
  [[nodiscard]] SramCost plain(double bytes) {
    return known(plain_, bytes, [&] { return sram_cost(technology_->sram, bytes); });
  }
  /// banked_sram_cost() of `bytes`.
  [[nodiscard]] SramCost banked(double bytes) {
    return known(banked_, bytes, [&] { return banked_sram_cost(*technology_, bytes); });
  }

 private:
  using Table = std::unordered_map<std::uint64_t, SramCost>;

  template <class WorkOut>
  static SramCost known(Table& table, double bytes, const WorkOut& work_out) {
    const auto [place, is_new] = table.try_emplace(std::bit_cast<std::uint64_t>(bytes));
    if (is_new) place->second = work_out();
    return place->second;
  }

  const Technology* technology_;
  Table plain_, banked_;  // by the bits of the bytes, which libstdc++ hashes in no time
};

}  // namespace hindsight::accel
