/// The list of readers, and what each of them promises of whatever it is given.
#include "fuzz/reader.h"

#include <algorithm>
#include <fstream>
#include <new>

#include "hindsight/core/error.h"
#include "hindsight/core/scratch_folder.h"

namespace hindsight::fuzz {
namespace {

std::vector<Reader> all_readers() {
  std::vector<Reader> all;
  for (const std::span<const Reader> some :
       {table_readers(), yaml_readers(), network_readers(), binary_readers(), word_readers()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  std::ranges::sort(all, {}, &Reader::name);
  return all;
}

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

std::span<const Reader> readers() {
  static const std::vector<Reader> all = all_readers();
  return all;
}

std::optional<Reader> find_reader(std::string_view name) {
  const auto found = std::ranges::find(readers(), name, &Reader::name);
  return found == readers().end() ? std::nullopt : std::optional(*found);
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
