/// Small sweeps for the tests: a corner of the edge space, two networks of a few layers, logs as text.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/evaluator/built_in.h"
#include "hindsight/log/query.h"
#include "hindsight/sweep/sweep.h"
#include "temporary_folder.h"

namespace hindsight::sweep::test {

using hindsight::test::TemporaryFolder;

inline workload::Layer convolution(const std::string& name, std::int64_t size, std::int64_t in, std::int64_t out) {
  workload::Layer layer;
  layer.name = name;
  layer.in_height = layer.in_width = size;
  layer.in_channels = in;
  layer.out_channels = out;
  layer.kernel_height = layer.kernel_width = 3;
  layer.pad_top = layer.pad_bottom = layer.pad_left = layer.pad_right = 1;
  return layer;
}

inline workload::Network network(const std::string& name, std::int64_t channels) {
  return {name,      "for tests",
          "made up", true,
          1,         {convolution("first", 56, 3, channels), convolution("second", 56, channels, 2 * channels)}};
}

inline SweepOptions options(const std::filesystem::path& log, std::uint64_t samples) {
  SweepOptions options{.evaluator = evaluator::built_in(space::load_space("tiny"), accel::load_technology("22nm")),
                       .networks = {network("small", 16), network("large", 256)},
                       .sampler = space::SamplerKind::uniform,
                       .samples = samples,
                       .seed = 7,
                       .limits = {},
                       .shard = {},
                       .log = log,
                       .threads = 2,
                       .batch_designs = 16,
                       .quiet = true,
                       .provenance = {}};
  options.provenance.command_line = "test";
  options.provenance.started_at = "2026-01-01T00:00:00Z";
  return options;
}

/// Everything a log says about its evaluations except which run wrote them, one line per row.
inline std::vector<std::string> rows(const std::filesystem::path& file, bool with_ids = true) {
  const log::Log log = log::Log::open(file, log::OpenMode::read_only);
  std::vector<std::string> lines;
  log::for_each_evaluation(log, {}, log::Detail::all, [&](const log::EvaluationRecord& record) {
    std::string line = with_ids ? std::to_string(record.evaluation_id) + " " + std::to_string(record.design_id) : "";
    line += " w" + std::to_string(record.workload_id) + " " + record.design_text_id + (record.feasible ? " +" : " -");
    for (const double value : record.standard) line += " " + std::to_string(value);
    for (const auto& [name, value] : record.other_metrics) line += " " + name + "=" + std::to_string(value);
    for (const log::ViolationRow& violation : record.violations) {
      line += " " + violation.code + " " + violation.quantity + " " + std::to_string(violation.value) + ">" +
              std::to_string(violation.limit) + " @" + violation.layer;
    }
    lines.push_back(line);
    return true;
  });
  return lines;
}

/// The error that `body` ends with.
template <class Body>
Error error_of(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return Error(ErrorKind::failure, "");
}

/// Another evaluator, of which every question is told with its number of threads.
class Watched : public evaluator::Evaluator {
 public:
  enum class Question { rows, facts };
  using Tell = std::function<void(Question asked, unsigned threads)>;
  Watched(const std::shared_ptr<const evaluator::Evaluator>& model, Tell was_asked)
      : Evaluator(model->space()), model_(model), was_asked_(std::move(was_asked)) {}
  [[nodiscard]] std::string name() const override { return model_->name(); }
  [[nodiscard]] std::string definition() const override { return model_->definition(); }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> settings() const override {
    return model_->settings();
  }
  [[nodiscard]] const std::vector<std::string>& metrics() const override { return model_->metrics(); }
  [[nodiscard]] const std::vector<std::string>& fact_names() const override { return model_->fact_names(); }
  [[nodiscard]] std::optional<double> smallest_fact(const std::string& name) const override {
    return model_->smallest_fact(name);
  }
  [[nodiscard]] const std::vector<std::string>& reasons() const override { return model_->reasons(); }

 private:
  [[nodiscard]] std::vector<evaluator::Row> answer(std::span<const std::uint16_t> levels,
                                                   std::span<const workload::Network> workloads,
                                                   unsigned threads) const override {
    was_asked_(Question::rows, threads);
    return model_->evaluate(levels, workloads, threads);
  }
  [[nodiscard]] std::vector<double> answer_facts(std::span<const double> limits, std::span<const std::uint16_t> levels,
                                                 std::span<const std::string> names, unsigned threads) const override {
    was_asked_(Question::facts, threads);
    return model_->facts_within(limits, levels, names, threads);
  }

  std::shared_ptr<const evaluator::Evaluator> model_;
  Tell was_asked_;
};

/// Presses Ctrl-C when it has been asked `patience` times.
class Interrupter final : public Watched {
 public:
  Interrupter(const std::shared_ptr<const evaluator::Evaluator>& model, std::uint64_t patience)
      : Watched(model, [asked = std::make_shared<std::atomic<std::uint64_t>>(0), patience](Question, unsigned) {
          if (++*asked >= patience) set_interrupt_requested(true);
        }) {}
};

/// The upper one of two in the middle.
inline double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.at(values.size() / 2);
}

}  // namespace hindsight::sweep::test
