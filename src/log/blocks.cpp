/// Storing blocks with the rows that they count, and reading them.
#include "log/blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hindsight/core/provenance.h"
#include "hindsight/core/text.h"
#include "hindsight/core/thread_pool.h"
#include "hindsight/log/log.h"
#include "log/connection.h"
#include "log/detail_cursor.h"
#include "log/filter.h"
#include "log/interruptible.h"

namespace hindsight::log {
namespace {

constexpr std::string_view kBlockKey = "block:";

std::string key_of_block(std::int64_t number) { return fmt::format("{}{:012}", kBlockKey, number); }

std::int64_t block_of_row(std::int64_t evaluation_id) { return std::max<std::int64_t>(evaluation_id, 0) / kBlockRows; }

/// Stored blocks from a number on, without a gap, as far as they can be read.
std::vector<Block> stored_blocks(Database database, std::int64_t from) {
  Statement query(database, "SELECT key, value_json FROM checkpoints WHERE key BETWEEN ? AND 'block:~' ORDER BY key");
  query.bind(1, key_of_block(from));
  std::vector<Block> blocks;
  while (query.step()) {
    const std::int64_t number = from + std::ssize(blocks);
    if (query.column(0).text() != key_of_block(number)) break;
    std::optional<Block> block = block_of(number, query.column(1).text());
    if (!block) break;
    blocks.push_back(std::move(*block));
  }
  return blocks;
}

/// The last block that is stored; the first not before it is read.
std::optional<Block> newest_block(Database database) {
  Statement query(database,
                  "SELECT key, value_json FROM checkpoints WHERE key BETWEEN 'block:' AND 'block:~' "
                  "ORDER BY key DESC LIMIT 1");
  if (!query.step()) return std::nullopt;
  const std::string key = query.column(0).text();
  const std::optional<std::int64_t> number = parse_int(std::string_view(key).substr(kBlockKey.size()));
  if (!number || *number < 0 || key != key_of_block(*number)) return std::nullopt;
  return block_of(*number, query.column(1).text());
}

std::int64_t last_row(Database database) {
  return database.integer_of("SELECT coalesce(max(evaluation_id), 0) FROM evaluations");
}

std::int64_t last_design(Database database) {
  return database.integer_of("SELECT coalesce(max(design_id), 0) FROM designs");
}

void count_designs(Database database, std::int64_t from, std::int64_t to, Block& block) {
  Statement query(database,
                  "SELECT space_id, count(*) FROM designs WHERE design_id > ? AND design_id <= ? GROUP BY +space_id");
  query.bind(1, from);
  query.bind(2, to);
  while (query.step()) {
    block.designs.emplace_back(query.column(0).integer(), static_cast<std::uint64_t>(query.column(1).integer()));
  }
  block.designs_to = to;
}

/// Inserts it, unless it is there.
void put_block(Database database, const Block& block) {
  Statement put(database, "INSERT INTO checkpoints VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING");
  put.bind(1, key_of_block(block.number));
  put.bind(2, block_json(block));
  put.bind(3, utc_now());
  put.exec();
}

/// Blocks that are whole and not stored.
struct MissingBlocks {
  explicit MissingBlocks(Database database) : designs_to(last_design(database)) {
    if (const std::optional<Block> newest = newest_block(database)) {
      first = newest->number + 1;
      designs_from = newest->designs_to;
    }
    const std::int64_t last = last_row(database);
    while (last >= range_of_block(first + static_cast<std::int64_t>(count)).last) ++count;
  }

  /// That of place `i` among them. The first has the designs that no block before has.
  [[nodiscard]] Block counted(Database database, std::size_t i) const {
    return count_block(database, first + static_cast<std::int64_t>(i), i == 0 ? designs_from : designs_to, designs_to);
  }

