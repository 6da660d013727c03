/// Rows of a damaged log into a new one, and what of them may stay. Private to the log layer.
#pragma once

#include <SQLiteCpp/Database.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hindsight/log/log.h"
#include "hindsight/log/repair.h"
#include "log/salvage.h"

namespace hindsight::log {

class Rescue {
 public:
  /// `log`: new, without rows; its references are not enforced, and a transaction is open.
  Rescue(Salvage& salvage, Log& log);

  /// Moves rows, drops what may not stay, and makes what follows from them (views of designs).
  RepairResult run();

 private:
  /// Row numbers of evaluations between which details may be missing, ends included.
  using Interval = std::pair<std::int64_t, std::int64_t>;

  void move(const std::string& table);
  void estimate_lost(const std::string& table);
  void name_lost_runs();
  void describe_spaces();
  void forget_incomplete_contexts();
  void drop_uncertain_evaluations();
  void drop_refused_evaluations();
  void drop_findings();
  void drop_without_parents();
  void forget_checkpoints();
  void drop_evaluations(const std::vector<std::int64_t>& ids, const std::string& why);
  [[nodiscard]] bool evaluations_lost() const;
  [[nodiscard]] std::vector<Interval> uncertain(const std::string& table);
  RepairedTable& counts(const std::string& table);

  Salvage& salvage_;
  Log& log_;
  SQLite::Database& database_;
  RepairResult result_;
  std::map<std::string, std::size_t> place_;                     ///< in result_.tables
  std::map<std::string, std::int64_t> last_row_;                 ///< highest row number seen, by table
  std::map<std::string, std::uint64_t> seen_;                    ///< sound records, by table
  std::map<std::int64_t, std::vector<std::string>> parameters_;  ///< names, by space
};

}  // namespace hindsight::log
