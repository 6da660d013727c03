/// Models and proposals: what was learnt from a log and what it led to.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "hindsight/core/error.h"
#include "hindsight/core/json_bounds.h"
#include "hindsight/core/text.h"
#include "hindsight/log/log.h"
#include "hindsight/log/query.h"
#include "log/filter.h"
#include "log/handed_out.h"
#include "log/impl.h"
#include "log/read_transaction.h"

namespace hindsight::log {
namespace {

/// The design's id; the design is added where it is new.
std::int64_t design_id(Database database, const std::filesystem::path& file, std::int64_t space_id,
                       const ProposalRow& proposal) {
  const auto hash = static_cast<std::int64_t>(proposal.design_hash);
  Statement insert(database,
                   "INSERT INTO designs (space_id, content_hash, text_id) VALUES (?, ?, ?) "
                   "ON CONFLICT (space_id, content_hash) DO NOTHING");
  insert.bind(1, space_id);
  insert.bind(2, hash);
  insert.bind(3, proposal.design_text_id);
  insert.exec();
  Statement find(database, "SELECT design_id, text_id FROM designs WHERE space_id = ? AND content_hash = ?");
  find.bind(1, space_id);
  find.bind(2, hash);
  HINDSIGHT_ENSURE(find.step());
  if (const std::string stored = find.column(1).text(); stored != proposal.design_text_id) {
    throw Error(ErrorKind::failure,
                fmt::format("{}: the designs {} and {} have the same 64-bit hash (the log cannot tell them apart). "
                            "Store the proposals in another log?",
                            shown(file), stored, proposal.design_text_id));
  }
  return find.column(0).integer();
}

/// The kind of proof that a prediction states; nothing where it states none or is no JSON.
std::optional<std::string> proof_of(const std::string& predicted_json) {
  try {
    const auto predicted = nlohmann::json::parse(bounded_json(predicted_json));
    if (!predicted.is_object() || !predicted.contains("proof")) return std::nullopt;
    const nlohmann::json& proof = predicted["proof"];
    if (proof.is_null()) return std::nullopt;
    return proof.is_string() ? proof.get<std::string>() : proof.dump();
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace

std::int64_t Log::add_model(std::int64_t run_id, std::int64_t space_id, const ModelRow& model) {
  impl_->require_writable();
  HINDSIGHT_EXPECT(nlohmann::json::accept(model.card_json));
  return impl_->writing("registering a model", [&] {
    Database database = impl_->database;
    WriteTransaction transaction(*impl_);
    Statement find(database, "SELECT model_id FROM models WHERE file_sha256 = ?");
    find.bind(1, model.file_sha256);
    if (find.step()) {
      return static_cast<std::int64_t>(find.column(0).integer());
    }
    Statement insert(database,
                     "INSERT INTO models (run_id, space_id, name, kind, file, file_sha256, card_json, "
                     "created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    insert.bind(1, run_id);
    insert.bind(2, space_id);
    int column = 2;
    for (const std::string* text : {&model.name, &model.kind, &model.file, &model.file_sha256, &model.card_json}) {
      insert.bind(++column, *text);
    }
    insert.bind(++column, utc_now());
    insert.exec();
    const std::int64_t id = database.last_row();
    transaction.commit();
    return id;
  });
}

void Log::add_proposals(std::int64_t run_id, std::int64_t space_id, std::optional<std::int64_t> model_id,
                        const std::vector<ProposalRow>& proposals) {
  impl_->require_writable();
  for (const ProposalRow& proposal : proposals) {
    HINDSIGHT_EXPECT(proposal.rank >= 1 && nlohmann::json::accept(proposal.predicted_json));
    HINDSIGHT_EXPECT(!proposal.verdict_json || nlohmann::json::accept(*proposal.verdict_json));
  }
  impl_->writing(
      "storing proposals",
      [&] {
        Database database = impl_->database;
        WriteTransaction transaction(*impl_);
        Statement insert(database,
                         "INSERT INTO proposals (run_id, model_id, design_id, workload_id, rank, objective, "
                         "predicted_value, predicted_json, verdict_json, created_at) "
                         "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
        const std::string now = utc_now();
        for (const ProposalRow& proposal : proposals) {
          insert.reset();
          insert.clear_bindings();  // what stays unbound is NULL
          insert.bind(1, run_id);
          if (model_id) insert.bind(2, *model_id);
          insert.bind(3, design_id(database, impl_->path, space_id, proposal));
          if (proposal.workload_id) insert.bind(4, *proposal.workload_id);
          insert.bind(5, proposal.rank);
          insert.bind(6, proposal.objective);
          if (std::isfinite(proposal.predicted_value)) insert.bind(7, proposal.predicted_value);
          insert.bind(8, proposal.predicted_json);
          if (proposal.verdict_json) insert.bind(9, *proposal.verdict_json);
          insert.bind(10, now);
          insert.exec();
        }
        hand_out_asked(database);
        transaction.commit();
      },
      Impl::Repeatable::no);
}

void Log::set_verdicts(const std::vector<std::pair<std::int64_t, std::string>>& verdicts) {
  impl_->require_writable();
  impl_->writing("storing verdicts", [&] {
    WriteTransaction transaction(*impl_);
    Statement update(impl_->database, "UPDATE proposals SET verdict_json = ? WHERE proposal_id = ?");
    for (const auto& [proposal_id, verdict_json] : verdicts) {
      HINDSIGHT_EXPECT(nlohmann::json::accept(verdict_json));
      update.reset();
      update.bind(1, verdict_json);
      update.bind(2, proposal_id);
      update.exec();
      take_back_decided(impl_->database, proposal_id);
    }
    transaction.commit();
  });
}

std::vector<ProposalRecord> proposals(const Log& log, std::optional<std::int64_t> run_id) {
  Log::Impl& impl = log.impl();
  return impl.guarded("reading proposals", [&] {
    const ReadTransaction snapshot(impl.database);
    std::vector<std::string> runs;      // newest first
    std::optional<std::string> latest;  // an optimum is no proposal, and answers where there is nothing else
    Statement with_proposals(impl.database,
                             "SELECT p.run_id, coalesce(r.kind, '') FROM (SELECT DISTINCT run_id FROM proposals) p "
                             "LEFT JOIN runs r ON r.run_id = p.run_id ORDER BY p.run_id DESC");
    while (with_proposals.step()) {
      runs.push_back(text_of(with_proposals, 0));
      if (!latest && text_of(with_proposals, 1) != to_string(RunKind::optimum)) latest = runs.back();
    }
    if (run_id && std::find(runs.begin(), runs.end(), std::to_string(*run_id)) == runs.end()) {
      const std::vector<std::string> listed(runs.begin(), runs.begin() + std::min<std::ptrdiff_t>(5, std::ssize(runs)));
      throw Error(ErrorKind::usage,
                  fmt::format("{}: run {} proposed nothing. {}", shown(impl.path), *run_id,
                              runs.empty() ? "No run did. Run 'hindsight propose --log' first"
                                           : "Runs with proposals, newest first: " + join(listed, ", ")));
    }
    std::vector<ProposalRecord> records;
    if (runs.empty()) return records;
    Statement query(impl.database,
                    "SELECT p.proposal_id, p.run_id, p.rank, s.name, d.text_id, p.objective, p.predicted_json, "
                    "p.verdict_json FROM proposals p JOIN designs d USING (design_id) JOIN spaces s USING "
                    "(space_id) WHERE p.run_id = CAST(? AS BIGINT) ORDER BY p.rank, p.proposal_id");
    query.bind(1, run_id ? std::to_string(*run_id) : latest.value_or(runs.front()));
    while (query.step()) {
      ProposalRecord& record = records.emplace_back();
      record.proposal_id = query.column(0).integer();
      record.run_id = query.column(1).integer();
      record.rank = query.column(2).integer();
      int column = 3;
      for (std::string* text : {&record.space, &record.design_text_id, &record.objective, &record.predicted_json}) {
        *text = text_of(query, column++);
      }
      if (!query.column(column).is_null()) record.verdict_json = text_of(query, column);
    }
    return records;
  });
}

std::vector<ProposingRun> proposing_runs(const Log& log, std::size_t limit, std::optional<std::int64_t> run_id) {
  Log::Impl& impl = log.impl();
  return impl.guarded("listing proposals", [&] {
    std::vector<ProposingRun> runs;
    const std::string one = run_id ? fmt::format("WHERE run_id = {} ", *run_id) : "";
    Statement query(
        impl.database,
        fmt::format(
            "WITH ranked AS (SELECT run_id, min(rank) AS rank, count(DISTINCT design_id) AS designs FROM proposals "
            "  {}GROUP BY run_id), "
            "firsts AS (SELECT min(p.proposal_id) AS proposal_id, max(f.designs) AS designs FROM proposals p "
            "  JOIN ranked f ON f.run_id = p.run_id AND f.rank = p.rank GROUP BY p.run_id) "
            "SELECT p.run_id, f.designs, p.predicted_value, r.kind, p.objective, d.text_id, p.predicted_json "
            "FROM firsts f JOIN proposals p ON p.proposal_id = f.proposal_id JOIN runs r ON r.run_id = p.run_id "
            "JOIN designs d ON d.design_id = p.design_id ORDER BY p.run_id DESC LIMIT ?",
            one));
    query.bind(1, static_cast<std::int64_t>(limit));
    while (query.step()) {
      ProposingRun& run = runs.emplace_back();
      run.run_id = query.column(0).integer();
      run.designs = static_cast<std::uint64_t>(query.column(1).integer());
      if (!query.column(2).is_null()) run.first_value = query.column(2).number();
      int column = 3;
      for (std::string* text : {&run.kind, &run.objective, &run.first_design_text_id}) *text = text_of(query, column++);
      run.first_proof = proof_of(text_of(query, column));
    }
    return runs;
  });
}

}  // namespace hindsight::log
