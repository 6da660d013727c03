/// Reads what launchers leave in the environment of a process.
#include "hindsight/sweep/launcher.h"

#include <fmt/format.h>

#include <cstdlib>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/text.h"

namespace hindsight::sweep {
namespace {

/// What one launcher says: an index from 0, and how many there are, where it says so.
struct Place {
  std::string variable, value;
  std::int64_t index = 0;
  std::optional<std::int64_t> count = {};
};

class Launchers {
 public:
  explicit Launchers(const Environment& environment) : environment_(environment) {}

  /// The array's tasks are separate jobs; a rank within one of them is another place.
  [[nodiscard]] std::vector<Place> places() const {
    std::vector<Place> found;
    for (const std::optional<Place>& place : {slurm_array(), rank(), completion_index(), parallel_sequence()}) {
      if (place) found.push_back(*place);
    }
    return found;
  }

 private:
  [[nodiscard]] std::optional<std::int64_t> number(const std::string& name) const {
    const std::optional<std::string> text = environment_(name);
    if (!text) return std::nullopt;
    const std::optional<std::int64_t> value = parse_int(*text);
    if (!value || *value < 0) {
      throw Error(ErrorKind::usage,
                  fmt::format("--shard auto: the environment variable {} is '{}', and no number from 0. "
                              "Name the shard: --shard 0/8",
                              name, printable(*text)));
    }
    return value;
  }

  [[nodiscard]] std::optional<Place> slurm_array() const {
    const auto id = number("SLURM_ARRAY_TASK_ID");
    if (!id) return std::nullopt;
    const auto first = number("SLURM_ARRAY_TASK_MIN"), last = number("SLURM_ARRAY_TASK_MAX"),
               count = number("SLURM_ARRAY_TASK_COUNT");
    Place place{.variable = "SLURM_ARRAY_TASK_ID", .value = std::to_string(*id), .index = *id - first.value_or(0)};
    place.count = count;
    if (first && last && count && *last - *first + 1 != *count) {
      throw Error(ErrorKind::usage,
                  fmt::format("--shard auto: the Slurm array has {} tasks from {} to {}, so it has gaps. Start it as "
                              "--array=0-{}",
                              *count, *first, *last, *count - 1));
    }
    return place;
  }

  [[nodiscard]] std::optional<Place> rank() const {
    for (const auto& [index, size] : {std::pair("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
                                      std::pair("PMI_RANK", "PMI_SIZE"), std::pair("SLURM_PROCID", "SLURM_NTASKS")}) {
      const auto at = number(index);
      if (!at) continue;
      const auto count = number(size);
      // Slurm sets its pair in every job, also where nothing but the job's own script runs.
      if (std::string_view(index) == "SLURM_PROCID" && count.value_or(1) <= 1) continue;
      return Place{.variable = index, .value = std::to_string(*at), .index = *at, .count = count};
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Place> completion_index() const {
    const auto index = number("JOB_COMPLETION_INDEX");
    if (!index) return std::nullopt;
    return Place{.variable = "JOB_COMPLETION_INDEX", .value = std::to_string(*index), .index = *index};
  }

  [[nodiscard]] std::optional<Place> parallel_sequence() const {
    const auto sequence = number("PARALLEL_SEQ");
    if (!sequence) return std::nullopt;
    return Place{.variable = "PARALLEL_SEQ", .value = std::to_string(*sequence), .index = *sequence - 1};
  }

  const Environment& environment_;
};

LaunchedShard launched(const std::optional<std::int64_t>& wanted_count, const Environment& environment) {
  const std::vector<Place> places = Launchers(environment).places();
  if (places.empty()) {
    throw Error(ErrorKind::usage,
                "--shard auto: no launcher says which process this is (none of SLURM_ARRAY_TASK_ID, "
                "OMPI_COMM_WORLD_RANK, PMI_RANK, SLURM_PROCID, JOB_COMPLETION_INDEX, PARALLEL_SEQ is set). Name the "
                "shard: --shard 0/8");
  }
  const Place& place = places.front();
  const std::string source = fmt::format("{}={}", place.variable, place.value);
  if (places.size() > 1) {
    throw Error(ErrorKind::usage,
                fmt::format("--shard auto: {} and {}={} name two places. Name the shard, e.g. --shard {}/{}", source,
                            places[1].variable, places[1].value, place.index, place.count.value_or(place.index + 1)));
  }
  if (wanted_count && place.count && *place.count != *wanted_count) {
    throw Error(ErrorKind::usage, fmt::format("--shard auto/{}: {} is one of {}. Write --shard auto", *wanted_count,
                                              source, *place.count));
  }
  const std::optional<std::int64_t> count = wanted_count ? wanted_count : place.count;
  if (!count) {
    throw Error(ErrorKind::usage,
                fmt::format("--shard auto: {} does not say how many shards there are. Say it: --shard "
                            "auto/8",
                            source));
  }
  if (place.index < 0 || place.index >= *count) {
    throw Error(
        ErrorKind::usage,
        fmt::format("--shard auto: {} is shard {} of {}, which has 0 to {}. Start as many processes as there are "
                    "shards",
                    source, place.index, *count, *count - 1));
  }
  return {.shard = {.index = static_cast<std::uint64_t>(place.index), .count = static_cast<std::uint64_t>(*count)},
          .source = source};
}

}  // namespace

std::optional<std::string> process_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>(value);
}

LaunchedShard shard_of(std::string_view text, const Environment& environment) {
  constexpr std::string_view kAuto = "auto";
  if (!text.starts_with(kAuto)) return {.shard = parse_shard(text), .source = {}};
  if (text == kAuto) return launched(std::nullopt, environment);
  const std::string_view rest = text.substr(kAuto.size());
  const std::optional<std::int64_t> count = rest.starts_with('/') ? parse_int(rest.substr(1)) : std::nullopt;
  if (!count || *count < 1) {
    throw Error(ErrorKind::usage,
                fmt::format("'{}' is not a shard. Write auto, auto/COUNT, or INDEX/COUNT, e.g. 0/8", printable(text)));
  }
  return launched(count, environment);
}

void require_parts(const Shard& shard, std::uint64_t parts, const std::string& noun) {
  if (shard.index < parts) return;
  throw Error(ErrorKind::usage,
              fmt::format("--shard {}/{}: has nothing to do, there {} only {}. Start at most {}", shard.index,
                          shard.count, parts == 1 ? "is" : "are", counted(parts, noun), counted(parts, "shard")));
}

std::string file_of_shard(const std::string& file, const Shard& shard) {
  constexpr std::string_view kPlace = "{shard}";
  const std::size_t width = std::to_string(shard.count - 1).size();
  const std::string index = fmt::format("{:0{}}", shard.index, width);
  std::string named = file;
  for (std::size_t at = named.find(kPlace); at != std::string::npos; at = named.find(kPlace, at + index.size()))
    named.replace(at, kPlace.size(), index);
  return named;
}

}  // namespace hindsight::sweep
