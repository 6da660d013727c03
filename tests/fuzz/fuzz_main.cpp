/// libFuzzer's entry points; HINDSIGHT_FUZZ_READER names one of this fuzzer's readers.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "fuzz/reader.h"

extern "C" size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

using hindsight::fuzz::Reader;

Reader chosen;

[[noreturn]] void stop(const char* problem) {
  std::fprintf(stderr, "%s. Readers:", problem);
  for (const Reader& reader : hindsight::fuzz::HINDSIGHT_FUZZ_READERS())
    std::fprintf(stderr, " %s", std::string(reader.name).c_str());
  std::fprintf(stderr, "\n");
  std::exit(2);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* given = std::getenv("HINDSIGHT_FUZZ_READER");
  if (given == nullptr) stop("HINDSIGHT_FUZZ_READER has to name a reader");
  const std::string_view name = given;
  const auto own = hindsight::fuzz::HINDSIGHT_FUZZ_READERS();
  const auto found = std::ranges::find(own, name, &Reader::name);
  if (found == own.end()) stop("HINDSIGHT_FUZZ_READER names no reader");
  chosen = *found;
  // Help of the command line goes to standard output; the fuzzer itself writes to standard error.
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  ::dup2(nowhere, STDOUT_FILENO);
  ::close(nowhere);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto finding = hindsight::fuzz::finding_of(chosen, bytes)) {
    std::fprintf(stderr, "FINDING in reader %s: %s\n", std::string(chosen.name).c_str(), finding->c_str());
    std::abort();
  }
  return 0;
}

/// Changes as libFuzzer does, then puts the checksums right in three of four cases.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned int seed) {
  size = LLVMFuzzerMutate(data, size, most);
  if (chosen.seal == nullptr || seed % 4 == 0) return size;
  const std::string sealed = chosen.seal(std::string(reinterpret_cast<const char*>(data), size));
  if (sealed.size() > most) return size;
  sealed.copy(reinterpret_cast<char*>(data), sealed.size());
  return sealed.size();
}
