/// An engine whose device is the host: what an engine's callers do without a GPU.
#pragma once

#include <deque>

#include "hindsight/accel/optimum/site_batch.h"

namespace hindsight::accel::optimum::test {

class HostEngine : public SiteEngine {
 public:
  explicit HostEngine(std::uint64_t batch_bytes) : batch_bytes_(batch_bytes) {}
  [[nodiscard]] std::uint64_t batch_bytes() const override { return batch_bytes_; }
  void start(const SiteBatch& batch) override {
    ++batches;
    waiting_.push_back(&batch);
  }
  /// Not before it is asked for: a batch that its owner has changed by then gives wrong answers.
  [[nodiscard]] SiteAnswers finish() override {
    const SiteBatch& batch = *waiting_.front();
    waiting_.pop_front();
    return answer_on_host(batch);
  }
  std::size_t batches = 0;

 private:
  std::uint64_t batch_bytes_;
  std::deque<const SiteBatch*> waiting_;
};

}  // namespace hindsight::accel::optimum::test
