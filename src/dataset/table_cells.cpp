/// Texts of cells in a hash table of their numbers.
#include "hindsight/dataset/table_cells.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "hindsight/core/error.h"

namespace hindsight::dataset {

bool TableCells::operator==(const TableCells& other) const {
  if (rows_ != other.rows_ || columns_ != other.columns_) return false;
  for (std::size_t row = 0; row < rows_; ++row) {
    for (std::size_t column = 0; column < columns_; ++column) {
      if (text(row, column) != other.text(row, column)) return false;
    }
  }
  return true;
}

void TableCells::widen(std::size_t columns) {
  HINDSIGHT_EXPECT(columns >= columns_);
  columns_ = columns;
  if (columns <= stride_) return;
  // The first width is usually the last; one that grows doubles, so that cells are not copied again and again.
  const std::size_t stride = stride_ == 0 ? columns : std::max(columns, 2 * stride_);
  if (rows_ > 0) {
    std::deque<std::uint32_t> wider;
    for (std::size_t row = 0; row < rows_; ++row) {
      const auto begin = ids_.begin() + static_cast<std::ptrdiff_t>(row * stride_);
      wider.insert(wider.end(), begin, begin + static_cast<std::ptrdiff_t>(stride_));
      wider.resize((row + 1) * stride);
    }
    ids_ = std::move(wider);
  }
  stride_ = stride;
}

void TableCells::add_row() { ids_.resize(++rows_ * stride_); }

void TableCells::set(std::size_t row, std::size_t column, std::string_view text) {
  HINDSIGHT_EXPECT(row < rows_ && column < columns_);
  ids_[row * stride_ + column] = number_of(text);
}

std::size_t TableCells::slot_of(std::string_view text) const {
  const std::size_t last = slots_.size() - 1;  // a power of two, less one
  std::size_t slot = std::hash<std::string_view>()(text) & last;
  while (slots_[slot] != 0 && texts_[slots_[slot]] != text) slot = (slot + 1) & last;
  return slot;
}

std::uint32_t TableCells::number_of(std::string_view text) {
  if (text.empty()) return 0;
  if (2 * texts_.size() > slots_.size()) {  // at most half full
    constexpr std::size_t kFirst = 64;      // [chosen] a small table
    slots_.assign(std::max(kFirst, 2 * slots_.size()), 0);
    for (std::size_t i = 1; i < texts_.size(); ++i) slots_[slot_of(texts_[i])] = static_cast<std::uint32_t>(i);
  }
  std::uint32_t& number = slots_[slot_of(text)];
  if (number == 0) {
    HINDSIGHT_EXPECT(texts_.size() < std::numeric_limits<std::uint32_t>::max());
    number = static_cast<std::uint32_t>(texts_.size());
    texts_.emplace_back(text);
  }
  return number;
}

CellPlace CellPlaces::at(std::size_t row, std::size_t column) const {
  const std::size_t cell = row * columns_ + column;
  if (columns_ == 0) return {.line = lines_[row], .column = 0};
  return {.line = lines_[row] + (further_.empty() ? 0 : further_[cell]), .column = starts_[cell]};
}

void CellPlaces::add_row(std::span<const CellPlace> places) {
  HINDSIGHT_EXPECT(!places.empty() && starts_.size() == lines_.size() * places.size());
  columns_ = places.size();
  const std::uint32_t first = places.front().line;
  const bool goes_on = std::ranges::any_of(places, [&](const CellPlace& place) { return place.line != first; });
  if (goes_on && further_.empty()) further_.resize(starts_.size());
  for (const CellPlace& place : places) {
    starts_.push_back(place.column);
    if (goes_on || !further_.empty()) further_.push_back(place.line - first);
  }
  lines_.push_back(first);
}

}  // namespace hindsight::dataset
