/// A task of the offline study as a question about its exact optimum.
#pragma once

#include <vector>

#include "hindsight/accel/optimum/optimum.h"
#include "hindsight/check/offline.h"

namespace hindsight::check {

/// The space of the offline study.
inline constexpr const char* kStudySpace = "edge";

/// Latency of a task's applications over all designs of the study's space within its limit of the area. Stays where it
/// is: the question refers to it, and to the technology.
struct TaskQuestion {
  TaskQuestion(const OfflineTask& task, const accel::Technology& technology) : space(space::load_space(kStudySpace)) {
    for (const std::string& name : task.apply) networks.push_back(workload::load_network(name));
    question.space = &space;
    question.technology = &technology;
    for (const workload::Network& network : networks) question.networks.push_back(&network);
    question.limits = {{accel::find_metric("area_mm2"), task.area_limit_mm2}};
  }
  TaskQuestion(const TaskQuestion&) = delete;
  TaskQuestion& operator=(const TaskQuestion&) = delete;

  space::DesignSpace space;
  std::vector<workload::Network> networks;
  accel::optimum::Question question;
};

}  // namespace hindsight::check
