/// Where measurements go while they are taken: memory, a log, a file of JSON lines.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/core/progress.h"
#include "hindsight/core/provenance.h"
#include "hindsight/log/log.h"
#include "hindsight/measure/json_lines.h"
#include "hindsight/measure/run.h"

namespace hindsight::app {

/// Keeps all records, and stores each task's in the log as soon as it is done. What a log could not store is kept here,
/// too.
class MeasureSink final : public measure::Sink {
 public:
  /// `log_file` may be empty. The log is opened and its run begun with the first result: a command that finds no
  /// device leaves no trace.
  MeasureSink(std::string log_file, Provenance provenance, bool quiet);

  void session(const measure::Session& session) override;
  void results(const std::vector<measure::GemmRow>& gemms, const std::vector<measure::Quantity>& quantities) override;
  void failed(const std::string& task, const std::string& reason) override;
  bool next(const std::string& task, std::size_t position, std::size_t total) override;
  /// Closes the run in the log.
  void finish(log::RunStatus status);
  /// After an error: closes it as failed where the log can still be written.
  void give_up();
  [[nodiscard]] const measure::SessionRecords& records() const { return records_; }

 private:
  std::string log_file_;
  Provenance provenance_;
  bool quiet_;
  std::unique_ptr<Progress> progress_;
  std::optional<log::Log> log_;
  std::optional<log::Run> run_;
  measure::SessionRecords records_;
};

}  // namespace hindsight::app
