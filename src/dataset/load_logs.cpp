/// Which rows of which logs make a dataset, and what they are named in messages.
#include "hindsight/dataset/load_logs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "dataset/take_over.h"
#include "hindsight/core/error.h"
#include "hindsight/core/scratch_folder.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/load.h"
#include "hindsight/dataset/network_context.h"
#include "hindsight/dataset/stored_space.h"
#include "hindsight/log/address.h"
#include "hindsight/log/copy.h"
#include "hindsight/log/merge.h"
#include "hindsight/log/query.h"

namespace hindsight::dataset {
namespace {

using Path = std::filesystem::path;

std::string shown(const std::vector<Path>& logs) {
  std::vector<std::string> names;
  for (const Path& log : logs) names.push_back(printable(log.string(), 200));
  return join(names, " + ");
}

/// Logs that are read with one design space.
struct Group {
  space::DesignSpace space;
  std::vector<Path> logs;
};

bool has_space(const log::Log& log, const std::string& hash) {
  const std::vector<log::SpaceSummary> spaces = log::spaces(log);
  return std::ranges::any_of(spaces, [&](const auto& one) { return one.definition_hash == hash && one.designs > 0; });
}

/// The space that is asked for: in a log by name, or one that is loaded; nothing where none is named.
std::optional<space::DesignSpace> named_space(const std::vector<Path>& logs, const std::optional<std::string>& wanted) {
  if (!wanted) return std::nullopt;
  std::optional<space::DesignSpace> found;
  for (const Path& file : logs) {
    for (const log::SpaceSummary& one : log::spaces(log::Log::open(file, log::OpenMode::read_only))) {
      if (one.name != *wanted) continue;
      if (found && found->definition_hash() != one.definition_hash) {
        throw Error(ErrorKind::usage, fmt::format("--space {}: the logs have two spaces of this name with different "
                                                  "definitions. Name the file of the newer one",
                                                  printable(*wanted)));
      }
      if (!found) found = space::space_from_definition(one.name, one.definition);
    }
  }
  if (found) return found;
  try {
    return space::load_space(*wanted);
  } catch (const Error&) {
    std::error_code ignored;
    if (logs.size() > 1 || std::filesystem::exists(*wanted, ignored)) throw;
    return stored_space(log::Log::open(logs.front(), log::OpenMode::read_only), wanted);  // names those of the log
  }
}

/// Logs by the space that they are read with, that of the first log, or the one asked for, first.
std::vector<Group> grouped(const std::vector<Path>& logs, const std::optional<space::DesignSpace>& wanted) {
  std::vector<Group> groups;
  if (wanted) groups.push_back({.space = *wanted, .logs = {}});
  for (const Path& file : logs) {
    const log::Log log = log::Log::open(file, log::OpenMode::read_only);
    const bool has = wanted && has_space(log, wanted->definition_hash());
    space::DesignSpace own = has ? *wanted : stored_space(log, std::nullopt);
    const auto known = std::ranges::find_if(
        groups, [&](const Group& group) { return group.space.definition_hash() == own.definition_hash(); });
    if (known != groups.end()) {
      known->logs.push_back(file);
    } else {
      groups.push_back({.space = std::move(own), .logs = {file}});
    }
  }
  if (!wanted && groups.size() > 1) {
    throw Error(
        ErrorKind::usage,
        fmt::format("{} is of the design space '{}', {} of '{}', which has other values. Name the space that takes "
                    "both by --space (a file, or the newer of them)",
                    shown(groups[0].logs), groups[0].space.name(), shown(groups[1].logs), groups[1].space.name()));
  }
  return groups;
}

/// Each once.
std::vector<std::string> workload_names(const std::vector<Path>& logs) {
  std::vector<std::string> names;
  for (const Path& log : logs) {
    for (const log::WorkloadRecord& one : log::workloads(log::Log::open(log, log::OpenMode::read_only))) {
      if (std::ranges::find(names, one.name) == names.end()) names.push_back(one.name);
    }
  }
  return names;
}

/// What several logs hold of the selection; nothing where they have none of the workloads that are asked for.
std::optional<Dataset> rows_of(const Group& group, Selection selection, const Provenance& provenance,
                               std::size_t& counted_once) {
  Path log = group.logs.front();
  std::optional<ScratchFolder> scratch;  // one log needs none
  if (group.logs.size() > 1) {
    scratch.emplace("logs that are united");
    log = scratch->path() / fmt::format("{}.sqlite", group.space.definition_hash().substr(0, 16));
    std::vector<Path> files;
    for (const Path& one : group.logs) {
      files.push_back(one);
      if (!log::is_server_address(one)) continue;  // else its content comes here
      files.back() = scratch->path() / fmt::format("server-{}.sqlite", files.size());
      static_cast<void>(log::copy_log(one, files.back(), log::Contradictions::refuse));
    }
    const log::MergeResult merged = log::merge_logs(files, log, log::Contradictions::refuse, provenance);
    counted_once += merged.already_present;
  }
  // Other logs may have what this one lacks.
  const std::vector<std::string> known = workload_names(group.logs);
  const bool any_wanted = !selection.workloads.empty();
  std::erase_if(selection.workloads,
                [&](const std::string& name) { return std::ranges::find(known, name) == known.end(); });
  if (any_wanted && selection.workloads.empty()) return std::nullopt;
  selection.space = std::nullopt;
  for (const log::SpaceSummary& one : log::spaces(log::Log::open(log, log::OpenMode::read_only))) {
    if (one.definition_hash == group.space.definition_hash()) selection.space = one.name;
  }
  try {
    return load_dataset(log, selection);
  } catch (const Error& error) {
    std::string text = error.what();  // the name of a log that goes away says nothing
    const std::string name = log.string();
    if (const std::size_t at = text.find(name); group.logs.size() > 1 && at != std::string::npos) {
      text.replace(at, name.size(), shown(group.logs));
    }
    throw Error(error.kind(), text);
  }
}

void require_workloads(const Selection& selection, const std::vector<Path>& logs) {
  const std::vector<std::string> known = workload_names(logs);
  if (known.empty()) {
    throw Error(
        ErrorKind::usage,
        fmt::format("{}: has no evaluations yet. Run `hindsight sweep` or `hindsight log import` first", shown(logs)));
  }
  for (const std::string& name : selection.workloads) {
    if (std::ranges::find(known, name) != known.end()) continue;
    throw Error(ErrorKind::usage,
                fmt::format("{}: has no workload '{}'.{}", shown(logs), printable(name), in_place_of(name, known)));
  }
}

}  // namespace

Assumption parse_assumption(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw Error(ErrorKind::usage, fmt::format("--assume {}: is not NAME=VALUE", printable(text)));
  }
  return {.name = text.substr(0, equals), .value = text.substr(equals + 1)};
}

