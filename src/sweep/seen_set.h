/// A set of 64-bit keys with open addressing: 8 to 16 bytes per key, so that a sweep of 10^8 designs can
/// remember all of them in about a gigabyte.
#pragma once

#include <cstdint>
#include <vector>

#include "hindsight/core/hash.h"

namespace hindsight::sweep {

class SeenSet {
 public:
  /// True when `key` is new.
  bool insert(std::uint64_t key) {
    if (key == kEmpty) {
      const bool is_new = !holds_empty_key_;
      holds_empty_key_ = true;
      return is_new;
    }
    if ((size_ + 1) * 4 > slots_.size() * 3) grow();
    std::uint64_t& slot = find_slot(key);
    if (slot == key) return false;
    slot = key;
    ++size_;
    return true;
  }

 private:
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
  static constexpr std::size_t kFirstSlots = 1024;

  std::uint64_t& find_slot(std::uint64_t key) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = mix64(key) & mask;
    while (slots_[i] != kEmpty && slots_[i] != key) i = (i + 1) & mask;
    return slots_[i];
  }
  void grow() {
    std::vector<std::uint64_t> old(slots_.empty() ? kFirstSlots : slots_.size() * 2, kEmpty);
    old.swap(slots_);
    for (const std::uint64_t key : old) {
      if (key != kEmpty) find_slot(key) = key;
    }
  }

  std::vector<std::uint64_t> slots_;
  std::size_t size_ = 0;
  bool holds_empty_key_ = false;
};

}  // namespace hindsight::sweep
