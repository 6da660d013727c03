/// Model files taken apart and put together again, with checksums as the writer makes them.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "hindsight/core/hash.h"

namespace hindsight::surrogate::test {

/// A header and data as the published layout has them, for making files with valid checksums.
struct Pieces {
  nlohmann::ordered_json header;
  std::string data;
};
inline Pieces take_apart(const std::string& bytes) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  return {nlohmann::ordered_json::parse(bytes.substr(8, length)), bytes.substr(8 + length)};
}
inline std::string with_length(const std::string& header, const std::string& data) {
  std::string bytes(8, '\0');
  const std::uint64_t length = header.size();
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes + header + data;
}
/// Checksums as the writer makes them, so that only the change under test is wrong.
inline std::string sealed(std::string header, const std::string& data) {
  const std::string key = R"("header_sha256":")";
  const std::size_t at = header.find(key) + key.size();
  header.replace(at, 64, 64, '0');
  header.replace(at, 64, sha256_hex(header));
  return with_length(header, data);
}
inline std::string sealed(Pieces pieces) {
  pieces.header["__metadata__"]["data_sha256"] = sha256_hex(pieces.data);
  return sealed(pieces.header.dump(), pieces.data);
}
/// Changes the model's description inside the metadata.
inline std::string with_description(const std::string& bytes,
                                    const std::function<void(nlohmann::ordered_json&)>& change) {
  Pieces pieces = take_apart(bytes);
  auto model = nlohmann::ordered_json::parse(pieces.header["__metadata__"]["model"].get<std::string>());
  change(model);
  pieces.header["__metadata__"]["model"] = model.dump();
  return sealed(std::move(pieces));
}

}  // namespace hindsight::surrogate::test
