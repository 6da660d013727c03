/// Writes measurements to where they are kept as soon as they are taken.
#include "measure_sink.h"

#include "hindsight/core/interrupt.h"
#include "hindsight/log/gpu_measurements.h"
#include "output.h"

namespace hindsight::app {

MeasureSink::MeasureSink(std::string log_file, Provenance provenance, bool quiet)
    : log_file_(std::move(log_file)), provenance_(std::move(provenance)), quiet_(quiet) {}

void MeasureSink::session(const measure::Session& session) {
  records_.session = session;
  if (session.sensor != "nvml") remark("power, clocks and temperatures stay unknown: " + session.sensor);
  if (log_file_.empty()) return;
  log_ = log::Log::open(log_file_, log::OpenMode::read_write_create);
  run_.emplace(*log_, log::RunKind::measure, provenance_);
}

void MeasureSink::results(const std::vector<measure::GemmRow>& gemms,
                          const std::vector<measure::Quantity>& quantities) {
  records_.gemms.insert(records_.gemms.end(), gemms.begin(), gemms.end());
  records_.quantities.insert(records_.quantities.end(), quantities.begin(), quantities.end());
  if (log_) log::append_measurements(*log_, run_->id(), {records_.session, gemms, quantities});
}

void MeasureSink::failed(const std::string& task, const std::string& reason) {
  remark(task + " could not be measured: " + reason);
}

bool MeasureSink::next(const std::string& task, std::size_t position, std::size_t total) {
  if (!progress_) progress_ = std::make_unique<Progress>("measure", total, "tasks", quiet_);
  progress_->update(position, task);
  return !interrupt_requested();
}

void MeasureSink::finish(log::RunStatus status) {
  if (progress_) progress_->finish();
  if (run_) run_->finish(status);
}

void MeasureSink::give_up() {
  if (progress_) progress_->finish();
  run_.reset();
}

}  // namespace hindsight::app
