/// The commands, their files, and their outcomes as text.
#include "fault/scenario.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/hash.h"
#include "hindsight/log/content.h"

namespace hindsight::fault {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kQuickTraining{
    "--set", "steps=30",   "--set", "final_steps=5",        "--set",    "evaluate_interval=10",
    "--set", "ensemble=1", "--set", "mining_generations=1", "--method", "prime"};

template <class Item>
std::vector<Item> joined(std::vector<Item> items, const std::vector<Item>& more) {
  items.insert(items.end(), more.begin(), more.end());
  return items;
}

std::vector<Scenario> scenarios_that_learn() {
  return {
      {.name = "train",
       .words = joined<std::string>({"train", "--log", "b.db", "--out", "out.safetensors", "--quiet"}, kQuickTraining),
       .log = "b.db",
       .file = "out.safetensors",
       .previous = "b.safetensors",
       .needs = {"b.db"}},
      {.name = "propose",
       .words = {"propose", "--model", "b.safetensors", "--workload", "m6", "--evaluations", "300", "--top", "3",
                 "--log", "b.db"},
       .log = "b.db",
       .needs = {"b.db", "b.safetensors"}},
      {.name = "campaign",
       .words = {"campaign", "--space", "tiny", "--workloads", "m6", "--rounds", "3", "--batch", "6", "--recipe",
                 "quick.yaml", "--log", "log.db", "--quiet"},
       .log = "log.db",
       .needs = {"quick.yaml"}},
      {.name = "short campaign",  // one round that is drawn, one that a model chooses
       .words = {"campaign", "--space", "tiny", "--workloads", "m6", "--rounds", "2", "--batch", "12", "--recipe",
                 "quick.yaml", "--log", "log.db", "--quiet"},
       .log = "log.db",
       .needs = {"quick.yaml"}},
  };
}

std::vector<Scenario> scenarios_that_write() {
  return {
      {.name = "sweep",
       .words = {"sweep", "--space", "tiny", "--workloads", "m6", "--samples", "120", "--log", "log.db", "--quiet"},
       .log = "log.db"},
      {.name = "long sweep",  // of 16 commits
       .words = {"sweep", "--space", "edge", "--workloads", "m6", "--samples", "8000", "--log", "log.db", "--quiet"},
       .log = "log.db"},
      {.name = "import",
       .words = {"log", "import", "--csv", "b.csv", "--objective", "latency_s", "--space", "tiny", "--log", "log.db"},
       .log = "log.db",
       .needs = {"b.csv"}},
      {.name = "merge",
       .words = {"log", "merge", "a.db", "b.db", "--out", "merged.db"},
       .log = "merged.db",
       .needs = {"a.db", "b.db"},
       .whole = true},
      {.name = "export",
       .words = {"log", "export", "a.db", "--out", "out.csv"},
       .log = "a.db",
       .file = "out.csv",
       .previous = "b.csv",
       .needs = {"a.db"}},
      {.name = "backup",
       .words = {"log", "backup", "a.db", "--out", "copy.db"},
       .log = "copy.db",
       .needs = {"a.db"},
       .whole = true},
      {.name = "repair",
       .words = {"log", "repair", "damaged.db", "--out", "fixed.db"},
       .log = "fixed.db",
       .needs = {"damaged.db"},
       .whole = true},
      {.name = "measure",
       .words = {"measure", "import", "gpu.jsonl", "--log", "gpu.db", "--csv", "out.csv"},
       .log = "gpu.db",
       .file = "out.csv",
       .previous = "b.csv",
       .needs = {"gpu.jsonl"}},
      {.name = "measure sheet",
       .words = {"measure", "import", "gpu.jsonl", "--sheet", "out.yaml"},
       .log = "",
       .file = "out.yaml",
       .previous = "b.csv",
       .needs = {"gpu.jsonl"}},
      {.name = "calibrate",
       .words = {"calibrate", "--gpu", "l4", "--measurements", "gemms.csv", "--out", "out.yaml"},
       .log = "",
       .file = "out.yaml",
       .previous = "b.csv",
       .needs = {"gemms.csv"}},
      {.name = "repair with commits",  // copies both files first
       .words = {"log", "repair", "open.db", "--out", "fixed.db"},
       .log = "fixed.db",
       .needs = {"open.db", "open.db-wal"},
       .whole = true},
  };
}

/// As hindsight-measure writes it.
constexpr const char* kMeasurements =
    R"({"record":"session","command_line":"hindsight-measure x","version":"0.1.0","commit_hash":"abc","host":"h",)"
    R"("started_at":"2026-01-31T12:00:00Z","gpu_name":"NVIDIA Test","gpu_uuid":"GPU-1","driver_version":"580",)"
    R"("sensor":"nvml","compute_capability":89,"sms":100,"threads_per_sm":1536,"blocks_per_sm":24,)"
    R"("registers_per_sm":65536,"shared_bytes_per_sm":102400,"shared_bytes_per_block":101376,"l2_bytes":50331648,)"
    R"("dram_bytes":24000000000,"memory_bus_bits":256,"boost_hz":2000000000,"memory_clock_hz":10000000000,)"
    R"("power_limit_w":200,"default_power_limit_w":200,"seed":1})"
    "\n"
    R"({"record":"gemm","task":"t1","kernel":"cublaslt","rank":0,"algorithm":"id=1, tile=2","dtype":"bf16",)"
    R"("layout":"nt","m":1000,"n":1000,"k":1000,"batch":1,"mode":"sustained","status":"ok","latency_s":0.00002,)"
    R"("energy_j":0.003,"power_w":150,"sm_clock_hz":null})"
    "\n"
    R"({"record":"quantity","task":"device/x","name":"fp32_fma_per_clock_per_sm","value":126})"
    "\n"
    R"({"record":"quantity","task":"device/x","name":"mma_bf16_per_clock_per_sm","value":500})"
    "\n"
    R"({"record":"quantity","task":"device/x","name":"l2_read_bytes_per_s","value":3e12})"
    "\n"
    R"({"record":"quantity","task":"device/x","name":"dram_read_bytes_per_s","value":6e11})"
    "\n"
    R"({"record":"quantity","task":"device/x","name":"idle_power_w","value":20,"sm_clock_hz":500000000})"
    "\n";

/// Times of products by a rate and a time that every launch takes: what is fitted matters to nobody here.
std::string gemm_times() {
  constexpr double kLaunch_us = 5, kMacsPerUs = 4e7;
  std::string csv = "m,n,k,latency_us\n";
  for (const int m : {256, 1024, 4096}) {
    for (const int n : {512, 1024, 2048, 4096}) {
      for (const int k : {256, 1024, 4096}) {
        csv += fmt::format("{},{},{},{:.3f}\n", m, n, k, kLaunch_us + 1.0 * m * n * k / kMacsPerUs);
      }
    }
  }
  return csv;
}

void require(const Ended& ended) {
  if (ended.exit_code != 0) throw std::runtime_error("an undisturbed command failed: " + ended.err);
}

/// A log as a writer that is killed leaves it: `open.db`, and commits that are in `open.db-wal` alone.
void fill_open_log(const fs::path& folder) {
  const auto sweep = [&](const char* samples) {
    require(
        run({"sweep", "--space", "tiny", "--workloads", "m6", "--samples", samples, "--log", "writer.db", "--quiet"},
            {.folder = folder}));
  };
  sweep("60");
  {
    // Whoever reads what was there before keeps a commit from being brought into the file.
    SQLite::Database reader((folder / "writer.db").string(), SQLite::OPEN_READWRITE);
    reader.exec("BEGIN");
    static_cast<void>(reader.execAndGet("SELECT count(*) FROM evaluations").getInt64());
    for (const char* samples : {"80", "100", "120"}) sweep(samples);
    for (const char* ending : {"", "-wal"}) {
      fs::copy_file(folder / (std::string("writer.db") + ending), folder / (std::string("open.db") + ending));
    }
  }
  for (const char* ending : {"", "-wal", "-shm"}) fs::remove(folder / (std::string("writer.db") + ending));
}

/// Root's checkout with its data, wherever the working folder is.
void fill(const fs::path& folder) {
  const Setting here{.folder = folder};
  require(run({"sweep", "--space", "tiny", "--workloads", "m6", "--samples", "80", "--log", "a.db", "--quiet"}, here));
  require(
      run({"sweep", "--space", "tiny", "--workloads", "mobilenet_v2,m6", "--samples", "60", "--log", "b.db", "--quiet"},
          here));
  require(run({"log", "export", "b.db", "--out", "b.csv"}, here));
  write_file_atomically(folder / "quick.yaml",
                        "method: margins\nhidden: [16]\nensemble: 2\nsteps: 60\nfinal_steps: 20\n");
  write_file_atomically(folder / "gpu.jsonl", kMeasurements);
  write_file_atomically(folder / "gemms.csv", gemm_times());
  std::string damaged = read_file(folder / "a.db");
  constexpr std::size_t kPage = 4096;
  const std::size_t page = damaged.size() / kPage / 2 * kPage;
  std::fill_n(damaged.begin() + static_cast<std::ptrdiff_t>(page), kPage, '\x5a');
  write_file_atomically(folder / "damaged.db", damaged);
  fill_open_log(folder);
}

std::string newest_proposals(const fs::path& log) {
  const SQLite::Database database(log.string(), SQLite::OPEN_READONLY);
  SQLite::Statement query(database,
                          "SELECT rank, text_id, predicted_value FROM proposals JOIN designs USING (design_id) "
                          "WHERE run_id = (SELECT max(run_id) FROM proposals) ORDER BY rank");
  std::string text;
  while (query.executeStep()) {
    for (int i = 0; i < 3; ++i) text += query.getColumn(i).getString() + " ";
  }
  return text;
}

/// The digest of its weights that a model carries; the rest of its header says when and where it was trained.
std::string weights_of(const std::string& bytes) {
  const std::string key = "\"data_sha256\":\"";
  const std::size_t begin = bytes.find(key);
  return begin == std::string::npos ? "no model" : bytes.substr(begin + key.size(), 64);
}

}  // namespace

