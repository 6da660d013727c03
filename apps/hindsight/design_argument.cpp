/// Tells text ids, short ids and reference chips apart.
#include "design_argument.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "hindsight/accel/nearest_design.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/foreign_name.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"
#include "hindsight/log/address.h"
#include "hindsight/log/query.h"
#include "hindsight/space/short_id.h"
#include "hindsight/study/log_names.h"
#include "output.h"

namespace hindsight::app {

bool is_text_id(const std::string& design) {
  return design.find('=') != std::string::npos && design.find('/') == std::string::npos;
}

space::DesignSpace space_of_text_id(const std::string& text_id, const std::string& asked) {
  if (!asked.empty()) return space::load_space(asked);
  space::DesignSpace space = space::load_space(kDefaultSpace);
  const auto problem_in = [&](const space::DesignSpace& one) -> std::optional<Error> {
    try {
      (void)one.parse_design(text_id);
      return std::nullopt;
    } catch (const Error& error) {
      return error;
    }
  };
  const std::optional<Error> problem = problem_in(space);
  if (!problem) return space;
  for (const std::string& name : list_data_files("configs/spaces")) {
    if (name == kDefaultSpace || problem_in(space::load_space(name))) continue;
    throw Error(ErrorKind::usage, fmt::format("the design is one of space '{0}', and '{1}' was asked, as no space was "
                                              "named. Name it: --space {0}",
                                              printable(name), kDefaultSpace));
  }
  return space;
}

bool names_logged(const std::string& design, const std::string& log) {
  if (log.empty()) return false;
  if (!log::is_log_there(log)) static_cast<void>(log::Log::open(log, log::OpenMode::read_only));
  return space::is_short_id(design);
}

void require_own_space(const std::string& space) {
  if (space.empty()) return;
  throw Error(ErrorKind::usage, "--space: the log knows the space of a design that a short id names. Leave it out?");
}

LoggedDesign logged_design(const std::string& file, const std::string& short_id) {
  const log::Log log = log::Log::open(file, log::OpenMode::read_only);
  const log::LoggedDesign found = study::design_of_id(log, short_id);
  const std::vector<log::SpaceSummary> spaces = log::spaces(log);
  const auto own = std::find_if(spaces.begin(), spaces.end(),
                                [&](const log::SpaceSummary& one) { return one.space_id == found.space_id; });
  HINDSIGHT_EXPECT(own != spaces.end());
  space::DesignSpace space = space::space_from_definition(own->name, own->definition);
  space::Design design = space.parse_design(found.text_id);
  return {.space = std::move(space),
          .design = std::move(design),
          .technologies = study::technologies_of(log, found.text_id)};
}

std::string own_technology(const std::string& asked, const std::vector<std::string>& technologies,
                           const std::string& what) {
  if (!asked.empty() || technologies.empty()) return "";
  if (technologies.size() == 1) return technologies.front();
  std::vector<std::string> names;
  for (const std::string& name : technologies) names.push_back(printable(name, 60));
  throw Error(ErrorKind::usage, fmt::format("{} several technologies ({}). Choose one with --technology NAME",
                                            printable(what, 200), printable(join(names, ", "), 150)));
}

accel::Technology technology_for(const std::string& asked, const std::string& own) {
  if (!asked.empty()) return accel::load_technology(asked);
  if (own.empty()) return accel::load_technology(accel::kDefaultTechnology);
  try {
    return accel::load_technology(foreign_name(own, "its name", "Which technology is it?"));
  } catch (const Error& error) {
    throw Error(error.kind(),
                fmt::format("the design's own technology, of its log, space or chip, cannot be read: {} Name "
                            "its file, or another, with --technology",
                            error.what()));
  }
}

accel::Technology technology_of_chip(const std::string& asked, const std::string& design, const std::string& own) {
  std::error_code ignored;
  if (asked.empty() && !own.empty() && !std::filesystem::is_regular_file(design, ignored)) {
    for (const std::size_t at : {own.size(), std::min(own.rfind('@'), own.size())}) {  // names may have an '@'
      for (const std::filesystem::path& root : data_roots()) {
        const std::filesystem::path file = root / "data/technology" / (own.substr(0, at) + ".yaml");
        if (std::filesystem::is_regular_file(file, ignored)) {
          return accel::load_technology(file.string() + own.substr(at));
        }
      }
    }
  }
  return technology_for(asked, own);
}

accel::ReferenceChip reference_chip(const std::string& name) {
  try {
    return accel::load_reference_chip(name);
  } catch (const Error& error) {
    if (!space::is_short_id(name)) throw;
    std::string problem = error.what();
    if (!problem.ends_with('.') && !problem.ends_with('?')) problem += '.';
    throw Error(error.kind(), problem + " A short id needs the log of its design, which must be there: --log FILE");
  }
}

AskedChip asked_chip(const std::string& name, const std::string& technology) {
  AskedChip asked{.chip = reference_chip(name)};
  accel::Cooling& cooling = asked.chip.config.cooling;
  if (technology.empty()) {
    asked.why = asked.chip.technology.empty() ? "the default" : "the chip's node";
  } else if (const std::optional<accel::Cooling> named = accel::named_cooling(technology)) {
    if (cooling != accel::Cooling::as_technology && cooling != *named) {
      asked.why = fmt::format("{}, not the chip's own {}", accel::to_string(*named), accel::to_string(cooling));
    }
    cooling = *named;
  }
  return asked;
}

namespace {

constexpr std::string_view kNearest = "nearest:";

space::Design nearest_in(const space::DesignSpace& space, const std::string& name) {
  const accel::ReferenceChip chip = reference_chip(name);
  const accel::NearestDesign nearest = accel::nearest_design(chip, space);
  std::vector<std::string> differences;
  for (const accel::Approximation& one : nearest.differences) {
    differences.push_back(fmt::format("{} {} for {}", one.property, one.of_design, one.of_chip));
  }
  remark(differences.empty()
             ? fmt::format("{} is a design of {}", chip.name, space.name())
             : fmt::format("nearest to {} in {}: {}", chip.name, space.name(), join(differences, ", ")));
  return nearest.design;
}

/// What to name where the space does not have the chip.
std::string instead_of(const accel::ReferenceChip& chip, const std::string& name, const space::DesignSpace& space) {
  try {
    (void)accel::nearest_design(chip, space);
  } catch (const Error&) {
    return "a design of the space by its text id";
  }
  return fmt::format("{}, the design that differs least",
                     printable(shell_quoted(fmt::format("{}{}", kNearest, name)), 200));
}

}  // namespace

space::Design design_in(const space::DesignSpace& space, const std::string& design, const std::string& log) {
  if (is_text_id(design)) return space.parse_design(design);
  if (space::is_short_id(design) && log::is_log_there(log)) {
    const LoggedDesign logged = logged_design(log, design);
    return space.parse_design(logged.space.text_id(logged.design));
  }
  if (design.starts_with(kNearest)) return nearest_in(space, design.substr(kNearest.size()));
  // Through its text id, so that a chip that breaks a constraint of the space is refused as any design is.
  const accel::ReferenceChip chip = reference_chip(design);
  return space.parse_design(space.text_id(accel::design_of(chip, space, instead_of(chip, design, space))));
}

void add_columns(CLI::App& verb, std::vector<std::string>& columns) {
  verb.add_option("--columns", columns, "Columns a,b of the table, in this order [all that fit]")->delimiter(',');
}

void add_wide(CLI::App& verb, report::DesignStyle& style) {
  verb.add_flag_callback(
      "--wide", [&style] { style = report::DesignStyle::whole; }, "Whole designs below the table");
}

}  // namespace hindsight::app
