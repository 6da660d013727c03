/// The networks that came after logs and models had been made of "all".
#pragma once

#include <span>
#include <string_view>

namespace hindsight::workload {

/// Shipped networks that "all" leaves out, so that its meaning stays; a list names them one by one, or everything that
/// ships as "zoo".
[[nodiscard]] std::span<const std::string_view> zoo_networks();

}  // namespace hindsight::workload
