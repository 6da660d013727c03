/// Appending a batch to a log on a server: a handful of statements for all its rows, which travel as arrays.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "log/append_rules.h"
#include "log/server.h"

namespace hindsight::log {
namespace {

/// A row that may be stored, as far as it was looked at.
struct AcceptedRow {
  std::size_t index = 0;  ///< in the batch
  const ParsedRow* parsed = nullptr;
  std::int64_t design_id = 0;
};

/// A design of the batch.
struct BatchDesign {
  const std::string* text_id = nullptr;
  Reason refused = {};
  std::int64_t id = 0;
};

double number_or_nan(const ServerRows& rows, std::int64_t row, int column) {
  return rows.is_null(row, column) ? std::nan("") : rows.number(row, column);
}

/// Columns of an INSERT or SELECT from arrays: names of the standard metrics, with a prefix.
std::string metric_columns(const char* prefix) {
  std::string columns;
  for (const std::string& metric : standard_metrics()) columns += fmt::format(", {}{}", prefix, metric);
  return columns;
}

class ServerBatch {
 public:
  ServerBatch(Log::Impl& log, std::int64_t run_id, std::int64_t space_id, std::int64_t evaluator_id,
              const CheckedRows& rows, bool& described)
      : log_(log),
        server_(*log.server),
        run_id_(run_id),
        space_id_(space_id),
        evaluator_id_(evaluator_id),
        rows_(rows.rows()),
        checks_(rows.checks()),
        described_(described) {}

  AppendResult append() {
    accept_rows();
    store_designs();
    insert_evaluations();
    insert_metrics();
    insert_violations();
    compare_present();
    std::sort(result_.rejected.begin(), result_.rejected.end(),
              [](const RejectedRow& a, const RejectedRow& b) { return a.index < b.index; });
    return std::move(result_);
  }

 private:
  void accept_rows();
  void store_designs();
  void find_designs(const std::vector<std::int64_t>& hashes);
  void insert_evaluations();
  void insert_metrics();
  void insert_violations();
  void compare_present();
  std::map<std::int64_t, StoredEvaluation> stored_evaluations(const std::vector<std::size_t>& of);
  void reject(std::size_t index, std::string reason) {
    result_.rejected.push_back({.index = index, .reason = std::move(reason)});
  }

