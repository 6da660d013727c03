/// What measures, without a GPU: the rows of a task follow from its name. Linked into programs in the place of CUDA.
#include <memory>
#include <string>

#include "hindsight/core/error.h"
#include "hindsight/measure/bench.h"
#include "hindsight/measure/run.h"
#include "hindsight/measure/site_engine.h"

namespace hindsight::measure {
namespace {

constexpr const char* kName = "made device";
constexpr const char* kUuid = "GPU-made";
constexpr int kQuantities = 5;  // of each task of the device

class MadeBench final : public Bench {
 public:
  explicit MadeBench(const RunOptions& options) {
    session_.command_line = options.command_line;
    session_.version = options.version;
    session_.commit = options.commit;
    session_.host = options.host;
    session_.started_at = utc_second();
    session_.gpu_name = kName;
    session_.gpu_uuid = kUuid;
    session_.sensor = "nvml";
  }
  [[nodiscard]] const Session& session() const override { return session_; }
  [[nodiscard]] TaskResults measure(const Task& task) override {
    const auto length = static_cast<double>(key(task).size());
    TaskResults results;
    if (task.kind == Task::Kind::gemm) {
      results.gemms.push_back(row_of(task));
      results.gemms.back().latency_s = results.gemms.back().latency_min_s = 1e-6 * length;
      return results;
    }
    for (int i = 0; i < kQuantities; ++i) {
      Quantity& quantity = results.quantities.emplace_back();
      quantity.name = "made_" + std::to_string(i) + "_cycles";
      quantity.detail = "of " + key(task);
      quantity.value = length + i;
    }
    return results;
  }

 private:
  Session session_;
};

}  // namespace

Availability availability() {
  return {.built_in = true, .toolkit = "made", .devices = {kName}, .uuids = {kUuid}, .problem = ""};
}

void require_device(int device) {
  if (device != 0) throw Error(ErrorKind::usage, "there is one made device: number 0.");
}

RunResult run(const std::vector<Task>& plan, const RunOptions& options, Sink& sink) {
  const OpenBench open = [&](bool /*needs_cublaslt*/) {
    require_device(options.device);
    return std::make_unique<MadeBench>(options);
  };
  return run_on(open, plan, options, sink);
}

KernelCheck check_kernels(int device) {
  require_device(device);
  return {.problems = {}, .skipped = {}, .agreed = 1};
}

std::unique_ptr<accel::optimum::SiteEngine> cuda_site_engine(int /*device*/) {
  throw Error(ErrorKind::unavailable, "a made device has no landscape.");
}

}  // namespace hindsight::measure
