/// Predicts tables of matrix products, block by block on several threads.
#include "gemm_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "given_calibrations.h"
#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/text.h"
#include "hindsight/core/thread_pool.h"
#include "hindsight/dataset/csv_stream.h"
#include "hindsight/gpu/residual.h"

namespace hindsight::app {
namespace {

constexpr std::size_t kMostRows = 4096;  // [chosen] of a block: a few ms of work, 1 MB with its predictions
constexpr unsigned kMostThreads = 8;     // [chosen] one thread reads at a time: more would wait for it
/// [chosen] Blocks have a few to 4,096 rows, since the table is read in pieces of a fixed size: short ones do not wait
/// for long ones, and a few MB hold what is early.
constexpr std::size_t kMostEarly = 16;

using DTypes = std::array<bool, gpu::kDTypeCount>;

std::size_t index(gpu::DType dtype) { return static_cast<std::size_t>(dtype); }

/// What `read` returns; its errors about the table with what it should look like.
template <typename Read>
auto with_columns_expected(const Read& read) {
  try {
    return read();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    throw Error(error.kind(), with_expected_columns(error.what()));
  }
}

/// Predictors of one GPU, one per dtype, made when first needed. Making one while others predict is safe.
class Predictors {
 public:
  /// What is referred to must outlive this object.
  Predictors(const gpu::GpuSpec& spec, const RecordedChoice& choice, const std::vector<gpu::Calibration>& given)
      : spec_(&spec), choice_(&choice), given_(&given) {}
  void make(gpu::DType dtype) {
    std::unique_ptr<const gpu::Predictor>& made = made_[index(dtype)];
    if (made) return;
    const gpu::Calibration calibration = calibration_for(*spec_, dtype, *choice_, *given_);
    launched_by_framework_ = launched_by_framework_ || gpu::launched_by_framework(calibration);
    made = std::make_unique<const gpu::Predictor>(*spec_, calibration, dtype);
  }
  /// Precondition: made.
  [[nodiscard]] const gpu::Predictor& of(gpu::DType dtype) const { return *made_[index(dtype)]; }
  /// Whether some predictor made so far counts the launches of a framework.
  [[nodiscard]] bool launched_by_framework() const { return launched_by_framework_; }
  [[nodiscard]] const gpu::GpuSpec& spec() const { return *spec_; }

 private:
  const gpu::GpuSpec* spec_;
  const RecordedChoice* choice_;
  const std::vector<gpu::Calibration>* given_;
  std::array<std::unique_ptr<const gpu::Predictor>, gpu::kDTypeCount> made_;
  bool launched_by_framework_ = false;
};

/// Some rows on their way through a thread.
struct Work {
  std::size_t number = 0;  ///< of the block
  dataset::CsvBlock block;
  std::vector<gpu::Gemm> gemms;  ///< one per row
};

/// Reads a table as products.
class TableReader {
 public:
  TableReader(dataset::CsvStream& stream, const GemmRowReader& rows) : stream_(&stream), rows_(&rows) {}

  /// False at the end. After an error `work` holds the rows before.
  bool next(Work& work, const std::vector<Predictors>& gpus) {
    work.gemms.clear();
    const bool any = with_columns_expected([&] { return stream_->next(work.block, kMostRows); });
    for (std::size_t row = 0; row < work.block.rows(); ++row) {
      const gpu::Gemm gemm = rows_->read(work.block, row);
      for (const Predictors& gpu : gpus) {
        if (gpu.spec().has(gemm.dtype)) continue;
        rows_->fail_dtype(work.block, row, gpu.spec().lacks_text(gemm.dtype));
      }
      work.gemms.push_back(gemm);
    }
    return any;
  }

 private:
  dataset::CsvStream* stream_;
  const GemmRowReader* rows_;
};

/// Threads that each read a block, predict it, and write what is next.
class TablePredictions {
 public:
  TablePredictions(TableReader& reader, std::vector<Predictors>& gpus, const report::GemmTableText& text,
                   gpu::RunMode mode, const TableSink& sink)
      : reader_(&reader), gpus_(&gpus), text_(&text), mode_(mode), sink_(&sink) {}

