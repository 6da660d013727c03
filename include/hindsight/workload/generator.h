/// The shipped networks, built from the block tables of their papers; `data/workloads/*.yaml` is their text.
#pragma once

#include <string>
#include <vector>

#include "hindsight/workload/network.h"

namespace hindsight::workload {

/// Every network that ships with Hindsight, in the order of the documentation.
[[nodiscard]] std::vector<Network> generate_networks();

/// The content of `data/workloads/NAME.yaml`: to_yaml() under a header with the totals and the command that
/// regenerates the file.
[[nodiscard]] std::string workload_file_text(const Network& network);

/// The tables of `docs/workloads.md`, as Markdown: all networks; PRIME's applications against the networks of the
/// same names; the context features.
[[nodiscard]] std::string workload_table(const std::vector<Network>& networks);
[[nodiscard]] std::string prime_table(const std::vector<Network>& networks);
[[nodiscard]] std::string context_table();

}  // namespace hindsight::workload
