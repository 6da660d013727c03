/// The process's choice.
#include "hindsight/log/durability.h"

#include <array>
#include <atomic>

#include "hindsight/core/enum_names.h"

namespace hindsight::log {
namespace {

constexpr EnumNames<Durability, 2> kDurabilities = {{{Durability::normal, "normal"}, {Durability::full, "full"}}};

std::atomic<Durability>& chosen() {
  static std::atomic<Durability> durability{Durability::normal};
  return durability;
}

}  // namespace

const std::string& to_string(Durability durability) {
  static const std::array<std::string, 2> names = {"normal", "full"};
  return names.at(static_cast<std::size_t>(durability));
}

Durability parse_durability(const std::string& name) { return parse_enum("durability", name, kDurabilities); }

void set_durability(Durability durability) { chosen() = durability; }

Durability durability() { return chosen(); }

}  // namespace hindsight::log
