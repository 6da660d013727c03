/// Which family a synthetic network is of, its batch, its bounds and its name.
#include "hindsight/workload/synthetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/table.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"
#include "workload/synthetic/families.h"

namespace hindsight::workload {
namespace {

constexpr std::string_view kSetPrefix = "synthetic:";
constexpr std::string_view kNamePrefix = "synthetic";
/// [chosen] A set is built before anything else happens: 10,000 networks take some seconds.
constexpr std::int64_t kMostNetworks = 10'000;
/// [chosen] From keyword spotting to the largest language models of one board; what is drawn outside is drawn again.
/// Networks of pictures with more than 0.3 T MACs or 1 GB of weights and prompts of more than 20 T MACs are no work for
/// one chip.
constexpr double kFewestMacs = 1e6, kFewestWeightBytes = 1e4;
struct Bounds {
  double most_macs, most_weight_bytes;
};
constexpr Bounds kMaps{.most_macs = 3e11, .most_weight_bytes = 1e9};
constexpr Bounds kTokens{.most_macs = 2e13, .most_weight_bytes = 1.2e10};
/// [chosen] Half of the networks list their layers one by one in execution order, as importers see them: only there
/// does a learner see at which layer a memory is full. Of longer ones like layers are always one line.
constexpr int kOneByOnePercent = 50;
constexpr std::size_t kMostOneByOne = 64;
constexpr std::int64_t kLargestDrawnBatch = 64;  ///< [chosen] beyond, only m grows

struct Maker {
  Blueprint (*draw)(Draw&);
  Bounds bounds;
  int batched_percent;  ///< share with a batch above 1
};

/// [chosen] Shares: two fifths of the networks see, the others read, listen or rank, and one of twelve is of no sort;
/// where requests can be collected, more are batched.
constexpr std::array<SyntheticFamily, 9> kFamilies{{
    {"convolutional", "Chains of dense convolutions, plain or residual, 1 to 10 blocks in each of 2 to 5 stages.", 15},
    {"mobile", "Inverted residuals (expand, depthwise, project), some fused or with squeeze; classifiers, detectors.",
     14},
    {"encoder_decoder", "2 to 5 levels down and up again, with skips; dense or depthwise separable.", 9},
    {"prefill", "Transformers over all their tokens: prompts, text encoders, image patches.", 11},
    {"decode", "Transformers that make one token (or verify up to 8) against a context.", 9},
    {"recurrent", "Gates of 1 to 10 layers, one step at a time or over all steps where gates read no state.", 15},
    {"mlp", "2 to 12 hidden layers, constant, tapering or narrow in the middle, over one row or many.", 9},
    {"signal", "Convolutions over time, plain, residual or depthwise separable, or in front of a transformer.", 10},
    {"mixed", "1 to 10 layers of any kind, each of which has sizes of its own.", 8},
}};
constexpr std::array<Maker, kFamilies.size()> kMakers{{
    {draw_convolutional, kMaps, 25},
    {draw_mobile, kMaps, 25},
    {draw_encoder_decoder, kMaps, 25},
    {draw_prefill, kTokens, 25},
    {draw_decode, kTokens, 50},
    {draw_recurrent, kTokens, 40},
    {draw_mlp, kTokens, 40},
    {draw_signal, kTokens, 25},
    {draw_mixed, kTokens, 25},
}};

RandomStream stream_of(std::uint64_t seed, std::uint64_t index, std::string_view what) {
  return {seed, fmt::format("synthetic network {} {} {}", kSyntheticVersion, index, what)};
}

std::size_t family_of(std::uint64_t seed, std::uint64_t index) {
  std::int64_t point = Draw(stream_of(seed, index, "family")).between(0, 99);
  std::size_t family = 0;
  while (point >= kFamilies[family].share_percent) point -= kFamilies[family++].share_percent;
  return family;
}

std::string name_of(std::uint64_t seed, std::uint64_t index) {
  return fmt::format("{}{}_s{}_{}_{}", kNamePrefix, kSyntheticVersion, seed, index,
                     kFamilies[family_of(seed, index)].name);
}

/// Layers that differ in nothing but their names become one that is repeated.
std::vector<Layer> merged(const std::vector<Layer>& layers) {
  std::vector<Layer> result;
  for (Layer layer : layers) {
    const auto same = std::find_if(result.begin(), result.end(), [&](const Layer& other) {
      Layer candidate = layer;
      candidate.name = other.name;
      candidate.repeat = other.repeat;
      return candidate == other;
    });
    if (same == result.end()) {
      result.push_back(std::move(layer));
    } else {
      same->repeat += layer.repeat;
    }
  }
  return result;
}

bool within_bounds(const Totals& totals, const Bounds& bounds) {
  return totals.macs >= kFewestMacs && totals.macs <= bounds.most_macs && totals.weight_bytes >= kFewestWeightBytes &&
         totals.weight_bytes <= bounds.most_weight_bytes;
}

/// The parts of "synthetic4_s0_17_mobile". A file of such a name, with its ending or folder, is a file.
struct NameParts {
  std::int64_t version = 0, seed = 0, index = 0;
  std::string_view family;
};

std::optional<NameParts> parse_name(std::string_view name) {
  if (!name.starts_with(kNamePrefix)) return std::nullopt;
  std::array<std::string_view, 3> pieces;
  std::string_view rest = name.substr(kNamePrefix.size());
  for (std::string_view& piece : pieces) {
    const std::size_t end = rest.find('_');
    if (end == std::string_view::npos) return std::nullopt;
    piece = rest.substr(0, end);
    rest.remove_prefix(end + 1);
  }
  const auto version = parse_int(pieces[0]);
  const auto seed = pieces[1].starts_with('s') ? parse_int(pieces[1].substr(1)) : std::nullopt;
  const auto index = parse_int(pieces[2]);
  const bool is_word = std::all_of(rest.begin(), rest.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
  if (!version || !seed || !index || !is_word) return std::nullopt;
  return NameParts{.version = *version, .seed = *seed, .index = *index, .family = rest};
}

/// "COUNT", "COUNT@SEED", with "/INDEX" behind either.
struct SetText {
  std::int64_t count = 0, seed = 0;
  std::optional<std::int64_t> index;
};

[[noreturn]] void refuse_set(std::string_view text, const std::string& problem) {
  throw Error(ErrorKind::usage,
              fmt::format("'{}': {}. Write synthetic:COUNT or synthetic:COUNT@SEED, or synthetic:COUNT/INDEX for one "
                          "network of them, e.g. synthetic:300",
                          printable(text), problem));
}

SetText parse_set(std::string_view text) {
  const std::vector<std::string> members = split(text.substr(kSetPrefix.size()), '/');
  const std::vector<std::string> pieces = split(members[0], '@');
  const auto number = [&](const std::string& piece, std::string_view what, std::int64_t low, std::int64_t high) {
    const auto value = parse_int(piece);
    if (!value) refuse_set(text, fmt::format("'{}' is not a {}", printable(piece), what));
    if (*value < low || *value > high)
      refuse_set(text, fmt::format("the {} {} is not in {}..{}", what, *value, low, high));
    return *value;
  };
  if (members.size() > 2 || pieces.size() > 2) refuse_set(text, "one '@' and one '/' at most");
  SetText set;
  set.count = number(pieces[0], "count", 1, kMostNetworks);
  if (pieces.size() == 2) set.seed = number(pieces[1], "seed", 0, kLargestExactInteger);
  if (members.size() == 2) set.index = number(members[1], "index", 0, set.count - 1);
  return set;
}

}  // namespace

std::span<const SyntheticFamily> synthetic_families() { return kFamilies; }

Network synthetic_network(std::uint64_t seed, std::uint64_t index) {
  constexpr int kMostAttempts = 1000;  // [chosen] two of three drawn networks are within the bounds
  const Maker& maker = kMakers[family_of(seed, index)];
  const std::string source =
      fmt::format("synthetic networks, generator version {}, seed {}, network {}", kSyntheticVersion, seed, index);
  Draw draw(stream_of(seed, index, "layers"));
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    const std::int64_t batch = draw.chance(maker.batched_percent) ? draw.power_of_two(2, kLargestDrawnBatch) : 1;
    Blueprint blueprint = maker.draw(draw);
    const bool one_by_one = draw.chance(kOneByOnePercent) && blueprint.layers.size() <= kMostOneByOne;
    Network network(name_of(seed, index), blueprint.what, source, false, batch,
                    one_by_one ? std::move(blueprint.layers) : merged(blueprint.layers), std::move(blueprint.extra));
    if (within_bounds(network.totals(), maker.bounds)) return network;
  }
  throw ContractViolation("no synthetic network within the bounds");
}

bool names_synthetic_set(std::string_view text) { return text.starts_with(kSetPrefix); }

std::vector<std::string> synthetic_names(std::string_view text) {
  const SetText set = parse_set(text);
  const std::int64_t begin = set.index.value_or(0);
  const std::int64_t end = set.index ? begin + 1 : set.count;
  std::vector<std::string> names;
  for (std::int64_t i = begin; i < end; ++i) {
    names.push_back(name_of(static_cast<std::uint64_t>(set.seed), static_cast<std::uint64_t>(i)));
  }
  return names;
}

std::optional<Network> find_synthetic(std::string_view name) {
  const auto parts = parse_name(name);
  if (!parts) return std::nullopt;
  if (parts->version != kSyntheticVersion) {
    throw Error(
        ErrorKind::usage,
        fmt::format("'{}' is of version {} of the generator, this is version {} (their networks differ; logs and "
                    "models keep those that they have). Name one of this version, e.g. {}",
                    printable(name), parts->version, kSyntheticVersion, name_of(0, 0)));
  }
  const bool in_range =
      parts->seed >= 0 && parts->seed <= kLargestExactInteger && parts->index >= 0 && parts->index < kMostNetworks;
  if (in_range) {
    const auto seed = static_cast<std::uint64_t>(parts->seed), index = static_cast<std::uint64_t>(parts->index);
    const std::string known = name_of(seed, index);
    if (name == known) return synthetic_network(seed, index);
    throw Error(ErrorKind::usage, fmt::format("there is no network '{}'. Did you mean '{}'?", printable(name), known));
  }
  throw Error(ErrorKind::usage, fmt::format("there is no network '{}' (seeds lie in 0..{}, numbers in 0..{})",
                                            printable(name), kLargestExactInteger, kMostNetworks - 1));
}

std::optional<std::string_view> synthetic_family_of(std::string_view name) {
  const auto parts = parse_name(name);
  return parts ? std::optional(parts->family) : std::nullopt;
}

std::optional<std::string> synthetic_group_of(std::string_view name) {
  const auto parts = parse_name(name);
  if (!parts) return std::nullopt;
  const std::string group = fmt::format("synthetic {}", parts->family);
  return parts->version == kSyntheticVersion ? group : fmt::format("{} of version {}", group, parts->version);
}

std::string synthetic_table() {
  Table table;
  table.add_column("family", Align::left);
  table.add_column("share", Align::right);
  table.add_column("batched", Align::right);
  table.add_column("networks", Align::left);
  for (std::size_t i = 0; i < kFamilies.size(); ++i) {
    table.add_row({fmt::format("`{}`", kFamilies[i].name), fmt::format("{} %", kFamilies[i].share_percent),
                   fmt::format("{} %", kMakers[i].batched_percent), std::string(kFamilies[i].description)});
  }
  return table.markdown();
}

}  // namespace hindsight::workload
