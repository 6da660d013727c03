/// Measurements as JSON lines: one flat object per line, a session line before the rows that belong to it.
///
/// Errors name `file:line`. Unknown keys are ignored, so that an older reader takes the lines of a newer writer.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/measure/record.h"

namespace hindsight::measure {

/// One line without the newline. Unknown numbers are null.
[[nodiscard]] std::string to_json_line(const Session& session);
[[nodiscard]] std::string to_json_line(const GemmRow& row);
[[nodiscard]] std::string to_json_line(const Quantity& quantity);

/// All rows of one task, a line each, with their newlines. All but the last say how many follow them (`rows_left`): a
/// task whose writing was cut off, even between two lines, is told from a whole one.
[[nodiscard]] std::string task_lines(const std::vector<GemmRow>& gemms, const std::vector<Quantity>& quantities);
/// How many bytes at the beginning of `text` are whole lines of whole tasks; the rest is what a writer was cut off in.
/// Error{usage} for a rest without a newline that no record begins with: it is somebody else's.
[[nodiscard]] std::size_t whole_tasks(std::string_view text, const std::string& name);

/// A session with its rows, in file order.
struct SessionRecords {
  Session session;
  std::vector<GemmRow> gemms;
  std::vector<Quantity> quantities;
};

/// What an unfinished last line, or task (a killed writer), means.
enum class LastLine { must_be_whole, may_be_cut };

/// Parses the lines of `text`; `name` stands for the file in messages. A measurement before the first session, a
/// malformed line or a field of another type is Error{usage} with `name:line`. Of a last task that is not whole no row
/// is given where it may be cut: it is measured again.
[[nodiscard]] std::vector<SessionRecords> parse_json_lines(std::string_view text, const std::string& name,
                                                           LastLine last_line = LastLine::must_be_whole);

}  // namespace hindsight::measure
