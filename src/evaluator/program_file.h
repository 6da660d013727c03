/// Why a program cannot be started, as far as its file tells. Private to the evaluator layer.
#pragma once

#include <string>

namespace hindsight::evaluator {

/// What to do so that `program`, the first word of a command, can be started: " Make it a program: chmod +x ./sim.sh";
/// empty where its file is one.
[[nodiscard]] std::string remedy_of_program(const std::string& program);

}  // namespace hindsight::evaluator
