/// Is a document readable in a terminal?
#include "hindsight/report/page.h"

#include <gtest/gtest.h>

namespace hindsight::report {
namespace {

constexpr const char* kDocument =
    "# Title of `it`\n"
    "\n"
    "<!-- prints: x -->\n"
    "Words **that** go on for longer than forty columns, with a [link](other.md) and [one](https://a.b).\n"
    "- first point that is\n"
    "  continued on a line of its own\n"
    "- second\n"
    "\n"
    "```\n"
    "code  stays [as](it) is, however long it is, wider than forty columns\n"
    "```\n"
    "| a | b |\n"
    "|---|---|\n"
    "| 1 | `x\\|y` |\n";

TEST(Page, IsFilledAndIndented) {
  EXPECT_EQ(page_text(kDocument, 40, PageStyle::plain),
            "Title of it\n"
            "\n"
            "Words that go on for longer than forty\n"
            "columns, with a link and one\n"
            "(https://a.b).\n"
            "- first point that is continued on a\n"
            "  line of its own\n"
            "- second\n"
            "\n"
            "    code  stays [as](it) is, however long it is, wider than forty columns\n"
            "a  b\n"
            "------\n"
            "1  x|y\n");
  EXPECT_EQ(page_title(kDocument), "Title of it");
}

TEST(Page, WritesATableRowByRowWhereItIsTooWide) {
  EXPECT_EQ(page_text("| name | what it is |\n|---|---|\n| `x` | a cell that alone is wider than forty columns |\n", 40,
                      PageStyle::plain),
            "x\n"
            "    a cell that alone is wider than\n"
            "    forty columns\n");
}

TEST(Page, StressesOnTerminalsAlone) {
  EXPECT_EQ(page_text("## A\n**b** c\n", 80, PageStyle::styled), "\x1b[1mA\x1b[0m\n\x1b[1mb\x1b[0m c\n");
  EXPECT_EQ(page_text("## A\n**b** c\n", 80, PageStyle::plain), "A\nb c\n");
  EXPECT_EQ(page_text("broken [link](without end\n", 80, PageStyle::plain), "broken [link](without end\n");
  EXPECT_EQ(page_text("", 80, PageStyle::plain), "");
}

}  // namespace
}  // namespace hindsight::report
