/// Hands a figure to rsvg-convert and takes its pixels.
#include "picture.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "hindsight/core/child_process.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/scratch_folder.h"
#include "hindsight/core/text.h"

namespace hindsight::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRenderer = "rsvg-convert";
constexpr std::chrono::seconds kMostTime{60};        // [chosen] a figure takes less than one
constexpr std::chrono::milliseconds kLookEvery{50};  // [chosen] what it says does not keep it waiting for longer
constexpr std::uintmax_t kMostBytes = 256U << 20U;   // [chosen] a poster

/// Whether PATH has the renderer.
bool has_renderer() {
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path == nullptr ? "" : path, ':')) {
    if (!folder.empty() && ::access((fs::path(folder) / kRenderer).c_str(), X_OK) == 0) return true;
  }
  return false;
}

/// Adds what there is to read of what a process says, as far as it is shown: of one look, so that a process that never
/// stops talking is looked at again.
void listen(const Descriptor& pipe, std::string& said) {
  constexpr std::size_t kMostSaid = 4096;  // [chosen] of which a line is shown
  constexpr int kMostChunks = 64;          // [chosen] more than a pipe holds
  std::array<char, kMostSaid> chunk{};
  for (int i = 0; i < kMostChunks; ++i) {
    const ssize_t count = ::read(pipe.number(), chunk.data(), chunk.size());
    if (count <= 0) return;
    said.append(chunk.data(), std::min(static_cast<std::size_t>(count), kMostSaid - said.size()));
  }
}

}  // namespace

void require_png_renderer() {
  if (has_renderer()) return;
  throw Error(ErrorKind::unavailable, fmt::format("--format png: {} is not in PATH (Debian: apt-get install "
                                                  "librsvg2-bin). Or take --format svg",
                                                  kRenderer));
}

std::string png_of_svg(const std::string& svg, int width) {
  require_png_renderer();
  const ScratchFolder scratch("the figure");
  const fs::path from = scratch / "figure.svg", to = scratch / "figure.png";
  write_file_atomically(from, svg);
  ChildProcess renderer({std::string(kRenderer), "--keep-aspect-ratio", "--width", std::to_string(width), "--output",
                         to.string(), from.string()},
                        ChildInput::none);
  std::string said, unasked;
  std::optional<ProcessEnd> end;
  for (const auto deadline = std::chrono::steady_clock::now() + kMostTime;
       !end && std::chrono::steady_clock::now() < deadline;) {
    end = renderer.wait(kLookEvery);
    listen(renderer.error(), said);
    listen(renderer.output(), unasked);  // a full pipe would stop it
  }
  if (!end || end->exit_code != 0 || !fs::exists(to)) {
    const std::string why = !end ? "it did not end within a minute" : to_string(*end);
    throw Error(ErrorKind::failure,
                fmt::format("{}: {}: {}. Take --format svg?", kRenderer, why, printable(said, 200)));
  }
  return read_file(to, kMostBytes);
}

}  // namespace hindsight::app