  Log::Impl& log_;
  ServerConnection& server_;
  std::int64_t run_id_, space_id_, evaluator_id_;
  const std::vector<EvaluationRow>& rows_;
  const std::vector<CheckedRows::Check>& checks_;
  bool& described_;
  AppendResult result_;
  std::vector<AcceptedRow> accepted_;
  std::map<std::uint64_t, BatchDesign> designs_;
  std::vector<std::pair<std::size_t, std::int64_t>> inserted_;  ///< place in accepted_, number in the log
  std::vector<std::size_t> present_;                            ///< places in accepted_: of an identity that is there
};

void ServerBatch::accept_rows() {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const EvaluationRow& row = rows_[i];
    if (!log_.has_row("workloads", "workload_id", row.workload_id, log_.known_workloads)) {
      reject(i, fmt::format("workload id {} is not in the log", row.workload_id));
      continue;
    }
    if (checks_[i].refused) {
      reject(i, *checks_[i].refused);
      continue;
    }
    const auto [found, is_new] = designs_.try_emplace(row.design_hash);
    BatchDesign& design = found->second;
    if (is_new) {
      design = {.text_id = &row.design_text_id, .refused = checks_[i].design_refused};
      if (!design.refused) design.refused = accept_design(log_, space_id_, row.design_text_id, described_);
    }
    if (*design.text_id != row.design_text_id) {
      reject(i, collision_with(*design.text_id));
    } else if (design.refused) {
      reject(i, *design.refused);
    } else {
      accepted_.push_back({.index = i, .parsed = &checks_[i].parsed});
    }
  }
}

void ServerBatch::store_designs() {
  std::vector<std::int64_t> hashes;
  std::vector<std::string_view> texts;
  for (const AcceptedRow& row : accepted_) {  // in the order of the rows, each once
    BatchDesign& design = designs_.at(rows_[row.index].design_hash);
    if (design.id != 0) continue;
    design.id = -1;
    hashes.push_back(static_cast<std::int64_t>(rows_[row.index].design_hash));
    texts.emplace_back(*design.text_id);
  }
  if (hashes.empty()) return;
  static_cast<void>(server_.run(
      "INSERT INTO designs (space_id, content_hash, text_id) SELECT CAST($1 AS BIGINT), u.hash, u.text_id FROM "
      "unnest(CAST($2 AS BIGINT[]), CAST($3 AS TEXT[])) WITH ORDINALITY AS u(hash, text_id, place) "
      "ORDER BY u.place ON CONFLICT (space_id, content_hash) DO NOTHING",
      {server_value(space_id_), server_array(hashes), server_array(texts)}));
  find_designs(hashes);
  std::erase_if(accepted_, [&](AcceptedRow& row) {
    const BatchDesign& design = designs_.at(rows_[row.index].design_hash);
    if (design.refused) reject(row.index, *design.refused);
    row.design_id = design.id;
    return design.refused.has_value();
  });
}

void ServerBatch::find_designs(const std::vector<std::int64_t>& hashes) {
  const ServerRows found = server_.run(
      "SELECT content_hash, design_id, text_id FROM designs WHERE space_id = CAST($1 AS BIGINT) AND content_hash = "
      "ANY (CAST($2 AS BIGINT[]))",
      {server_value(space_id_), server_array(hashes)});
  HINDSIGHT_ENSURE(found.size() == std::ssize(hashes));
  for (std::int64_t i = 0; i < found.size(); ++i) {
    BatchDesign& design = designs_.at(static_cast<std::uint64_t>(found.integer(i, 0)));
    design.id = found.integer(i, 1);
    if (found.view(i, 2) != *design.text_id) design.refused = collision_with(found.text(i, 2));
  }
}

void ServerBatch::insert_evaluations() {
  if (accepted_.empty()) return;
  std::vector<std::int64_t> designs, workloads, repeats, feasible;
  std::vector<std::vector<double>> metrics(standard_metrics().size());
  std::vector<std::size_t> sent;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, bool> identities;
  for (std::size_t i = 0; i < accepted_.size(); ++i) {
    const EvaluationRow& row = rows_[accepted_[i].index];
    if (!identities.try_emplace({accepted_[i].design_id, row.workload_id, row.repeat}).second) {
      present_.push_back(i);  // twice in this batch
      continue;
    }
    sent.push_back(i);
    designs.push_back(accepted_[i].design_id);
    workloads.push_back(row.workload_id);
    repeats.push_back(row.repeat);
    feasible.push_back(row.feasible ? 1 : 0);
    for (std::size_t m = 0; m < metrics.size(); ++m) metrics[m].push_back(accepted_[i].parsed->standard[m]);
  }
  std::vector<ServerParameter> parameters = {server_value(evaluator_id_), server_value(run_id_),
                                             server_array(designs),       server_array(workloads),
                                             server_array(repeats),       server_array(feasible)};
  std::string arrays;
  for (const std::vector<double>& values : metrics) {
    parameters.push_back(server_array(values));
    arrays += fmt::format(", CAST(${} AS DOUBLE PRECISION[])", parameters.size());
  }
  const ServerRows rows = server_.run(
      fmt::format(
          "INSERT INTO evaluations (design_id, workload_id, evaluator_id, repeat, run_id, feasible{0}) "
          "SELECT u.design_id, u.workload_id, CAST($1 AS BIGINT), u.repeat, CAST($2 AS BIGINT), CAST(u.feasible AS "
          "INTEGER){1} FROM unnest(CAST($3 AS BIGINT[]), CAST($4 AS BIGINT[]), CAST($5 AS BIGINT[]), CAST($6 AS "
          "BIGINT[]){2}) WITH ORDINALITY AS u(design_id, workload_id, repeat, feasible{0}, place) ORDER BY u.place "
          "ON CONFLICT (design_id, workload_id, evaluator_id, repeat) DO NOTHING "
          "RETURNING evaluation_id, design_id, workload_id, repeat",
          metric_columns(""), metric_columns("u."), arrays),
      parameters);
  // What was inserted comes back in its order; what is missing was there.
  std::int64_t next = 0;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const bool inserted = next < rows.size() && rows.integer(next, 1) == designs[i] &&
                          rows.integer(next, 2) == workloads[i] && rows.integer(next, 3) == repeats[i];
    if (inserted) {
      inserted_.emplace_back(sent[i], rows.integer(next++, 0));
    } else {
      present_.push_back(sent[i]);
    }
  }
  HINDSIGHT_ENSURE(next == rows.size());
  result_.inserted = inserted_.size();
}

void ServerBatch::insert_metrics() {
  std::vector<std::int64_t> evaluations;
  std::vector<std::string_view> names;
  std::vector<double> values;
  for (const auto& [place, id] : inserted_) {
    for (const auto& [name, value] : accepted_[place].parsed->others) {
      evaluations.push_back(id);
      names.push_back(name);
      values.push_back(value);
    }
  }
  if (names.empty()) return;
  static_cast<void>(server_.run(
      "INSERT INTO evaluation_metrics SELECT * FROM unnest(CAST($1 AS BIGINT[]), CAST($2 AS TEXT[]), CAST($3 AS DOUBLE "
      "PRECISION[]))",
      {server_array(evaluations), server_array(names), server_array(values)}));
}

