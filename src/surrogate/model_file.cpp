/// Model files: safetensors with checksums over the header and the data.
///
/// Layout: 8 bytes little-endian length N, N bytes of JSON header padded with blanks to a multiple of 8, float32 data.
/// The header starts with `__metadata__`, whose first entry is the SHA-256 of the header, computed with the digits of
/// that entry set to zeros; a further entry is the SHA-256 of the data. No byte of a file is outside a checksum but the
/// length, and a wrong length gives a wrong checksum.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/text.h"
#include "surrogate/model_text.h"

namespace hindsight::surrogate {
namespace {

static_assert(std::endian::native == std::endian::little, "the weights of a model file are little-endian");

constexpr std::size_t kLengthBytes = 8;
/// Largest header. [chosen] the limit of the reader that defines the format
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;
/// Largest file. [chosen] four networks of kMaxWeights
constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 30;
/// What the header of a Hindsight model starts with; 64 digits follow.
constexpr std::string_view kHeaderStart = R"({"__metadata__":{"header_sha256":")";
constexpr std::size_t kHashDigits = 64;

[[noreturn]] void refuse(const std::string& problem) { throw Error(ErrorKind::incompatible, problem); }

std::string member_prefix(std::size_t member) { return fmt::format("member.{}.", member); }

std::string serialise(const Model& model) {
  SafetensorsHeader header{.format_version = std::to_string(kModelFormatVersion),
                           .data_sha256 = {},
                           .model = model_text(model),
                           .tensors = {}};
  std::string data;
  const auto& members = model.parts().members;
  for (std::size_t m = 0; m < members.size(); ++m) {
    for (const auto& [name, tensor] : members[m].weights()) {
      const std::uint64_t begin = data.size();
      data.append(reinterpret_cast<const char*>(tensor.values.data()), tensor.values.size() * sizeof(float));
      header.tensors.push_back({member_prefix(m) + name, tensor.shape, begin, data.size()});
    }
  }
  header.data_sha256 = sha256_hex(data);
  std::string text = header_text(header);
  text.append((kLengthBytes - text.size() % kLengthBytes) % kLengthBytes, ' ');
  HINDSIGHT_ENSURE(text.starts_with(kHeaderStart));
  text.replace(kHeaderStart.size(), kHashDigits, sha256_hex(text));

  const std::uint64_t length = text.size();
  std::string bytes(kLengthBytes, '\0');
  std::memcpy(bytes.data(), &length, kLengthBytes);
  return bytes + text + data;
}

/// What a file that cannot be a model is, as far as its beginning says: "a SQLite database", "text".
std::string_view other_kind(std::string_view bytes) {
  constexpr std::size_t kSample = 512;
  const std::string_view kind = binary_kind(bytes);
  if (!kind.empty()) return kind == "a safetensors file" ? std::string_view{} : kind;
  const std::string_view sample = bytes.substr(0, kSample);
  const bool text = std::all_of(sample.begin(), sample.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\r' || c == '\t';
  });
  return text && !sample.empty() ? "text" : std::string_view{};
}

/// The header text of a file whose checksum holds.
std::string_view checked_header(std::string_view bytes) {
  if (const std::string_view kind = other_kind(bytes); !kind.empty()) {
    refuse(fmt::format("is {}, not a model. Give the .safetensors file that `hindsight train --out` wrote?", kind));
  }
  if (bytes.size() < kLengthBytes + kHeaderStart.size() + kHashDigits) {
    refuse(fmt::format("{} bytes are too few for a model (truncated?)", bytes.size()));
  }
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > kMaxHeaderBytes) {
    refuse("no safetensors file, or a damaged one. Give the file that `hindsight train --out` wrote?");
  }
  if (length > bytes.size() - kLengthBytes) {
    refuse(fmt::format("the header needs {} bytes, {} are left (truncated?)", length, bytes.size() - kLengthBytes));
  }
  const std::string_view text = bytes.substr(kLengthBytes, length);
  if (!text.starts_with(kHeaderStart) || text.size() < kHeaderStart.size() + kHashDigits) {
    refuse("no Hindsight model (a safetensors file of another program, or a damaged one)");
  }
  std::string blanked(text);
  blanked.replace(kHeaderStart.size(), kHashDigits, kHashDigits, '0');
  if (text.substr(kHeaderStart.size(), kHashDigits) != sha256_hex(blanked)) {
    refuse("the checksum of the header is wrong (the file is damaged)");
  }
  return text;
}

Model parse_model(std::string_view bytes) {
  const std::string_view text = checked_header(bytes);
  const std::string_view data = bytes.substr(kLengthBytes + text.size());
  const SafetensorsHeader header = parse_header_text(text, data.size());
  const auto version = parse_int(header.format_version);
  if (!version || *version < kOldestModelFormat || *version > kModelFormatVersion) {
    refuse(
        fmt::format("model format version {}, this program reads versions {} to {}. Train the model again, or use the "
                    "program that wrote it",
                    printable(header.format_version), kOldestModelFormat, kModelFormatVersion));
  }
  if (header.data_sha256 != sha256_hex(data)) refuse("the checksum of the weights is wrong (the file is damaged)");

  ModelText description = parse_model_text(header.model, static_cast<int>(*version));
  std::vector<Weights> weights(description.architectures.size());
  for (const TensorEntry& entry : header.tensors) {
    const auto pieces = split(entry.name, '.');
    const auto member = pieces.size() > 2 && pieces[0] == "member" ? parse_int(pieces[1]) : std::nullopt;
    if (!member || *member < 0 || static_cast<std::size_t>(*member) >= weights.size()) {
      refuse(fmt::format("tensor '{}' belongs to no member of the model", printable(entry.name)));
    }
    const auto number = static_cast<std::size_t>(*member);
    if (!entry.name.starts_with(member_prefix(number))) {
      refuse(fmt::format("odd tensor name '{}'", printable(entry.name)));
    }
    Tensor tensor{.shape = entry.shape, .values = std::vector<float>((entry.end - entry.begin) / sizeof(float))};
    if (!tensor.values.empty()) std::memcpy(tensor.values.data(), data.data() + entry.begin, entry.end - entry.begin);
    weights[number].emplace(entry.name.substr(member_prefix(number).size()), std::move(tensor));
  }
  for (std::size_t m = 0; m < weights.size(); ++m) {
    description.parts.members.emplace_back(description.architectures[m], std::move(weights[m]));
  }
  return Model(std::move(description.parts));
}

}  // namespace

void save_model(const Model& model, const std::filesystem::path& file, Card card) {
  const std::string bytes = serialise(model);
  if (bytes.size() > kMaxFileBytes) {
    throw Error(ErrorKind::failure, fmt::format("{}: a model of {} bytes is refused (at most {})",
                                                printable(file.string(), 400), bytes.size(), kMaxFileBytes));
  }
  static_cast<void>(parse_model(bytes));  // what is written can be read
  write_file_atomically(file, bytes);
  if (card == Card::left_out) return;
  write_file_atomically(std::filesystem::path(file).replace_extension(".md"), model_card(model));
}

Model load_model(const std::filesystem::path& file) {
  const std::string bytes = read_file(file, kMaxFileBytes);
  try {
    return parse_model(bytes);
  } catch (const Error& error) {
    throw Error(ErrorKind::incompatible, fmt::format("{}: {}", printable(file.string(), 400), error.what()));
  }
}

}  // namespace hindsight::surrogate
