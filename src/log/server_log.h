/// Opening a log on a PostgreSQL server. Private to the log layer.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>

#include "hindsight/log/log.h"
#include "log/server.h"

namespace hindsight::log {

/// Connects, and creates or migrates the schema where `mode` writes. Errors: as Log::open().
[[nodiscard]] std::unique_ptr<ServerConnection> open_server(const std::filesystem::path& address, OpenMode mode,
                                                            std::chrono::milliseconds patience);

}  // namespace hindsight::log
