/// What was found of one design for one application, and whether two such outcomes say the same.
#pragma once

#include <map>
#include <set>
#include <string>

#include "hindsight/log/query.h"

namespace hindsight::dataset {

/// What two evaluations of one design are compared by.
struct Outcome {
  bool feasible = false;
  std::map<std::string, double> metrics = {};
  std::set<std::string> reasons = {};  ///< codes
  std::string source = {};             ///< "line 7", "evaluation 12 of the log"
};
[[nodiscard]] Outcome outcome_of(const log::EvaluationRecord& record);

/// When an outcome says what another says.
enum class Agreement {
  exact,           ///< the same metrics with the same values, the same reasons
  as_far_as_said,  ///< of what it names: a metric may be left out, a fraction be rounded to four digits or more
};

/// How `given` contradicts `other`, or an empty text.
[[nodiscard]] std::string contradiction(const Outcome& other, const Outcome& given,
                                        Agreement agreement = Agreement::exact);

}  // namespace hindsight::dataset
