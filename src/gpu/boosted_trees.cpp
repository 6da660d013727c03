/// Calls XGBoost's C interface, and reads the trees that it prints.
#include "gpu/boosted_trees.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include "hindsight/core/error.h"

namespace hindsight::gpu {
namespace {

// The part of XGBoost's C interface that is used [spec: xgboost-c-api]; every function returns 0 on success.
using XgbHandle = void*;
using XgbSize = std::uint64_t;

struct XgbFunctions {
  const char* (*last_error)() = nullptr;
  int (*matrix_create)(const float*, XgbSize, XgbSize, float, XgbHandle*) = nullptr;
  int (*matrix_set)(XgbHandle, const char*, const float*, XgbSize) = nullptr;
  int (*matrix_free)(XgbHandle) = nullptr;
  int (*booster_create)(const XgbHandle*, XgbSize, XgbHandle*) = nullptr;
  int (*booster_set)(XgbHandle, const char*, const char*) = nullptr;
  int (*booster_update)(XgbHandle, int, XgbHandle) = nullptr;
  int (*booster_dump)(XgbHandle, const char*, int, XgbSize*, const char***) = nullptr;
  int (*booster_free)(XgbHandle) = nullptr;
};

template <class Function>
bool bind(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  return function != nullptr;
}

/// Opened once and kept: its threads outlive a call.
const XgbFunctions& xgboost() {
  static const XgbFunctions functions = [] {
    void* library = nullptr;
    for (const char* name : {"libxgboost.so.0", "libxgboost.so"}) {
      if (library == nullptr) library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    XgbFunctions f;
    const bool complete =
        library != nullptr && bind(library, "XGBGetLastError", f.last_error) &&
        bind(library, "XGDMatrixCreateFromMat", f.matrix_create) &&
        bind(library, "XGDMatrixSetFloatInfo", f.matrix_set) && bind(library, "XGDMatrixFree", f.matrix_free) &&
        bind(library, "XGBoosterCreate", f.booster_create) && bind(library, "XGBoosterSetParam", f.booster_set) &&
        bind(library, "XGBoosterUpdateOneIter", f.booster_update) &&
        bind(library, "XGBoosterDumpModel", f.booster_dump) && bind(library, "XGBoosterFree", f.booster_free);
    if (!complete) {
      throw Error(ErrorKind::unavailable,
                  "calibrate --residual: no libxgboost here (it trains the trees; predictions do without). As root: "
                  "apt-get install libxgboost0");
    }
    return f;
  }();
  return functions;
}

void check(int status) {
  if (status == 0) return;
  throw Error(ErrorKind::failure, fmt::format("xgboost: {}", xgboost().last_error()));
}

/// Frees what the library made.
class XgbOwner {
 public:
  explicit XgbOwner(int (*free)(XgbHandle)) : free_(free) {}
  ~XgbOwner() {
    if (handle != nullptr) free_(handle);
  }
  XgbOwner(const XgbOwner&) = delete;
  XgbOwner& operator=(const XgbOwner&) = delete;
  XgbHandle handle = nullptr;

 private:
  int (*free_)(XgbHandle);
};

/// Reads "0:[f3<12.5] yes=1,no=2,missing=1" and "4:leaf=0.01", one node a line, children after their parent.
class DumpReader {
 public:
  DumpReader(std::string_view text, Trees& trees) : trees_(&trees) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      while (!line.empty() && line.front() == '\t') line.remove_prefix(1);
      if (!line.empty()) add(std::string(line));
    }
  }
  void read() {
    trees_->roots.push_back(static_cast<std::int32_t>(trees_->nodes.size()));
    copy(0);
  }

 private:
  struct Line {
    bool leaf = true;
    int feature = 0, yes = 0, no = 0;
    float value = 0;
  };
  void add(const std::string& line) {
    int id = 0;
    Line node;
    if (std::sscanf(line.c_str(), "%d:leaf=%f", &id, &node.value) != 2) {
      node.leaf = false;
      const int read =
          std::sscanf(line.c_str(), "%d:[f%d<%f] yes=%d,no=%d", &id, &node.feature, &node.value, &node.yes, &node.no);
      if (read != 5) throw Error(ErrorKind::failure, "xgboost: a tree in a format that is not known: " + line);
    }
    if (lines_.size() <= static_cast<std::size_t>(id)) lines_.resize(static_cast<std::size_t>(id) + 1);
    lines_[static_cast<std::size_t>(id)] = node;
  }
  void copy(int id) {
    const Line& line = lines_.at(static_cast<std::size_t>(id));
    const std::size_t index = trees_->nodes.size();
    trees_->nodes.push_back(
        {.value = line.value, .feature = static_cast<std::int16_t>(line.leaf ? -1 : line.feature), .right = 0});
    if (line.leaf) return;
    copy(line.yes);
    trees_->nodes[index].right = static_cast<std::int32_t>(trees_->nodes.size());
    copy(line.no);
  }

  Trees* trees_;
  std::vector<Line> lines_;
};

// Least error on held-out (n, k) of H100 and L40S among depths 6 to 9, rates 0.1 to 0.2, 60 to 150 trees
// [measured: bf16 rows, xgboost 1.7.4, 2026-11-23, docs/gpu.md]. One thread: more of them spin on a busy machine.
constexpr int kTreeCount = 100;
constexpr std::array<std::pair<const char*, const char*>, 12> kTreeParameters{{{"objective", "reg:pseudohubererror"},
                                                                               {"huber_slope", "0.05"},
                                                                               {"tree_method", "hist"},
                                                                               {"max_depth", "9"},
                                                                               {"eta", "0.1"},
                                                                               {"subsample", "0.8"},
                                                                               {"colsample_bytree", "0.7"},
                                                                               {"min_child_weight", "2"},
                                                                               {"base_score", "0"},
                                                                               {"nthread", "1"},
                                                                               {"seed", "1"},
                                                                               {"verbosity", "0"}}};

}  // namespace

Trees train_trees(const TreeRows& rows) {
  const XgbFunctions& xgb = xgboost();
  XgbOwner matrix(xgb.matrix_free), booster(xgb.booster_free);
  const XgbSize count = rows.inputs.size();
  check(xgb.matrix_create(rows.inputs.front().data(), count, kResidualFeatures, NAN, &matrix.handle));
  check(xgb.matrix_set(matrix.handle, "label", rows.targets.data(), count));
  check(xgb.matrix_set(matrix.handle, "weight", rows.weights.data(), count));
  check(xgb.booster_create(&matrix.handle, 1, &booster.handle));
  for (const auto& [name, value] : kTreeParameters) check(xgb.booster_set(booster.handle, name, value));
  for (int round = 0; round < kTreeCount; ++round) check(xgb.booster_update(booster.handle, round, matrix.handle));
  XgbSize trees = 0;
  const char** texts = nullptr;
  check(xgb.booster_dump(booster.handle, "", 0, &trees, &texts));
  Trees result;
  for (XgbSize i = 0; i < trees; ++i) DumpReader(texts[i], result).read();
  return result;
}

}  // namespace hindsight::gpu
