/// Compares what a command reads and writes before it starts.
#include "file_roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/log/address.h"

namespace hindsight::app {
namespace {

namespace fs = std::filesystem;

bool is_named(const std::string& file) { return !file.empty() && file != "-"; }

/// Devices, pipes and folders are not replaced.
bool can_be_replaced(const std::string& file) {
  std::error_code ignored;
  const fs::file_status status = fs::status(file, ignored);
  return !fs::exists(status) || fs::is_regular_file(status);
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  if (fs::equivalent(a, b, error) && !error) return true;
  const auto resolved = [](const std::string& file) {
    std::error_code failed;
    const fs::path absolute = fs::absolute(file, failed);
    const fs::path path = fs::weakly_canonical(absolute, failed);
    return failed ? absolute.lexically_normal() : path;
  };
  return resolved(a) == resolved(b);
}

[[noreturn]] void refuse(const NamedFile& output, const NamedFile& other, const char* does) {
  throw Error(ErrorKind::usage,
              fmt::format("{} {}: is the file that {} {} {}. Name another file?", output.option,
                          printable(output.file, 400), other.option, printable(other.file, 400), does));
}

}  // namespace

FileRoles& FileRoles::reads(const std::string& option, const std::string& list) {
  std::vector<std::string> files = split(list, ',');
  if (files.size() != 1) files.push_back(list);  // a comma may be part of a file's name
  for (const std::string& file : files) {
    std::error_code ignored;
    const std::string source = file == "-" ? "/dev/stdin" : file;
    if (fs::exists(source, ignored)) inputs_.push_back({option, source});
  }
  return *this;
}

FileRoles& FileRoles::reads(const std::string& option, const std::vector<std::string>& lists) {
  for (const std::string& list : lists) reads(option, list);
  return *this;
}

FileRoles& FileRoles::reads_log(const std::string& option, const std::string& file) {
  if (!is_named(file) || log::is_server_address(file)) return *this;
  for (const char* ending : {"", "-wal", "-shm", "-journal"}) inputs_.push_back({option, file + ending});
  return *this;
}

FileRoles& FileRoles::appends_log(const std::string& option, const std::string& file) {
  if (is_named(file)) planned_.push_back({option, file, FileKind::log});
  return reads_log(option, file);
}

FileRoles& FileRoles::writes(const std::string& option, const std::string& file) {
  if (!is_named(file)) return *this;
  outputs_.push_back({option, file});
  planned_.push_back({option, file, FileKind::whole});
  return *this;
}

FileRoles& FileRoles::writes_log(const std::string& option, const std::string& file) {
  if (log::is_server_address(file)) {  // no file, and others write to it, too
    planned_.push_back({option, file, FileKind::log});
    return *this;
  }
  writes(option, file);
  if (is_named(file)) planned_.back().kind = FileKind::log;
  return *this;
}

FileRoles& FileRoles::writes_model(const std::string& option, const std::string& file) {
  writes(option, file);
  if (!is_named(file)) return *this;
  return writes(option + " (model card)", fs::path(file).replace_extension(".md").string());
}

void FileRoles::require_folders() const {
  for (const NamedFile& output : outputs_) {
    const fs::path file = output.file;
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    std::error_code ignored;
    if (fs::is_directory(folder, ignored)) continue;
    const std::string name = printable(folder.string(), 200);
    throw Error(ErrorKind::usage, fmt::format("{} {}: there is no folder {}. Create it: mkdir -p '{}'", output.option,
                                              printable(output.file, 200), name, name));
  }
}

void FileRoles::require_usable() const {
  require_folders();
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const NamedFile& output = outputs_[i];
    if (!can_be_replaced(output.file)) continue;
    const auto clashes = [&](const NamedFile& other) { return same_file(output.file, other.file); };
    const auto input = std::find_if(inputs_.begin(), inputs_.end(), clashes);
    if (input != inputs_.end()) refuse(output, *input, "reads");
    const auto earlier = outputs_.begin() + static_cast<std::ptrdiff_t>(i);
    const auto other = std::find_if(outputs_.begin(), earlier, clashes);
    if (other != earlier) refuse(output, *other, "writes");
  }
}

}  // namespace hindsight::app
