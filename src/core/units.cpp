/// Compiles the unit system on its own and pins the identities that models rely on.
#include "hindsight/core/units.h"

#include <type_traits>

namespace hindsight {

static_assert(std::is_same_v<decltype(Joules{} / Seconds{}), Watts>);
static_assert(std::is_same_v<decltype(Cycles{} / Hertz{}), Seconds>);
static_assert(std::is_same_v<decltype(BytesPerCycle{} * Hertz{}), BytesPerSecond>);
static_assert(std::is_same_v<decltype(Seconds{} / Seconds{}), double>);
static_assert(sizeof(Seconds) == sizeof(double));

}  // namespace hindsight
