/// hindsight-measure: measures a GPU into a file of JSON lines, on machines that have a CUDA toolkit and nothing else.
///
/// `hindsight measure import` takes the file into a log. The same measurements, in the same code, are behind
/// `hindsight measure gemm` and `hindsight measure device`.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <csignal>
#include <cstdio>
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
#include "results_file.h"

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

/// Appends whole tasks, each on the disk before the next one starts.
class TasksFile final : public Sink {
 public:
  TasksFile(const std::string& file, std::size_t read_bytes, std::size_t whole_bytes)
      : out_(file, read_bytes, whole_bytes) {}
  void session(const Session& session) override {
    out_.append(to_json_line(session) + '\n');
    std::fprintf(stderr, "%s, driver %s, sensors: %s\n", session.gpu_name.c_str(), session.driver_version.c_str(),
                 session.sensor.c_str());
  }
  void results(const std::vector<GemmRow>& gemms, const std::vector<Quantity>& quantities) override {
    out_.append(task_lines(gemms, quantities));
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
  ResultsFile out_;
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
  ResultsFile out(options.file, content.size(), whole_tasks(content, options.file));  // refused before it takes minutes
  const std::optional<LandscapeTrial> tried = try_landscape(*engine, how);
  if (!tried) {
    std::fprintf(stderr, "interrupted; nothing was written\n");
    return interrupt_exit_code();
  }
  const LandscapeTrial& trial = *tried;
  const std::string provenance = member("gpu_name", here.devices[device]) + member("gpu_uuid", here.uuids[device]) +
                                 member("toolkit", here.toolkit) + member("version", build_info().version) +
                                 member("commit", build_info().commit) + member("host", host_name());
  std::printf("%llu answers compared, %llu differ; host %.2f s, %s %.3f s; %llu mappings in %.1f s, %.3g a second\n",
              static_cast<unsigned long long>(trial.compared), static_cast<unsigned long long>(trial.different),
              trial.host_s, here.devices[device].c_str(), trial.device_s,
              static_cast<unsigned long long>(trial.mappings), trial.large_s,
              static_cast<double>(trial.mappings) / trial.large_s);
  out.append(to_json_line(trial, provenance) + '\n');
  return trial.different == 0 ? 0 : kKernelsDisagree;
}

int measure(Options options, const std::string& command_line) {
  if (options.check) return check(options.run.device);
  if (options.landscape) return landscape(options);
  const std::string content = read_if_there(options.file);
  const std::size_t whole_bytes = whole_tasks(content, options.file);
  const std::vector<SessionRecords> before =
      parse_json_lines(std::string_view(content).substr(0, whole_bytes), options.file);
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
  TasksFile sink(options.file, content.size(), whole_bytes);
  const RunResult result = run(plan, options.run, sink);
  std::printf("%s\n", summary(result).c_str());
  if (interrupt_requested()) return interrupt_exit_code();
  return failure_of(result) ? 1 : 0;
}

int run_words(int argc, char** argv) {
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  std::string command_line = "hindsight-measure";
  for (const std::string& word : words) {
    command_line += " " + word;
    if (word == "--help" || word == "-h") {
      std::fputs(kUsage, stdout);
      return 0;
    }
  }
  return measure(parse(words), command_line);
}

/// The file of results must not get the number of a stream that was closed: what is printed would be among them. What
/// takes the place here fails when it is used, as in the large program.
void keep_standard_streams_apart() {
  for (int number = STDIN_FILENO; number <= STDERR_FILENO; ++number) {
    const bool is_open = ::fcntl(number, F_GETFD) >= 0;
    if (!is_open) static_cast<void>(::open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

/// Error{failure} where standard output did not take what was printed: a verdict of --check, a list, a summary.
void require_printed() {
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::ferror(stdout) == 0) return;
  throw Error(
      ErrorKind::failure,
      "standard output: cannot write (is it closed, or its disk full?). What was measured is kept in the file.");
}

}  // namespace
}  // namespace hindsight::measure

int main(int argc, char** argv) {
  using hindsight::Error;
  using hindsight::ErrorKind;
  std::signal(SIGXFSZ, SIG_IGN);  // a file at its size limit is an error of write(), not the end of a measurement
  hindsight::measure::keep_standard_streams_apart();
  hindsight::install_interrupt_handlers();
  try {
    const int code = hindsight::measure::run_words(argc, argv);
    hindsight::measure::require_printed();
    return code;
  } catch (const Error& error) {
    std::fprintf(stderr, "hindsight-measure: error: %s\n", hindsight::measure::one_line(error.what()).c_str());
    return error.kind() == ErrorKind::unavailable ? 5 : error.kind() == ErrorKind::usage ? 2 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hindsight-measure: error: %s\n", hindsight::measure::one_line(error.what()).c_str());
    return 1;
  }
}
