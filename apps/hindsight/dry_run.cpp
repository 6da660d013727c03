/// Rehearses what verbs write.
#include "dry_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "hindsight/core/error.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/text.h"
#include "hindsight/log/address.h"
#include "hindsight/log/copy.h"
#include "hindsight/log/query.h"
#include "output.h"

namespace hindsight::app {
namespace {

namespace fs = std::filesystem;

/// With what SQLite keeps beside a file: rows that were not moved into the file yet stand there.
void copy_log(const std::string& log, const fs::path& copy) {
  if (log::is_server_address(log)) {
    if (log::is_log_there(log)) static_cast<void>(log::copy_log(log, copy, log::Contradictions::refuse));
    return;
  }
  for (const char* ending : {"", "-wal", "-journal"}) {
    std::error_code ignored, error;
    if (!fs::is_regular_file(log + ending, ignored)) continue;
    fs::copy_file(log + ending, copy.string() + ending, error);
    if (!error) continue;
    throw Error(ErrorKind::failure, fmt::format("{}: cannot be copied for --dry-run: {}. Is there room in {}?",
                                                printable(log, 200), error.message(), copy.parent_path().string()));
  }
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// "new", "replaced (12 KiB now)", "appended to (4,321 evaluations now)".
std::string state_of(const PlannedFile& planned) {
  std::error_code error;
  if (log::is_server_address(planned.file) ? !log::is_log_there(planned.file) : !fs::exists(planned.file, error)) {
    return "new";
  }
  const bool is_file = !log::is_server_address(planned.file);
  if (is_file && fs::is_directory(planned.file, error)) return "filled, the folder is there";
  if (is_file && !fs::is_regular_file(planned.file, error)) return "written to as it is, a device or a pipe";
  const auto bytes = is_file ? static_cast<double>(fs::file_size(planned.file, error)) : 1;
  if (planned.kind == FileKind::whole) return fmt::format("replaced ({} now)", binary_bytes(bytes));
  if (bytes == 0) return "new";
  const log::Log log = log::Log::open(planned.file, log::OpenMode::read_only);
  return fmt::format("appended to ({} now)", counted(log::summary(log).rows("evaluations"), "evaluation"));
}

std::string evaluations_of(const PlannedWork& work) {
  if (!work.evaluations) return "not known before";
  return *work.evaluations == 0 ? "none" : "at most " + with_commas(*work.evaluations);
}

std::string time_of(const PlannedWork& work) {
  const std::string time = work.seconds ? "about " + duration_text(*work.seconds) : "not known";
  return work.basis.empty() ? time : fmt::format("{} ({})", time, work.basis);
}

}  // namespace

void add_dry_run(CLI::App& verb, Session& session) {
  verb.add_flag("--dry-run", session.dry_run, "Check everything, say what would be written");
}

int show_dry_run(const FileRoles& roles, const std::vector<PlannedContent>& contents, const PlannedWork& work,
                 DryRunStyle style) {
  using Json = nlohmann::ordered_json;
  std::string text = "dry run: nothing is written\n";
  Json files = Json::array();
  for (const PlannedFile& planned : roles.planned()) {
    const auto content = std::find_if(contents.begin(), contents.end(),
                                      [&](const PlannedContent& one) { return one.first == planned.option; });
    const std::string state = state_of(planned), gets = content == contents.end() ? "" : content->second;
    text += fmt::format("{} {}: would be {}{}\n", planned.option, printable(planned.file, 400), state,
                        gets.empty() ? "" : "; gets " + gets);
    files.push_back({{"option", planned.option}, {"file", planned.file}, {"would_be", state}, {"gets", gets}});
  }
  if (roles.planned().empty()) text += "no file is named, so none would be\n";
  text += fmt::format("evaluations: {}\ntime: {}\n", evaluations_of(work), time_of(work));
  if (style == DryRunStyle::json) {
    const Json json{{"dry_run", true},
                    {"files", files},
                    {"most_evaluations", work.evaluations ? Json(*work.evaluations) : Json(nullptr)},
                    {"time_s", work.seconds ? Json(*work.seconds) : Json(nullptr)},
                    {"time_basis", work.basis}};
    text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  print(text);
  return 0;
}

LogRehearsal::LogRehearsal(std::string log) : log_(std::move(log)), copy_((folder_ / "copy.sqlite").string()) {
  copy_log(log_, copy_);
}

void LogRehearsal::operator()(const std::function<void(const std::string& copy)>& work) const {
  try {
    work(copy_);
  } catch (const Error& error) {
    throw Error(error.kind(), replaced(error.what(), copy_, log_));
  }
}

void write_log(const Session& session, const std::string& log, const std::function<void(const std::string&)>& work) {
  if (!session.dry_run) return work(log);
  LogRehearsal rehearsal(log);
  rehearsal(work);
  remark(fmt::format("dry run: {} is as it was, and the figures are those of a copy", printable(log, 400)));
}

void remark_planned(const FileRoles& roles) {
  for (const PlannedFile& planned : roles.planned()) {
    remark(fmt::format("dry run: {} would be {}", printable(planned.file, 400), state_of(planned)));
  }
}

void write_or_rehearse(const Session& session, const std::string& file, const std::string& content) {
  if (!session.dry_run || is_standard_output(file)) return print_or_write(file, content);
  std::error_code error;
  const std::string state = fs::exists(file, error) ? "replaced" : "new";
  remark(fmt::format("dry run: {} would be {}, {}", printable(file, 400), state,
                     binary_bytes(static_cast<double>(content.size()))));
}

}  // namespace hindsight::app
