/// What verbs ask of a log that they only read, question by question.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "fuzz/reader.h"
#include "hindsight/log/log.h"

namespace hindsight::fuzz {

/// Questions of which one that is refused does not hide the others.
class Questions {
 public:
  /// `what` is for who looks for the reason.
  void ask(const char* what, const std::function<void()>& question) {
    std::optional<Error> refusal = refusal_of(question);
    if (!refusal || first_refusal_) return;
    first_refusal_ = std::move(refusal);
    first_refused_ = what;
  }
  [[nodiscard]] const std::optional<Error>& first_refusal() const { return first_refusal_; }
  [[nodiscard]] const std::string& first_refused() const { return first_refused_; }

 private:
  std::optional<Error> first_refusal_;
  std::string first_refused_;
};

/// What the log layer and the datasets made of it answer.
void ask_rows(const log::Log& log, Questions& questions);

}  // namespace hindsight::fuzz
