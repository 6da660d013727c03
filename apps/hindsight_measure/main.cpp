/// hindsight-measure: measures a GPU into a file of JSON lines, on machines that have a CUDA toolkit and nothing else.
///
/// `hindsight measure import` takes the file into a log. The same measurements, in the same code, are behind
/// `hindsight measure gemm` and `hindsight measure device`.
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/provenance.h"
#include "hindsight/measure/json_lines.h"
#include "hindsight/measure/run.h"
#include "hindsight/measure/site_engine.h"
#include "landscape_trial.h"

namespace hindsight::measure {
namespace {

constexpr const char* kUsage =
    "usage: hindsight-measure [OPTIONS] FILE.jsonl\n"
    "\n"
    "Measures a GPU: its latencies, bandwidths, arithmetic rates and power, GEMMs by cuBLASLt and by the plain tiled\n"
    "kernel. Results are appended to FILE.jsonl; what it holds already of this very GPU is not measured again.\n"
    "\n"
    "  --budget-s S      start nothing later than S seconds after the start [no limit]\n"
    "  --device N        number of the device [0]\n"
    "  --dtype A,B       fp32, tf32, fp16, bf16, fp8, int8 [all]\n"
    "  --only A,B        device, gemm, tiled [all]\n"
    "  --mode A,B        burst, sustained [both]\n"
    "  --settle-s S      sustained mode: seconds that do not count [1]\n"
    "  --window-s S      sustained mode: seconds of energy counting [1.2]\n"
    "  --list            print the tasks and their state; measure nothing. Without a device: that of the last session\n"
    "  --check           run the kernels against the host; measure nothing\n"
    "  --landscape       into FILE.jsonl instead: the landscape of accelerators on the GPU, held against the host bit\n"
    "                    for bit, then timed on a large space for S seconds [60]; measure nothing else\n"
    "\n"
    "Exit codes: 0 done or out of budget, 1 failed, or a task did (the others' rows are kept), 2 usage, 3 kernels\n"
    "disagree with the host (--check, --landscape), 5 no CUDA or no device, 130, 143 or 129 interrupted, terminated,\n"
    "hung up (what was measured is kept; the second signal ends it at once)\n";
constexpr int kKernelsDisagree = 3;

struct Options {
  PlanOptions plan;
  RunOptions run;
  std::string file;
  bool list = false;
  bool check = false;
  bool landscape = false;
};

[[noreturn]] void usage(const std::string& problem) {
  throw Error(ErrorKind::usage, problem + " See hindsight-measure --help");
}

std::vector<std::string> pieces(const std::string& text) {
  std::vector<std::string> result{""};
  for (const char c : text) {
    if (c == ',') {
      result.emplace_back();
    } else {
      result.back() += c;
    }
  }
  return result;
}

template <class Number>
Number number(const std::string& option, const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0)) {
    usage(option + " " + text + ": is not a number of at least 0.");
  }
  return value;
}

std::vector<gpu::DType> dtypes(const std::string& text) {
  std::vector<gpu::DType> result;
  for (const std::string& name : pieces(text)) {
    const std::size_t before = result.size();
    for (const gpu::DType dtype : kMeasuredDTypes) {
      if (dtype_name(dtype) == name) result.push_back(dtype);
    }
    if (result.size() == before) usage("--dtype " + name + ": unknown. Known: fp32, tf32, fp16, bf16, fp8, int8.");
  }
  return result;
}

/// Sets the flags whose names are in the list, clears the others.
void choose(const std::string& option, const std::string& text,
            const std::vector<std::pair<std::string_view, bool*>>& flags) {
  for (const auto& [name, flag] : flags) *flag = false;
  for (const std::string& word : pieces(text)) {
    bool known = false;
    for (const auto& [name, flag] : flags) {
      if (name == word) *flag = known = true;
    }
    if (!known) usage(option + " " + word + ": unknown.");
  }
}

