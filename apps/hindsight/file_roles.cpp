/// Compares what a command reads and writes before it starts.
#include "file_roles.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"
#include "hindsight/log/address.h"
#include "hindsight/log/log.h"
#include "output.h"

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

bool is_database(const std::string& file) {
  std::array<char, 16> beginning{};  // as long as SQLite's first words
  std::ifstream in(file, std::ios::binary);
  in.read(beginning.data(), beginning.size());
  return binary_kind({beginning.data(), static_cast<std::size_t>(in.gcount())}) == "a SQLite database";
}

/// Of a link, the folder that it leads to: the new content comes into being beside the old.
fs::path folder_of(const std::string& file) {
  std::error_code failed;
  const fs::path path = fs::weakly_canonical(fs::absolute(file, failed), failed);
  return failed ? fs::absolute(file, failed).parent_path() : path.parent_path();
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

/// A log that is appended to says itself what is wrong with it.
void require_room(const NamedFile& output) {
  if (!can_be_replaced(output.file)) return;
  const fs::path folder = folder_of(output.file);
  if (::access(folder.c_str(), W_OK | X_OK) == 0) return;
  if (errno == EROFS) {
    throw Error(ErrorKind::failure, fmt::format("{}: cannot write: {}. Name a file in another folder?",
                                                printable(output.file, 200), std::strerror(EROFS)));
  }
  if (errno != EACCES) return;
  throw Error(ErrorKind::usage,
              fmt::format("{} {}: the folder {} may not be written to. Name a file in another folder?", output.option,
                          printable(output.file, 150), printable(folder.string(), 150)));
}

void require_no_database(const NamedFile& output) {
  if (!is_database(output.file)) return;
  throw Error(
      ErrorKind::usage,
      fmt::format("{} {}: is there already, and is a log or another SQLite database, which is not written over. "
                  "Name another file?",
                  output.option, printable(output.file, 200)));
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
  if (is_named(file)) planned_.push_back({{option, file}, FileKind::log});
  return reads_log(option, file);
}

FileRoles& FileRoles::writes(const std::string& option, const std::string& file) {
  if (!is_named(file)) return *this;
  outputs_.push_back({{option, file}, FileKind::whole});
  planned_.push_back(outputs_.back());
  return *this;
}

FileRoles& FileRoles::writes_log(const std::string& option, const std::string& file) {
  if (log::is_server_address(file)) {  // no file, and others write to it, too
    planned_.push_back({{option, file}, FileKind::log});
    return *this;
  }
  writes(option, file);
  if (is_named(file)) outputs_.back().kind = planned_.back().kind = FileKind::log;
  return *this;
}

FileRoles& FileRoles::writes_model(const std::string& option, const std::string& file) {
  writes(option, file);
  if (!is_named(file)) return *this;
  return writes(option + " (model card)", fs::path(file).replace_extension(".md").string());
}

void FileRoles::require_folders() const {
  for (const PlannedFile& output : outputs_) {
    const fs::path file = output.file;
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    std::error_code ignored;
    if (fs::is_directory(folder, ignored)) {
      if (output.kind == FileKind::whole) require_room(output);
      continue;
    }
    const std::string name = printable(folder.string(), 200);
    throw Error(ErrorKind::usage, fmt::format("{} {}: there is no folder {}. Create it: mkdir -p {}", output.option,
                                              printable(output.file, 200), name, shell_quoted(name)));
  }
}

void FileRoles::require_usable() const {
  require_folders();
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const PlannedFile& output = outputs_[i];
    if (!can_be_replaced(output.file)) continue;
    const auto clashes = [&](const NamedFile& other) { return same_file(output.file, other.file); };
    const auto input = std::find_if(inputs_.begin(), inputs_.end(), clashes);
    if (input != inputs_.end()) refuse(output, *input, "reads");
    const auto earlier = outputs_.begin() + static_cast<std::ptrdiff_t>(i);
    const auto other = std::find_if(outputs_.begin(), earlier, clashes);
    if (other != earlier) refuse(output, *other, "writes");
    if (output.kind == FileKind::whole) require_no_database(output);
  }
  for (const PlannedFile& one : planned_) {
    const auto warning = one.kind == FileKind::log ? log::disk_warning(one.file) : std::nullopt;
    if (warning) remark(*warning);
  }
}

}  // namespace hindsight::app
