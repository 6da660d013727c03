/// Rows of one design and context: repetitions, contradictions, and which of them is kept.
#include "dataset/csv_duplicates.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight::dataset {
namespace {

constexpr std::size_t kListedRefusals = 20;  // [chosen] what a person reads

const std::array<std::string, 5>& duplicates_names() {  // in the order of Duplicates
  static const std::array<std::string, 5> names = {"error", "first", "last", "best", "keep"};
  return names;
}

/// Whether `given` replaces `kept`, which it contradicts.
bool replaces(const TableRow& given, const TableRow& kept, const Best& best, Duplicates duplicates) {
  if (duplicates != Duplicates::best) return duplicates == Duplicates::last;
  if (given.evaluation.feasible != kept.evaluation.feasible) return given.evaluation.feasible;
  if (!given.evaluation.feasible) return false;
  const double value = outcome_of(given).metrics.at(best.metric), other = outcome_of(kept).metrics.at(best.metric);
  return best.direction == Direction::maximise ? value > other : value < other;
}

}  // namespace

Outcome outcome_of(const TableRow& row) {
  Outcome outcome{.feasible = row.evaluation.feasible,
                  .metrics = {row.evaluation.metrics.begin(), row.evaluation.metrics.end()},
                  .source = fmt::format("{} {}", row.word, row.line)};
  for (const log::ViolationRow& violation : row.evaluation.violations) outcome.reasons.insert(violation.code);
  return outcome;
}

Refusals::Refusals(const CsvTable& table, ImportResult& result)
    : file_(printable(table.file.string(), 400)), row_word_(table.row_word), result_(result) {}

std::string Refusals::row_text(std::size_t line) const {
  return row_word_.empty() ? fmt::format("{}:{}", file_, line) : fmt::format("{}: {} {}", file_, row_word_, line);
}

void Refusals::add(const RefusedRow& row) {
  if (row.place.column == 0) return add(row.place.line, row.reason);
  add_text(fmt::format("{}:{}: {}", row_text(row.place.line), row.place.column, row.reason));
}

void Refusals::add(std::size_t line, const std::string& reason) {
  add_text(fmt::format("{}: {}", row_text(line), reason));
}

void Refusals::add_contradiction(std::size_t line, const std::string& reason) {
  std::string text = fmt::format("{}: {}", row_text(line), reason);
  if (result_.contradictions++ == 0) first_contradiction_ = text;
  if (!holds_) return add_text(std::move(text));
  ++held_count_;
  if (held_.size() < kListedRefusals) held_.push_back(std::move(text));
}

void Refusals::release_contradictions() {
  const std::size_t unlisted = held_count_ - held_.size();
  for (std::string& text : held_) add_text(std::move(text));
  result_.rejected_count += unlisted;
  holds_ = false;
  held_.clear();
  held_count_ = 0;
}

void Refusals::require_no_contradiction() const {
  if (result_.contradictions == 0) return;
  const std::string all = result_.contradictions == 1
                              ? "the only such row"
                              : fmt::format("the first of {} such rows", with_commas(result_.contradictions));
  throw Error(ErrorKind::usage,
              fmt::format("{} ({}; nothing was imported). Keep one row of each design with --duplicates first, last or "
                          "best, or every measurement with keep?",
                          first_contradiction_, all));
}

void Refusals::add_text(std::string text) {
  ++result_.rejected_count;
  if (result_.rejected.size() < kListedRefusals) result_.rejected.push_back(std::move(text));
}

void LoggedRepeats::add(std::int64_t repeat, Outcome outcome) {
  known_.push_back({.repeat = repeat, .outcome = std::move(outcome), .taken = false});
  next_ = std::max(next_, repeat + 1);
}

std::optional<std::int64_t> LoggedRepeats::take(const Outcome& given, Agreement agreement) {
  while (taken_before_ < known_.size() && known_[taken_before_].taken) ++taken_before_;
  for (std::size_t i = taken_before_; i < known_.size(); ++i) {
    One& one = known_[i];
    if (one.taken || !contradiction(one.outcome, given, agreement).empty()) continue;
    one.taken = true;
    return one.repeat;
  }
  return std::nullopt;
}

std::int64_t LoggedRepeats::next() { return next_++; }

std::string LoggedRepeats::contradiction_of(const Outcome& given, Agreement agreement) const {
  return known_.empty() ? "" : contradiction(known_.front().outcome, given, agreement);
}

void DistinctRows::take(TableRow row) {
  if (duplicates_ == Duplicates::keep) {
    kept_.push_back(std::move(row));
    return;
  }
  const auto [entry, fresh] =
      places_.try_emplace(fmt::format("{}|{}", row.context, row.evaluation.design_text_id), kept_.size());
  if (fresh) {
    kept_.push_back(std::move(row));
    return;
  }
  TableRow& other = kept_[entry->second];
  if (contradiction(outcome_of(other), outcome_of(row)).empty()) {
    ++result_.repeated;
    return;
  }
  if (replaces(row, other, best_, duplicates_)) std::swap(row, other);
  const std::string remedy =
      duplicates_ == Duplicates::error ? "" : fmt::format(" ({} {} is kept)", other.word, other.line);
  refusals_.add_contradiction(row.line, contradiction(outcome_of(other), outcome_of(row)) + remedy);
}

std::vector<TableRow> DistinctRows::finish() {
  refusals_.release_contradictions();
  places_ = {};
  return std::move(kept_);
}

const std::string& to_string(Duplicates duplicates) { return duplicates_names()[static_cast<std::size_t>(duplicates)]; }

Duplicates parse_duplicates(const std::string& name) {
  const auto& names = duplicates_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    throw Error(ErrorKind::usage, fmt::format("--duplicates {}: no way to treat contradictory rows.{}", printable(name),
                                              did_you_mean(name, names)));
  }
  return static_cast<Duplicates>(found - names.begin());
}

}  // namespace hindsight::dataset
