/// Verbs of `hindsight model` in sources of their own.
#pragma once

#include "verbs.h"

namespace hindsight::app {

void add_join_model(CLI::App& group, Session& session);

}  // namespace hindsight::app
