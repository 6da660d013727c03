/// hindsight help: the documents that come along, in the terminal.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "command_tree.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/installation.h"
#include "hindsight/core/terminal.h"
#include "hindsight/core/text.h"
#include "hindsight/report/page.h"
#include "output.h"
#include "pages.h"

namespace hindsight::app {
namespace {

constexpr int kWidestPage = 100;  // [chosen] longer lines are hard to follow

std::vector<std::string> names_below(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* verb : verbs_below(program)) names.push_back(verb->get_name());
  return names;
}

}  // namespace

std::vector<Topic> help_topics(const CLI::App& program) {
  namespace fs = std::filesystem;
  const auto here = installation();
  if (!here) return {};
  const std::vector<std::string> verbs = names_below(program);
  std::vector<Topic> topics;
  std::error_code error;
  for (fs::directory_iterator entry(here->data / "docs", error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() != ".md") continue;
    const std::string stem = entry->path().stem().string();
    const bool is_verb = std::find(verbs.begin(), verbs.end(), stem) != verbs.end();
    topics.push_back({.name = is_verb ? stem + ".md" : stem,
                      .file = entry->path().string(),
                      .title = report::page_title(read_file(entry->path()))});
  }
  std::sort(topics.begin(), topics.end(), [](const Topic& a, const Topic& b) { return a.name < b.name; });
  return topics;
}

std::string topics_text(const CLI::App& program) {
  const std::vector<Topic> topics = help_topics(program);
  if (topics.empty()) return "\nDocuments: none are installed.\n";
  std::size_t widest = 0;
  for (const Topic& topic : topics) widest = std::max(widest, topic.name.size());
  std::string text = "\nDocuments (hindsight help NAME):\n";
  for (const Topic& topic : topics) text += fmt::format("  {:<{}}  {}\n", topic.name, widest, topic.title);
  return text;
}

int show_topic(const CLI::App& program, const std::string& word) {
  const std::vector<Topic> topics = help_topics(program);
  std::vector<std::string> known = names_below(program);
  for (const Topic& topic : topics) {
    if (topic.name == word || topic.name + ".md" == word) {
      const bool terminal = is_tty(Stream::out);
      const int columns = terminal ? std::min(output_columns(), kWidestPage) : kWidestPage;
      const auto style = use_colour(Stream::out) ? report::PageStyle::styled : report::PageStyle::plain;
      print_paged(report::page_text(read_file(topic.file), columns, style));
      return 0;
    }
    known.push_back(topic.name);
  }
  throw Error(ErrorKind::usage, fmt::format("help: '{}' is no document and no verb.{} See: hindsight help",
                                            printable(word), did_you_mean(word, known)));
}

}  // namespace hindsight::app
