/// Takes the designs out of what `propose --json` printed.
#include "proposals_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "design_argument.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/foreign_name.h"
#include "hindsight/core/json_bounds.h"
#include "hindsight/core/text.h"
#include "output.h"

namespace hindsight::app {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void refuse_file(const std::string& file, const std::string& problem) {
  throw Error(ErrorKind::usage,
              fmt::format("{}: {} (it should be the output of 'hindsight propose --json')", file, problem));
}

/// The document, which has a list of proposals.
Json document_of(const std::string& file) {
  const std::string text = read_file(file);
  if (const std::string excess = json_excess(text); !excess.empty()) refuse_file(file, excess);
  Json root = Json::parse(text, nullptr, false);
  if (root.is_discarded()) refuse_file(file, "not JSON");
  const auto unquoted = [](std::string_view quoted) { return Json::parse(quoted).get<std::string>(); };
  if (const auto repeated = repeated_json_name(text, unquoted)) {
    refuse_file(file, fmt::format("the key '{}' is given twice in one object", printable(repeated->name, 40)));
  }
  if (!root.is_object() || !root.contains("proposals") || !root["proposals"].is_array()) {
    refuse_file(file, "no list 'proposals'");
  }
  return root;
}

/// The space that the file names, which a file that is `asked` for may be; of one that names none what is asked for.
space::DesignSpace space_of(const Json& root, const std::string& file, const std::string& asked) {
  const bool has_space = root.contains("space") && root["space"].is_string();
  if (!has_space) return space::load_space(asked.empty() ? kDefaultSpace : asked);
  const std::string name = root["space"];
  if (!asked.empty()) {
    space::DesignSpace space = space::load_space(asked);
    if (space.name() == name) return space;
    remark(fmt::format("--space {}: is not read, as the designs of {} are of space '{}'", printable(asked, 100),
                       printable(file, 100), printable(name, 60)));
  }
  if (names_a_file(name)) {
    refuse_file(file, fmt::format("its space is '{}', which names a file, and none is opened", printable(name)));
  }
  try {
    return space::load_space(name);
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}: {} Its designs are of a space of that name. Give its file: --space FILE",
                                          printable(file, 100), error.what()));
  }
}

/// The design of a proposal, whose number counts from 1; errors name file and proposal.
accel::AcceleratorConfig proposed_configuration(const space::DesignSpace& space, const std::string& text_id,
                                                const std::string& file, std::size_t number) {
  try {
    return configuration_of(space, text_id);
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}: proposal {}: {}", printable(file, 150), number, error.what()));
  }
}

}  // namespace

std::vector<std::string> predicted_networks(const nlohmann::ordered_json& prediction) {
  std::vector<std::string> names;
  const auto list = prediction.find("workloads");
  const auto proven = prediction.find("metrics");
  if (list == prediction.end() && proven != prediction.end() && proven->is_object()) {
    for (const auto& one : proven->items()) names.push_back(one.key());
  }
  if (list == prediction.end() || !list->is_array()) return names;
  for (const Json& one : *list) {
    if (one.is_object() && one.contains("name") && one["name"].is_string()) names.push_back(one["name"]);
  }
  return names;
}

accel::AcceleratorConfig configuration_of(const space::DesignSpace& space, const std::string& text_id) {
  return accel::ConfigBinding(space).bind(space, space.parse_design(text_id));
}

ProposalsFile read_proposals_file(const std::string& file, const std::string& asked_space, std::size_t most) {
  const Json root = document_of(file);
  const space::DesignSpace space = space_of(root, file, asked_space);
  const bool says = root.contains("technology") && root["technology"].is_string();
  ProposalsFile proposals{.technology = says ? root["technology"].get<std::string>() : space.technology(),
                          .designs = {}};
  for (const Json& entry : root["proposals"]) {
    if (proposals.designs.size() == most) break;
    if (!entry.is_object() || !entry.contains("design") || !entry["design"].is_string()) {
      refuse_file(file, fmt::format("proposal {} has no text 'design'", proposals.designs.size() + 1));
    }
    const std::string name = entry["design"];
    proposals.designs.push_back({.name = name,
                                 .config = proposed_configuration(space, name, file, proposals.designs.size() + 1),
                                 .networks = entry.contains("predicted") ? predicted_networks(entry["predicted"])
                                                                         : std::vector<std::string>{}});
  }
  if (proposals.designs.empty()) refuse_file(file, "no proposal");
  return proposals;
}

}  // namespace hindsight::app
