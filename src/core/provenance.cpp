/// Facts of the running process. The build facts are generated (cmake/HindsightVersion.cmake).
#include "hindsight/core/provenance.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"

namespace hindsight {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) {
    return "unknown";
  }
  return name.data();
}

std::string user_name() {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 16384> buffer{};
  if (getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
    return found->pw_name;
  }
  return fmt::format("uid {}", geteuid());  // containers run users that no table names
}

/// proc(5): clock ticks from the machine's start to that of the process; empty where it does not run.
std::string start_ticks(std::string_view number) {
  constexpr std::size_t kStart = 19, kState = 0;  // fields 22 and 3 of stat; the name before may have blanks
  std::ifstream in(fmt::format("/proc/{}/stat", number));
  std::string line;
  if (!std::getline(in, line)) return "";
  const std::size_t name_end = line.rfind(") ");
  if (name_end == std::string::npos) return "";
  const std::vector<std::string> fields = split(line.substr(name_end + 2), ' ');
  const bool has_ended = fields.at(kState) == "Z" || fields.at(kState) == "X";  // nobody has asked how it ended
  return has_ended || fields.size() <= kStart ? "" : fields[kStart];
}

}  // namespace

std::string this_process() {
  const std::string number = fmt::format("{}", ::getpid());
  return fmt::format("{}-{}", number, start_ticks(number));
}

bool is_process_running(const std::string& process) {
  const std::size_t end = process.find_first_not_of("0123456789");
  if (end == std::string::npos || end == 0 || process[end] != '-') return false;
  const std::string start = start_ticks(std::string_view(process).substr(0, end));
  return !start.empty() && process.substr(end + 1) == start;
}

Provenance make_provenance(int argc, const char* const* argv) {
  Provenance facts;
  for (int i = 0; i < argc; ++i) {
    facts.command_line += (i == 0 ? "" : " ") + shell_quoted(argv[i]);
  }
  facts.version = build_info().version;
  facts.commit = build_info().commit;
  facts.host = host_name();
  facts.user = user_name();
  facts.started_at = utc_now();
  std::error_code error;
  const std::filesystem::path cwd = std::filesystem::current_path(error);
  facts.cwd = error ? "unknown" : cwd.string();
  return facts;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                     utc.tm_hour, utc.tm_min, utc.tm_sec);
}

}  // namespace hindsight