std::size_t TakenOver::dropped_rows() const {
  std::size_t sum = 0;
  for (const auto& [value, count] : dropped) sum += count;
  return sum;
}

UnitedRows load_logs(const std::vector<Path>& logs, const Selection& selection,
                     const std::vector<Assumption>& assumptions, const Provenance& provenance) {
  HINDSIGHT_EXPECT(!logs.empty());
  if (logs.size() > 1 && !selection.runs.empty()) {
    throw Error(ErrorKind::usage, "--runs: every log numbers its own runs. Name one log, or leave --runs out");
  }
  require_workloads(selection, logs);
  const std::vector<Group> groups = grouped(logs, named_space(logs, selection.space));
  const space::DesignSpace& space = groups.front().space;
  require_assumptions(assumptions, space);
  std::optional<UnitedRows> united;
  std::size_t counted_once = 0;
  std::vector<TakenOver> taken;
  for (const Group& group : groups) {
    if (group.logs.empty()) continue;
    std::optional<Dataset> rows = rows_of(group, selection, provenance, counted_once);
    if (!rows) continue;
    if (&group != &groups.front()) {
      TakenOver& one = taken.emplace_back();
      one.space = group.space.name();
      one.logs = shown(group.logs);
      rows = take_over(*rows, space, assumptions, one);
    }
    if (&group == &groups.front()) {
      united.emplace(UnitedRows{.data = std::move(*rows), .log_of_space = {}});
      continue;
    }
    if (!united) {  // designs that differed only in what the space lacks are one now
      united.emplace(UnitedRows{.data = rows->subset({}), .log_of_space = {}});
      united->data.repeats = {};
    }
    add_rows(*rows, shown(group.logs), *united);
  }
  HINDSIGHT_EXPECT(united);
  united->counted_once += counted_once;
  united->taken = std::move(taken);
  if (!groups.front().logs.empty()) united->log_of_space = groups.front().logs.front();
  return std::move(*united);
}

std::vector<std::string> unseen_levels(const Dataset& data) {
  std::vector<std::string> unseen;
  for (std::size_t p = 0; p < data.space.parameters().size(); ++p) {
    const space::Parameter& parameter = data.space.parameters()[p];
    std::vector<bool> seen(parameter.labels.size(), false);
    for (Eigen::Index row = 0; row < data.levels.rows(); ++row) {
      seen[data.levels(row, static_cast<Eigen::Index>(p))] = true;
    }
    for (std::size_t level = 0; level < seen.size(); ++level) {
      if (!seen[level]) unseen.push_back(fmt::format("{}={}", parameter.name, parameter.labels[level]));
    }
  }
  return unseen;
}

}  // namespace hindsight::dataset
