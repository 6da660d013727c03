/// What each reader promises of whatever it is given, and the files that it reads.
#include "fuzz/reader.h"

#include <fstream>
#include <new>

#include "hindsight/core/error.h"
#include "hindsight/core/scratch_folder.h"

namespace hindsight::fuzz {
namespace {

/// What is wrong with the message of an error; empty: nothing. Control characters that it quotes are made visible where
/// it is printed, by one function for all of them (apps/hindsight/output.cpp).
std::string fault_of_message(std::string_view message) {
  if (message.empty()) return "an error without a message";
  if (message.size() > kMostMessageBytes) return "a message of " + std::to_string(message.size()) + " bytes";
  return "";
}

const ScratchFolder& folder() {
  static const ScratchFolder folder("what is being fuzzed");
  return folder;
}

}  // namespace

void require(bool holds, const std::string& promise) {
  if (!holds) throw Broken(promise);
}

std::optional<std::string> finding_of(const Reader& reader, std::string_view bytes) {
  try {
    reader.read(bytes);
    return std::nullopt;
  } catch (const Error& error) {
    const std::string fault = fault_of_message(error.what());
    if (fault.empty()) return std::nullopt;
    return fault + ": " + error.what();
  } catch (const std::bad_alloc&) {
    return "more memory than there is";
  } catch (const std::exception& error) {
    return std::string("not an Error: ") + error.what();
  }
}

std::filesystem::path as_file(std::string_view bytes, const std::string& ending) {
  const std::filesystem::path file = folder() / ("input" + ending);
  for (const char* beside : {"-wal", "-shm", "-journal"}) std::filesystem::remove(file.string() + beside);
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
  return file;
}

std::filesystem::path free_path(const std::string& name) {
  const std::filesystem::path file = folder() / name;
  for (const char* ending : {"", "-wal", "-shm", "-journal"}) std::filesystem::remove(file.string() + ending);
  return file;
}

}  // namespace hindsight::fuzz
