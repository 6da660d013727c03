/// Which version of the model the tests of its properties take: each runs with version 1 and, under the variable
/// HINDSIGHT_TEST_SILICON (tests `accel.silicon.*`), with version 2.
#pragma once

#include <cstdlib>
#include <string>

#include "hindsight/accel/technology.h"

namespace hindsight::test {

inline bool is_silicon_under_test() { return std::getenv("HINDSIGHT_TEST_SILICON") != nullptr; }
inline std::string technology_under_test() { return is_silicon_under_test() ? "7nm-silicon" : "22nm"; }
inline accel::TemplateRules rules_under_test() {
  static const accel::TemplateRules rules = accel::template_rules(accel::load_technology(technology_under_test()));
  return rules;
}

}  // namespace hindsight::test
