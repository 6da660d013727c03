/// Slurm in a folder: configured for one node that is this machine, without accounting and without control groups.
#include "cluster/slurm.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "hindsight/core/files.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"

namespace hindsight::cluster::test {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 3> kDaemons{"slurmd", "slurmctld", "munged"};  // in the order in which they end

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

/// A port of the loopback device that nobody listens at now.
int free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool bound = ::bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  ::close(socket);
  return bound ? ntohs(address.sin_port) : 0;
}

int run_shell(const std::string& command) {
  return std::system(fmt::format("PATH=\"$PATH:/usr/sbin\" {}", command).c_str());
}

pid_t pid_in(const fs::path& file) {
  std::ifstream stream(file);
  pid_t pid = 0;
  return stream >> pid ? pid : 0;
}

/// Waits for `is_so`, 20 s at most; whether it came.
template <class IsSo>
bool soon(const IsSo& is_so) {
  for (int i = 0; i < 200; ++i) {
    if (is_so()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return false;
}

}  // namespace

Slurm::Slurm(const fs::path& folder) : folder_(folder) {
  for (const char* part : {"", "munge", "state", "spool"}) fs::create_directories(folder_ / part);
  // munged wants every folder above its socket to be written to by its owner alone, and its own to be entered by all.
  fs::permissions(folder_, fs::perms(0755));
  fs::permissions(folder_ / "munge", fs::perms(0755));
  write_configuration();
  const std::string at = shell_quoted(folder_.string());
  const std::string munged = fmt::format(
      "munged --force --num-threads=1 --key-file={0}/munge/key --socket={0}/munge/socket --pid-file={0}/munged.pid "
      "--log-file={0}/munged.log --seed-file={0}/munge/seed > {0}/munged.out 2>&1",
      at);
  const std::string host = host_name();
  const std::string conf = shell_quoted(configuration());
  const auto idle = [&] {
    return run_shell(fmt::format("SLURM_CONF={} timeout 5 sinfo --noheader --format=%t 2> /dev/null | grep -q '^idle'",
                                 conf)) == 0;
  };
  if (run_shell(fmt::format(
          "dd if=/dev/urandom of={0}/munge/key bs=1024 count=1 2> /dev/null && chmod 400 {0}/munge/key", at)) != 0 ||
      run_shell(munged) != 0) {
    problem_ = "munged does not start: " + last_words();
  } else if (run_shell(fmt::format("slurmctld -f {} > {}/slurmctld.out 2>&1", conf, at)) != 0) {
    problem_ = "slurmctld does not start: " + last_words();
  } else if (run_shell(fmt::format("slurmd -f {} -N {} > {}/slurmd.out 2>&1", conf, host, at)) != 0) {
    problem_ = "slurmd does not start: " + last_words();
  } else if (!soon(idle)) {
    problem_ = "the node does not become idle: " + last_words();
  }
}

Slurm::~Slurm() {
  for (const char* daemon : kDaemons) {
    const pid_t pid = pid_in(folder_ / fmt::format("{}.pid", daemon));
    if (pid <= 0) continue;
    ::kill(pid, SIGTERM);
    if (!soon([&] { return ::kill(pid, 0) != 0; })) ::kill(pid, SIGKILL);
  }
}

void Slurm::write_configuration() const {
  const std::string host = host_name(), at = folder_.string();
  std::string text = fmt::format(
      "ClusterName=here\n"
      "SlurmctldHost={0}(127.0.0.1)\n"
      "AuthType=auth/munge\n"
      "AuthInfo=socket={1}/munge/socket\n"
      "CredType=cred/munge\n"
      "SlurmUser=root\nSlurmdUser=root\n"
      "SlurmctldPort={2}\nSlurmdPort={3}\n"
      "StateSaveLocation={1}/state\nSlurmdSpoolDir={1}/spool\n"
      "SlurmctldPidFile={1}/slurmctld.pid\nSlurmdPidFile={1}/slurmd.pid\n"
      "SlurmctldLogFile={1}/slurmctld.log\nSlurmdLogFile={1}/slurmd.log\n",
      host, at, free_port(), free_port());
  text +=
      "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSwitchType=switch/none\nMpiDefault=none\n"
      "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n"
      "AccountingStorageType=accounting_storage/none\nJobAcctGatherType=jobacct_gather/none\n"
      "ReturnToService=2\nSlurmdParameters=config_overrides\n"
      "SchedulerParameters=sched_min_interval=0\n";
  // More processors than there may be: which shards run at once is not what is tested.
  text += fmt::format(
      "NodeName={0} NodeAddr=127.0.0.1 CPUs=8 RealMemory=1000 State=UNKNOWN\n"
      "PartitionName=all Nodes={0} Default=YES State=UP MaxTime=INFINITE\n",
      host);
  write_file_atomically(configuration(), text);
}

std::string Slurm::last_words() const {
  std::string words;
  for (const char* daemon : kDaemons) {
    for (const char* ending : {"log", "out"}) {
      const fs::path file = folder_ / fmt::format("{}.{}", daemon, ending);
      if (!fs::exists(file)) continue;
      const std::string text = read_file(file);
      constexpr std::size_t kMost = 400;
      words += fmt::format("[{}] {} ", file.filename().string(),
                           printable(text.substr(text.size() > kMost ? text.size() - kMost : 0), kMost));
    }
  }
  return words;
}

}  // namespace hindsight::cluster::test
