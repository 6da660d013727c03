/// Files that no folder of the repository holds, made small for the fuzzer: logs, studies, models, networks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "hindsight/accel/optimum/landscape.h"
#include "hindsight/core/provenance.h"
#include "hindsight/space/design_space.h"

namespace hindsight::fuzz {

/// Who makes them.
[[nodiscard]] Provenance made_provenance();
/// Half a kilobyte a page of a SQLite file, and no file beside it.
void make_pages_small(const std::filesystem::path& file);
/// A log of one space, two workloads, feasible and infeasible rows, a model, proposals and a checkpoint. Its pages are
/// as small as SQLite's can be, so that changes hit many kinds of them.
[[nodiscard]] std::string made_log();
/// The same with the counts of a block, which name rows and workloads that may not be there.
[[nodiscard]] std::string made_log_with_block();
/// The same with a row of every table: sweeps, asks, proposals with verdicts, an optimum, checkpoints of a campaign and
/// of a training, measurements. What reads logs reads it.
[[nodiscard]] std::string made_study_log();
/// A log as version 1 or 2 wrote it.
[[nodiscard]] std::string made_older_log(std::size_t version);
/// Of the readers log_values and log_merge: values to write over JSON, checkpoints, numbers and words of that log.
[[nodiscard]] std::string made_values();
[[nodiscard]] std::string made_checkpoints();
[[nodiscard]] std::string made_card();
[[nodiscard]] std::string made_numbers();
[[nodiscard]] std::string made_words();
/// A study of Optuna: trials of every state, attributes, intermediate values.
[[nodiscard]] std::string made_optuna_study();
/// Of the first revision of Optuna's tables.
[[nodiscard]] std::string made_old_optuna_study();
/// Models of kind `experts` and `layers`, of some hundred weights.
[[nodiscard]] std::string made_model();
[[nodiscard]] std::string made_layers_model();
/// A convolution, a product of matrices and a pooling as an ONNX model.
[[nodiscard]] std::string made_onnx();
/// Others with If and Loop; with constants in packed fields, from which shapes are computed; with weights in another
/// file and a function of its own.
[[nodiscard]] std::string made_onnx_bodies();
[[nodiscard]] std::string made_onnx_constants();
[[nodiscard]] std::string made_onnx_elsewhere();
/// All designs of a space of eight for one layer; of version 1 and 2 of the accelerator's model.
[[nodiscard]] std::string made_landscape(const std::string& technology);
/// Asks it for ranks as one of these two. Errors: those of Landscape::ranks().
void rank_in_made_space(const accel::optimum::Landscape& landscape);
/// The checkpoint of a training that is as small as can be, one member complete and one not.
[[nodiscard]] std::string made_checkpoint();
/// Reads a checkpoint as that training would. Errors: those of load_checkpoint().
void load_made_checkpoint(const std::filesystem::path& file);

/// A part of the same training, shard 0 of `count`, with the members that it has.
[[nodiscard]] std::string made_part(std::uint64_t count);
/// The model of a training that the part is all of. Errors: those of surrogate::join_parts().
void join_made_part(const std::filesystem::path& file);

/// What an evaluator is asked, about the space of the reader `question`.
[[nodiscard]] std::string made_question(const space::DesignSpace& space, const std::string& network);
/// A session with a product and a quantity.
[[nodiscard]] std::string made_measurements();
/// A learned correction of two trees for one measured product.
[[nodiscard]] std::string made_residual();
/// The definition of a space as logs store it.
[[nodiscard]] std::string made_definition();

}  // namespace hindsight::fuzz
