/// What becomes work for others, and what is none any more. Private to the log layer.
#pragma once

#include <cstdint>

#include "log/database.h"

namespace hindsight::log {

/// On a server: proposals of `ask` that are new become tasks (tasks.h). Inside the transaction that stored them, which
/// no other of those runs beside: proposals are numbered in the order of their transactions.
void hand_out_asked(Database database);
/// On a server: a proposal with a verdict is awaited no more.
void take_back_decided(Database database, std::int64_t proposal_id);

}  // namespace hindsight::log
