/// How far the peer modes are from recorded runs of other cost models, as Markdown tables.
///
/// peer_accuracy [--cases FILE] [--csv FILE]
///   --cases FILE  recorded runs (default: data/peers/peer_cases.csv under $HINDSIGHT_SHARED_DIR, else under
///                 `shared` beside the source tree)
///   --csv FILE    also write every figure of every case
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "hindsight/accel/peer_cases.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/table.h"

namespace {

using hindsight::Align;
using hindsight::Error;
using hindsight::ErrorKind;
using hindsight::Table;
namespace peers = hindsight::accel::peers;

struct Options {
  std::filesystem::path cases;
  std::filesystem::path csv;
};

std::filesystem::path default_cases() {
  const char* shared = std::getenv("HINDSIGHT_SHARED_DIR");
  const std::filesystem::path folder = shared != nullptr
                                           ? std::filesystem::path(shared)
                                           : std::filesystem::path(HINDSIGHT_SOURCE_DIR).parent_path() / "shared";
  return folder / "data" / "peers" / "peer_cases.csv";
}

Options parse_options(int argc, char** argv) {
  Options options{.cases = default_cases(), .csv = {}};
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if ((flag != "--cases" && flag != "--csv") || i + 1 == argc) {
      throw Error(ErrorKind::usage, "usage: peer_accuracy [--cases FILE] [--csv FILE]");
    }
    (flag == "--cases" ? options.cases : options.csv) = argv[++i];
  }
  return options;
}

/// Differences of one group of figures.
struct Tally {
  int cases = 0, exact = 0, kept = 0, without_closed_form = 0;
  double largest_difference = 0, largest_difference_frac = 0;
  void add(const peers::PeerFigure& figure) {
    ++cases;
    exact += figure.exact() ? 1 : 0;
    kept += figure.holds() ? 1 : 0;
    largest_difference = std::max(largest_difference, std::fabs(figure.ours - figure.peer));
    if (std::fabs(figure.difference_frac()) > std::fabs(largest_difference_frac)) {
      largest_difference_frac = figure.difference_frac();
    }
  }
};

std::string formatted(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

const char* promise(peers::Agreement agreement) {
  switch (agreement) {
    case peers::Agreement::exact:
      return "equal";
    case peers::Agreement::within:
      return "within 15 %";
    case peers::Agreement::at_most:
      return "ours <= peer";
    case peers::Agreement::reported:
      return "none";
  }
  return "";
}

void run(const Options& options) {
  std::map<std::tuple<std::string, std::string, std::string, std::string>, Tally> cycles;
  std::map<std::tuple<std::string, std::string, std::string>, Tally> accesses;
  std::map<std::string, int> without_mode;
  std::string csv = "tool,hardware,dataflow,layer,figure,peer,ours,difference_frac\n";
  for (const peers::PeerCase& peer_case : peers::load_peer_cases(options.cases)) {
    const auto comparison = peers::compare(peer_case);
    if (!comparison) {
      ++without_mode[peer_case.tool + ", " + peer_case.layer];
      continue;
    }
    for (const peers::PeerFigure& figure : comparison->figures) {
      if (figure.name == "cycles") {
        cycles[{comparison->tool, comparison->hardware, comparison->dataflow, promise(figure.agreement)}].add(figure);
      } else {
        accesses[{comparison->tool, figure.name, promise(figure.agreement)}].add(figure);
      }
      csv += comparison->tool + ",\"" + comparison->hardware + "\"," + comparison->dataflow + "," + peer_case.layer +
             "," + figure.name + "," + formatted("%.17g", figure.peer) + "," + formatted("%.17g", figure.ours) + "," +
             formatted("%.6g", figure.difference_frac()) + "\n";
    }
    for (const std::string& name : comparison->without_closed_form) {
      ++accesses[{comparison->tool, name, promise(peers::Agreement::exact)}].without_closed_form;
    }
  }

  Table cycle_table;
  for (const char* header : {"tool", "hardware", "dataflow", "promise"}) cycle_table.add_column(header, Align::left);
  for (const char* header : {"cases", "exact", "promise kept", "largest difference, cycles", "largest difference"}) {
    cycle_table.add_column(header, Align::right);
  }
  for (const auto& [key, tally] : cycles) {
    const auto& [tool, hardware, dataflow, promised] = key;
    cycle_table.add_row({tool, hardware, dataflow, promised, std::to_string(tally.cases), std::to_string(tally.exact),
                         std::to_string(tally.kept), formatted("%.0f", tally.largest_difference),
                         formatted("%+.1f %%", tally.largest_difference_frac * 100)});
  }
  Table access_table;
  for (const char* header : {"tool", "figure", "promise"}) access_table.add_column(header, Align::left);
  for (const char* header : {"compared", "exact", "promise kept", "largest difference", "no closed form"}) {
    access_table.add_column(header, Align::right);
  }
  for (const auto& [key, tally] : accesses) {
    const auto& [tool, name, promised] = key;
    access_table.add_row({tool, name, promised, std::to_string(tally.cases), std::to_string(tally.exact),
                          std::to_string(tally.kept), formatted("%+.1f %%", tally.largest_difference_frac * 100),
                          std::to_string(tally.without_closed_form)});
  }
  std::printf("Cycles\n\n%s\nAccesses and energy bounds\n\n%s", cycle_table.markdown().c_str(),
              access_table.markdown().c_str());
  for (const auto& [name, count] : without_mode) std::printf("\nWithout a peer mode: %s (%d)", name.c_str(), count);
  std::printf("\n");
  if (!options.csv.empty()) hindsight::write_file_atomically(options.csv, csv);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(parse_options(argc, argv));
    return EXIT_SUCCESS;
  } catch (const Error& error) {
    std::fprintf(stderr, "peer_accuracy: %s\n", error.what());
    return hindsight::exit_code(error.kind());
  }
}
