/// Pages written from the tree of verbs and options, and the documents that come along.
#pragma once

#include <string>
#include <vector>

#include "verbs.h"

namespace hindsight::app {

/// A manual page (man 7 groff_man) of the program or of a verb.
[[nodiscard]] std::string man_page(const CLI::App& verb);
/// "hindsight", "hindsight-log-show".
[[nodiscard]] std::string man_page_name(const CLI::App& verb);
/// A Markdown section per verb with a table of its options: docs/options.md.
[[nodiscard]] std::string option_pages(const CLI::App& program);
/// Writes what an installation has of the tree below `folder`: man pages and completions.
void write_pages(const CLI::App& program, const std::string& folder);

/// A document, by the word behind `hindsight help`.
struct Topic {
  std::string name;  ///< the file's, with ".md" where a verb has the same name
  std::string file;
  std::string title;  ///< its first heading
};
/// The documents of this installation by name; empty where there are none.
[[nodiscard]] std::vector<Topic> help_topics(const CLI::App& program);
/// "Topics: ..." for a terminal.
[[nodiscard]] std::string topics_text(const CLI::App& program);
/// Shows a document, on a terminal page by page. Error{usage} for an unknown word, with the nearest topic or verb.
int show_topic(const CLI::App& program, const std::string& word);

}  // namespace hindsight::app
