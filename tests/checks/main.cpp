/// Runs one check of the repository; prints `file:line: problem` and exits 1 when it finds something.
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include "checks/functions.h"
#include "checks/header_list.h"
#include "checks/layering.h"
#include "checks/loops.h"
#include "checks/openings.h"
#include "checks/sources.h"
#include "checks/types.h"

namespace {

int report(std::string_view check, const hindsight::checks::Findings& findings) {
  for (const auto& finding : findings) {
    const std::string line = finding.line == 0 ? "" : ":" + std::to_string(finding.line);
    std::printf("%s%s: %s\n", finding.file.c_str(), line.c_str(), finding.problem.c_str());
  }
  std::printf("%.*s: %zu finding%s\n", static_cast<int>(check.size()), check.data(), findings.size(),
              findings.size() == 1 ? "" : "s");
  return findings.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  namespace checks = hindsight::checks;
  const std::string_view check = argc > 1 ? argv[1] : "";
  try {
    if (argc == 3 && check == "layering") return report(check, checks::check_layering(argv[2]));
    if (argc == 3 && check == "sources") return report(check, checks::check_sources(argv[2]));
    if (argc == 3 && check == "openings") return report(check, checks::check_openings(argv[2]));
    if (argc == 3 && check == "functions") return report(check, checks::check_functions(argv[2]));
    if (argc == 3 && check == "loops") return report(check, checks::check_loops(argv[2]));
    if (argc == 3 && check == "types") return report(check, checks::check_types(argv[2]));
    if (argc == 4 && check == "headers") return report(check, checks::check_header_list(argv[2], argv[3]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "repository_checks: %s\n", error.what());
    return 1;
  }
  std::fprintf(
      stderr,
      "usage: repository_checks (layering|sources|openings|functions|loops|types) ROOT | headers ROOT COMPILED_LIST\n");
  return 2;
}