Options parse(const std::vector<std::string>& words) {
  Options options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const auto value = [&]() -> const std::string& {
      if (i + 1 >= words.size()) usage(word + " needs a value.");
      return words[++i];
    };
    PlanOptions& plan = options.plan;
    if (word == "--budget-s") {
      options.run.budget_s = number<double>(word, value());
    } else if (word == "--device") {
      options.run.device = number<int>(word, value());
    } else if (word == "--dtype") {
      plan.dtypes = dtypes(value());
    } else if (word == "--only") {
      choose(word, value(), {{"device", &plan.device}, {"gemm", &plan.cublaslt}, {"tiled", &plan.tiled}});
    } else if (word == "--mode") {
      choose(word, value(), {{"burst", &plan.burst}, {"sustained", &plan.sustained}});
    } else if (word == "--settle-s") {
      options.run.settle_s = number<double>(word, value());
    } else if (word == "--window-s") {
      options.run.window_s = number<double>(word, value());
    } else if (word == "--list") {
      options.list = true;
    } else if (word == "--check") {
      options.check = true;
    } else if (word == "--landscape") {
      options.landscape = true;
    } else if (word.starts_with("-") || !options.file.empty()) {
      usage("unexpected '" + word + "'.");
    } else {
      options.file = word;
    }
  }
  if (options.list + options.check + options.landscape > 1) usage("--list, --check and --landscape: one at a time.");
  if (options.file.empty() && !options.check) usage("the file for the results is missing.");
  return options;
}

/// Error{failure} for a file that is there and cannot be read: its tasks would be measured again.
std::string read_if_there(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::error_code ignored;
  constexpr const char* kProblem =
      ": cannot be read, so what is done in it is not known. Is it a file that you may read?";
  if (!in && std::filesystem::exists(file, ignored)) throw Error(ErrorKind::failure, file + kProblem);
  try {
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  } catch (const std::ios_base::failure&) {  // a disk that fails, a folder
    throw Error(ErrorKind::failure, file + kProblem);
  }
}

/// A killed writer's unfinished line goes.
void drop_cut_line(const std::string& file, const std::string& content) {
  if (content.empty() || content.back() == '\n') return;
  const std::size_t last = content.rfind('\n');
  std::filesystem::resize_file(file, last == std::string::npos ? 0 : last + 1);
}

/// Appends whole lines, each written out before the next task starts.
class JsonLinesFile final : public Sink {
 public:
  JsonLinesFile(const std::string& file, const std::string& content) : file_(file) {
    drop_cut_line(file, content);
    out_.open(file, std::ios::binary | std::ios::app);
    if (!out_) throw Error(ErrorKind::failure, file + ": cannot be written. Do its folder and permissions allow it?");
  }
  void session(const Session& session) override {
    write(to_json_line(session));
    std::fprintf(stderr, "%s, driver %s, sensors: %s\n", session.gpu_name.c_str(), session.driver_version.c_str(),
                 session.sensor.c_str());
  }
  void results(const std::vector<GemmRow>& gemms, const std::vector<Quantity>& quantities) override {
    std::string text;
    for (const GemmRow& row : gemms) text += to_json_line(row) + "\n";
    for (const Quantity& quantity : quantities) text += to_json_line(quantity) + "\n";
    if (!text.empty()) text.pop_back();
    write(text);
  }
  void failed(const std::string& task, const std::string& reason) override {
    std::fprintf(stderr, "%s failed: %s\n", task.c_str(), reason.c_str());
  }
  bool next(const std::string& task, std::size_t position, std::size_t total) override {
    if (interrupt_requested()) return false;
    std::fprintf(stderr, "%zu/%zu %s\n", position + 1, total, task.c_str());
    return true;
  }

 private:
  void write(const std::string& text) {
    if (text.empty()) return;
    out_ << text << '\n' << std::flush;
    if (!out_) throw Error(ErrorKind::failure, file_ + ": cannot be written (is the disk full?). Run this again.");
  }
  std::string file_;
  std::ofstream out_;
};

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

int check(int device) {
  const KernelCheck result = check_kernels(device);
  for (const std::string& skipped : result.skipped) std::printf("not checked: %s\n", skipped.c_str());
  for (const std::string& problem : result.problems) std::printf("%s\n", problem.c_str());
  if (!result.problems.empty()) {
    std::printf("kernels disagree with the host: %zu of %zu\n", result.problems.size(),
                result.problems.size() + result.agreed);
    return kKernelsDisagree;
  }
  std::printf("all %zu kernels checked agree with the host\n", result.agreed);
  return 0;
}

/// The device that is asked for; without one, only to list what is done, that of the last session.
std::string device_uuid(const Availability& here, const Options& options, const std::vector<SessionRecords>& before) {
  const auto device = static_cast<std::size_t>(options.run.device);
  if (device < here.uuids.size()) return here.uuids[device];
  return options.list && !before.empty() ? before.back().session.gpu_uuid : "";
}

