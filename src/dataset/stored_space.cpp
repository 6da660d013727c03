#include "dataset/stored_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/text.h"
#include "hindsight/log/query.h"

namespace hindsight::dataset {
namespace {

constexpr std::string_view kKeyPrefix = "space_definition/";

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
                            log.path().string(), wanted, names_of(spaces)));
  }
  throw Error(ErrorKind::usage, fmt::format("{}: has no design space '{}'.{}", log.path().string(), printable(wanted),
                                            did_you_mean(wanted, names)));
}

log::SpaceSummary only_space(const log::Log& log, std::vector<log::SpaceSummary> spaces) {
  std::erase_if(spaces, [](const log::SpaceSummary& space) { return space.designs == 0; });
  if (spaces.empty()) {
    throw Error(ErrorKind::usage, fmt::format("{}: has no designs yet. Run `hindsight sweep` or `hindsight log import` "
                                              "first",
                                              log.path().string()));
  }
  if (spaces.size() > 1) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: has designs of {} spaces (a dataset has one): {}. Choose one with --space",
                            log.path().string(), spaces.size(), names_of(spaces)));
  }
  return spaces.front();
}

}  // namespace

log::Checkpoint definition_checkpoint(const space::DesignSpace& space) {
  return {.key = std::string(kKeyPrefix) + space.definition_hash(),
          .value_json = nlohmann::json(space.canonical_definition()).dump()};
}

space::DesignSpace stored_space(const log::Log& log, const std::optional<std::string>& wanted) {
  const std::vector<log::SpaceSummary> spaces = log::spaces(log);
  const log::SpaceSummary chosen = wanted ? named_space(log, spaces, *wanted) : only_space(log, spaces);
  const auto matches = [&](const space::DesignSpace& space) {
    return space.definition_hash() == chosen.definition_hash;
  };
  const auto under_its_name = [&](const space::DesignSpace& space) {
    return space::DesignSpace(chosen.name, space.description(), space.parameters());
  };
  if (wanted && is_file(*wanted)) {
    if (const space::DesignSpace space = space::load_space_file(*wanted); matches(space)) {
      return under_its_name(space);
    }
  }
  if (const auto record = log.checkpoint(std::string(kKeyPrefix) + chosen.definition_hash)) {
    const auto definition = nlohmann::json::parse(*record, nullptr, false);
    if (definition.is_string()) {
      if (auto space = space::space_from_definition(chosen.name, definition.get<std::string>()); matches(space)) {
        return space;
      }
    }
  }
  for (const std::string& name : list_data_files("configs/spaces")) {
    if (const space::DesignSpace space = space::load_space(name); matches(space)) {
      return under_its_name(space);
    }
  }
  throw Error(
      ErrorKind::usage,
      fmt::format("{}: the definition of its design space '{}' ({}...) is neither recorded nor that of a shipped "
                  "space. Name the space file with --space FILE.yaml",
                  log.path().string(), chosen.name, chosen.definition_hash.substr(0, 12)));
}

}  // namespace hindsight::dataset
