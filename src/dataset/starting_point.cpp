#include "hindsight/core/units.h"
