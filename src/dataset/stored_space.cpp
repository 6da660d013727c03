/// The design space of a log, rebuilt from its stored definition.
#include "hindsight/dataset/stored_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"
#include "hindsight/log/query.h"

namespace hindsight::dataset {
namespace {

bool is_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

std::string names_of(const std::vector<log::SpaceSummary>& spaces) {
  std::vector<std::string> names;
  for (const log::SpaceSummary& space : spaces) names.push_back(space.name);
  return join(names, ", ");
}

log::SpaceSummary named_space(const log::Log& log, const std::vector<log::SpaceSummary>& spaces,
                              const std::string& wanted) {
  std::vector<std::string> names;
  for (const log::SpaceSummary& space : spaces) {
    if (space.name == wanted) {
      return space;
    }
    names.push_back(space.name);
  }
  if (is_file(wanted)) {
    const std::string hash = space::load_space_file(wanted).definition_hash();
    const auto found = std::find_if(spaces.begin(), spaces.end(),
                                    [&](const log::SpaceSummary& space) { return space.definition_hash == hash; });
    if (found != spaces.end()) {
      return *found;
    }
    throw Error(ErrorKind::usage,
                fmt::format("{}: has no design space with the definition of {} (the parameters or values differ). Its "
                            "spaces: {}",
                            printable(log.path().string(), 200), wanted, names_of(spaces)));
  }
  throw Error(ErrorKind::usage, fmt::format("{}: has no design space '{}'.{}", printable(log.path().string(), 200),
                                            printable(wanted), did_you_mean(wanted, names)));
}

log::SpaceSummary only_space(const log::Log& log, std::vector<log::SpaceSummary> spaces) {
  std::erase_if(spaces, [](const log::SpaceSummary& space) { return space.designs == 0; });
  if (spaces.empty()) {
    throw Error(ErrorKind::usage, fmt::format("{}: has no designs yet. Run `hindsight sweep` or `hindsight log import` "
                                              "first",
                                              printable(log.path().string(), 200)));
  }
  if (spaces.size() > 1) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: has designs of {} spaces (a dataset has one): {}. Choose one with --space",
                            printable(log.path().string(), 200), spaces.size(), names_of(spaces)));
  }
  return spaces.front();
}

}  // namespace

space::DesignSpace stored_space(const log::Log& log, const std::optional<std::string>& wanted) {
  const std::vector<log::SpaceSummary> spaces = log::spaces(log);
  const log::SpaceSummary chosen = wanted ? named_space(log, spaces, *wanted) : only_space(log, spaces);
  space::DesignSpace space = space::space_from_definition(chosen.name, chosen.definition);
  if (space.definition_hash() != chosen.definition_hash) {
    throw Error(
        ErrorKind::incompatible,
        fmt::format("{}: the definition of design space '{}' does not have the hash it is stored with (the log is "
                    "damaged). `hindsight log verify {}` lists what is wrong",
                    printable(log.path().string(), 150), chosen.name, pasted_path(log.path().string())));
  }
  return space;
}

space::DesignSpace named_beside(const log::Log& log, const std::string& name) {
  for (const log::SpaceSummary& known : log::spaces(log)) {
    if (known.name == name && known.designs > 0) return stored_space(log, name);
  }
  return space::load_space(name);
}

}  // namespace hindsight::dataset
