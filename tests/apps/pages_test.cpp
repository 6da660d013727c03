/// Do pages say what the table of options says, and are the documents there without a browser?
#include "apps/hindsight/pages.h"

#include <sys/wait.h>

#include <cstdlib>

#include "apps/app_fixture.h"
#include "apps/hindsight/command_tree.h"
#include "hindsight/core/text.h"
#include "repository.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Pages : public AppTest {
 protected:
  Pages() {
    describe_program(app_);
    add_verbs(app_, session_);
  }
  Session session_;
  CLI::App app_;
};

TEST_F(Pages, TheOptionsPageIsWhatTheTablePrints) {
  const std::string page = read_file(hindsight::test::repository() / "docs" / "options.md");
  const std::string begin = "<!-- prints: hindsight __options -->\n", end = "<!-- end -->";
  const std::size_t from = page.find(begin) + begin.size(), to = page.find(end);
  ASSERT_NE(to, std::string::npos);
  EXPECT_EQ(page.substr(from, to - from), hindsight({"__options"}).out) << "Run scripts/update-docs.sh docs/options.md";
}

TEST_F(Pages, CommandLinePageNamesEveryVerb) {
  const std::string page = read_file(hindsight::test::repository() / "docs" / "cli.md");
  for (const CLI::App* verb : verbs_below(app_))
    EXPECT_THAT(page, HasSubstr("`" + verb->get_name())) << verb->get_name();
}

TEST_F(Pages, CommandLinePageListsVerbsInTheProgramsWords) {
  const std::string page = read_file(hindsight::test::repository() / "docs" / "cli.md");
  const std::string options = hindsight({"__options"}).out;
  std::size_t verbs = 0;
  for (std::size_t at = options.find("## "); at != std::string::npos; at = options.find("\n## ", at)) {
    at = options.find("## ", at) + 3;
    const std::size_t end = options.find('\n', at), about = end + 2;
    const std::string verb = options.substr(at, end - at);
    EXPECT_THAT(page,
                HasSubstr("| `" + verb + "` | " + options.substr(about, options.find('\n', about) - about) + " |"))
        << "Run scripts/update-docs.sh docs/cli.md";
    ++verbs;
  }
  EXPECT_GT(verbs, 30U);
}

TEST_F(Pages, EveryVerbHasAManPageWithAllItsOptions) {
  write_pages(app_, file("pages"));
  for (const CLI::App* verb : all_verbs(app_)) {
    const std::string page = read_file(folder_ / "pages" / "man1" / (man_page_name(*verb) + ".1"));
    for (const CLI::Option* option : verb->get_options()) {
      for (std::string name : spellings(*option)) {
        for (std::size_t i = 0; (i = name.find('-', i)) != std::string::npos; i += 2) name.replace(i, 1, "\\-");
        EXPECT_THAT(page, HasSubstr("\\fB" + name + "\\fR"));
      }
    }
  }
  EXPECT_TRUE(std::filesystem::exists(folder_ / "pages" / "man1" / "hindsight.1"));
  if (std::system("command -v groff >/dev/null") != 0) GTEST_SKIP() << "no groff reads the pages";
  EXPECT_EQ(std::system(("cd " + file("pages/man1") +
                         " && for page in *.1; do groff -ww -man -Tutf8 \"$page\"; done 2>../said >/dev/null")
                            .c_str()),
            0);
  EXPECT_EQ(read_file(folder_ / "pages" / "said"), "");
}

TEST_F(Pages, HelpShowsDocuments) {
  const std::string list = hindsight({"help"}).out;
  for (const char* part : {"log-schema", "check.md", "Design spaces"}) EXPECT_THAT(list, HasSubstr(part));
  const Outcome page = hindsight({"help", "spaces"});
  EXPECT_EQ(page.exit_code, 0);
  EXPECT_THAT(page.out, ::testing::StartsWith("Design spaces\n"));
  EXPECT_THAT(page.out, Not(HasSubstr("](")));
  EXPECT_EQ(hindsight({"help", "check"}).out, hindsight({"check", "--help"}).out);
  EXPECT_THAT(hindsight({"help", "check.md"}).out, ::testing::StartsWith("A design against GPUs\n"));
  expect_one_line_error(hindsight({"help", "trainig"}), 2, "Did you mean 'training'?");
}

TEST_F(Pages, APagerIsForTerminalsAlone) {
  const Surroundings loud{.environment = {{"PAGER", "echo paged; cat"}}};
  EXPECT_THAT(hindsight({"help", "spaces"}, loud).out, Not(HasSubstr("paged")));
}

}  // namespace
}  // namespace hindsight::app::test
