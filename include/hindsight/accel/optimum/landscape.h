/// The landscape: what every design of a space that can be built costs on given applications, in one file.
///
/// Model: in version 1 latency depends on neither instruction nor parameter memory, and energy on them through four
/// prices (needs_ignore and proportional_energy of structure.h), so one record stands for a chip but for these two
/// memories; in version 2, whose mappings depend on the parameter memory, for one but for its instruction memory:
/// per application its latency, what it needs of both, and on request the parts of its energy. Latencies are those of
/// `evaluate` to the last digit; energies to kMargin, and where that matters `evaluate` decides.
/// Valid for: spaces that describe the template. Ignores: nothing.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/accel/optimum/optimum.h"
#include "hindsight/accel/optimum/site_batch.h"

namespace hindsight::accel::optimum {

/// [chosen] Formats of the file, of records without and with the parameter memory; files of others are refused.
inline constexpr int kLandscapeFormat = 3, kLandscapeFormatByParameter = 4;

enum class LandscapeMetrics { latency, latency_and_energy };

/// What a landscape is about; a question that is asked of it has to agree.
struct LandscapeIdentity {
  std::string space, space_hash;
  std::string evaluator, evaluator_hash;                      ///< evaluator_name(), SHA-256 of evaluator_definition()
  std::vector<std::pair<std::string, std::string>> networks;  ///< name, hash of the definition
  double area_limit_mm2 = 0, peak_power_limit_w = 0;          ///< designs above are not in it; infinity: none
  LandscapeMetrics metrics = LandscapeMetrics::latency;
  bool by_parameter_memory = false;  ///< a record for each, version 2 of the model
  Slice slice = {};                  ///< the part that it has; it answers no question alone
};

/// One application on one chip.
struct Site {
  double latency_s = 0;        ///< infinity: some layer has no mapping
  std::uint8_t parameter = 0;  ///< first level of the parameter memory that is large enough; the number of levels: none
  std::uint8_t instruction = 0;  ///< likewise
  EnergyParts energy;            ///< with LandscapeMetrics::latency_and_energy
  friend bool operator==(const Site&, const Site&) = default;
};

/// Counts of a landscape.
struct LandscapeSummary {
  std::uint64_t designs = 0;    ///< of the space
  std::uint64_t buildable = 0;  ///< of them: within the limits, all hardware checks pass
  std::uint64_t runnable = 0;   ///< of these: run every application
  std::uint64_t chips = 0;      ///< records: chips but for parameter (version 1) and instruction memory
  std::uint64_t mappings = 0;   ///< layers that the mapper was asked about
  bool interrupted = false;     ///< no file was written
};
struct LandscapeOptions {
  LandscapeMetrics metrics = LandscapeMetrics::latency;
  unsigned threads = 0;          ///< 0 = all that this process may use
  SiteEngine* engine = nullptr;  ///< who maps layers; null: the host's own path, which is the reference
};
/// [chosen] Bytes of the records of a landscape: they are made, written and read as a whole.
inline constexpr std::uint64_t kMostLandscapeBytes = std::uint64_t{1} << 30U;
/// Writes the landscape of the question's slice of its space, networks and limits on area and peak power to `file`,
/// whole or not at all. The bytes depend neither on the number of threads nor on the engine. Error{usage} for limits
/// that need a network, for restricted levels, for more than 255 levels of one memory, and for more than
/// kMostLandscapeBytes; Error{no_feasible} when nothing can be built within the limits in a whole space; Error{failure}
/// when the file cannot be written or the engine stops working.
LandscapeSummary write_landscape(const Question& question, const std::filesystem::path& file,
                                 const LandscapeOptions& options, const Watch& watch = {});

/// One landscape of all its slices, in any order: `file` gets the bytes that write_landscape() gives for the whole
/// space. Returns the number of its records. A slice may come twice with equal bytes. Error{incompatible} naming what
/// differs between two files or is damaged; Error{usage} naming the slices that are missing, two files of one slice
/// that differ, or records of more than kMostLandscapeBytes; Error{no_feasible} when no slice has a record.
std::uint64_t join_landscapes(const std::vector<std::filesystem::path>& slices, const std::filesystem::path& file);
/// Whether a file begins as a landscape does.
[[nodiscard]] bool begins_as_landscape(std::string_view bytes);

/// What a landscape may be written to: nothing, an empty file, another landscape. Error{incompatible} for other files,
/// Error{usage} for a folder. write_landscape() does not ask: it replaces what is there.
void require_replaceable(const std::filesystem::path& file);

/// Shares of designs whose latencies a survey tells: one in a million, one in 10,000, one in 100, one in ten, half.
inline constexpr std::array<double, 5> kSurveyShares{1e-6, 1e-4, 1e-2, 0.1, 0.5};

/// Latencies of one application, or of several aggregated, over all designs that can be built and run it.
struct SurveyRow {
  std::string name;                 ///< the application, or the aggregate
  std::uint64_t designs = 0;        ///< that run it; 0: what follows is empty
  double best_s = 0;                ///< of `best`, to the last digit of `evaluate`
  space::Design best;               ///< the first in the order of the landscape when several are equal
  std::uint64_t within_tenth = 0;   ///< designs at most 1.1 times best_s, in whole bins: up to 0.1 % beyond
  std::vector<double> quantiles_s;  ///< per kSurveyShares: not exceeded by that share; rounded down by 0.1 % at most
};
struct LandscapeSurvey {
  LandscapeSummary summary;
  std::vector<SurveyRow> rows;  ///< per application; then, of several, their aggregate. None when interrupted
};
/// The latencies of all designs counted, in memory that grows with the memories and bandwidths of one group of PEs,
/// cores and lanes, not with their number: for landscapes that no file holds. `options.metrics` is not read; levels
/// may be restricted. Error{usage} for limits that need a network, goals other than the latency, and more than 255
/// levels of one memory; Error{no_feasible} when nothing can be built within the limits; Error{failure} when the engine
/// stops working, or a best design is not what `evaluate` says.
[[nodiscard]] LandscapeSurvey survey_landscape(const Question& question, const LandscapeOptions& options,
                                               const Watch& watch = {});

/// Where a value stands among all designs that meet a question's limits.
struct Rank {
  std::uint64_t feasible = 0;  ///< designs that meet the limits and run every application
  std::uint64_t better = 0;    ///< of them: with a smaller value
  double best = 0;             ///< smallest value; infinity when there is none
};

/// A landscape that was read, for questions about its space and networks.
class Landscape {
 public:
  /// Error{incompatible}: no landscape, another format, a slice, damaged; Error{usage}: no such file.
  static Landscape read(const std::filesystem::path& file);
  [[nodiscard]] const LandscapeIdentity& identity() const { return identity_; }
  /// Error{incompatible} naming what differs when it is a landscape of another model version, technology, space or set
  /// of networks, or was made under tighter limits than the question has, or lacks energies that are asked for. The
  /// networks may be some of the landscape's, in any order.
  void require_answers(const Question& question) const;
  /// One rank per value. Asks for no evaluation but of the best design, of one whose latency is each of `values` and,
  /// where energy, area or power count, of all whose value is within kMargin of one of them. The question's levels may
  /// be restricted. Limits: area_mm2, peak_power_w, latency_s and energy_j; others are Error{usage}.
  /// Error{incompatible}: records that no landscape of this space has, which its checksum alone does not tell: whoever
  /// changes a record can change the checksum.
  [[nodiscard]] std::vector<Rank> ranks(const Question& question, const std::vector<double>& values) const;

 private:
  std::string file_;
  LandscapeIdentity identity_;
  std::string records_;
};

}  // namespace hindsight::accel::optimum
