/// What logs that are merged say about the shards that wrote them: which are missing, twice, unfinished or of another
/// command.
#pragma once

#include <future>
#include <string>
#include <vector>

namespace hindsight::app {

/// One line per thing to know, none where the logs are no shards or are all there. Merging takes them in any case: a
/// log is what it holds. `output`: a log that is extended, whose shards are there already, which is read at once; empty
/// or not there: none. The logs are read by a thread of their own. Errors: as log::Log::open().
[[nodiscard]] std::future<std::vector<std::string>> remarks_on_shards(std::vector<std::string> logs,
                                                                      const std::string& output);

}  // namespace hindsight::app
