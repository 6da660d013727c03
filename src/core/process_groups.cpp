/// Places of process groups, taken and given back.
#include "core/process_groups.h"

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"

namespace hindsight {

void end_with_us(int group) {
  HINDSIGHT_EXPECT(group > 1);
  for (std::atomic<int>& place : groups_that_end_with_us) {
    int free = 0;
    if (place.compare_exchange_strong(free, group)) return;
  }
}

void no_longer_with_us(int group) {
  for (std::atomic<int>& place : groups_that_end_with_us) {
    int taken = group;
    if (place.compare_exchange_strong(taken, 0)) return;
  }
}

}  // namespace hindsight
