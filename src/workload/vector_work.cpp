/// Names of the work behind layers.
#include "hindsight/workload/vector_work.h"

#include "hindsight/core/enum_names.h"

namespace hindsight::workload {
namespace {

constexpr EnumNames<VectorWork, kVectorWorkCount> kVectorWorkNames{{{VectorWork::add, "add"},
                                                                    {VectorWork::norm, "norm"},
                                                                    {VectorWork::activation, "activation"},
                                                                    {VectorWork::gate, "gate"},
                                                                    {VectorWork::rotary, "rotary"},
                                                                    {VectorWork::pool, "pool"}}};

}  // namespace

std::string_view to_string(VectorWork work) { return name_in(kVectorWorkNames, work); }

std::vector<std::string> vector_work_names() { return names_in(kVectorWorkNames); }

std::vector<VectorWork> VectorWorks::list() const {
  std::vector<VectorWork> found;
  for (const auto& [work, name] : kVectorWorkNames) {
    if (has(work)) found.push_back(work);
  }
  return found;
}

}  // namespace hindsight::workload
