/// Processes, the ranks, that take the same training steps together: each computes a part of a batch, and what they
/// computed is added up.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <memory>
#include <string>

#include "surrogate/learner.h"

namespace hindsight::surrogate::torch_backend {

/// Every call that says "together" is made by all ranks, in the same order; it throws std::runtime_error naming the
/// ranks that do not answer, at the latest after the timeout.
class RankGroup {
 public:
  virtual ~RankGroup() = default;
  [[nodiscard]] virtual std::int64_t index() const = 0;
  [[nodiscard]] virtual std::int64_t count() const = 0;
  /// Together: the sum over all ranks, in place, the same bits everywhere.
  virtual void sum(at::Tensor& values) = 0;
  /// Together: throws where a rank gives another text, naming it and `what`.
  virtual void require_same(const std::string& what, const std::string& text) = 0;
  /// Together, after the last step.
  virtual void leave() = 0;

  /// Row numbers of `rows` that this rank computes, of which `before` are counted already: every count-th.
  [[nodiscard]] std::vector<std::int64_t> own_rows(std::int64_t rows, std::int64_t before = 0) const {
    std::vector<std::int64_t> own;
    for (std::int64_t i = 0; i < rows; ++i) {
      if ((before + i) % count() == index()) own.push_back(i);
    }
    return own;
  }
};

/// Waits for all ranks. std::runtime_error: built without Gloo, or ranks that did not come.
[[nodiscard]] std::unique_ptr<RankGroup> join_ranks(const RankOptions& options);

}  // namespace hindsight::surrogate::torch_backend