void ServerBatch::insert_violations() {
  std::vector<std::int64_t> evaluations, positions;
  std::vector<std::string_view> codes, quantities, layers, messages;
  std::vector<double> values, limits, nearest;
  for (const auto& [place, id] : inserted_) {
    std::int64_t position = 0;
    for (const ViolationRow& one : rows_[accepted_[place].index].violations) {
      evaluations.push_back(id);
      positions.push_back(position++);
      codes.emplace_back(one.code);
      quantities.emplace_back(one.quantity);
      values.push_back(one.value);
      limits.push_back(one.limit);
      nearest.push_back(one.nearest_passing.value_or(std::nan("")));
      layers.emplace_back(one.layer);
      messages.emplace_back(one.message);
    }
  }
  if (codes.empty()) return;
  static_cast<void>(server_.run(
      "INSERT INTO evaluation_violations SELECT * FROM unnest(CAST($1 AS BIGINT[]), CAST($2 AS BIGINT[]), CAST($3 AS "
      "TEXT[]), CAST($4 AS TEXT[]), CAST($5 AS DOUBLE PRECISION[]), CAST($6 AS DOUBLE PRECISION[]), CAST($7 AS DOUBLE "
      "PRECISION[]), CAST($8 AS TEXT[]), CAST($9 AS TEXT[]))",
      {server_array(evaluations), server_array(positions), server_array(codes), server_array(quantities),
       server_array(values), server_array(limits), server_array(nearest), server_array(layers, true),
       server_array(messages, true)}));
}

/// Evaluations of the identities of these accepted rows, by the place in `of`.
std::map<std::int64_t, StoredEvaluation> ServerBatch::stored_evaluations(const std::vector<std::size_t>& of) {
  std::vector<std::int64_t> designs, workloads, repeats;
  for (const std::size_t place : of) {
    designs.push_back(accepted_[place].design_id);
    workloads.push_back(rows_[accepted_[place].index].workload_id);
    repeats.push_back(rows_[accepted_[place].index].repeat);
  }
  const ServerRows found = server_.run(
      fmt::format(
          "SELECT u.place, e.evaluation_id, e.feasible{} FROM unnest(CAST($2 AS BIGINT[]), CAST($3 AS BIGINT[]), "
          "CAST($4 AS BIGINT[])) WITH ORDINALITY AS u(design_id, workload_id, repeat, place) JOIN evaluations e "
          "ON e.design_id = u.design_id AND e.workload_id = u.workload_id AND e.evaluator_id = "
          "CAST($1 AS BIGINT) AND e.repeat = u.repeat",
          metric_columns("e.")),
      {server_value(evaluator_id_), server_array(designs), server_array(workloads), server_array(repeats)});
  std::map<std::int64_t, StoredEvaluation> stored;
  std::multimap<std::int64_t, StoredEvaluation*> by_id;
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < found.size(); ++i) {
    StoredEvaluation& one = stored[found.integer(i, 0) - 1];
    one = {.id = found.integer(i, 1), .feasible = found.integer(i, 2) != 0};
    for (int m = 0; m < static_cast<int>(standard_metrics().size()); ++m) {
      one.standard.push_back(number_or_nan(found, i, 3 + m));
    }
    ids.push_back(one.id);
    by_id.emplace(one.id, &one);
  }
  const auto for_each_detail = [&](const char* sql, const auto& add) {
    const ServerRows details = server_.run(sql, {server_array(ids)});
    for (std::int64_t i = 0; i < details.size(); ++i) {
      const auto [first, last] = by_id.equal_range(details.integer(i, 0));
      for (auto one = first; one != last; ++one) add(*one->second, details, i);
    }
  };
  for_each_detail(
      "SELECT evaluation_id, name, value FROM evaluation_metrics WHERE evaluation_id = ANY (CAST($1 AS BIGINT[]))",
      [](StoredEvaluation& one, const ServerRows& rows, std::int64_t i) {
        one.others.emplace_back(rows.text(i, 1), rows.number(i, 2));
      });
  for_each_detail(
      "SELECT evaluation_id, code, quantity, value, limit_value, layer FROM evaluation_violations WHERE evaluation_id "
      "= "
      "ANY (CAST($1 AS BIGINT[]))",
      [](StoredEvaluation& one, const ServerRows& rows, std::int64_t i) {
        one.reasons.push_back(said_by(rows.view(i, 1), rows.view(i, 2), number_or_nan(rows, i, 3),
                                      number_or_nan(rows, i, 4), rows.view(i, 5)));
      });
  return stored;
}

void ServerBatch::compare_present() {
  if (present_.empty()) return;
  const std::map<std::int64_t, StoredEvaluation> stored = stored_evaluations(present_);
  HINDSIGHT_ENSURE(stored.size() == present_.size());
  for (const auto& [place, evaluation] : stored) {
    const AcceptedRow& accepted = accepted_[present_[static_cast<std::size_t>(place)]];
    if (auto reason = contradiction_of(rows_[accepted.index], *accepted.parsed, evaluation)) {
      reject(accepted.index, std::move(*reason));
    } else {
      ++result_.already_present;
    }
  }
}

}  // namespace

AppendResult append_on_server(Log::Impl& log, std::int64_t run_id, std::int64_t space_id, std::int64_t evaluator_id,
                              const CheckedRows& rows, bool& described) {
  return ServerBatch(log, run_id, space_id, evaluator_id, rows, described).append();
}

}  // namespace hindsight::log
