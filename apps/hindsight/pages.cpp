/// Writes man pages and option tables from the tree that parses the command line.
#include "pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "command_tree.h"
#include "completion.h"
#include "hindsight/core/files.h"
#include "hindsight/core/provenance.h"

namespace hindsight::app {
namespace {

/// Text of a man page: no character of it is an order to roff.
std::string roff(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins_line = i == 0 || text[i - 1] == '\n';
    if (begins_line && (text[i] == '.' || text[i] == '\'')) out += "\\&";
    if (text[i] == '\\') {
      out += "\\e";
    } else if (text[i] == '-') {
      out += "\\-";
    } else if (text[i] == '\'') {
      out += "\\(aq";
    } else if (text[i] == '`') {
      out += "\\(ga";
    } else if (text[i] == '^' || text[i] == '~') {
      out += text[i] == '^' ? "\\(ha" : "\\(ti";
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string usage_line(const CLI::App& verb) {
  std::string line = full_name(verb);
  if (!verbs_below(verb).empty()) line += " VERB";
  for (const CLI::Option* option : positionals_of(verb)) {
    const std::string name = option->get_single_name();
    const std::string many = option->get_items_expected_max() > 1 ? "..." : "";
    line += option->get_required() && !option->nonpositional() ? fmt::format(" {}{}", name, many)
                                                               : fmt::format(" [{}{}]", name, many);
  }
  return line + " [OPTIONS]";
}

std::string man_options(const CLI::App& verb) {
  std::string text;
  for (const CLI::Option* option : verb.get_options()) {
    std::string names;
    for (const std::string& name : spellings(*option)) {
      names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", roff(name));
    }
    if (names.empty()) names = "\\fI" + roff(option->get_single_name()) + "\\fR";
    if (const std::string value = value_name(*option); !value.empty()) names += " \\fI" + roff(value) + "\\fR";
    text += fmt::format(".TP\n{}\n{}{}\n", names, roff(description_line(*option)),
                        option->get_required() ? " (required)" : "");
  }
  return text;
}

/// What a verb does, with the full stop that its help leaves out; a question has its own mark.
std::string described(const CLI::App& verb) {
  const std::string text = verb.get_description();
  return text + (text.ends_with('?') ? "" : ".");
}

std::string man_verbs(const CLI::App& group) {
  std::string text;
  for (const CLI::App* verb : verbs_below(group)) {
    text += fmt::format(".TP\n\\fB{}\\fR\n{} See \\fB{}\\fR(1).\n", roff(verb->get_name()), roff(described(*verb)),
                        roff(man_page_name(*verb)));
  }
  return text;
}

constexpr const char* kManEnd =
    ".SH EXIT STATUS\n"
    "0 done; 1 the run failed; 2 usage; 3 infeasible; 4 an incompatible or damaged file;\n"
    "5 not built in, or no such device; 70 a bug in Hindsight; 130 interrupted by Ctrl-C,\n"
    "143 by SIGTERM, 129 by SIGHUP.\n"
    ".SH ENVIRONMENT\n"
    ".TP\n\\fBHINDSIGHT_DATA_DIR\\fR\nA folder with configs/ and data/ of your own, searched before the shipped ones.\n"
    ".TP\n\\fBHINDSIGHT_\\fIVERB\\fB_\\fIOPTION\\fR\nThe default of an option; see \\fBhindsight help defaults\\fR.\n"
    ".TP\n\\fBNO_COLOR\\fR, \\fBCLICOLOR_FORCE\\fR, \\fBCOLUMNS\\fR, \\fBPAGER\\fR\n"
    "No colours; colours in pipes; the width of tables; what shows documents.\n"
    ".SH FILES\n"
    ".TP\n\\fI.hindsight.yaml\\fR, \\fI~/.config/hindsight/config.yaml\\fR\n"
    "Defaults of a project and of a user; see \\fBhindsight help defaults\\fR.\n";

std::string markdown_cell(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : c == '<' ? std::string("&lt;") : std::string(1, c);
  return out;
}

/// Writes a file only where its content differs, so that builds touch nothing in vain.
void write_page(const std::filesystem::path& file, const std::string& content) {
  std::error_code error;
  if (std::filesystem::exists(file, error) && read_file(file) == content) return;
  std::filesystem::create_directories(file.parent_path());
  write_file_atomically(file, content);
}

void write_man_pages(const CLI::App& verb, const std::filesystem::path& folder) {
  write_page(folder / (man_page_name(verb) + ".1"), man_page(verb));
  for (const CLI::App* below : verbs_below(verb)) write_man_pages(*below, folder);
}

}  // namespace

std::string man_page_name(const CLI::App& verb) {
  std::string name = full_name(verb);
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string man_page(const CLI::App& verb) {
  std::string title = man_page_name(verb);
  std::transform(title.begin(), title.end(), title.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  std::string description = verb.get_description();
  if (description.ends_with('.')) description.pop_back();
  std::string text = ".\\\" Written by the program from its table of options.\n";
  text += fmt::format(".TH {} 1 \"\" \"hindsight {}\" \"Hindsight\"\n", roff(title), build_info().version);
  text += fmt::format(".SH NAME\n{} \\- {}\n", roff(man_page_name(verb)), roff(description));
  text += fmt::format(".SH SYNOPSIS\n.nf\n\\fB{}\\fR\n.fi\n", roff(usage_line(verb)));
  if (!verbs_below(verb).empty()) text += ".SH VERBS\n" + man_verbs(verb);
  text += ".SH OPTIONS\n" + man_options(verb);
  if (!verb.get_footer().empty()) text += ".SH NOTES\n.nf\n" + roff(verb.get_footer()) + "\n.fi\n";
  text += kManEnd;
  text += ".SH SEE ALSO\n";
  if (verb.get_parent() != nullptr) text += fmt::format("\\fB{}\\fR(1); ", roff(man_page_name(*verb.get_parent())));
  return text + "\\fBhindsight help\\fR shows the documents.\n";
}

std::string option_pages(const CLI::App& program) {
  std::string text;
  for (const CLI::App* verb : all_verbs(program)) {
    text += fmt::format("## {}\n\n{}\n\n", verb_path(*verb), described(*verb));
    text += "| option | value | what it does |\n|---|---|---|\n";
    for (const CLI::Option* option : verb->get_options()) {
      std::string names;
      for (const std::string& name : spellings(*option)) names += (names.empty() ? "`" : ", `") + name + "`";
      if (option->get_positional()) {
        const std::string argument = "`" + option->get_single_name() + "`";
        names = names.empty() ? "argument " + argument : "argument, or " + names;
      }
      const std::string value = value_name(*option);
      text += fmt::format("| {} | {}{} | {} |\n", names, markdown_cell(value),
                          option->get_required() ? (value.empty() ? "required" : ", required") : "",
                          markdown_cell(description_line(*option)));
    }
    text += "\n";
  }
  return text;
}

void write_pages(const CLI::App& program, const std::string& folder) {
  const std::filesystem::path root = folder;
  write_man_pages(program, root / "man1");
  write_page(root / "bash" / "hindsight", completion_script("bash"));
  write_page(root / "zsh" / "_hindsight", completion_script("zsh"));
  write_page(root / "fish" / "hindsight.fish", completion_script("fish"));
}

}  // namespace hindsight::app
