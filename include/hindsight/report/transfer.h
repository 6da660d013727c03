/// Renders what adapting a trained model to few rows did.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "hindsight/dataset/dataset.h"
#include "hindsight/surrogate/transfer.h"

namespace hindsight::report {

struct TransferSummary {
  const dataset::Dataset* data = nullptr;
  const surrogate::TransferResult* result = nullptr;
  std::string from, from_sha256;  ///< the model that was adapted: its file, and the file's digest
  std::filesystem::path file;     ///< empty when no model was written
  std::string file_sha256;
  std::optional<std::int64_t> model_id;  ///< in the log
  std::uint64_t simulator_queries = 0;
};
[[nodiscard]] std::string transfer_text(const TransferSummary& summary, int columns);
[[nodiscard]] std::string transfer_json(const TransferSummary& summary);

}  // namespace hindsight::report