const Scenario& scenario(const std::string& name) {
  static const std::vector<Scenario> all = joined(scenarios_that_write(), scenarios_that_learn());
  const auto found = std::find_if(all.begin(), all.end(), [&](const Scenario& one) { return one.name == name; });
  if (found == all.end()) throw std::runtime_error("no scenario " + name);
  return *found;
}

bool can_train() {
  static const bool can = run({"doctor", "--json"}).out.find("libtorch") != std::string::npos;
  return can;
}

bool can_run(const std::string& name) {
  return can_train() || (name != "train" && name != "propose" && !name.ends_with("campaign"));
}

const fs::path& pantry() {
  static const hindsight::test::TemporaryFolder folder;
  static const bool filled = (fill(folder.path()), true);
  static_cast<void>(filled);
  return folder.path();
}

fs::path trained_model() {
  const fs::path model = pantry() / "b.safetensors";
  if (!fs::exists(model)) {
    fs::copy_file(pantry() / "b.db", pantry() / "taught.db");
    require(run({"train", "--log", "taught.db", "--out", "b.safetensors", "--recipe", "quick.yaml", "--quiet"},
                {.folder = pantry()}));
  }
  return model;
}

void lay_out(const Scenario& scenario, const fs::path& folder) {
  fs::remove_all(folder);
  fs::create_directories(folder);
  const auto from_pantry = [](const std::string& name) {
    return name == "b.safetensors" ? trained_model() : pantry() / name;
  };
  for (const std::string& name : scenario.needs) fs::copy_file(from_pantry(name), folder / name);
  if (!scenario.previous.empty()) fs::copy_file(from_pantry(scenario.previous), folder / scenario.file);
}

