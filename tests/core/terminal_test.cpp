/// Do width and colour follow the environment and the text?
#include "hindsight/core/terminal.h"

#include <gtest/gtest.h>

#include "core_fixture.h"

namespace hindsight {
namespace {

using test::ScopedVariable;

TEST(Terminal, ColumnsVariableWinsWithinBounds) {
  {
    const ScopedVariable columns("COLUMNS", "132");
    EXPECT_EQ(terminal_columns(Stream::out), 132);
  }
  {
    const ScopedVariable columns("COLUMNS", "10");
    EXPECT_EQ(terminal_columns(Stream::out), 40);
  }
  {
    const ScopedVariable columns("COLUMNS", "99999999999");
    EXPECT_EQ(terminal_columns(Stream::out), 100'000);
  }
  const ScopedVariable columns("COLUMNS", "-5");
  EXPECT_GE(terminal_columns(Stream::out), 40);
}

TEST(Terminal, DisplayWidthCountsCharactersNotBytesOrColour) {
  EXPECT_EQ(display_width(""), 0U);
  EXPECT_EQ(display_width("12 µs"), 5U);
  EXPECT_EQ(display_width("\x1b[1;31mbold\x1b[0m"), 4U);
  EXPECT_EQ(display_width("a\x1b[3"), 1U);  // cut off in the middle of a code
  EXPECT_EQ(display_width("\xff\xfe"), 2U);
}

TEST(Terminal, ShortenedCutsBetweenCharacters) {
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(shortened("abcd", 3), "ab…");
  EXPECT_EQ(shortened("µµµµ", 3), "µµ…");
  EXPECT_EQ(shortened("ab", 1), "…");
  EXPECT_EQ(shortened("ab", 0), "");
  EXPECT_EQ(shortened("\x1b[1mabcd\x1b[0m", 3), "\x1b[1mab…\x1b[0m");
}

TEST(Terminal, NoColourWhenAskedOrNotATerminal) {
  {
    const ScopedVariable no_color("NO_COLOR", "1");
    EXPECT_FALSE(use_colour(Stream::out));
    EXPECT_EQ(in_red("x", Stream::out), "x");
  }
  const ScopedVariable dumb("TERM", "dumb");
  EXPECT_FALSE(use_colour(Stream::err));
}

TEST(Terminal, WhatWasSetWinsOverTheEnvironment) {
  const ScopedVariable no_color("NO_COLOR", "1");
  set_colour_use(parse_colour_use("always"));
  EXPECT_EQ(in_red("x", Stream::out), "\x1b[31mx\x1b[0m");
  set_colour_use(parse_colour_use("never"));
  const ScopedVariable unset("NO_COLOR", ""), forced("CLICOLOR_FORCE", "1");
  EXPECT_FALSE(use_colour(Stream::out));
  set_colour_use(parse_colour_use("auto"));
  EXPECT_TRUE(use_colour(Stream::out));
  const ScopedVariable off("CLICOLOR_FORCE", "0");
  EXPECT_FALSE(use_colour(Stream::out) && !is_tty(Stream::out));
}

}  // namespace
}  // namespace hindsight
