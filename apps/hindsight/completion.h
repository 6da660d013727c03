/// What a shell asks while a command line is typed.
#pragma once

#include <string>
#include <vector>

#include "verbs.h"

namespace hindsight::app {

/// What can stand in the place of the last word.
struct Completion {
  struct Candidate {
    std::string word;
    std::string description = {};
  };
  std::vector<Candidate> candidates;
  bool files = false;  ///< where there is no candidate: a file
};
/// `words`: what stands behind the program's name, the last one not finished, or empty.
[[nodiscard]] Completion complete(const CLI::App& program, const std::vector<std::string>& words);

/// The answer of `hindsight __complete WORD...`: the line "files" or "words", then a line per candidate, its
/// description behind a tab. Whatever goes wrong, there are no candidates and nothing is said.
[[nodiscard]] std::string completion_answer(const CLI::App& program, const std::vector<std::string>& words);

/// The names of the shells, and the script of one that asks `__complete`.
[[nodiscard]] std::vector<std::string> shell_names();
[[nodiscard]] std::string completion_script(const std::string& shell);

}  // namespace hindsight::app
