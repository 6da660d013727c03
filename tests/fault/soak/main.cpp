/// The long form of the tests of faults: as many kills, failing calls and power cuts as wanted, into a file of results
/// from which it goes on.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <exception>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "fault/fail_loop.h"
#include "fault/kills.h"
#include "fault/model_damage.h"
#include "fault/power_cut.h"
#include "fault/scenario.h"

namespace hindsight::fault {
namespace {

namespace fs = std::filesystem;

/// One line of the table, done in pieces.
struct Job {
  int fault_class;
  std::string what;
  std::int64_t wanted;  ///< faults; 0: it is one piece
  std::int64_t piece;
  std::function<Tally(std::int64_t count, std::uint64_t seed)> work;
  std::int64_t most = 0;  ///< of a loop that is one piece, so many are enough; 0: all
};

struct Choice {
  fs::path folder;
  std::string only;
  std::int64_t count = 400;
  std::int64_t most = 0;  ///< failing calls of a loop; 0: all
};

using Row = std::pair<int, std::string>;

/// Lines "class;what;count;lost;corrupt;crashes;hangs;silent;other;seconds;done;date".
class Results {
 public:
  explicit Results(const fs::path& file) : file_(file) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) take(line);
  }

  void add(const Job& job, const Tally& tally, bool done) {
    const std::time_t now = std::time(nullptr);
    char date[32];
    std::strftime(date, sizeof date, "%Y-%m-%dT%H:%MZ", std::gmtime(&now));
    const std::string line =
        fmt::format("{};{};{};{};{};{};{};{};{};{:.1f};{};{}", job.fault_class, job.what, tally.count, tally.lost,
                    tally.corrupt, tally.crashes, tally.hangs, tally.silent, tally.other, tally.seconds, done, date);
    std::ofstream(file_, std::ios::app) << line << '\n';
    take(line);
    std::ofstream notes(file_.parent_path() / "notes.txt", std::ios::app);
    for (const std::string& note : tally.notes) notes << date << ' ' << job.what << ": " << note << '\n';
  }

  [[nodiscard]] std::int64_t count(const Job& job) const {
    const auto found = rows_.find({job.fault_class, job.what});
    return found == rows_.end() ? 0 : found->second.tally.count;
  }
  [[nodiscard]] bool done(const Job& job) const {
    const auto found = rows_.find({job.fault_class, job.what});
    return found != rows_.end() && found->second.done;
  }

  /// Prints the table; true where nothing was lost, corrupt, crashed, hung or accepted in silence.
  [[nodiscard]] bool print() const {
    fmt::print("{:>5}  {:<42} {:>7} {:>5} {:>8} {:>8} {:>6} {:>7} {:>6} {:>8}\n", "class", "what", "count", "lost",
               "corrupt", "crashes", "hangs", "silent", "other", "seconds");
    bool clean = true;
    for (const auto& [row, sum] : by_call()) {
      const Tally& tally = sum.tally;
      fmt::print("{:>5}  {:<42} {:>7} {:>5} {:>8} {:>8} {:>6} {:>7} {:>6} {:>8.1f}{}\n", row.first, row.second,
                 tally.count, tally.lost, tally.corrupt, tally.crashes, tally.hangs, tally.silent, tally.other,
                 tally.seconds, sum.done ? "" : "  some of them");
      clean = clean && tally.clean();
    }
    return clean;
  }

 private:
  struct Sum {
    Tally tally;
    bool done = false;
  };

  static void add_to(Sum& sum, const Tally& tally, bool done) {
    sum.tally.count += tally.count;
    sum.tally.lost += tally.lost;
    sum.tally.corrupt += tally.corrupt;
    sum.tally.crashes += tally.crashes;
    sum.tally.hangs += tally.hangs;
    sum.tally.silent += tally.silent;
    sum.tally.other += tally.other;
    sum.tally.seconds += tally.seconds;
    sum.done = done;
  }

  /// One row for a verb's call, whatever its errno and how often it fails.
  [[nodiscard]] std::map<Row, Sum> by_call() const {
    std::map<Row, Sum> table;
    for (const auto& [row, sum] : rows_) {
      const bool is_call = row.first == 3 || row.first == 4;
      const std::size_t verb = row.second.find(": ") + 2;
      const std::string what = is_call ? row.second.substr(0, row.second.find(' ', verb)) : row.second;
      const auto [place, fresh] = table.try_emplace({row.first, what});
      add_to(place->second, sum.tally, sum.done && (fresh || place->second.done));
    }
    return table;
  }

  void take(const std::string& line) {
    std::vector<std::string> cells;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, ';');) cells.push_back(cell);
    constexpr std::size_t kCells = 12;
    if (cells.size() != kCells) return;  // torn by a kill: that piece is done again
    const auto number = [&](std::size_t column) { return std::stoll(cells[column]); };
    Sum& sum = rows_[{std::stoi(cells[0]), cells[1]}];
    const Tally tally{.count = number(2),
                      .lost = number(3),
                      .corrupt = number(4),
                      .crashes = number(5),
                      .hangs = number(6),
                      .silent = number(7),
                      .other = number(8),
                      .seconds = std::stod(cells[9])};
    add_to(sum, tally, sum.done || cells[10] == "true");
  }

  fs::path file_;
  std::map<Row, Sum> rows_;
};