std::string digest_of_file(const fs::path& file) {
  if (!fs::exists(file)) return "none";
  const std::string bytes = read_file(file);
  return file.extension() == ".safetensors" ? weights_of(bytes) : sha256_hex(bytes);
}

std::string outcome_of(const Scenario& scenario, const fs::path& folder) {
  std::string text;
  if (!scenario.log.empty()) {
    if (!fs::exists(folder / scenario.log)) return "no log";
    text = log::content(log::Log::open(folder / scenario.log, log::OpenMode::read_only)).sha256;
  }
  if (scenario.name == "propose") text += " " + newest_proposals(folder / scenario.log);
  if (!scenario.file.empty()) text += " " + digest_of_file(folder / scenario.file);
  return text;
}

Undisturbed undisturbed(const Scenario& scenario, const fs::path& folder) {
  lay_out(scenario, folder);
  const Ended ended = run(scenario.words, {.folder = folder});
  require(ended);
  return {outcome_of(scenario, folder), ended.seconds};
}

std::int64_t rows_in(const fs::path& log) {
  if (!fs::is_regular_file(log)) return 0;  // its folder, where a command writes none
  try {
    // Not read-only: such a connection leaves its -wal and -shm files behind.
    SQLite::Database database(log.string(), SQLite::OPEN_READWRITE);
    database.setBusyTimeout(10'000);
    return database.execAndGet("SELECT (SELECT count(*) FROM evaluations) + (SELECT count(*) FROM proposals)")
        .getInt64();
  } catch (const SQLite::Exception&) {
    return 0;  // being made
  }
}

std::string fault_of(const fs::path& log) {
  if (!fs::is_regular_file(log)) return "";
  try {
    const log::Verification verification = log::Log::open(log, log::OpenMode::read_only).verify();
    return verification.sound() ? "" : "log verify finds faults";
  } catch (const Error& error) {
    return error.what();
  }
}

std::vector<std::string> left_behind(const Scenario& scenario, const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    // A log's own files beside it may outlive a disk on which nothing can be done; the next command takes them away.
    std::string log = name;
    for (const std::string ending : {"-wal", "-shm", "-journal"}) {
      if (log.ends_with(ending)) log.resize(log.size() - ending.size());
    }
    const bool expected = log == scenario.log || name == scenario.file ||
                          name.starts_with(scenario.file + ".checkpoint") ||
                          name == fs::path(scenario.file).replace_extension(".md").string() ||
                          std::find(scenario.needs.begin(), scenario.needs.end(), log) != scenario.needs.end();
    if (!expected) names.push_back(name);
  }
  return names;
}

bool is_old_or_new(const Scenario& scenario, const fs::path& folder, const std::string& outcome) {
  if (scenario.file.empty()) return true;
  const fs::path file = folder / scenario.file;
  if (!scenario.previous.empty() && fs::exists(file) && read_file(file) == read_file(pantry() / scenario.previous)) {
    return true;
  }
  return outcome.ends_with(" " + digest_of_file(file));
}

}  // namespace hindsight::fault
