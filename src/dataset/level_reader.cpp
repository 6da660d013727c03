/// Text ids of a log as levels of a space.
#include "dataset/level_reader.h"

#include <algorithm>

namespace hindsight::dataset {

LevelReader::LevelReader(const space::DesignSpace& space) : space_(space), level_of_label_(space.parameters().size()) {
  for (std::size_t p = 0; p < level_of_label_.size(); ++p) {
    const std::vector<std::string>& labels = space.parameters()[p].labels;
    for (std::size_t level = 0; level < labels.size(); ++level) {
      level_of_label_[p].emplace(labels[level], static_cast<std::uint16_t>(level));
    }
  }
}

void LevelReader::append(const std::string& text_id, std::vector<std::uint16_t>& levels) const {
  const std::size_t begin = levels.size();
  if (!append_canonical(text_id, levels)) {
    levels.resize(begin);
    const space::Design design = space_.parse_design(text_id);
    levels.insert(levels.end(), design.levels.begin(), design.levels.end());
  }
}

bool LevelReader::append_canonical(std::string_view rest, std::vector<std::uint16_t>& levels) const {
  for (std::size_t p = 0; p < level_of_label_.size(); ++p) {
    const std::string& name = space_.parameters()[p].name;
    if (!rest.starts_with(name) || rest.size() <= name.size() || rest[name.size()] != '=') {
      return false;
    }
    rest.remove_prefix(name.size() + 1);
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const auto found = level_of_label_[p].find(rest.substr(0, comma));
    const bool last = p + 1 == level_of_label_.size();
    if (found == level_of_label_[p].end() || last != (comma == rest.size())) {
      return false;
    }
    levels.push_back(found->second);
    rest.remove_prefix(last ? comma : comma + 1);
  }
  return true;
}

}  // namespace hindsight::dataset
