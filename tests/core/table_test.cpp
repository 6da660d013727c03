/// Do tables align, fit the width they are given, and say what they left out?
#include "hindsight/core/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "core_fixture.h"
#include "hindsight/core/error.h"
#include "hindsight/core/terminal.h"

namespace hindsight {
namespace {

using testing::HasSubstr;
using testing::Not;

Table designs() {
  Table table;
  table.add_column("design", Align::left);
  table.add_column("latency", Align::right);
  table.add_column("energy", Align::right, 1);
  table.add_column("remark", Align::left, 2);
  table.add_row({"pes_x=4", "1.23 ms", "5.00 mJ", "best so far"});
  table.add_rule();
  table.add_row({"pes_x=16,µ", "12 µs", "", "ok"});
  return table;
}

std::size_t widest_line(const std::string& text) {
  std::istringstream in(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(in, line);) {
    widest = std::max(widest, display_width(line));
  }
  return widest;
}

TEST(Table, AlignsCharactersNotBytes) {
  EXPECT_EQ(designs().render(0),
            "design      latency   energy  remark\n"
            "-----------------------------------------\n"
            "pes_x=4     1.23 ms  5.00 mJ  best so far\n"
            "-----------------------------------------\n"
            "pes_x=16,µ    12 µs           ok\n");
  EXPECT_EQ(designs().row_count(), 2U);
}

TEST(Table, FitsAtItsWidthAndDropsOneBelow) {
  const Table table = designs();
  EXPECT_EQ(table.render(41), table.render(0));
  const std::string narrower = table.render(40);
  EXPECT_THAT(narrower, Not(HasSubstr("best so far")));
  EXPECT_THAT(narrower, HasSubstr("5.00 mJ"));
  EXPECT_THAT(narrower, HasSubstr("Not shown for lack of width: remark."));
}

TEST(Table, DropsByPriorityThenShortensTheFirstLeftColumn) {
  // design (10) + 2 + latency (7) = 19 cells remain without the two droppable columns.
  const std::string at_19 = designs().render(19);
  EXPECT_THAT(at_19, HasSubstr("pes_x=16,µ    12 µs\n"));
  EXPECT_THAT(at_19, Not(HasSubstr("5.00 mJ")));
  const std::string at_18 = designs().render(18);
  EXPECT_THAT(at_18, HasSubstr("pes_x=16…    12 µs\n"));
  EXPECT_THAT(at_18, HasSubstr("remark"));
}

TEST(Table, NeverWiderThanAsked) {
  std::mt19937_64 words(test::test_seed());
  const auto below = [&](std::uint64_t bound) { return words() % bound; };
  for (int round = 0; round < 2'000; ++round) {
    Table table;
    const std::uint64_t columns = 1 + below(6);
    for (std::uint64_t c = 0; c < columns; ++c) {
      table.add_column(std::string(below(12), 'h'), below(2) == 0 ? Align::left : Align::right,
                       static_cast<int>(below(3)));
    }
    for (std::uint64_t r = below(4); r > 0; --r) {
      std::vector<std::string> cells;
      for (std::uint64_t c = 0; c < columns; ++c) {
        std::string cell;
        for (std::uint64_t i = below(20); i > 0; --i) {
          cell += below(3) == 0 ? "µ" : below(5) == 0 ? "\x1b[1mb\x1b[0m" : "x";
        }
        cells.push_back(cell);
      }
      table.add_row(cells);
    }
    const int width = 1 + static_cast<int>(below(60));
    const std::string text = table.render(width);
    ASSERT_LE(widest_line(text), static_cast<std::size_t>(width)) << text;
    ASSERT_EQ(text.back(), '\n');
  }
}

TEST(Table, EscapeCodesTakeNoRoomAndAreClosed) {
  Table table;
  table.add_column("name", Align::left);
  table.add_column("x", Align::right);
  table.add_row({"\x1b[31mabcdefghijkl\x1b[0m", "1"});
  EXPECT_THAT(table.render(0), HasSubstr("\x1b[31mabcdefghijkl\x1b[0m  1\n"));
  EXPECT_THAT(table.render(11), HasSubstr("\x1b[31mabcdefg…\x1b[0m  1\n"));
}

TEST(Table, LineBreaksInCellsBecomeBlanks) {
  Table table;
  table.add_column("name", Align::left);
  table.add_row({"a\nb\tc"});
  EXPECT_THAT(table.render(0), HasSubstr("a b c\n"));
}

TEST(Table, RowsMayBeShortButNotLong) {
  Table table;
  table.add_column("a", Align::left);
  table.add_column("b", Align::left);
  table.add_row({"x"});
  EXPECT_EQ(table.render(0), "a  b\n----\nx\n");
  EXPECT_THROW(table.add_row({"x", "y", "z"}), ContractViolation);
}

TEST(Table, MarkdownEscapesBarsAndDropsColour) {
  Table table;
  table.add_column("name", Align::left);
  table.add_column("x", Align::right);
  table.add_row({"a|b", "\x1b[1m1\x1b[0m"});
  EXPECT_EQ(table.markdown(), "| name | x |\n|:---|---:|\n| a\\|b | 1 |\n");
}

TEST(Table, ChosenColumnsStandInTheirOrderAndAreNeverDropped) {
  Table table = designs();
  table.choose_columns({"Remark", "latency"});
  EXPECT_EQ(table.render(0).substr(0, table.render(0).find('\n')), "remark       latency");
  EXPECT_THAT(table.render(18), Not(HasSubstr("Not shown")));
  EXPECT_THAT(designs().render(18), HasSubstr("Not shown"));
  EXPECT_THAT(table.markdown(), HasSubstr("| best so far | 1.23 ms |"));
  try {
    table.choose_columns({"energy"});
    FAIL() << "it is not there any more";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), HasSubstr("--columns: unknown column 'energy'"));
  }
}

}  // namespace
}  // namespace hindsight
