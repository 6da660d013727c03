/// Readers of logs.
#include <array>

#include "fuzz/log_questions.h"
#include "fuzz/reader.h"
#include "hindsight/core/provenance.h"
#include "hindsight/log/address.h"
#include "hindsight/log/log.h"
#include "hindsight/log/repair.h"

namespace hindsight::fuzz {
namespace {

/// Every question is asked, whatever the others are refused by.
void read_log(std::string_view bytes) {
  const log::Log log = log::Log::open(as_file(bytes, ".sqlite"), log::OpenMode::read_only);
  Questions questions;
  ask_rows(log, questions);
  if (questions.first_refusal()) throw Error(*questions.first_refusal());
}

/// A file that was repaired is a sound log. The repair asks that itself, in the same words, before its file has a name,
/// and refuses to write otherwise: that refusal is a finding.
void repair_log(std::string_view bytes) {
  const auto output = free_path("repaired.sqlite");
  try {
    (void)log::repair_log(as_file(bytes, ".sqlite"), output, Provenance());
  } catch (const Error& error) {
    require(std::string_view(error.what()).find(log::kUnsoundRepair) == std::string_view::npos, error.what());
    throw;
  }
  require(std::filesystem::file_size(output) > 0, "a repaired log is there");
}

/// A text whose passwords are hidden has none left to hide.
void read_address(std::string_view bytes) {
  const std::string shown = log::without_passwords(bytes);
  require(log::without_passwords(shown) == shown, "what is hidden stays as it is");
  (void)log::has_password(bytes);
  if (log::is_server_address(bytes)) log::require_file(bytes, "a fuzzer", "Name a file");
}

}  // namespace

std::span<const Reader> log_readers() {
  static constexpr std::array kReaders{
      Reader{.name = "log", .read = read_log, .dictionary = "sqlite"},
      Reader{.name = "log_repair", .read = repair_log, .dictionary = "sqlite"},
      Reader{.name = "address", .read = read_address, .dictionary = "address"},
  };
  return kReaders;
}

}  // namespace hindsight::fuzz
