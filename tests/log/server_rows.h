/// What tests of logs on servers write, and how they compare it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hindsight/log/content.h"
#include "log/log_fixture.h"

namespace hindsight::log::test {

/// Rows of everything that a batch can have, `first` to `first + count`.
inline std::vector<EvaluationRow> varied_rows(const Ids& ids, int first, int count) {
  std::vector<EvaluationRow> rows = batch_of(ids, first, count);
  for (EvaluationRow& row : rows) row.metrics.emplace_back("mac_j", 0.1 * static_cast<double>(row.design_hash % 7));
  return rows;
}

inline std::string hash_of(const std::filesystem::path& log_name) {
  return content(Log::open(log_name, OpenMode::read_only)).sha256;
}

}  // namespace hindsight::log::test
