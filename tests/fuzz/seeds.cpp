/// What the fuzzer begins with: files that ship with the project, and such that are made.
#include <algorithm>
#include <array>
#include <functional>

#include "fuzz/made.h"
#include "fuzz/packed.h"
#include "fuzz/reader.h"
#include "hindsight/core/files.h"

namespace hindsight::fuzz {
namespace {

namespace fs = std::filesystem;

/// [chosen] Longer files slow each run down and hold nothing that shorter ones of their kind do not.
constexpr std::uintmax_t kMostSeedBytes = 24U << 10U;

/// Folders of the repository whose files a reader takes.
struct Shipped {
  std::string_view reader, folder, ending;
};
constexpr std::array kShipped{
    Shipped{"yaml", "configs/spaces", ".yaml"},
    Shipped{"yaml", "data/gpus/calibration/gemm", ".yaml"},
    Shipped{"space", "configs/spaces", ".yaml"},
    Shipped{"space", "configs/examples", ".yaml"},
    Shipped{"workload", "data/workloads", ".yaml"},
    Shipped{"workload", "data/silicon/workloads", ".yaml"},
    Shipped{"technology", "data/technology", ".yaml"},
    Shipped{"chip", "configs/designs", ".yaml"},
    Shipped{"published_areas", "data/silicon", ".yaml"},
    Shipped{"silicon_figures", "data/silicon", ".yaml"},
    Shipped{"gpu", "data/gpus", ".yaml"},
    Shipped{"gpu_sources", "data/gpus", ".yaml"},
    Shipped{"calibration", "data/gpus/calibration/gemm", ".yaml"},
    Shipped{"recipe", "configs/training", ".yaml"},
    Shipped{"optima", "data/reference", ".csv"},
};

constexpr std::string_view kTable = "pes,mode,\"a \"\"b\"\"\"\n1,ws,0.5\n2,\"o\ns\",1e-3\n4,,\n";

struct Made {
  std::string_view reader;
  std::function<std::string()> make;
};
const std::vector<Made>& made() {
  static const std::vector<Made> made{
      {"log", made_log},
      {"log", made_log_with_block},
      {"log", [] { return made_older_log(1); }},
      {"log", [] { return made_older_log(2); }},
      {"log_repair", made_log},
      {"log_values", [] { return std::string(); }},  // nothing is changed: everything has to be answered
      {"log_values", made_values},
      {"log_values", made_checkpoints},
      {"log_values", made_card},
      {"log_values", made_numbers},
      {"log_values", made_words},
      {"log_merge", made_values},
      {"log_merge", made_numbers},
      {"log_merge", made_words},
      {"optuna", made_optuna_study},
      {"optuna", made_old_optuna_study},
      {"model", made_model},
      {"model", made_layers_model},
      {"checkpoint", made_checkpoint},
      {"training_part", [] { return made_part(1); }},
      {"training_part", [] { return made_part(2); }},
      {"onnx", made_onnx},
      {"onnx", made_onnx_bodies},
      {"onnx", made_onnx_constants},
      {"onnx", made_onnx_elsewhere},
      {"csv_stream", [] { return stored_gzip(kTable); }},
      {"csv_stream", [] { return stored_zip(kTable); }},
      {"csv_stream", [] { return stored_zip(stored_gzip(kTable)); }},
      {"network", made_onnx},
      {"question", [] { return made_question(small_space(), "t_rnn_dec"); }},
      {"question", [] { return made_question(small_space(), "mixtral_8x7b_decode@8"); }},
      {"measured", made_measurements},
      {"residual", made_residual},
      {"definition", made_definition},
      {"landscape", [] { return made_landscape("22nm"); }},
      {"landscape", [] { return made_landscape("22nm-silicon"); }},
  };
  return made;
}

/// The files of a folder in their order; none where it is not there.
std::vector<fs::path> files_of(const fs::path& folder, std::string_view ending) {
  std::vector<fs::path> files;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(folder, absent)) {
    if (entry.is_regular_file() && (ending.empty() || entry.path().extension() == ending)) files.push_back(entry);
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

std::vector<std::string> seeds_of(const Reader& reader, const fs::path& repository) {
  std::vector<std::string> seeds;
  for (const fs::path& file : files_of(repository / "tests/fuzz/corpus" / reader.name, "")) {
    seeds.push_back(read_file(file));
  }
  for (const Shipped& one : kShipped) {
    if (one.reader != reader.name) continue;
    for (const fs::path& file : files_of(repository / one.folder, one.ending)) {
      if (fs::file_size(file) <= kMostSeedBytes) seeds.push_back(read_file(file));
    }
  }
  for (const Made& one : made()) {
    if (one.reader == reader.name) seeds.push_back(one.make());
  }
  return seeds;
}

}  // namespace hindsight::fuzz
