/// Which way a metric is better.
#pragma once

namespace hindsight {

enum class Direction { minimise, maximise };

}  // namespace hindsight