void add_kills(const Choice& choice, std::vector<Job>& jobs) {
  constexpr std::int64_t kPiece = 25;  // [chosen] what is done again when the soak itself is ended
  for (const char* name : {"sweep", "long sweep", "import", "train", "propose", "campaign", "merge"}) {
    const bool learns =
        std::string(name) == "train" || std::string(name) == "propose" || std::string(name) == "campaign";
    if (learns && !can_train()) continue;
    jobs.push_back({1, fmt::format("SIGKILL: {}", name), choice.count, kPiece, [name, &choice](auto count, auto seed) {
                      return kill_again_and_again(scenario(name), count, seed, choice.folder / "work");
                    }});
  }
}

void add_fail_loops(const Choice& choice, std::vector<Job>& jobs) {
  const std::vector<std::pair<const char*, std::vector<const char*>>> calls = {
      {"open", {"EIO", "EROFS", "ENOSPC", "EMFILE"}},
      {"read", {"EIO"}},
      {"write", {"ENOSPC", "EIO"}},
      {"fsync", {"EIO"}},
      {"rename", {"EROFS"}},
      {"mmap", {"ENOMEM"}},
      {"truncate", {"EIO"}}};
  for (const char* name : {"sweep", "import", "merge", "export", "backup", "repair", "propose", "train", "campaign"}) {
    const bool learns =
        std::string(name) == "train" || std::string(name) == "propose" || std::string(name) == "campaign";
    if (learns && !can_train()) continue;
    for (const auto& [call, errors] : calls) {
      for (const char* error : errors) {
        for (const char* times : {"once", "forever"}) {
          const FailLoop loop{.call = call, .error = error, .times = times, .most = choice.most};
          jobs.push_back({3, fmt::format("{}: {} {} {}", name, call, error, times), 0, 0,
                          [name, loop, &choice](auto, auto) {
                            return fail_at_every(scenario(name), loop, choice.folder / "work");
                          },
                          loop.most});
        }
      }
    }
  }
}

void add_memory(const Choice& choice, std::vector<Job>& jobs) {
  for (const char* name : {"import", "sweep", "export", "merge"}) {
    for (const char* times : {"once", "forever"}) {
      const FailLoop loop{.call = "malloc", .error = "ENOMEM", .times = times, .most = choice.count};
      jobs.push_back(
          {4, fmt::format("{}: malloc {}", name, times), 0, 0,
           [name, loop, &choice](auto, auto) { return fail_at_every(scenario(name), loop, choice.folder / "work"); },
           loop.most});
    }
  }
}

void add_power_cuts(const Choice& choice, std::vector<Job>& jobs) {
  const std::int64_t every = choice.most == 0 ? 1 : 7;
  for (const bool full : {true, false}) {
    const std::string durability = full ? "full" : "normal";
    std::vector<Scenario> sweeps;
    for (const char* samples : {"20", "60", "120"}) {
      Scenario step = scenario("sweep");
      *(std::find(step.words.begin(), step.words.end(), "--samples") + 1) = samples;
      step.words.insert(step.words.end(), {"--durability", durability});
      sweeps.push_back(step);
    }
    Scenario import = scenario("import");
    import.words.insert(import.words.end(), {"--durability", durability});
    for (const auto& [what, steps] : {std::pair{"sweep", sweeps}, {"import", {import}}}) {
      const CutPlan plan{.steps = steps, .full = full, .every = every, .goes_on = std::string(what) == "import"};
      jobs.push_back({10, fmt::format("power cut: {}, {}", what, durability), 0, 0,
                      [plan, &choice](auto, auto) { return cut_the_power(plan, choice.folder / "work"); }});
    }
  }
  for (const char* name : {"merge", "backup", "export", "train"}) {
    if (std::string(name) == "train" && !can_train()) continue;
    const CutPlan plan{.steps = {scenario(name)}, .full = true, .every = every, .goes_on = false};
    jobs.push_back({10, fmt::format("power cut: {}", name), 0, 0,
                    [plan, &choice](auto, auto) { return cut_the_power(plan, choice.folder / "work"); }});
  }
}

void add_models(const Choice& choice, std::vector<Job>& jobs) {
  if (!can_train()) return;
  constexpr std::int64_t kChangesPerKill = 250;  // [chosen] 100,000 changes beside 400 kills
  jobs.push_back({9, "model file: cut at every length", 0, 0,
                  [&choice](auto, auto) { return cut_model(trained_model(), choice.folder, 1); }});
  jobs.push_back(
      {9, "model file: changed at random", choice.count * kChangesPerKill, 10'000,
       [&choice](auto count, auto seed) { return change_model(trained_model(), choice.folder, count, seed); }});
}

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
  std::vector<Job> jobs;
  add_kills(choice, jobs);
  add_models(choice, jobs);
  add_power_cuts(choice, jobs);
  add_fail_loops(choice, jobs);
  add_memory(choice, jobs);
  for (const Job& job : jobs) {
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
