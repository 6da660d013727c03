/// Which log brought a row, where several became one. Private to the log layer.
#pragma once

#include <SQLiteCpp/Database.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace hindsight::log {

/// Tables whose rows messages name.
enum class NamedRows { spaces, workloads, designs, evaluations };

/// Rows of a log that comes later have larger numbers.
class Origins {
 public:
  /// All rows are those of `file`.
  explicit Origins(std::filesystem::path file) : last_(std::move(file)) {}

  /// What `database` has now and did not have at the call before is from `file`.
  void add(SQLite::Database& database, const std::filesystem::path& file);
  /// The log that brought the row of this number.
  [[nodiscard]] const std::filesystem::path& of(NamedRows rows, std::int64_t id) const;
  /// The file where no row is meant.
  [[nodiscard]] const std::filesystem::path& file() const { return last_; }

 private:
  struct Log {
    std::filesystem::path file;
    std::array<std::int64_t, 4> last_ids = {};  ///< by NamedRows
  };
  std::filesystem::path last_;  ///< of rows that no log below has
  std::vector<Log> logs_;
};

}  // namespace hindsight::log
