/// The verbs of `hindsight log` that have files of their own.
#pragma once

#include "verbs.h"

namespace hindsight::app {

void add_log_import(CLI::App& group, Session& session);
void add_log_merge(CLI::App& group, Session& session);
void add_log_hash(CLI::App& group, Session& session);
void add_log_export(CLI::App& group, Session& session);
void add_log_query(CLI::App& group, Session& session);
void add_log_repair(CLI::App& group, Session& session);
void add_log_backup(CLI::App& group, Session& session);
void add_log_copy(CLI::App& group, Session& session);

}  // namespace hindsight::app
