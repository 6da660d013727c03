/// One reader per format. Private to the dataset layer.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/json_text.h"
#include "hindsight/dataset/import_source.h"

namespace hindsight::dataset {

/// JSON lines, or a list of objects, as a table: nested keys as `outer.inner`, a column per key in the order that they
/// are met in, an empty cell where a row lacks one. Error{usage} with the line.
[[nodiscard]] CsvTable read_json_rows(std::string_view text, const std::filesystem::path& file,
                                      std::uint64_t most_cells = kAnyCells);

/// Whether the table, or the first object, is what `log export` writes.
[[nodiscard]] bool is_export_table(const CsvTable& table);
[[nodiscard]] bool is_export_object(const Json& object);
[[nodiscard]] ImportSource read_export_table(const CsvTable& table, const ReadOptions& options);
[[nodiscard]] ImportSource read_export_lines(std::string_view text, const std::filesystem::path& file,
                                             const ReadOptions& options);

/// `propose --csv` filled in; the log that it goes back to gives space and metrics.
[[nodiscard]] ImportSource read_proposals(const CsvTable& table, const ReadOptions& options);

[[nodiscard]] ImportSource read_optuna_database(const std::filesystem::path& file, const ReadOptions& options);
[[nodiscard]] bool is_optuna_operation(const Json& object);
[[nodiscard]] ImportSource read_optuna_journal(std::string_view text, const std::filesystem::path& file,
                                               const ReadOptions& options);

/// Kernel Tuner's cache as the tool leaves it, unclosed or cut off in its last entry.
[[nodiscard]] bool looks_like_kernel_tuner(std::string_view text);
[[nodiscard]] ImportSource read_kernel_tuner(std::string_view text, const std::filesystem::path& file,
                                             const ReadOptions& options);

[[nodiscard]] bool is_vizier(const Json& document);
[[nodiscard]] ImportSource read_vizier(std::string_view text, const std::filesystem::path& file,
                                       const ReadOptions& options);
[[nodiscard]] bool is_ax(const Json& document);
[[nodiscard]] ImportSource read_ax(std::string_view text, const std::filesystem::path& file,
                                   const ReadOptions& options);

}  // namespace hindsight::dataset
