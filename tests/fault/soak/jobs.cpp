/// Which verbs, which faults, how many.
#include "fault/soak/jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <string_view>
#include <utility>

#include "fault/fail_loop.h"
#include "fault/kills.h"
#include "fault/log_damage.h"
#include "fault/meanwhile.h"
#include "fault/model_damage.h"
#include "fault/power_cut.h"
#include "fault/scenario.h"
#include "fault/serving.h"
#include "fault/trainings.h"
#include "fault/writers.h"

namespace hindsight::fault {
namespace {

constexpr std::int64_t kPiece = 25;  // [chosen] what is done again when the soak itself is ended

void add_kills(const Choice& choice, std::vector<Job>& jobs) {
  for (const char* name : {"sweep", "long sweep", "import", "train", "propose", "campaign", "merge", "repair"}) {
    if (!can_run(name)) continue;
    jobs.push_back({1, fmt::format("SIGKILL: {}", name), choice.count, kPiece, [name, &choice](auto count, auto seed) {
                      return kill_again_and_again(scenario(name), count, seed, choice.folder / "work");
                    }});
  }
  for (const char* name : {"long sweep", "import", "train", "propose", "campaign", "merge"}) {
    if (!can_run(name)) continue;
    jobs.push_back(
        {19, fmt::format("SIGINT, SIGTERM, SIGHUP: {}", name), choice.count, kPiece,
         [name, &choice](auto count, auto seed) {
           return kill_again_and_again(scenario(name), count, seed, choice.folder / "work", {SIGINT, SIGTERM, SIGHUP});
         }});
  }
}

/// Processes at once, and damages: counted, like kills.
void add_crowds(const Choice& choice, std::vector<Job>& jobs) {
  constexpr std::int64_t kDamagesPerKill = 5;  // [chosen] 2,000 damages beside 400 kills
  jobs.push_back({2, "writers at once, killed: sweep", choice.count, kPiece,
                  [&choice](auto count, auto seed) { return write_at_once(count, seed, choice.folder / "work"); }});
  jobs.push_back({5, "log: damaged at random", choice.count * kDamagesPerKill, kPiece * kDamagesPerKill,
                  [&choice](auto count, auto seed) { return damage_log(count, seed, choice.folder / "work"); }});
  for (const Committer committer : {Committer::comes_and_goes, Committer::stays}) {
    for (const char* times : {"once", "forever"}) {
      const CommitLoop loop{.committer = committer, .times = times, .most = choice.most};
      const char* who = committer == Committer::stays ? "open" : "closed";
      jobs.push_back({2, fmt::format("repair during commits, log {}, {}", who, times), 0, 0,
                      [loop, &choice](auto, auto) { return commit_at_every(loop, choice.folder / "work"); },
                      loop.times == "once" ? loop.most : 1});
    }
  }
  if (!can_train()) return;
  jobs.push_back({24, "two trainings at once", choice.count, kPiece,
                  [&choice](auto count, auto seed) { return train_at_once(count, seed, choice.folder / "work"); }});
}

void add_fail_loops(const Choice& choice, std::vector<Job>& jobs) {
  const std::vector<std::pair<const char*, std::vector<const char*>>> calls = {
      {"open", {"EIO", "EROFS", "ENOSPC", "EMFILE"}},
      {"read", {"EIO"}},
      {"write", {"ENOSPC", "EIO"}},
      {"fsync", {"EIO"}},
      {"rename", {"EROFS"}},
      {"mmap", {"ENOMEM"}},
      {"truncate", {"EIO"}},
      {"unlink", {"EIO"}},
      {"close", {"EIO"}}};
  for (const char* name : {"sweep", "import", "merge", "export", "backup", "repair", "repair with commits", "measure",
                           "measure sheet", "calibrate", "propose", "train", "short campaign"}) {
    if (!can_run(name)) continue;
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

/// Of the page of a log; each waits for looks at it, which come once a second.
void add_serving(const Choice& choice, std::vector<Job>& jobs) {
  const std::vector<std::pair<const char*, const char*>> calls = {
      {"open", "EIO"},     {"open", "EMFILE"}, {"read", "EIO"},     {"write", "ENOSPC"},
      {"write", "EIO"},    {"fsync", "EIO"},   {"mmap", "ENOMEM"},  {"unlink", "EIO"},
      {"truncate", "EIO"}, {"close", "EIO"},   {"malloc", "ENOMEM"}};
  constexpr std::int64_t kAllocationsPerKill = 10;  // [chosen] of 400 kills 40, two seconds each
  for (const auto& [call, error] : calls) {
    const bool is_memory = std::string_view(call) == "malloc";
    for (const char* times : {"once", "forever"}) {
      const std::int64_t most = is_memory ? std::max<std::int64_t>(choice.count / kAllocationsPerKill, 1) : choice.most;
      const FailLoop loop{.call = call, .error = error, .times = times, .most = most};
      jobs.push_back({is_memory ? 4 : 3, fmt::format("serve: {} {} {}", call, error, times), 0, 0,
                      [loop, &choice](auto, auto) { return serve_at_every(loop, choice.folder / "work"); }, loop.most});
    }
  }
}

void add_memory(const Choice& choice, std::vector<Job>& jobs) {
  for (const char* name :
       {"import", "sweep", "export", "merge", "repair", "repair with commits", "train", "short campaign"}) {
    if (!can_run(name)) continue;
    for (const char* times : {"once", "forever"}) {
      const FailLoop loop{.call = "malloc", .error = "ENOMEM", .times = times, .most = choice.count};
      jobs.push_back(
          {4, fmt::format("{}: malloc {}", name, times), 0, 0,
           [name, loop, &choice](auto, auto) { return fail_at_every(scenario(name), loop, choice.folder / "work"); },
           loop.most});
    }
  }
}

/// The same command with another value of an option, and with further words.
Scenario varied(const std::string& name, const std::string& samples, const std::vector<std::string>& more) {
  Scenario step = scenario(name);
  const auto option = std::find(step.words.begin(), step.words.end(), "--samples");
  if (!samples.empty()) *(option + 1) = samples;
  step.words.insert(step.words.end(), more.begin(), more.end());
  return step;
}

void add_power_cut(const Choice& choice, std::vector<Job>& jobs, const std::string& what, const CutPlan& plan) {
  jobs.push_back({10, "power cut: " + what, 0, 0,
                  [plan, &choice](auto, auto) { return cut_the_power(plan, choice.folder / "work"); }});
}

void add_power_cuts(const Choice& choice, std::vector<Job>& jobs) {
  const std::int64_t every = choice.most == 0 ? 1 : 7;
  constexpr std::int64_t kLongEvery = 10;  // [chosen] a disk of megabytes is made for each cut
  for (const bool full : {true, false}) {
    const std::string durability = full ? "full" : "normal";
    const std::vector<std::string> durable{"--durability", durability};
    std::vector<Scenario> sweeps;
    for (const char* samples : {"20", "60", "120"}) sweeps.push_back(varied("sweep", samples, durable));
    add_power_cut(choice, jobs, "sweep, " + durability, {.steps = sweeps, .full = full, .every = every});
    add_power_cut(choice, jobs, "import, " + durability,
                  {.steps = {varied("import", "", durable)}, .full = full, .every = every, .goes_on = true});
    add_power_cut(choice, jobs, "long sweep, " + durability,
                  {.steps = {varied("long sweep", "2048", durable)}, .full = full, .every = every * kLongEvery});
    if (!can_train()) continue;
    add_power_cut(choice, jobs, "campaign, " + durability,
                  {.steps = {varied("campaign", "", durable)}, .full = full, .every = every});
  }
  for (const char* name : {"merge", "backup", "export", "repair", "repair with commits", "train"}) {
    if (!can_run(name)) continue;
    add_power_cut(choice, jobs, name, {.steps = {scenario(name)}, .full = true, .every = every});
  }
  if (!can_train()) return;
  add_power_cut(choice, jobs, "propose", {.steps = {scenario("propose")}, .full = false, .every = every});
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

}  // namespace

std::vector<Job> make_jobs(const Choice& choice) {
  std::vector<Job> jobs;
  add_kills(choice, jobs);
  add_crowds(choice, jobs);
  add_models(choice, jobs);
  add_power_cuts(choice, jobs);
  add_fail_loops(choice, jobs);
  add_memory(choice, jobs);
  add_serving(choice, jobs);
  return jobs;
}

}  // namespace hindsight::fault
