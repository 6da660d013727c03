/// Do cells keep their texts and places, however few of them differ, and in few bytes?
#include "hindsight/dataset/table_cells.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace hindsight::dataset {
namespace {

using ::testing::ElementsAre;

TEST(TableCells, KeepEveryTextOfManyRows) {
  std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same texts every time
  std::vector<std::vector<std::string>> wanted;
  TableCells cells;
  cells.widen(3);
  for (std::size_t row = 0; row < 5000; ++row) {
    std::vector<std::string> texts;
    cells.add_row();
    for (std::size_t column = 0; column < 3; ++column) {
      // Empty ones, few that repeat, and many that do not and are longer than a string holds in itself.
      const auto kind = random() % 3;
      const std::string number = std::to_string(random() % (kind == 1 ? 10 : 1'000'000));
      texts.push_back(kind == 0 ? "" : kind == 1 ? number : std::string(40, 'x') + number);
      cells.set(row, column, texts.back());
    }
    wanted.push_back(texts);
  }
  ASSERT_EQ(cells.size(), wanted.size());
  for (std::size_t row = 0; row < wanted.size(); ++row) {
    ASSERT_THAT(cells[row], testing::ElementsAreArray(wanted[row])) << row;
  }
}

TEST(TableCells, GetColumnsThatAreEmptyInEarlierRows) {
  TableCells cells;
  cells.add_row();  // of no column
  for (std::size_t columns = 1; columns <= 5; ++columns) {
    cells.widen(columns);
    cells.add_row();
    cells.set(columns, columns - 1, "x" + std::to_string(columns));
  }
  cells.set(2, 0, "changed");
  EXPECT_THAT(cells, ElementsAre(ElementsAre("", "", "", "", ""), ElementsAre("x1", "", "", "", ""),
                                 ElementsAre("changed", "x2", "", "", ""), ElementsAre("", "", "x3", "", ""),
                                 ElementsAre("", "", "", "x4", ""), ElementsAre("", "", "", "", "x5")));
  TableCells copy = cells;
  EXPECT_EQ(copy, cells);
  copy.set(0, 0, "other");
  EXPECT_FALSE(copy == cells);
}

TEST(CellPlaces, KnowLinesWithinRowsAlsoWhereTheyComeLate) {
  CellPlaces places;
  using Places = std::vector<CellPlace>;
  places.add_row(Places{{.line = 2, .column = 1}, {.line = 2, .column = 5}});
  places.add_row(Places{{.line = 3, .column = 2}, {.line = 5, .column = 7}});  // the first cell takes three lines
  places.add_row(Places{{.line = 6, .column = 1}, {.line = 6, .column = 3}});
  const auto at = [&](std::size_t row, std::size_t column) {
    return std::pair(places[row][column].line, places[row][column].column);
  };
  EXPECT_EQ(at(0, 1), std::pair(2U, 5U));
  EXPECT_EQ(at(1, 0), std::pair(3U, 2U));
  EXPECT_EQ(at(1, 1), std::pair(5U, 7U));
  EXPECT_EQ(at(2, 1), std::pair(6U, 3U));
}

TEST(CellPlaces, AreLinesWhereCellsHaveNoColumns) {
  CellPlaces places;
  places.add_row(7);
  places.add_row(9);
  EXPECT_EQ(places.size(), 2U);
  EXPECT_EQ(places[1][100].line, 9U);
  EXPECT_EQ(places[1][100].column, 0U);
}

}  // namespace
}  // namespace hindsight::dataset
