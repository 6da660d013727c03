/// Refuses another limit of the same thing.
#include "hindsight/core/given_once.h"

#include <fmt/format.h>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight {

bool GivenOnce::add(const std::string& name, double limit) {
  const auto [known, is_new] = limits_.try_emplace(name, limit);
  if (is_new || known->second == limit) return is_new;
  throw Error(ErrorKind::usage, fmt::format("{}: the limit of '{}' is given twice. Leave one of them out?", option_,
                                            printable(name, 100)));
}

}  // namespace hindsight
