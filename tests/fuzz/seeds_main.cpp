/// Writes the seeds of every reader: folder FOLDER/READER, files named by their hashes. Prints the readers and their
/// dictionaries.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "fuzz/reader.h"
#include "hindsight/core/hash.h"
#include "repository.h"

int main(int argc, char** argv) {
  for (const hindsight::fuzz::Reader& reader : hindsight::fuzz::readers()) {
    std::printf("%s %s\n", std::string(reader.name).c_str(), std::string(reader.dictionary).c_str());
    if (argc != 2) continue;
    const std::filesystem::path folder = std::filesystem::path(argv[1]) / reader.name;
    std::filesystem::create_directories(folder);
    for (const std::string& seed : hindsight::fuzz::seeds_of(reader, hindsight::test::repository())) {
      std::ofstream(folder / hindsight::sha256_hex(seed).substr(0, 16), std::ios::binary) << seed;
    }
  }
  return 0;
}
