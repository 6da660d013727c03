/// SHA-256 of what does not fit into memory: fed piece by piece.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace hindsight {

/// The digest of all pieces in their order, as sha256_hex() gives it for their concatenation.
class Sha256 {
 public:
  /// Errors: Error{failure} when OpenSSL has no SHA-256 (its configuration is broken).
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void add(std::string_view bytes);
  /// 64 lower-case hexadecimal digits; once.
  [[nodiscard]] std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hindsight
