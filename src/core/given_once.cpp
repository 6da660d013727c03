/// Refuses a second limit of the same thing.
#include "hindsight/core/given_once.h"

#include <fmt/format.h>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight {

void GivenOnce::add(const std::string& name) {
  if (names_.insert(name).second) return;
  throw Error(ErrorKind::usage, fmt::format("{}: the limit of '{}' is given twice. Leave one of them out?", option_,
                                            printable(name, 100)));
}

}  // namespace hindsight
