/// Are designs told apart by what differs, in lines that fit?
#include "hindsight/report/design_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "hindsight/core/terminal.h"
#include "hindsight/space/short_id.h"

namespace hindsight::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string design(int lanes, const std::string& memory, int pes = 4) {
  return "pes_x=" + std::to_string(pes) + ",compute_lanes=" + std::to_string(lanes) + ",core_memory_bytes=" + memory;
}

int lines_of(const std::string& text) { return static_cast<int>(std::count(text.begin(), text.end(), '\n')); }

TEST(DesignTable, ShowsOnceWhatAllHaveAlikeAndSideBySideWhatDiffers) {
  const std::string a = design(16, "8192"), b = design(32, "8192"), c = design(64, "16384");
  const std::string text = design_table({a, b, c}, DesignHeads::ids, DesignStyle::compact, 80);
  EXPECT_THAT(text, HasSubstr("all: pes_x=4\n"));
  EXPECT_THAT(text, ::testing::ContainsRegex("design +" + space::short_id(a) + "  " + space::short_id(b) + "  " +
                                             space::short_id(c) + "\n"));
  EXPECT_THAT(text, ::testing::ContainsRegex("compute_lanes +16 +32 +64\n"));
  EXPECT_THAT(text, ::testing::ContainsRegex("core_memory_bytes +8192 +8192 +16384\n"));
  EXPECT_THAT(text, Not(HasSubstr("pes_x  ")));
}

TEST(DesignTable, SaysNothingOfAllWhereAllDiffers) {
  EXPECT_THAT(design_table({"a=1,b=2", "a=2,b=3"}, DesignHeads::ids, DesignStyle::compact, 80), Not(HasSubstr("all:")));
}

TEST(DesignTable, BreaksIntoAsManyTablesAsTheWidthAsksFor) {
  std::vector<std::string> designs;
  for (int i = 0; i < 12; ++i) designs.push_back(design(i, "8192"));
  for (const int columns : {40, 80, 120}) {
    const std::string text = design_table(designs, DesignHeads::ids, DesignStyle::compact, columns);
    for (const std::string& one : designs) EXPECT_THAT(text, HasSubstr(space::short_id(one)));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(display_width(line), static_cast<std::size_t>(columns)) << line;
    }
  }
  EXPECT_LT(lines_of(design_table(designs, DesignHeads::ids, DesignStyle::compact, 120)),
            lines_of(design_table(designs, DesignHeads::ids, DesignStyle::compact, 40)));
}

TEST(DesignTable, WholeDesignsCanBeCopied) {
  const std::string a = design(16, "8192"), b = design(32, "8192");
  EXPECT_EQ(design_table({a, b}, DesignHeads::ids, DesignStyle::whole, 0),
            space::short_id(a) + "  " + a + "\n" + space::short_id(b) + "  " + b + "\n");
  EXPECT_EQ(design_table({a, b}, DesignHeads::ids, DesignStyle::compact, 0),
            design_table({a, b}, DesignHeads::ids, DesignStyle::whole, 0))
      << "pipes and files have no width";
  EXPECT_EQ(design_table({a}, DesignHeads::ids, DesignStyle::compact, 80), space::short_id(a) + "  " + a + "\n");
  EXPECT_EQ(design_table({}, DesignHeads::ids, DesignStyle::compact, 0), "");
}

TEST(DesignTable, ADesignThatStandsTwiceIsShownOnce) {
  const std::string a = design(16, "8192"), b = design(32, "8192");
  EXPECT_EQ(design_table({a, b, a}, DesignHeads::ids, DesignStyle::compact, 80),
            design_table({a, b}, DesignHeads::ids, DesignStyle::compact, 80));
}

TEST(DesignTable, NumbersStandBeforeIds) {
  const std::string a = design(16, "8192"), b = design(32, "8192");
  EXPECT_THAT(design_table({a, a, b}, DesignHeads::numbers, DesignStyle::compact, 80),
              ::testing::ContainsRegex("design +1 " + space::short_id(a) + "  3 " + space::short_id(b) + "\n"));
  EXPECT_THAT(design_table({a, b}, DesignHeads::numbers, DesignStyle::whole, 0),
              HasSubstr("2 " + space::short_id(b) + "  " + b + "\n"));
}

TEST(DesignTable, DesignsOfSeveralSpacesAreWhole) {
  for (const std::string& other : {std::string("tile=8"), std::string("pes_x=4,tile=8,core_memory_bytes=1")}) {
    const std::string text = design_table({design(16, "8192"), other}, DesignHeads::ids, DesignStyle::compact, 0);
    EXPECT_THAT(text, HasSubstr(other + "\n"));
    EXPECT_THAT(text, HasSubstr(design(16, "8192") + "\n"));
  }
}

}  // namespace
}  // namespace hindsight::report
