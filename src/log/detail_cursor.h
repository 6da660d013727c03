/// Tables of details, metrics or reasons, read beside the evaluations that they belong to. Private to the log layer.
#pragma once

#include <cstdint>
#include <string>

#include "log/database.h"

namespace hindsight::log {

/// A detail table read in step with the evaluations: both are sorted by evaluation_id.
class DetailCursor {
 public:
  /// `sql` begins at the evaluation that is bound.
  DetailCursor(Database database, const std::string& sql) : query_(database, sql) {}

  /// Calls `take(row)` for the rows of this evaluation; rows of earlier evaluations are skipped, few of them one by
  /// one.
  template <class Take>
  void rows_of(std::int64_t evaluation_id, Take&& take) {
    // [chosen] about as many as a search in the index costs
    constexpr std::int64_t kSkipped = 64;
    if (!begun_ || (has_row_ && evaluation_id_ < evaluation_id && evaluation_id - evaluation_id_ > kSkipped)) {
      begun_ = true;
      query_.reset();
      query_.bind(1, evaluation_id);
      advance();
    }
    while (has_row_ && evaluation_id_ < evaluation_id) {
      advance();
    }
    while (has_row_ && evaluation_id_ == evaluation_id) {
      take(query_);
      advance();
    }
  }

 private:
  void advance() {
    has_row_ = query_.step();
    evaluation_id_ = has_row_ ? query_.column(0).integer() : 0;
  }

  Statement query_;
  bool begun_ = false, has_row_ = false;
  std::int64_t evaluation_id_ = 0;
};

}  // namespace hindsight::log