  TableSummary run() {
    std::vector<std::thread> others;
    for (unsigned i = 1; i < std::min(resolve_threads(0), kMostThreads); ++i) others.emplace_back([this] { work(); });
    work();
    for (std::thread& one : others) one.join();
    if (failure_) std::rethrow_exception(failure_);
    if (refusal_) std::rethrow_exception(refusal_);
    if (written_ == 0) sink_->write(text_->begin());
    sink_->write(text_->end(summary_.predictions));
    return summary_;
  }
  [[nodiscard]] const DTypes& dtypes() const { return dtypes_; }

 private:
  void work() {
    try {
      Work work;
      while (take(work)) {
        TableSummary summary;
        std::string piece;
        predict(work, piece, summary);
        deliver(work.number, std::move(piece), summary);
      }
    } catch (...) {
      const std::scoped_lock lock(turn_);
      if (!failure_) failure_ = std::current_exception();
      stopped_ = true;
      turned_.notify_all();
    }
  }

  /// The next block. A refusal of the table ends it; the rows before are still predicted.
  bool take(Work& work) {
    const std::scoped_lock lock(reading_);
    if (ended_ || stopped_) return false;
    if (interrupt_requested()) {
      throw Error(ErrorKind::interrupted,
                  fmt::format("gemm --csv: interrupted{}", sink_->can_take_back ? "; nothing was written" : ""));
    }
    try {
      ended_ = !reader_->next(work, *gpus_);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::interrupted) throw;
      ended_ = true;
      refusal_ = std::current_exception();
    }
    for (const gpu::Gemm& gemm : work.gemms) {
      if (std::exchange(dtypes_[index(gemm.dtype)], true)) continue;
      for (Predictors& gpu : *gpus_) gpu.make(gemm.dtype);
    }
    work.number = taken_;
    if (work.gemms.empty()) return false;
    ++taken_;
    return true;
  }

  void predict(const Work& work, std::string& piece, TableSummary& summary) const {
    std::vector<gpu::GemmPrediction> predictions(gpus_->size());
    for (std::size_t row = 0; row < work.gemms.size(); ++row) {
      const gpu::Gemm& gemm = work.gemms[row];
      for (std::size_t i = 0; i < gpus_->size(); ++i) {
        const gpu::GemmPrediction& p = predictions[i] = (*gpus_)[i].of(gemm.dtype).predict(gemm, mode_);
        summary.rooflines += p.roofline_estimate ? 1U : 0U;
        summary.of_zero_weights += p.operands != gpu::Operands::random ? 1U : 0U;
        summary.outside_range += p.in_validated_range ? 0U : 1U;
        summary.power_outside_range += p.power_in_validated_range ? 0U : 1U;
        summary.unmet_limits += p.least_limit_w > 0 ? 1U : 0U;
        summary.misaligned += p.aligned || p.in_validated_range ? 0U : 1U;
        summary.beyond_memory += gpu::compulsory_bytes(gemm) > (*gpus_)[i].spec().dram_bytes ? 1U : 0U;
      }
      summary.predictions += predictions.size();
      text_->append(piece, work.block, row, gemm, predictions);
    }
  }

  /// Writes the pieces whose turn has come. One that comes early waits for those before it and its thread goes on,
  /// unless too many wait.
  void deliver(std::size_t number, std::string&& piece, const TableSummary& summary) {
    std::unique_lock lock(turn_);
    summary_.predictions += summary.predictions;
    summary_.rooflines += summary.rooflines;
    summary_.of_zero_weights += summary.of_zero_weights;
    summary_.outside_range += summary.outside_range;
    summary_.power_outside_range += summary.power_outside_range;
    summary_.unmet_limits += summary.unmet_limits;
    summary_.misaligned += summary.misaligned;
    summary_.beyond_memory += summary.beyond_memory;
    early_.emplace(number, std::move(piece));
    for (auto next = early_.begin(); next != early_.end() && next->first == written_ && !stopped_;
         next = early_.erase(next), ++written_) {
      if (written_ == 0) sink_->write(text_->begin());
      if (written_ > 0 && !next->second.empty() && !text_->separator().empty()) sink_->write(text_->separator());
      sink_->write(next->second);
    }
    turned_.notify_all();
    turned_.wait(lock, [&] { return number < written_ + kMostEarly || stopped_; });
  }

