/// Finds the version of the model that an evaluator's name states.
#include "hindsight/accel/model_version.h"

#include "hindsight/accel/evaluation.h"

namespace hindsight::accel {

Technology in_version_of(const Technology& technology, const std::string& evaluator) {
  Technology older = technology;
  for (older.model_version = kFirstSiliconModelVersion; older.model_version < technology.model_version;
       ++older.model_version) {
    if (evaluator_name(older) == evaluator) return older;
  }
  return technology;
}

}  // namespace hindsight::accel
