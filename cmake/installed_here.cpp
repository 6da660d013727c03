/// Compiled into every program that links an installed Hindsight: tells the library where its data lie.
#include "hindsight/core/installation.h"

namespace {
[[maybe_unused]] const bool told = (hindsight::installed_in(HINDSIGHT_INSTALLED_PREFIX), true);
}