  TableReader* reader_;
  std::vector<Predictors>* gpus_;
  const report::GemmTableText* text_;
  gpu::RunMode mode_;
  const TableSink* sink_;

  std::mutex reading_;  ///< guards the reader and what follows
  bool ended_ = false;
  std::size_t taken_ = 0;
  DTypes dtypes_{};             ///< of the rows read
  std::exception_ptr refusal_;  ///< of the table; rows before it count

  std::mutex turn_;  ///< guards the sink and what follows
  std::condition_variable turned_;
  std::size_t written_ = 0;                   ///< pieces
  std::map<std::size_t, std::string> early_;  ///< pieces that wait for others before them
  TableSummary summary_;
  std::exception_ptr failure_;
  std::atomic<bool> stopped_ = false;
};

/// Drops the GPUs that cannot run every row, and says which.
void drop_lacking(std::vector<gpu::GpuSpec>& specs, const DTypes& dtypes, std::vector<std::string>& remarks) {
  const auto lacking = std::stable_partition(specs.begin(), specs.end(), [&](const gpu::GpuSpec& spec) {
    return std::all_of(gpu::kAllDTypes.begin(), gpu::kAllDTypes.end(),
                       [&](gpu::DType dtype) { return !dtypes[index(dtype)] || spec.has(dtype); });
  });
  std::vector<std::string> names;
  for (auto spec = lacking; spec != specs.end(); ++spec) names.push_back(spec->name);
  if (!names.empty()) remarks.push_back("left out, no dtype of some row: " + join(names, ", "));
  specs.erase(lacking, specs.end());
}

/// The dtypes of all rows. Errors: those of the first row that is refused.
DTypes read_through(TableReader& reader, const std::vector<Predictors>& gpus) {
  DTypes dtypes{};
  for (Work work; reader.next(work, gpus);) {
    for (const gpu::Gemm& gemm : work.gemms) dtypes[index(gemm.dtype)] = true;
    if (interrupt_requested()) throw Error(ErrorKind::interrupted, "gemm --csv: interrupted; nothing was written");
  }
  return dtypes;
}

/// Files of --residual that no row had use for.
void remark_unused_residuals(const RecordedChoice& choice, const DTypes& dtypes, std::vector<std::string>& remarks) {
  for (const std::string& file : choice.residual_files) {
    const gpu::DTypeClass its_class = gpu::read_residual(file)->dtype_class;
    const bool used = std::any_of(gpu::kAllDTypes.begin(), gpu::kAllDTypes.end(), [&](gpu::DType dtype) {
      return dtypes[index(dtype)] && gpu::dtype_class(dtype) == its_class;
    });
    if (used) continue;
    remarks.push_back(fmt::format("--residual {}: no row of class {}, for which it is", printable(file, 400),
                                  gpu::to_string(its_class)));
  }
}

/// An option --quantise that no row could take is refused where that shows before the first row, else remarked.
void require_quantisable(const TableRequest& request, const GemmRowReader& rows) {
  gpu::Gemm row{.dtype = request.defaults.dtype};
  row.quantisation = request.defaults.quantisation;
  const std::string problem = gpu::quantisation_problem(row);
  if (rows.has_dtypes() || problem.empty()) return;
  throw Error(ErrorKind::usage, fmt::format("{}: --quantise: {}", printable(request.file, 400), problem));
}

void remark_unused_quantisation(const TableRequest& request, const DTypes& dtypes, std::vector<std::string>& remarks) {
  const bool used = std::any_of(gpu::kAllDTypes.begin(), gpu::kAllDTypes.end(),
                                [&](gpu::DType dtype) { return gpu::is_8bit(dtype) && dtypes[index(dtype)]; });
  if (request.defaults.quantisation == gpu::Quantisation::none || used) return;
  remarks.emplace_back("--quantise: no row of 8 bits");
}

}  // namespace

