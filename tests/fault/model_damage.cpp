/// Loads damaged copies in this process: a crash ends it, and is seen.
#include "fault/model_damage.h"

#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <random>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/surrogate/model.h"

namespace hindsight::fault {
namespace {

namespace fs = std::filesystem;

class Loader {
 public:
  explicit Loader(const fs::path& folder) : file_(folder / "damaged.safetensors") {}

  void expect_refused(const std::string& bytes, const std::string& what, Tally& tally) const {
    ++tally.count;
    std::ofstream(file_, std::ios::binary | std::ios::trunc) << bytes;
    try {
      static_cast<void>(surrogate::load_model(file_));
      tally.add(tally.silent, what + " was loaded");
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::incompatible) tally.add(tally.other, what + ": " + error.what());
    } catch (const std::exception& error) {
      tally.add(tally.crashes, what + ": " + error.what());
    }
  }

 private:
  fs::path file_;
};

}  // namespace

Tally cut_model(const fs::path& model, const fs::path& folder, std::int64_t every) {
  const std::string whole = read_file(model);
  const Loader loader(folder);
  Tally tally;
  for (std::size_t length = 0; length < whole.size(); length += static_cast<std::size_t>(every)) {
    loader.expect_refused(whole.substr(0, length), fmt::format("a model cut after {} bytes", length), tally);
  }
  return tally;
}

Tally change_model(const fs::path& model, const fs::path& folder, std::int64_t count, std::uint64_t seed) {
  const std::string whole = read_file(model);
  const Loader loader(folder);
  std::mt19937_64 random(seed);
  Tally tally;
  while (tally.count < count) {
    std::string changed = whole;
    const auto bytes = random() % 5;
    if (bytes == 0) changed[random() % changed.size()] ^= static_cast<char>(1U << random() % 8);
    for (std::size_t i = 0; i < bytes; ++i) changed[random() % changed.size()] = static_cast<char>(random());
    if (changed != whole) loader.expect_refused(changed, fmt::format("change {} of seed {}", tally.count, seed), tally);
  }
  return tally;
}

}  // namespace hindsight::fault