std::string member(const char* name, const std::string& value) {
  return std::string(",\"") + name + "\":\"" + value + '"';
}

/// For a terminal: names of files, and what stands in them, may be what it obeys. ASCII alone passes: what of the rest
/// would be seen is known where there is more than the standard library.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text;
}

/// Appends one line to the file, unless it has one of this device and commit that agreed with the host.
int landscape(const Options& options) {
  const Availability here = availability();
  const auto device = static_cast<std::size_t>(options.run.device);
  const std::string content = read_if_there(options.file);
  if (device < here.uuids.size() && has_landscape(content, here.uuids[device], build_info().commit)) {
    std::printf("done before: %s\n", one_line(options.file).c_str());
    return 0;
  }
  LandscapeTrialOptions how{.stop = interrupt_requested};
  if (options.run.budget_s > 0) how.budget_s = options.run.budget_s;
  const std::unique_ptr<accel::optimum::SiteEngine> engine = cuda_site_engine(options.run.device);
  const std::optional<LandscapeTrial> tried = try_landscape(*engine, how);
  if (!tried) {
    std::fprintf(stderr, "interrupted; nothing was written\n");
    return interrupt_exit_code();
  }
  const LandscapeTrial& trial = *tried;
  const std::string provenance = member("gpu_name", here.devices[device]) + member("gpu_uuid", here.uuids[device]) +
                                 member("toolkit", here.toolkit) + member("version", build_info().version) +
                                 member("commit", build_info().commit) + member("host", host_name());
  drop_cut_line(options.file, content);
  std::ofstream out(options.file, std::ios::binary | std::ios::app);
  out << to_json_line(trial, provenance) << '\n' << std::flush;
  if (!out) {
    throw Error(ErrorKind::failure, options.file + ": cannot be written. Do its folder and permissions allow it?");
  }
  std::printf("%llu answers compared, %llu differ; host %.2f s, %s %.3f s; %llu mappings in %.1f s, %.3g a second\n",
              static_cast<unsigned long long>(trial.compared), static_cast<unsigned long long>(trial.different),
              trial.host_s, here.devices[device].c_str(), trial.device_s,
              static_cast<unsigned long long>(trial.mappings), trial.large_s,
              static_cast<double>(trial.mappings) / trial.large_s);
  return trial.different == 0 ? 0 : kKernelsDisagree;
}

int measure(Options options, const std::string& command_line) {
  if (options.check) return check(options.run.device);
  if (options.landscape) return landscape(options);
  const std::string content = read_if_there(options.file);
  const std::vector<SessionRecords> before = parse_json_lines(content, options.file, LastLine::may_be_cut);
  const Availability here = availability();
  options.run.finished = finished_tasks(before, device_uuid(here, options, before));
  const std::vector<Task> plan = make_plan(options.plan);
  if (options.list) {
    for (const Task& task : plan) {
      std::printf("%s %s\n", options.run.finished.contains(key(task)) ? "done" : "open", key(task).c_str());
    }
    return 0;
  }
  if (!here.problem.empty()) {  // before the file is touched
    throw Error(ErrorKind::unavailable, "cannot measure: " + here.problem + ".");
  }
  options.run.command_line = command_line;
  options.run.version = build_info().version;
  options.run.commit = build_info().commit;
  options.run.host = host_name();
  JsonLinesFile sink(options.file, content);
  const RunResult result = run(plan, options.run, sink);
  std::printf("%s\n", summary(result).c_str());
  if (interrupt_requested()) return interrupt_exit_code();
  return failure_of(result) ? 1 : 0;
}

}  // namespace
}  // namespace hindsight::measure

int main(int argc, char** argv) {
  using hindsight::Error;
  using hindsight::ErrorKind;
  hindsight::install_interrupt_handlers();
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  std::string command_line = "hindsight-measure";
  for (const std::string& word : words) {
    command_line += " " + word;
    if (word == "--help" || word == "-h") {
      std::fputs(hindsight::measure::kUsage, stdout);
      return 0;
    }
  }
  try {
    return hindsight::measure::measure(hindsight::measure::parse(words), command_line);
  } catch (const Error& error) {
    std::fprintf(stderr, "hindsight-measure: error: %s\n", hindsight::measure::one_line(error.what()).c_str());
    return error.kind() == ErrorKind::unavailable ? 5 : error.kind() == ErrorKind::usage ? 2 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hindsight-measure: error: %s\n", hindsight::measure::one_line(error.what()).c_str());
    return 1;
  }
}
