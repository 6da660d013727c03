/// Splits sources into lines, includes, comments and code.
#include "checks/source_text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>

namespace hindsight::checks {
namespace {

namespace fs = std::filesystem;

bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string_view trim_left(std::string_view text) {
  const auto* begin = std::find_if_not(text.begin(), text.end(), is_blank);
  return text.substr(static_cast<std::size_t>(begin - text.begin()));
}

/// Position after the literal that starts at `at` (a quote), or the end of the text.
std::size_t end_of_literal(std::string_view source, std::size_t at) {
  const char quote = source[at];
  for (std::size_t i = at + 1; i < source.size(); ++i) {
    if (source[i] == '\\') {
      ++i;
    } else if (source[i] == quote || source[i] == '\n') {
      return i + 1;
    }
  }
  return source.size();
}

/// Position after the raw string literal whose quote is at `at`.
std::size_t end_of_raw_literal(std::string_view source, std::size_t at) {
  const std::size_t open = source.find('(', at);
  if (open == std::string_view::npos) return source.size();
  const std::string close = ")" + std::string(source.substr(at + 1, open - at - 1)) + "\"";
  const std::size_t end = source.find(close, open);
  return end == std::string_view::npos ? source.size() : end + close.size();
}

bool is_identifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

void blank(std::string& text, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    if (text[i] != '\n') text[i] = ' ';
  }
}

enum class Piece { comment, literal, code };

/// Calls visit(begin, end, piece) for the pieces of a source, in order; code comes character by character.
template <typename Visit>
void for_each_piece(std::string_view source, const Visit& visit) {
  for (std::size_t i = 0; i < source.size();) {
    std::size_t end = i + 1;
    Piece piece = Piece::code;
    if (source.substr(i, 2) == "//") {
      end = std::min(source.find('\n', i), source.size());
      piece = Piece::comment;
    } else if (source.substr(i, 2) == "/*") {
      const std::size_t close = source.find("*/", i + 2);
      end = close == std::string_view::npos ? source.size() : close + 2;
      piece = Piece::comment;
    } else if (source[i] == '"') {
      end = i > 0 && source[i - 1] == 'R' ? end_of_raw_literal(source, i) : end_of_literal(source, i);
      piece = Piece::literal;
    } else if (source[i] == '\'' && (i == 0 || !is_identifier(source[i - 1]))) {  // not the separator in 1'000
      end = end_of_literal(source, i);
      piece = Piece::literal;
    }
    visit(i, end, piece);
    i = end;
  }
}

/// Shell-quotes a path for popen.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c;
    }
  }
  return result + "'";
}

/// Paths that git lists, or nothing when `root` is no checkout or git is missing.
std::vector<fs::path> listed_by_git(const fs::path& root) {
  std::vector<fs::path> files;
  if (!fs::exists(root / ".git")) return files;
  const std::string command =
      "git -C " + quoted(root.string()) + " ls-files -z --cached --others --exclude-standard 2>/dev/null";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  if (!pipe) return files;
  std::string output;
  std::array<char, 4096> buffer{};
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe.get())) > 0;) {
    output.append(buffer.data(), n);
  }
  for (std::size_t begin = 0, end = 0; (end = output.find('\0', begin)) != std::string::npos; begin = end + 1) {
    fs::path file = output.substr(begin, end - begin);
    if (fs::is_regular_file(root / file)) files.push_back(std::move(file));  // a deleted file is still listed
  }
  return files;
}

}  // namespace

std::string read_text(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (!stream) throw std::runtime_error(file.string() + ": cannot be read");
  return text;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::vector<Include> includes_of(std::string_view source) {
  std::vector<Include> includes;
  std::size_t number = 0;
  for (std::string_view line : lines_of(source)) {
    ++number;
    line = trim_left(line);
    if (!line.starts_with('#')) continue;
    line = trim_left(line.substr(1));
    if (!line.starts_with("include")) continue;
    line = trim_left(line.substr(std::string_view("include").size()));
    if (!line.starts_with('<') && !line.starts_with('"')) continue;
    const bool angled = line.front() == '<';
    const std::size_t end = line.find(angled ? '>' : '"', 1);
    if (end == std::string_view::npos) continue;
    includes.push_back({.target = std::string(line.substr(1, end - 1)), .angled = angled, .line = number});
  }
  return includes;
}

std::string comments_of(std::string_view source) {
  std::string comments(source);
  for_each_piece(source, [&](std::size_t begin, std::size_t end, Piece piece) {
    if (piece != Piece::comment) blank(comments, begin, end);
  });
  return comments;
}

std::string code_of(std::string_view source) {
  std::string code(source);
  for_each_piece(source, [&](std::size_t begin, std::size_t end, Piece piece) {
    if (piece != Piece::code) blank(code, begin, end);
  });
  bool directive = false;
  for (std::size_t begin = 0, end = 0; begin < code.size(); begin = end + 1) {
    end = std::min(code.find('\n', begin), code.size());
    const std::string_view line = std::string_view(code).substr(begin, end - begin);
    directive = directive || trim_left(line).starts_with('#');
    const bool goes_on = line.ends_with('\\');
    if (directive) blank(code, begin, end);
    directive = directive && goes_on;
  }
  return code;
}

bool is_source(const fs::path& file) {
  const fs::path extension = file.extension();
  return extension == ".h" || extension == ".cpp" || extension == ".cu" || extension == ".cuh" || extension == ".inc";
}

std::vector<fs::path> files_under(const fs::path& root, const fs::path& folder) {
  std::vector<fs::path> files;
  if (!fs::is_directory(root / folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path().lexically_relative(root));
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<fs::path> repository_files(const fs::path& root) {
  std::vector<fs::path> files = listed_by_git(root);
  if (files.empty()) {
    for (const auto& entry : fs::directory_iterator(root)) {
      const std::string name = entry.path().filename().string();
      if (entry.is_regular_file()) {
        files.emplace_back(name);
      } else if (entry.is_directory() && name != ".git" && !name.starts_with("build")) {
        const std::vector<fs::path> below = files_under(root, name);
        files.insert(files.end(), below.begin(), below.end());
      }
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace hindsight::checks
