/// Cells of a whole table in memory, and where each stands: a cell takes some bytes, whatever its text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hindsight::dataset {

/// Goes over what a small class with operator[] gives.
template <class Sequence>
class IndexIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = typename Sequence::value_type;
  using difference_type = std::ptrdiff_t;
  using pointer = const value_type*;
  using reference = decltype(std::declval<const Sequence&>()[0]);

  IndexIterator(const Sequence& sequence, std::size_t at) : sequence_(sequence), at_(at) {}
  [[nodiscard]] reference operator*() const { return sequence_[at_]; }
  IndexIterator& operator++() {
    ++at_;
    return *this;
  }
  IndexIterator operator++(int) { return {sequence_, at_++}; }
  [[nodiscard]] IndexIterator operator+(difference_type steps) const {
    return {sequence_, at_ + static_cast<std::size_t>(steps)};
  }
  [[nodiscard]] bool operator==(const IndexIterator& other) const { return at_ == other.at_; }

 private:
  Sequence sequence_;
  std::size_t at_;
};

/// Rows of one width, of which each different text is kept once: tables of designs say the same few values again and
/// again. References to texts stay good as long as the table lives.
class TableCells {
 public:
  /// One row, for as long as the table lives and gets no column.
  class Row {
   public:
    using value_type = std::string;
    using iterator = IndexIterator<Row>;
    using const_iterator = IndexIterator<Row>;

    Row(const TableCells& cells, std::size_t row) : cells_(&cells), row_(row) {}
    [[nodiscard]] const std::string& operator[](std::size_t column) const { return cells_->text(row_, column); }
    [[nodiscard]] std::size_t size() const { return cells_->columns(); }
    [[nodiscard]] const_iterator begin() const { return {*this, 0}; }
    [[nodiscard]] const_iterator end() const { return {*this, size()}; }

   private:
    const TableCells* cells_;
    std::size_t row_;
  };
  /// What goes over rows holds.
  class Rows {
   public:
    using value_type = Row;
    explicit Rows(const TableCells& cells) : cells_(&cells) {}
    [[nodiscard]] Row operator[](std::size_t row) const { return {*cells_, row}; }

   private:
    const TableCells* cells_;
  };
  using value_type = Row;
  using iterator = IndexIterator<Rows>;
  using const_iterator = IndexIterator<Rows>;

  [[nodiscard]] std::size_t size() const { return rows_; }
  [[nodiscard]] bool empty() const { return rows_ == 0; }
  [[nodiscard]] std::size_t columns() const { return columns_; }
  [[nodiscard]] Row operator[](std::size_t row) const { return {*this, row}; }
  [[nodiscard]] Row back() const { return {*this, rows_ - 1}; }
  [[nodiscard]] const_iterator begin() const { return {Rows(*this), 0}; }
  [[nodiscard]] const_iterator end() const { return {Rows(*this), rows_}; }
  [[nodiscard]] const std::string& text(std::size_t row, std::size_t column) const {
    return texts_[ids_[row * stride_ + column]];
  }
  /// The same texts, however they are kept.
  [[nodiscard]] bool operator==(const TableCells& other) const;

  /// New columns are empty in the rows that are there. Not fewer than before.
  void widen(std::size_t columns);
  /// A row of empty cells.
  void add_row();
  void set(std::size_t row, std::size_t column, std::string_view text);

 private:
  [[nodiscard]] std::uint32_t number_of(std::string_view text);
  /// Where a text is, or may go, in slots_.
  [[nodiscard]] std::size_t slot_of(std::string_view text) const;

  // Deques: nothing is copied, and no half stays empty, as a long table gets longer.
  std::deque<std::uint32_t> ids_;                    ///< rows x stride: places in texts_
  std::deque<std::string> texts_ = {std::string()};  ///< the first is the empty one
  std::vector<std::uint32_t> slots_;                 ///< hash table of the others; 0 is free
  std::size_t rows_ = 0, columns_ = 0, stride_ = 0;
};

/// Where a cell starts, both from 1; column 0 where it has none.
struct CellPlace {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// Where the cells of a table start: four bytes a cell, eight where a row goes over several lines, none where cells
/// have no columns.
class CellPlaces {
 public:
  class Row {
   public:
    Row(const CellPlaces& places, std::size_t row) : places_(&places), row_(row) {}
    [[nodiscard]] CellPlace operator[](std::size_t column) const { return places_->at(row_, column); }

   private:
    const CellPlaces* places_;
    std::size_t row_;
  };

  [[nodiscard]] std::size_t size() const { return lines_.size(); }
  [[nodiscard]] Row operator[](std::size_t row) const { return {*this, row}; }
  [[nodiscard]] CellPlace at(std::size_t row, std::size_t column) const;

  /// A row whose cells have no columns.
  void add_row(std::uint32_t line) { lines_.push_back(line); }
  /// A row of cells with places, as many as in every row before. Not behind a row without.
  void add_row(std::span<const CellPlace> places);

 private:
  std::size_t columns_ = 0;            ///< of a row, where cells have columns
  std::deque<std::uint32_t> lines_;    ///< of the first cell of each row
  std::deque<std::uint32_t> starts_;   ///< rows x columns_: the column that a cell starts in
  std::deque<std::uint32_t> further_;  ///< rows x columns_: lines below the first; empty where all are 0
};

}  // namespace hindsight::dataset
