/// Markdown as the documents of Hindsight use it, filled and indented for a terminal.
#include "hindsight/report/page.h"

#include <algorithm>
#include <vector>

#include "hindsight/core/table.h"
#include "hindsight/core/terminal.h"
#include "hindsight/core/text.h"

namespace hindsight::report {
namespace {

constexpr int kNarrowest = 40;  // [chosen] as the terminal's width elsewhere

std::string emphasised(std::string_view text, PageStyle style) {
  return style == PageStyle::styled ? "\x1b[1m" + std::string(text) + "\x1b[0m" : std::string(text);
}

/// "[words](target)" at `position` of `text`: its end behind the bracket, or npos.
struct Link {
  std::size_t end = std::string_view::npos;
  std::string_view words, target;
};
Link link_at(std::string_view text, std::size_t position) {
  const std::size_t middle = text.find("](", position);
  if (middle == std::string_view::npos) return {};
  const std::size_t nested = text.find('[', position + 1);
  if (nested < middle) return {};
  const std::size_t close = text.find(')', middle);
  if (close == std::string_view::npos) return {};
  return {.end = close + 1,
          .words = text.substr(position + 1, middle - position - 1),
          .target = text.substr(middle + 2, close - middle - 2)};
}

/// A line's marks as words: links without their targets but for web pages, no stars and backticks.
std::string inline_text(std::string_view text, PageStyle style) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text.substr(i, 2) == "**") {
      const std::size_t end = text.find("**", i + 2);
      if (end != std::string_view::npos) {
        out += emphasised(inline_text(text.substr(i + 2, end - i - 2), PageStyle::plain), style);
        i = end + 2;
        continue;
      }
    }
    const bool picture = text.substr(i, 2) == "![";
    if (picture || text[i] == '[') {
      const Link link = link_at(text, i + (picture ? 1 : 0));
      if (link.end != std::string_view::npos) {
        out += (picture ? "[picture: " : "") + inline_text(link.words, style) + (picture ? "]" : "");
        if (link.target.starts_with("http")) out += " (" + std::string(link.target) + ")";
        i = link.end;
        continue;
      }
    }
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    if (text[i] != '`') out += text[i];
    ++i;
  }
  return out;
}

/// Words of `text` in lines of at most `columns`, the first behind `first`, the others behind as many blanks.
std::string filled(std::string_view text, std::string_view first, std::size_t columns) {
  std::string out, line(first);
  std::size_t words = 0;
  for (const std::string& word : split(text, ' ')) {
    if (word.empty()) continue;
    if (words > 0 && display_width(line) + 1 + display_width(word) > columns) {
      out += line + "\n";
      line = std::string(display_width(first), ' ');
      words = 0;
    }
    line += (words++ > 0 ? " " : "") + word;
  }
  return words > 0 ? out + line + "\n" : out;
}

std::vector<std::string> cells_of(std::string_view row) {
  std::vector<std::string> cells(1);
  for (std::size_t i = 1; i < row.size(); ++i) {
    if (row[i] == '\\' && i + 1 < row.size() && row[i + 1] == '|') {
      cells.back() += '|';
      ++i;
    } else if (row[i] == '|') {
      cells.emplace_back();
    } else {
      cells.back() += row[i];
    }
  }
  if (trimmed(cells.back()).empty()) cells.pop_back();
  for (std::string& cell : cells) cell = std::string(trimmed(cell));
  return cells;
}

class Page {
 public:
  Page(int columns, PageStyle style)
      : columns_(static_cast<std::size_t>(std::max(columns, kNarrowest))), style_(style) {}

  void add(std::string_view line) {
    if (comment_ || line.starts_with("<!--")) {
      comment_ = line.find("-->") == std::string_view::npos;
      return;
    }
    if (line.starts_with("```")) {
      flush();
      code_ = !code_;
    } else if (code_ || (line.starts_with("    ") && paragraph_.empty() && bullet_.empty())) {
      flush();
      text_ += (code_ ? "    " : "") + std::string(line) + "\n";
    } else if (line.starts_with("|")) {
      if (rows_.empty()) flush();
      rows_.push_back(cells_of(line));
    } else {
      add_words(line);
    }
  }
  std::string take() {
    flush();
    return std::move(text_);
  }

 private:
  void add_words(std::string_view line) {
    const std::string_view words = trimmed(line);
    if (words.empty()) {
      flush();
      if (!text_.empty() && !text_.ends_with("\n\n")) text_ += "\n";
    } else if (line.starts_with("#")) {
      flush();
      text_ +=
          emphasised(inline_text(trimmed(line.substr(line.find_first_not_of('#'))), PageStyle::plain), style_) + "\n";
    } else if (words.starts_with("- ")) {
      flush();
      bullet_ = std::string(line.substr(0, line.find('-') + 2));
      paragraph_ = std::string(words.substr(2));
    } else {
      if (!rows_.empty()) flush();
      paragraph_ += (paragraph_.empty() ? "" : " ") + std::string(words);
    }
  }

  void flush() {
    if (!paragraph_.empty()) text_ += filled(inline_text(paragraph_, style_), bullet_, columns_);
    paragraph_.clear();
    bullet_.clear();
    if (!rows_.empty()) text_ += table();
    rows_.clear();
  }

  [[nodiscard]] std::string table() const {
    if (rows_.size() < 2) return "";
    Table aligned;
    for (const std::string& header : rows_.front()) aligned.add_column(inline_text(header, style_), Align::left);
    std::string by_row;
    for (std::size_t r = 2; r < rows_.size(); ++r) {
      std::vector<std::string> cells(rows_.front().size());
      for (std::size_t c = 0; c < std::min(cells.size(), rows_[r].size()); ++c) {
        cells[c] = inline_text(rows_[r][c], PageStyle::plain);
        if (cells[c].empty()) continue;
        const std::string header = inline_text(rows_.front()[c], PageStyle::plain);
        by_row += c == 0 ? filled(cells[c], "", columns_)
                         : filled(rows_.front().size() > 2 ? header + ": " + cells[c] : cells[c], "    ", columns_);
      }
      aligned.add_row(std::move(cells));
    }
    const std::string text = aligned.render(0);
    for (const std::string& line : split(text, '\n')) {
      if (display_width(line) > columns_) return by_row;
    }
    return text;
  }

  std::size_t columns_;
  PageStyle style_;
  bool code_ = false, comment_ = false;
  std::string text_, paragraph_, bullet_;
  std::vector<std::vector<std::string>> rows_;
};

/// Calls `line` for every line of a text.
template <class Callable>
void for_each_line(std::string_view text, Callable line) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

std::string page_text(std::string_view markdown, int columns, PageStyle style) {
  Page page(columns, style);
  for_each_line(markdown, [&](std::string_view line) { page.add(line); });
  return page.take();
}

std::string page_title(std::string_view markdown) {
  std::string title;
  for_each_line(markdown, [&](std::string_view line) {
    if (title.empty() && line.starts_with("# ")) title = inline_text(trimmed(line.substr(2)), PageStyle::plain);
  });
  return title;
}

}  // namespace hindsight::report
