/// Opens the library `hindsight_torch` when the first training starts.
#include "hindsight/surrogate/learner_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>

#include "hindsight/core/error.h"
#include "hindsight/core/installation.h"
#include "hindsight/core/provenance.h"
#include "surrogate/learner.h"

namespace hindsight::surrogate {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibraryName = "libhindsight_torch.so";

/// Settings that must precede the loading of LibTorch.
void prepare_process() {
  // Read by OpenBLAS when it is loaded. More threads inside one network would make results depend on their number, and
  // slow down members that are trained side by side.
  ::setenv("OPENBLAS_NUM_THREADS", "1", 1);
  // Large tensors come and go thousands of times a second; giving their pages back each time halves the speed of passes
  // over 4096 rows [measured] LibTorch 1.13.1, 305,000 against 695,000 designs a second on one core of two. glibc
  // accepts at most 32 MiB for the first.
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 512 << 20);
  ::mallopt(M_TOP_PAD, 16 << 20);
}

LearnerFactory& open_library() {
  const std::optional<fs::path> file = learner_library();
  if (!file) {
    throw Error(ErrorKind::unavailable, fmt::format("training is {}. Proposing with a trained model needs no library",
                                                    why_no_learner(build_info().features)));
  }
  prepare_process();
  void* library = ::dlopen(file->c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Error(ErrorKind::unavailable,
                fmt::format("{}: cannot be loaded ({}); training needs it. Is libtorch installed as at build time "
                            "(Debian: libtorch-dev, libopenblas0-pthread)?",
                            file->string(), ::dlerror()));
  }
  auto* create = reinterpret_cast<LearnerFactoryFunction>(::dlsym(library, kLearnerFactorySymbol));
  LearnerFactory* factory = create == nullptr ? nullptr : create(kLearnerInterfaceVersion);
  if (factory == nullptr) {
    throw Error(ErrorKind::unavailable,
                fmt::format("{}: belongs to another version of Hindsight (interface {} is needed). Build or install "
                            "both together",
                            file->string(), kLearnerInterfaceVersion));
  }
  return *factory;
}

}  // namespace

std::optional<std::filesystem::path> learner_library() {
  const std::optional<Installation> here = installation();
  if (!here) return std::nullopt;
  std::error_code error;
  const fs::path file = here->libraries / kLibraryName;
  return fs::exists(file, error) ? std::optional(file) : std::nullopt;
}

std::string why_no_learner(std::span<const std::string> features) {
  const bool built = std::ranges::any_of(features, [](const std::string& one) { return one.starts_with("libtorch"); });
  return built ? fmt::format(
                     "built in, but its library {} is not with this program: install Hindsight whole "
                     "(`cmake --install BUILD_FOLDER --prefix FOLDER`), not the program alone",
                     kLibraryName)
               : "not built in: LibTorch was not found or not wanted. Install what scripts/packages.sh lists, then "
                 "build again with -DHINDSIGHT_TORCH=ON";
}

LearnerFactory& learner_factory() {
  static LearnerFactory& factory = open_library();
  return factory;
}

}  // namespace hindsight::surrogate
