/// Writes data/workloads/*.yaml from the generator: `generate_workloads FOLDER`, or `generate_workloads --tables`
/// for the tables of docs/workloads.md.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/workload/generator.h"
#include "hindsight/workload/synthetic.h"

int main(int argc, char** argv) {
  using hindsight::Error;
  using hindsight::ErrorKind;
  namespace workload = hindsight::workload;
  if (argc != 2) {
    std::fputs("usage: generate_workloads FOLDER | --tables\n", stderr);
    return hindsight::exit_code(ErrorKind::usage);
  }
  try {
    const std::vector<workload::Network> networks = workload::generate_networks();
    const std::string argument = argv[1];
    if (argument == "--tables") {
      std::printf("%s\n%s\n%s\n%s", workload::workload_table(networks).c_str(), workload::prime_table(networks).c_str(),
                  workload::context_table().c_str(), workload::synthetic_table().c_str());
      return 0;
    }
    for (const workload::Network& network : networks) {
      hindsight::write_file_atomically(std::filesystem::path(argument) / (network.name() + ".yaml"),
                                       workload_file_text(network));
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "generate_workloads: %s\n", error.what());
    return hindsight::exit_code(error.kind());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "generate_workloads: internal error: %s\n", error.what());
    return hindsight::kInternalErrorExitCode;
  }
  return 0;
}
