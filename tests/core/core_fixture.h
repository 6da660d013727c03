/// Helpers of the core tests: files, the environment and locales, and errors as values.
#pragma once

#include <gtest/gtest.h>

#include <clocale>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <string>

#include "hindsight/core/error.h"
#include "temporary_folder.h"

namespace hindsight::test {

[[nodiscard]] inline std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// Sets an environment variable (or unsets it) for the life of the object.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) {
      old_ = old;
    }
    set(value);
  }
  ~ScopedVariable() { set(old_ ? old_->c_str() : nullptr); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  void set(const char* value) const {
    if (value == nullptr) {
      unsetenv(name_);
    } else {
      setenv(name_, value, 1);
    }
  }
  const char* name_;
  std::optional<std::string> old_;
};

/// German number formats (decimal comma) in the C library, built with localedef where it is not installed.
class GermanLocale {
 public:
  GermanLocale() : search_path_("LOCPATH", std::getenv("LOCPATH")) {
    active_ = std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr;
    if (active_) {
      return;
    }
    const std::string target = (folder_.path() / "de_DE.UTF-8").string();
    const std::string command = "localedef -i de_DE -f UTF-8 '" + target + "' >/dev/null 2>&1";
    if (std::system(command.c_str()) == 0) {
      setenv("LOCPATH", folder_.path().c_str(), 1);
      active_ = std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr;
    }
  }
  ~GermanLocale() { std::setlocale(LC_ALL, "C"); }
  GermanLocale(const GermanLocale&) = delete;
  GermanLocale& operator=(const GermanLocale&) = delete;
  [[nodiscard]] bool active() const { return active_; }

 private:
  TemporaryFolder folder_;
  ScopedVariable search_path_;  // restores LOCPATH
  bool active_ = false;
};

/// The Error that `action` throws, or nothing.
template <class Action>
std::optional<Error> error_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

/// A new seed each run, printed so that a failure can be repeated with HINDSIGHT_TEST_SEED.
[[nodiscard]] inline std::uint64_t test_seed() {
  const char* wanted = std::getenv("HINDSIGHT_TEST_SEED");
  const std::uint64_t seed = wanted == nullptr ? std::random_device{}() : std::strtoull(wanted, nullptr, 10);
  std::printf("HINDSIGHT_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

/// The message must be `expected`, of the kind that the user caused.
#define EXPECT_USAGE_ERROR(action, expected)                                  \
  do {                                                                        \
    const auto thrown = ::hindsight::test::error_of([&] { (void)(action); }); \
    ASSERT_TRUE(thrown.has_value()) << "no error; expected: " << (expected);  \
    EXPECT_EQ(thrown->kind(), ::hindsight::ErrorKind::usage);                 \
    EXPECT_STREQ(thrown->what(), static_cast<std::string>(expected).c_str()); \
  } while (false)

}  // namespace hindsight::test
