/// Writing and reading of safetensors files with checksums.
#include "surrogate/tensor_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/text.h"
#include "surrogate/json_entries.h"

namespace hindsight::surrogate {
namespace {

static_assert(std::endian::native == std::endian::little, "the numbers of a safetensors file are little-endian");

constexpr std::size_t kLengthBytes = 8;
/// Largest header. [chosen] the limit of the reader that defines the format
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;
/// What the header of our files starts with; 64 digits follow.
constexpr std::string_view kHeaderStart = R"({"__metadata__":{"header_sha256":")";
constexpr std::size_t kHashDigits = 64;

/// The key of __metadata__ that holds the text; which of them a file has says what it is.
constexpr std::array kFileKinds{FileKind::model, FileKind::checkpoint, FileKind::part};
constexpr const char* key_of(FileKind kind) {
  return kind == FileKind::model ? "model" : kind == FileKind::part ? "part" : "checkpoint";
}

/// The description of an array: name, shape and place in the data section.
struct TensorEntry {
  std::string name;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0, end = 0;  ///< bytes of the data section
};
struct Header {
  std::string format_version, data_sha256, text;  ///< entries of __metadata__
  std::vector<TensorEntry> tensors;               ///< in the order of their data
};

/// What a file of another kind is for.
const char* use_of(FileKind found, FileKind wanted) {
  if (wanted == FileKind::checkpoint) {
    return "is a model, a part of one, or the checkpoint of an older version, no checkpoint that this version can go "
           "on with. Start afresh without --resume";
  }
  if (found == FileKind::part) {
    return "is a part of a model that was trained in shards, not a model. Make the model of all its parts by "
           "`hindsight model join`?";
  }
  if (wanted == FileKind::part && found == FileKind::model) {
    return "is a whole model, no part of one. Give the files that `hindsight train --shard` wrote";
  }
  return wanted == FileKind::part ? "is the checkpoint of an unfinished training, no part that is done. Go on with its "
                                    "shard by `hindsight train --resume`?"
                                  : "is the checkpoint of an unfinished training, not a model. Go on with that "
                                    "training by `hindsight train --resume`?";
}

/// Refuses what is cut off, damaged or of another program.
[[noreturn]] void refuse_damaged(FileKind kind, const std::string& problem) {
  refuse(fmt::format("{}. {}", problem,
                     kind == FileKind::checkpoint ? "Start afresh without --resume"
                     : kind == FileKind::part     ? "Copy it again, or run its shard again"
                                                  : "Copy it again, or train it again"));
}

/// Refuses a file that is of another kind altogether: "a SQLite database", "text".
[[noreturn]] void refuse_foreign(FileKind kind, std::string_view found) {
  refuse(kind == FileKind::checkpoint
             ? fmt::format("is {}, no checkpoint of a training. Start afresh without --resume", found)
             : fmt::format("is {}, not a {}. Give the {} wrote?", found,
                           kind == FileKind::part ? "part of a model" : "model",
                           kind == FileKind::part ? "files that `hindsight train --shard`"
                                                  : ".safetensors file that `hindsight train --out`"));
}

/// Says what another kind of file is for.
void require_kind(const Json& metadata, FileKind kind) {
  for (const FileKind other : kFileKinds) {
    if (other != kind && metadata.contains(key_of(other))) refuse(use_of(other, kind));
  }
}

/// The header of a file; `header_sha256` is written as 64 zeros.
std::string header_text(const Header& header, FileKind kind) {
  Json json;
  json["__metadata__"] = {{"header_sha256", std::string(64, '0')},
                          {"format_version", header.format_version},
                          {"data_sha256", header.data_sha256},
                          {key_of(kind), header.text}};
  for (const TensorEntry& tensor : header.tensors) {
    json[tensor.name] = {
        {"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", std::vector{tensor.begin, tensor.end}}};
  }
  return json.dump();
}

/// Refuses all but an object of known entries with F32 tensors that fill the data section of `data_bytes` bytes without
/// hole or overlap.
Header parse_header_text(std::string_view text, std::uint64_t data_bytes, FileKind kind) {
  const Json json = parse_bounded_json(text, "the header");
  const Json& metadata = entry(json, "__metadata__");
  require_kind(metadata, kind);
  Header header{.format_version = text_of(metadata, "format_version"),
                .data_sha256 = text_of(metadata, "data_sha256"),
                .text = text_of(metadata, key_of(kind)),
                .tensors = {}};
  for (const auto& [name, tensor] : json.items()) {
    if (name == "__metadata__") continue;
    const auto fail = [&, &key = name](const std::string& problem) {
      refuse(fmt::format("tensor '{}' {}", printable(key), problem));
    };
    if (!tensor.is_object() || tensor.size() != 3) fail("is not described by dtype, shape and data_offsets");
    if (text_of(tensor, "dtype") != "F32") fail("is not of type F32");
    const std::vector<std::int64_t> shape = integers_of(tensor, "shape"), offsets = integers_of(tensor, "data_offsets");
    if (offsets.size() != 2 || offsets[0] < 0 || offsets[1] < offsets[0]) fail("has malformed data_offsets");
    std::uint64_t bytes = sizeof(float);
    for (const std::int64_t size : shape) {
      if (size < 0 || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes)) {
        fail("has no sane shape");
      }
    }
    TensorEntry found{name, shape, static_cast<std::uint64_t>(offsets[0]), static_cast<std::uint64_t>(offsets[1])};
    if (found.end - found.begin != bytes) fail("has data_offsets that do not fit its shape");
    header.tensors.push_back(std::move(found));
  }
  std::ranges::sort(header.tensors,
                    [](const auto& a, const auto& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  std::uint64_t position = 0;
  for (const TensorEntry& tensor : header.tensors) {
    if (tensor.begin != position) refuse(fmt::format("tensor '{}' leaves a hole or overlaps", printable(tensor.name)));
    position = tensor.end;
  }
  if (position != data_bytes) {
    refuse_damaged(kind, fmt::format("the tensors describe {} bytes of data, the file has {} ({})", position,
                                     data_bytes, data_bytes < position ? "truncated?" : "damaged?"));
  }
  return header;
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
std::string_view checked_header(std::string_view bytes, FileKind kind) {
  if (const std::string_view found = other_kind(bytes); !found.empty()) refuse_foreign(kind, found);
  if (bytes.size() < kLengthBytes + kHeaderStart.size() + kHashDigits) {
    refuse_damaged(kind, fmt::format("{} bytes are too few for a model (truncated?)", bytes.size()));
  }
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > kMaxHeaderBytes) {
    refuse_damaged(kind, "no safetensors file, or a damaged one");
  }
  if (length > bytes.size() - kLengthBytes) {
    refuse_damaged(
        kind, fmt::format("the header needs {} bytes, {} are left (truncated?)", length, bytes.size() - kLengthBytes));
  }
  const std::string_view text = bytes.substr(kLengthBytes, length);
  if (!text.starts_with(kHeaderStart) || text.size() < kHeaderStart.size() + kHashDigits) {
    refuse_damaged(kind, "no Hindsight model (a safetensors file of another program, or a damaged one)");
  }
  std::string blanked(text);
  blanked.replace(kHeaderStart.size(), kHashDigits, kHashDigits, '0');
  if (text.substr(kHeaderStart.size(), kHashDigits) != sha256_hex(blanked)) {
    refuse_damaged(kind, "the checksum of the header is wrong (the file is damaged)");
  }
  return text;
}

}  // namespace

std::string member_prefix(std::size_t member) { return fmt::format("member.{}.", member); }

std::string serialise(const TensorFile& file, FileKind kind) {
  Header header{.format_version = file.format_version, .data_sha256 = {}, .text = file.text, .tensors = {}};
  std::string data;
  for (const auto& [name, tensor] : file.tensors) {
    const std::uint64_t begin = data.size();
    data.append(reinterpret_cast<const char*>(tensor.values.data()), tensor.values.size() * sizeof(float));
    header.tensors.push_back({name, tensor.shape, begin, data.size()});
  }
  header.data_sha256 = sha256_hex(data);
  std::string text = header_text(header, kind);
  text.append((kLengthBytes - text.size() % kLengthBytes) % kLengthBytes, ' ');
  HINDSIGHT_ENSURE(text.starts_with(kHeaderStart));
  text.replace(kHeaderStart.size(), kHashDigits, sha256_hex(text));

  const std::uint64_t length = text.size();
  std::string bytes(kLengthBytes, '\0');
  std::memcpy(bytes.data(), &length, kLengthBytes);
  return bytes + text + data;
}

TensorFile parse_tensor_file(std::string_view bytes, FileKind kind,
                             const std::function<void(const std::string&)>& require_version) {
  const std::string_view text = checked_header(bytes, kind);
  const std::string_view data = bytes.substr(kLengthBytes + text.size());
  Header header = parse_header_text(text, data.size(), kind);
  require_version(header.format_version);
  if (header.data_sha256 != sha256_hex(data)) {
    refuse_damaged(kind, "the checksum of the weights is wrong (the file is damaged)");
  }
  TensorFile file{.format_version = std::move(header.format_version), .text = std::move(header.text), .tensors = {}};
  for (TensorEntry& entry : header.tensors) {
    Tensor tensor{.shape = std::move(entry.shape),
                  .values = std::vector<float>((entry.end - entry.begin) / sizeof(float))};
    if (!tensor.values.empty()) std::memcpy(tensor.values.data(), data.data() + entry.begin, entry.end - entry.begin);
    file.tensors.emplace_back(std::move(entry.name), std::move(tensor));
  }
  return file;
}

}  // namespace hindsight::surrogate