  std::int64_t first = 0, designs_from = 0, designs_to = 0;
  std::size_t count = 0;
};

std::string_view view_of(Statement& row, int column) {
  const RowValue value = row.column(column);
  return value.view();
}

}  // namespace

IdRange range_of_block(std::int64_t number) {
  return {.first = number == 0 ? std::numeric_limits<std::int64_t>::min() : number * kBlockRows,
          .last = number * kBlockRows + (kBlockRows - 1)};
}

std::string range_sql(const IdRange& range) {
  if (range.all()) return "";
  // A literal of the lowest number is none: SQLite reads it as a real one.
  if (range.first == IdRange().first) return fmt::format(" AND e.evaluation_id <= {}", range.last);
  if (range.last == IdRange().last) return fmt::format(" AND e.evaluation_id >= {}", range.first);
  return fmt::format(" AND e.evaluation_id BETWEEN {} AND {}", range.first, range.last);
}

Block count_block(Database database, std::int64_t number, std::int64_t designs_from, std::int64_t designs_to) {
  const IdRange range = range_of_block(number);
  DetailCursor metrics(
      database, "SELECT evaluation_id, name FROM evaluation_metrics WHERE evaluation_id >= ? ORDER BY evaluation_id");
  DetailCursor reasons(database,
                       "SELECT evaluation_id, code FROM evaluation_violations WHERE evaluation_id >= ? "
                       "ORDER BY evaluation_id, position");
  Statement query(
      database,
      fmt::format("SELECT e.evaluation_id, e.workload_id, e.evaluator_id, e.run_id, e.repeat, e.feasible, "
                  "iif(e.feasible, (SELECT text_id FROM designs d WHERE d.design_id = e.design_id), ''), e.{} "
                  "FROM evaluations e WHERE e.evaluation_id BETWEEN ? AND ? ORDER BY e.evaluation_id",
                  join(standard_metrics(), ", e.")));
  query.bind(1, range.first);
  query.bind(2, range.last);
  BlockCounter counter(number);
  std::vector<double> standard(standard_metrics().size());
  CountedRow row{.standard = standard, .text_id = {}};
  while (query.step()) {
    int column = 0;
    for (std::int64_t* id : {&row.evaluation_id, &row.workload_id, &row.evaluator_id, &row.run_id, &row.repeat}) {
      *id = query.column(column++).integer();
    }
    row.feasible = query.column(column++).integer() != 0;
    std::string text_id;
    if (row.feasible) text_id = text_of(query, column);
    row.text_id = text_id;
    for (double& value : standard) {
      ++column;
      // Of the others only whether a latency is there counts, and the schema has none.
      const bool has_value = row.feasible && !query.column(column).is_null();
      value = has_value ? query.column(column).number() : std::nan("");
    }
    counter.add(row);
    metrics.rows_of(row.evaluation_id, [&](Statement& one) { counter.add_metric(view_of(one, 1)); });
    reasons.rows_of(row.evaluation_id, [&](Statement& one) { counter.add_reason(view_of(one, 1)); });
  }
  Block block = counter.take();
  count_designs(database, designs_from, designs_to, block);
  return block;
}

void BlockKeeper::add(const CountedRow& row) {
  const std::int64_t number = block_of_row(row.evaluation_id);
  last_id_ = row.evaluation_id;
  if (counter_ && (counter_->number() != number || counter_->last_id() + 1 != row.evaluation_id)) {
    if (counter_->last_id() == range_of_block(counter_->number()).last) finished_.push_back(counter_->take());
    counter_.reset();
  }
  const std::int64_t first = number == 0 ? 1 : range_of_block(number).first;
  if (!counter_ && row.evaluation_id == first) counter_.emplace(number);
  if (counter_) counter_->add(row);
}

void BlockKeeper::add_metric(std::string_view name) {
  if (counter_) counter_->add_metric(name);
}

void BlockKeeper::add_reason(std::string_view code) {
  if (counter_) counter_->add_reason(code);
}

void BlockKeeper::forget() { *this = BlockKeeper(); }

void BlockKeeper::store(Database database, std::size_t most) {
  const auto whole = [&](std::int64_t number) { return last_id_ >= range_of_block(number).last; };
  if (next_ >= 0 && !whole(next_)) return;
  const std::optional<Block> newest = newest_block(database);
  next_ = newest ? newest->number + 1 : 0;
  std::int64_t designs_from = newest ? newest->designs_to : 0;
  if (!whole(next_)) return;
  if (counter_ && counter_->last_id() == range_of_block(counter_->number()).last) {
    finished_.push_back(counter_->take());
    counter_.reset();
  }
  const std::int64_t designs_to = last_design(database);
  for (std::size_t stored = 0; stored < most && whole(next_); ++stored, ++next_) {
    const auto found =
        std::find_if(finished_.begin(), finished_.end(), [&](const Block& one) { return one.number == next_; });
    if (found == finished_.end()) {
      put_block(database, count_block(database, next_, designs_from, designs_to));
    } else {
      count_designs(database, designs_from, designs_to, *found);
      put_block(database, *found);
    }
    designs_from = designs_to;
  }
  std::erase_if(finished_, [&](const Block& one) { return one.number < next_; });
}

void store_all_blocks(Database database) {
  const MissingBlocks missing(database);
  for (std::size_t i = 0; i < missing.count; ++i) put_block(database, missing.counted(database, i));
}

void store_all_blocks(SQLite::Database& database, const std::filesystem::path& file) {
  const MissingBlocks missing(database);
  std::vector<Block> blocks(missing.count);
  const auto count = [&](std::size_t begin, std::size_t end, unsigned /*worker*/) {
    SQLite::Database reader(reading_uri(file), SQLite::OPEN_READONLY | SQLite::OPEN_URI | SQLite::OPEN_NOMUTEX);
    distrust(reader);
    const Interruptible until_interrupted(reader);
    for (std::size_t i = begin; i < end; ++i) blocks[i] = missing.counted(reader, i);
  };
  const unsigned threads = resolve_threads(0);
  const std::size_t share = (missing.count + threads - 1) / threads;
  parallel_for(missing.count, std::max<std::size_t>(share, 1), threads, count);
  for (const Block& block : blocks) put_block(database, block);
}

void StoredBlocks::read(Database database) {
  std::vector<Block> fresh = stored_blocks(database, std::ssize(blocks_));
  std::move(fresh.begin(), fresh.end(), std::back_inserter(blocks_));
  rest_.clear();
  for (const Block& block : blocks_) {
    if (!block.counted) rest_.push_back(range_of_block(block.number));
  }
  rest_.push_back(blocks_.empty() ? IdRange() : IdRange{.first = range_of_block(blocks_.back().number).last + 1});
}

std::vector<std::string> wrong_blocks(Database database, std::size_t most) {
  std::vector<std::string> problems;
  std::int64_t designs_from = 0, number = 0;
  Statement query(database,
                  "SELECT key, value_json FROM checkpoints WHERE key BETWEEN 'block:' AND 'block:~' ORDER BY key");
  for (; problems.size() < most && query.step(); ++number) {
    const std::string key = query.column(0).text(), json = query.column(1).text();
    const std::optional<Block> block = key == key_of_block(number) ? block_of(number, json) : std::nullopt;
    const bool right = block && block_json(count_block(database, number, designs_from, block->designs_to)) == json;
    if (!right) {
      const std::string rows = fmt::format("evaluations {} to {}", number * kBlockRows, range_of_block(number).last);
      problems.push_back(fmt::format("counts: those that are stored of {} are not those of its rows", rows));
    }
    if (!block) break;
    designs_from = block->designs_to;
  }
  return problems;
}

}  // namespace hindsight::log
