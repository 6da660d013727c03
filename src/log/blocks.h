/// Counts of the evaluations, kept block by block: what `log show` tells of a log of 10^8 rows without reading them.
///
/// A block is the evaluations whose number divided by kBlockRows is the same. Rows are never changed and numbers only
/// grow, so that the counts of a block stay right once a row of a later block, or its last, is there. They are stored
/// in checkpoints under "block:" and its number, in the transaction that appends its last row. What no block tells
/// (the newest rows; all rows of a log that was only written before blocks were) is read row by row.
/// Private to the log layer.
#pragma once

#include <SQLiteCpp/Database.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "log/database.h"

namespace hindsight::log {

/// [chosen] 1,500 blocks in 10^8 rows, and a tail that is read in a tenth of a second.
inline constexpr std::int64_t kBlockRows = 65'536;
/// Best rows of a metric that a block names. [chosen] as many as `log show` shows of a workload.
inline constexpr std::size_t kBestKept = 3;

struct BlockReason {
  std::string code;
  std::uint64_t evaluations = 0;
  std::int64_t last_evaluation = 0;  ///< while it counts: a reason that is given twice counts once
};

struct BlockBest {
  double value = 0;
  std::int64_t evaluation_id = 0;
  std::string text_id = "";  ///< while it counts: decides between equal values
};

/// Evaluations of a block by one workload, evaluator and run.
struct BlockGroup {
  std::int64_t workload_id = 0, evaluator_id = 0, run_id = 0;
  std::uint64_t rows = 0, feasible = 0, repeats = 0;
  bool has_latency = false;
  std::vector<BlockReason> reasons = {};
  /// By the place of a standard metric: its best feasible rows in the direction of direction_of(), by value, design and
  /// number.
  std::vector<std::vector<BlockBest>> best = {};
};

struct Block {
  std::int64_t number = 0;
  bool counted = true;          ///< false: of so many kinds of rows that they are as well read
  std::int64_t designs_to = 0;  ///< number of the last design when it was stored
  std::vector<std::pair<std::int64_t, std::uint64_t>> designs = {};  ///< by space: those since the block before
  std::uint64_t metrics = 0, violations = 0;                         ///< rows of both detail tables
  std::vector<std::string> metric_names = {};                        ///< other than the standard ones, sorted
  std::vector<BlockGroup> groups = {};                               ///< in the order of their first rows
};

/// Numbers of evaluations, both ends included.
struct IdRange {
  std::int64_t first = std::numeric_limits<std::int64_t>::min();
  std::int64_t last = std::numeric_limits<std::int64_t>::max();
  [[nodiscard]] bool all() const { return *this == IdRange(); }
  bool operator==(const IdRange&) const = default;
};
/// That of a block: the first has whatever is below it, too.
[[nodiscard]] IdRange range_of_block(std::int64_t number);
/// " AND e.evaluation_id BETWEEN 1 AND 2", or nothing for all.
[[nodiscard]] std::string range_sql(const IdRange& range);

/// An evaluation as it is counted.
struct CountedRow {
  std::int64_t evaluation_id = 0, workload_id = 0, evaluator_id = 0, run_id = 0, repeat = 0;
  bool feasible = false;
  std::span<const double> standard;  ///< in the order of standard_metrics(); NaN = none
  std::string_view text_id;
};

/// Counts the rows of one block in the order of their numbers.
class BlockCounter {
 public:
  explicit BlockCounter(std::int64_t number);
  void add(const CountedRow& row);
  /// A row of a detail table, of the evaluation that was added last.
  void add_metric(std::string_view name);
  void add_reason(std::string_view code);
  [[nodiscard]] std::int64_t last_id() const { return last_id_; }
  [[nodiscard]] std::int64_t number() const { return block_.number; }
  /// What was counted. Nothing more is added then.
  [[nodiscard]] Block take();

 private:
  BlockGroup& group_of(const CountedRow& row);

  Block block_;
  std::size_t group_ = 0;  ///< of the row that was added last
  std::int64_t last_id_ = 0;
};

[[nodiscard]] std::string block_json(const Block& block);
/// Nothing for what block_json() did not write.
[[nodiscard]] std::optional<Block> block_of(std::int64_t number, const std::string& json);

/// Counts what is appended, and stores each block that has its last row.
class BlockKeeper {
 public:
  /// Rows as this connection inserts them. Rows of other writers between them are no harm: such a block is read again.
  void add(const CountedRow& row);
  void add_metric(std::string_view name);
  void add_reason(std::string_view code);
  /// Inside the transaction that appended the rows: stores at most `most` blocks, the oldest first.
  void store(Database database, std::size_t most);
  /// What was added is not there after all.
  void forget();

 private:
  std::optional<BlockCounter> counter_;
  std::vector<Block> finished_;
  std::int64_t next_ = -1;  ///< the first block that is not stored, or an earlier one; -1: not known
  std::int64_t last_id_ = 0;
};

/// [chosen] Blocks that one append stores at most: more than it can fill, so that a log without blocks catches up, and
/// no append takes long.
inline constexpr std::size_t kBlocksPerAppend = 4;
/// Stores every block that is whole, inside the caller's transaction or one for each.
void store_all_blocks(Database database);
/// The same outside a transaction, by as many connections at once as there are processors. `file`: that of `database`.
void store_all_blocks(SQLite::Database& database, const std::filesystem::path& file);
/// The block as its rows are now. `designs_from`: number of the last design of the block before.
[[nodiscard]] Block count_block(Database database, std::int64_t number, std::int64_t designs_from,
                                std::int64_t designs_to);

/// Blocks that are stored, from the first without a gap.
class StoredBlocks {
 public:
  /// Reads what was stored since the last call.
  void read(Database database);
  [[nodiscard]] const std::vector<Block>& blocks() const { return blocks_; }
  /// What no block tells.
  [[nodiscard]] const std::vector<IdRange>& rest() const { return rest_; }
  [[nodiscard]] std::int64_t designs_to() const { return blocks_.empty() ? 0 : blocks_.back().designs_to; }

 private:
  std::vector<Block> blocks_;
  std::vector<IdRange> rest_{IdRange()};
};

/// SQL condition on checkpoints: what is not a block.
inline constexpr const char* kNoBlockSql = "key NOT BETWEEN 'block:' AND 'block:~'";

/// Problems of blocks that do not tell what the rows are, one sentence each, at most `most`.
[[nodiscard]] std::vector<std::string> wrong_blocks(Database database, std::size_t most);

}  // namespace hindsight::log
