/// Verbs that write, each as small as it gets, and what can be said about what they wrote.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "fault/command.h"
#include "temporary_folder.h"

namespace hindsight::fault {

/// A command whose files lie in its working folder.
struct Scenario {
  std::string name;
  std::vector<std::string> words;       ///< of the command
  std::string log;                      ///< the log that it writes, or empty
  std::string file = {};                ///< another file that it writes whole, or empty
  std::string previous = {};            ///< of the pantry: what that file is before
  std::vector<std::string> needs = {};  ///< files of the pantry that it reads or appends to
  bool whole = false;                   ///< its log has its name when it is done, and not before
};

/// By name: sweep, long sweep, import, train, propose, campaign, short campaign (two rounds), merge, export, backup,
/// repair, repair with commits (in the -wal file beside the log), measure and measure sheet (the import of what was
/// measured elsewhere, to a log or a spec sheet), calibrate.
[[nodiscard]] const Scenario& scenario(const std::string& name);

/// Logs and a table from which commands begin, made once a process.
[[nodiscard]] const std::filesystem::path& pantry();
/// A model of one of them, trained when it is asked for.
[[nodiscard]] std::filesystem::path trained_model();
/// False: this build cannot train.
[[nodiscard]] bool can_train();
/// False: it trains, and this build cannot.
[[nodiscard]] bool can_run(const std::string& name);

/// Empties `folder` and puts there what the command needs.
void lay_out(const Scenario& scenario, const std::filesystem::path& folder);
/// Of its bytes; of a model that of its weights, since the rest says when and where it was trained.
[[nodiscard]] std::string digest_of_file(const std::filesystem::path& file);
/// Everything that must be equal after the same work: content of logs, proposals, weights of models, bytes of tables.
[[nodiscard]] std::string outcome_of(const Scenario& scenario, const std::filesystem::path& folder);
/// What an undisturbed command leaves, and how long it takes. Throws when that fails.
struct Undisturbed {
  std::string outcome;
  double seconds = 0;
};
[[nodiscard]] Undisturbed undisturbed(const Scenario& scenario, const std::filesystem::path& folder);

/// Evaluations and proposals that a log holds for anybody who looks; 0 where there is none, or a folder.
[[nodiscard]] std::int64_t rows_in(const std::filesystem::path& log);
/// Empty when the log is sound, or not there; else what is wrong.
[[nodiscard]] std::string fault_of(const std::filesystem::path& log);
/// Names in the folder that the command neither needs nor is to write.
[[nodiscard]] std::vector<std::string> left_behind(const Scenario& scenario, const std::filesystem::path& folder);
/// The file is as it was before, or as an undisturbed command leaves it.
[[nodiscard]] bool is_old_or_new(const Scenario& scenario, const std::filesystem::path& folder,
                                 const std::string& outcome);

}  // namespace hindsight::fault
