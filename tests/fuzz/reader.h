/// The readers of bytes from outside, each as one function of some bytes, for the fuzzer and for the tests.
///
/// A reader may refuse what it is given by an Error with a message of a bounded length. Everything else is a finding:
/// another exception, a broken contract, memory that runs out, a promise of the reader that does not hold (Broken), and
/// what sanitizers see.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/space/design_space.h"

namespace hindsight::fuzz {

/// What a reader accepted, and should not have: two ways of reading that disagree, a text that does not read back.
class Broken : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};
/// Throws Broken unless `holds`.
void require(bool holds, const std::string& promise);

struct Reader {
  std::string_view name;
  void (*read)(std::string_view bytes);
  /// Makes a changed file pass the checksums of its format, so that the fuzzer gets behind them; null: it has none.
  std::string (*seal)(std::string bytes) = nullptr;
  std::string_view dictionary = {};  ///< file in dictionaries/, without its ending
};

/// All of them, by name.
[[nodiscard]] std::span<const Reader> readers();
/// std::nullopt for an unknown name.
[[nodiscard]] std::optional<Reader> find_reader(std::string_view name);

/// Reads the bytes; what was found, or nothing. Longest message that an Error may have: kMostMessageBytes.
[[nodiscard]] std::optional<std::string> finding_of(const Reader& reader, std::string_view bytes);
/// [chosen] what `docs/limits.md` promises of a line is cut from it by the program; names inside it are bounded
inline constexpr std::size_t kMostMessageBytes = 8192;

/// What one question to a reader is refused by, so that its other questions are asked all the same; nothing: it was
/// answered. Throws Broken for a message that no reader may give.
std::optional<Error> refusal_of(const std::function<void()>& question);

/// The bytes as a file of that ending in a folder of this process, for readers of files. Overwritten by the next call.
[[nodiscard]] std::filesystem::path as_file(std::string_view bytes, const std::string& ending);
/// Another path in that folder, where nothing is.
[[nodiscard]] std::filesystem::path free_path(const std::string& name);

/// Beginnings for the fuzzer: files of this repository that the reader takes, and such that are made here.
[[nodiscard]] std::vector<std::string> seeds_of(const Reader& reader, const std::filesystem::path& repository);

/// Of the readers `expression`, `design`, `answer` and `question`: two ordinal and two categorical parameters.
[[nodiscard]] const space::DesignSpace& small_space();

// The readers, by what they read. Each list belongs to a source and a fuzzer of its own: what a fuzzer does not need is
// not linked, because counters of lines that are never reached cost time at every execution.
[[nodiscard]] std::span<const Reader> table_readers();
[[nodiscard]] std::span<const Reader> yaml_readers();
[[nodiscard]] std::span<const Reader> network_readers();
[[nodiscard]] std::span<const Reader> log_readers();
[[nodiscard]] std::span<const Reader> study_readers();
[[nodiscard]] std::span<const Reader> model_readers();
[[nodiscard]] std::span<const Reader> word_readers();
[[nodiscard]] std::span<const Reader> program_readers();

}  // namespace hindsight::fuzz
