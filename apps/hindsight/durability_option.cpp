/// Reads --durability.
#include "durability_option.h"

#include <string>

#include "hindsight/log/durability.h"

namespace hindsight::app {

void add_durability(CLI::App& verb) {
  verb.add_option_function<std::string>(
      "--durability", [](const std::string& name) { log::set_durability(log::parse_durability(name)); },
      "normal: outlives a kill; full: power loss [normal]");
}

}  // namespace hindsight::app
