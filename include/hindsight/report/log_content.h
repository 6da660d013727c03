/// Renders merges and contents of logs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hindsight/log/content.h"
#include "hindsight/log/merge.h"

namespace hindsight::report {

/// What every input brought, and what the output got.
[[nodiscard]] std::string merge_text(const log::MergeResult& result, const std::string& output, int columns);
[[nodiscard]] std::string merge_json(const log::MergeResult& result, const std::string& output);

/// The hash alone on a line, as sha256sum prints it: hash, two blanks, file.
[[nodiscard]] std::string content_text(const log::Content& content, const std::string& file);
/// A log's file and its content.
using NamedContent = std::pair<std::string, log::Content>;
/// An object of a single log, a list of several.
[[nodiscard]] std::string content_json(const std::vector<NamedContent>& contents);

}  // namespace hindsight::report
