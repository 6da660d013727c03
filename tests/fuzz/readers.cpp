/// The list of all readers.
#include <algorithm>

#include "fuzz/reader.h"

namespace hindsight::fuzz {
namespace {

std::vector<Reader> all_readers() {
  std::vector<Reader> all;
  for (const std::span<const Reader> some : {table_readers(), yaml_readers(), network_readers(), log_readers(),
                                             study_readers(), model_readers(), word_readers(), program_readers()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  std::ranges::sort(all, {}, &Reader::name);
  return all;
}

}  // namespace

std::span<const Reader> readers() {
  static const std::vector<Reader> all = all_readers();
  return all;
}

std::optional<Reader> find_reader(std::string_view name) {
  const auto found = std::ranges::find(readers(), name, &Reader::name);
  return found == readers().end() ? std::nullopt : std::optional(*found);
}

}  // namespace hindsight::fuzz