gpu::Calibration calibration_for(const gpu::GpuSpec& spec, gpu::DType dtype, const RecordedChoice& choice,
                                 const std::vector<gpu::Calibration>& given) {
  const bool shipped = choice.residual && choice.residual_files.empty();
  gpu::Calibration calibration =
      gpu::load_calibration(spec, dtype, given, shipped ? gpu::Residuals::shipped : gpu::Residuals::none);
  if (choice.operands == OperandChoice::random) calibration.unwritten = {};
  for (const std::string& file : choice.residual_files) {
    const auto residual = gpu::read_residual(file);
    const bool meant = residual->gpu == calibration.gpu && residual->dtype_class == calibration.dtype_class;
    if (meant) calibration = gpu::with_residual(std::move(calibration), spec, file);
  }
  if (!choice.residual) {
    calibration.residual = nullptr;
    calibration.residual_off = "--no-residual";
  }
  if (choice.launch == LaunchChoice::recorded) return calibration;
  return choice.launch == LaunchChoice::stream ? gpu::with_stream_launch(calibration, spec, given)
                                               : gpu::with_kernel_launch(calibration, spec, given);
}

void require_residuals_serve(const std::vector<gpu::GpuSpec>& specs, std::span<const gpu::DType> dtypes,
                             const RecordedChoice& choice, const std::vector<gpu::Calibration>& given) {
  for (const std::string& file : choice.residual_files) {
    const auto residual = gpu::read_residual(file);
    const auto its_class = std::find_if(dtypes.begin(), dtypes.end(), [&](gpu::DType dtype) {
      return gpu::dtype_class(dtype) == residual->dtype_class;
    });
    const gpu::DType dtype = its_class == dtypes.end() ? dtypes.front() : *its_class;
    std::string problem;
    const bool serves = std::any_of(specs.begin(), specs.end(), [&](const gpu::GpuSpec& spec) {
      const std::string here =
          gpu::residual_problem(*residual, spec, gpu::load_calibration(spec, dtype, given, gpu::Residuals::none));
      if (problem.empty()) problem = here;
      return here.empty();
    });
    if (serves) continue;
    throw Error(ErrorKind::incompatible,
                fmt::format("--residual {}: it serves none of the GPUs of --gpu: {}. Leave it out, or train one with "
                            "'hindsight calibrate --residual'",
                            printable(file, 400), problem));
  }
}

TableSummary predict_table(const TableRequest& request, const TableSink& sink) {
  std::vector<gpu::GpuSpec> specs = gpu::load_gpus(request.gpus);  // a wrong name is said before anything is read
  const std::vector<gpu::Calibration> given = read_given_calibrations(request.calibrations, specs);
  const bool all = gpu::means_all_gpus(request.gpus);
  dataset::CsvStream stream(request.file);
  if (all && !stream.can_restart()) stream.keep();
  const GemmRowReader rows(with_columns_expected([&] { return stream.header(); }), stream.shown(), request.defaults);
  require_quantisable(request, rows);
  const std::array defaults{request.defaults.dtype};
  require_residuals_serve(specs, rows.has_dtypes() ? std::span<const gpu::DType>(gpu::kAllDTypes) : defaults,
                          request.recorded, given);
  const auto predictors = [&] {
    std::vector<Predictors> gpus;
    for (const gpu::GpuSpec& spec : specs) gpus.emplace_back(spec, request.recorded, given);
    return gpus;
  };
  std::vector<std::string> remarks;
  TableReader reader(stream, rows);
  if (all || (stream.can_restart() && !sink.can_take_back)) {
    const DTypes dtypes = read_through(reader, all ? std::vector<Predictors>() : predictors());
    if (all) drop_lacking(specs, dtypes, remarks);
    stream.restart();
  }
  std::vector<Predictors> gpus = predictors();
  std::vector<std::string> names;
  for (const gpu::GpuSpec& spec : specs) names.push_back(spec.name);
  const report::GemmTableText text(request.format, stream.header(), names, request.mode);
  TablePredictions predictions(reader, gpus, text, request.mode, sink);
  TableSummary summary = predictions.run();
  names.clear();
  for (const Predictors& one : gpus) {
    if (one.launched_by_framework()) names.push_back(one.spec().name);
  }
  if (!names.empty()) remarks.push_back(report::framework_launch_text(names));
  if (const std::string unused = rows.unused_columns(); !unused.empty()) remarks.push_back(unused);
  remark_unused_quantisation(request, predictions.dtypes(), remarks);
  remark_unused_residuals(request.recorded, predictions.dtypes(), remarks);
  summary.remarks = std::move(remarks);
  return summary;
}

}  // namespace hindsight::app
