/// The long form of the tests of faults: as many kills, failing calls and power cuts as wanted, into a file of results
/// from which it goes on.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <iostream>
#include <string>

#include "fault/soak/jobs.h"
#include "fault/soak/results.h"

namespace hindsight::fault {
namespace {

namespace fs = std::filesystem;

bool is_done(const Job& job, const Results& results) {
  if (job.wanted > 0) return results.count(job) >= job.wanted;
  return results.done(job) || (job.most > 0 && results.count(job) >= job.most);
}

void work_on(const Job& job, Results& results) {
  while (!is_done(job, results)) {
    const auto begin = std::chrono::steady_clock::now();
    const std::int64_t before = results.count(job);
    Tally tally = job.work(std::min(job.piece, job.wanted - before), static_cast<std::uint64_t>(before) + 1);
    tally.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    results.add(job, tally, job.wanted > 0 ? before + tally.count >= job.wanted : tally.whole);
    std::cerr << fmt::format("{}: {} faults, {:.0f} s{}\n", job.what, tally.count, tally.seconds,
                             tally.clean() ? "" : ", NOT CLEAN: " + tally.notes.front());
    if (job.wanted == 0) return;
  }
}

int soak(const Choice& choice) {
  fs::create_directories(choice.folder);
  Results results(choice.folder / "results.csv");
  for (const Job& job : make_jobs(choice)) {
    if (job.what.find(choice.only) != std::string::npos) work_on(job, results);
  }
  fs::remove_all(choice.folder / "work");
  return results.print() ? 0 : 1;
}

}  // namespace
}  // namespace hindsight::fault

/// fault_soak FOLDER COUNT MOST ONLY: as scripts/soak.sh calls it.
int main(int argc, char** argv) {
  constexpr int kWords = 5;
  if (argc != kWords) {
    std::cerr << "fault_soak: called by scripts/soak.sh, see scripts/soak.sh --help\n";
    return 2;
  }
  try {
    return hindsight::fault::soak(
        {.folder = argv[1], .only = argv[4], .count = std::stoll(argv[2]), .most = std::stoll(argv[3])});
  } catch (const std::exception& error) {
    std::cerr << "fault_soak: " << error.what() << '\n';
    return 1;
  }
}
