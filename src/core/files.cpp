/// Whole files, and the data that ships with Hindsight.
#include "hindsight/core/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/file_descriptor.h"
#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/file_stream.h"
#include "hindsight/core/installation.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/text.h"

namespace hindsight {
namespace {

namespace fs = std::filesystem;

/// $HINDSIGHT_DATA_DIR, when set. A wrong one is an error: ignoring it would use other data than asked for.
std::optional<fs::path> data_dir_from_environment() {
  const char* value = std::getenv("HINDSIGHT_DATA_DIR");
  if (value == nullptr || *value == '\0') {
    return std::nullopt;
  }
  std::error_code error;
  if (!fs::is_directory(value, error)) {
    throw Error(ErrorKind::usage,
                fmt::format("HINDSIGHT_DATA_DIR is '{}', which is not a folder. Correct it or unset it.",
                            printable(value, 400)));
  }
  return fs::path(value);
}

std::vector<std::string> as_texts(const std::vector<fs::path>& paths) {
  std::vector<std::string> texts;
  for (const fs::path& path : paths) {
    texts.push_back(shown_file(path));
  }
  return texts;
}

}  // namespace

std::string read_file(const fs::path& file, std::uint64_t max_bytes) {
  constexpr std::size_t kLongRead = std::size_t{64} << 20U;  // [chosen] a second on a slow disk
  FileReader reader(file);
  std::string content;
  if (reader.is_regular()) content.reserve(std::min(reader.bytes(), max_bytes));
  std::array<char, 1U << 16U> buffer{};
  while (const std::size_t got = reader.read(buffer)) {
    content.append(buffer.data(), got);
    // A landscape takes half a minute; what is shorter is read to its end, also by a command that ends in good order.
    if (content.size() > kLongRead && interrupt_requested()) {
      throw Error(ErrorKind::interrupted, fmt::format("{}: interrupted while reading it", shown_file(file)));
    }
    if (content.size() > max_bytes) {
      throw Error(ErrorKind::failure,
                  fmt::format("{}: is larger than {}, the most that is read here. Is it the right file?",
                              shown_file(file), binary_bytes(static_cast<double>(max_bytes))));
    }
  }
  return content;
}

std::string_view binary_kind(std::string_view content) {
  using namespace std::string_view_literals;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kMagic{
      {{"SQLite format 3\0"sv, "a SQLite database"},
       {"\x1f\x8b"sv, "a gzip file"},
       {"PK\x03\x04"sv, "a zip archive"},
       {"\x89HDF\r\n"sv, "an HDF5 file"},
       {"PAR1"sv, "a Parquet file"},
       {"\x7f"
        "ELF"sv,
        "a program"},
       {"%PDF-"sv, "a PDF file"}}};
  for (const auto& [magic, kind] : kMagic) {
    if (content.starts_with(magic)) return kind;
  }
  constexpr std::size_t kSafetensorsLength = 8;  // of the header, then its JSON
  if (content.size() > kSafetensorsLength && content.substr(kSafetensorsLength).starts_with(R"({"__metadata__")")) {
    return "a safetensors file";
  }
  return {};
}

void write_file_atomically(const fs::path& file, const std::string& content) {
  AtomicFile target(file);
  target.write(content);
  target.commit();
}

std::vector<fs::path> data_roots() {
  std::vector<fs::path> roots;
  if (const auto folder = data_dir_from_environment()) roots.push_back(*folder);
  if (const auto here = installation(); here && (roots.empty() || roots.front() != here->data)) {
    roots.push_back(here->data);
  }
  return roots;
}

fs::path find_data_file(const std::string& name, const std::string& folder, const std::string& what) {
  std::error_code error;
  const fs::file_status status = fs::status(name, error);
  if (fs::exists(status) && !fs::is_directory(status)) {
    return name;
  }
  const bool is_path = name.find('/') != std::string::npos || name.ends_with(".yaml") || name.ends_with(".yml");
  for (const fs::path& root : data_roots()) {
    const fs::path file = root / folder / (name + ".yaml");
    if (!is_path && !name.empty() && fs::is_regular_file(file, error)) {
      return file;
    }
  }
  const std::vector<std::string> known = list_data_files(folder);
  const std::string stem = fs::path(name).stem().string();
  const bool shipped = std::find(known.begin(), known.end(), stem) != known.end();
  const std::string nearest = shipped ? fmt::format(" Did you mean the {} '{}'?", what, stem) : "";
  if (fs::is_directory(status)) {
    throw Error(ErrorKind::usage, fmt::format("{}: is a folder. Give a file in it?{}", shown_file(name), nearest));
  }
  if (is_path) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: no such file.{}", shown_file(name), shipped ? nearest : did_you_mean(stem, known)));
  }
  if (known.empty()) {
    throw Error(
        ErrorKind::usage,
        fmt::format("unknown {} '{}': no folder {} with data was found (searched: {}). Set HINDSIGHT_DATA_DIR to a "
                    "folder that has one, as Hindsight's sources do",
                    what, printable(name), folder,
                    data_roots().empty() ? "the program's own" : join(as_texts(data_roots()), ", ")));
  }
  fail_unknown_name(what, name, known);
}

std::vector<std::string> list_data_files(const std::string& folder) {
  std::set<std::string> names;
  for (const fs::path& root : data_roots()) {
    std::error_code error;
    fs::directory_iterator entry(root / folder, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      std::error_code type_error;
      if (entry->path().extension() == ".yaml" && entry->is_regular_file(type_error)) {
        names.insert(entry->path().stem().string());
      }
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace hindsight
