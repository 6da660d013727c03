/// Starts commands through a shell.
#include "cluster/engine.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "hindsight/core/shell.h"
#include "repository.h"

namespace hindsight::cluster::test {

std::string missing_program(const std::vector<std::string>& programs) {
  for (const std::string& program : programs) {
    const std::string look = fmt::format("PATH=\"$PATH:/usr/sbin:/sbin\" command -v {} > /dev/null", program);
    if (std::system(look.c_str()) != 0) return program;
  }
  return {};
}

Said Engine::shell(const std::string& command) const {
  const std::string programs = app::test::program_path().parent_path().string();
  const std::string line = fmt::format(
      "cd {} && unset $(env | sed -n "
      "'s/^\\(SLURM_[A-Z_]*\\|PMI_[A-Z_]*\\|OMPI_[A-Z_]*\\|PARALLEL[A-Z_]*\\)=.*/\\1/p'); "
      "export PATH={}:\"$PATH\":/usr/sbin; ( {} ) 2>&1",
      shell_quoted(folder_.string()), shell_quoted(programs), command);
  Said said;
  std::FILE* pipe = ::popen(line.c_str(), "r");
  if (pipe == nullptr) return said;
  std::array<char, 4096> buffer{};
  for (std::size_t read = 0; (read = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    said.text.append(buffer.data(), read);
  const int status = ::pclose(pipe);
  said.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return said;
}

std::vector<std::string> Engine::files(const std::string& begin, const std::string& end) const {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(begin) && name.ends_with(end)) found.push_back(entry.path().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string Engine::content_of(const std::string& log) const {
  const app::test::Outcome outcome = app::test::hindsight({"log", "hash", log, "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return nlohmann::json::parse(outcome.out).at("content_sha256");
}

std::string Engine::merged(const std::vector<std::string>& logs) const {
  std::vector<std::string> words{"log", "merge", "--out", file("merged.db")};
  words.insert(words.end(), logs.begin(), logs.end());
  const app::test::Outcome outcome = app::test::hindsight(words);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "") << "no shard is missing, unfinished or there twice";
  return content_of(file("merged.db"));
}

std::string Engine::by_one_process() const {
  const Said said = shell(fmt::format("hindsight sweep {} --log whole.db --quiet", kOptions));
  EXPECT_EQ(said.exit_code, 0) << said.text;
  return content_of(file("whole.db"));
}

std::string Engine::launcher(const std::string& name) {
  return shell_quoted((hindsight::test::repository() / "configs/cluster" / name).string());
}

}  // namespace hindsight::cluster::test
