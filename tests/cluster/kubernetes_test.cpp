/// Is the Kubernetes job what its API documents, and do its pods do together what one process does?
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "cluster/engine.h"
#include "hindsight/core/files.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"
#include "repository.h"

namespace hindsight::cluster::test {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

std::filesystem::path job_file() { return hindsight::test::repository() / "configs/cluster/kubernetes.yaml"; }

/// YAML as JSON, as Kubernetes takes it: scalars in quotes are strings.
Json as_json(const YAML::Node& node) {
  if (node.IsSequence()) {
    Json list = Json::array();
    for (const YAML::Node& one : node) list.push_back(as_json(one));
    return list;
  }
  if (node.IsMap()) {
    Json object = Json::object();
    for (const auto& entry : node) object[entry.first.as<std::string>()] = as_json(entry.second);
    return object;
  }
  if (node.IsNull()) return nullptr;
  const auto text = node.as<std::string>();
  if (node.Tag() == "!") return text;
  if (const auto number = parse_int(text)) return *number;
  if (text == "true" || text == "false") return text == "true";
  return text;
}

/// What the API reference says of the fields that a job may have here: their kinds, and which there have to be.
/// Source: Kubernetes API reference v1.32, workload resources, Job v1 batch (JobSpec) and Pod v1 core (PodSpec,
/// Container, VolumeMount, Volume, PersistentVolumeClaimVolumeSource, ResourceRequirements), read 2026-11.
/// "s" string, "i" whole number from 0, "b" boolean, "q" quantity, "[x]" list of x, "{q}" names with quantities, else
/// the name of a kind below; "!" behind it: required.
const std::map<std::string, std::map<std::string, std::string>>& documented() {
  static const std::map<std::string, std::map<std::string, std::string>> kinds{
      {"Job", {{"apiVersion", "s!"}, {"kind", "s!"}, {"metadata", "ObjectMeta!"}, {"spec", "JobSpec!"}}},
      {"ObjectMeta", {{"name", "s"}, {"namespace", "s"}, {"labels", "{s}"}, {"annotations", "{s}"}}},
      {"JobSpec",
       {{"completionMode", "s"},
        {"completions", "i"},
        {"parallelism", "i"},
        {"backoffLimit", "i"},
        {"backoffLimitPerIndex", "i"},
        {"maxFailedIndexes", "i"},
        {"activeDeadlineSeconds", "i"},
        {"ttlSecondsAfterFinished", "i"},
        {"suspend", "b"},
        {"template", "PodTemplateSpec!"}}},
      {"PodTemplateSpec", {{"metadata", "ObjectMeta"}, {"spec", "PodSpec!"}}},
      {"PodSpec",
       {{"restartPolicy", "s!"},  // in jobs: no default that a job may have
        {"containers", "[Container]!"},
        {"volumes", "[Volume]"},
        {"nodeSelector", "{s}"},
        {"serviceAccountName", "s"},
        {"terminationGracePeriodSeconds", "i"}}},
      {"Container",
       {{"name", "s!"},
        {"image", "s"},
        {"imagePullPolicy", "s"},
        {"workingDir", "s"},
        {"command", "[s]"},
        {"args", "[s]"},
        {"env", "[EnvVar]"},
        {"resources", "ResourceRequirements"},
        {"volumeMounts", "[VolumeMount]"}}},
      {"EnvVar", {{"name", "s!"}, {"value", "s"}}},
      {"ResourceRequirements", {{"requests", "{q}"}, {"limits", "{q}"}}},
      {"VolumeMount", {{"name", "s!"}, {"mountPath", "s!"}, {"readOnly", "b"}, {"subPath", "s"}}},
      {"Volume", {{"name", "s!"}, {"persistentVolumeClaim", "PersistentVolumeClaimVolumeSource"}}},
      {"PersistentVolumeClaimVolumeSource", {{"claimName", "s!"}, {"readOnly", "b"}}}};
  return kinds;
}

/// A Kubernetes quantity: digits, then nothing, m, or a power of 1000 or 1024.
bool is_quantity(const Json& value) {
  if (value.is_number_unsigned()) return true;
  if (!value.is_string()) return false;
  const std::string text = value;
  const std::size_t digits = text.find_first_not_of("0123456789.");
  static const std::set<std::string> endings{"", "m", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti"};
  return digits != 0 && !text.empty() && endings.contains(digits == std::string::npos ? "" : text.substr(digits));
}

/// What is wrong with a value of a kind; nothing for what is as documented.
void check(const Json& value, const std::string& kind, const std::string& place, std::vector<std::string>& wrong) {
  const auto expect = [&](bool is_so, const std::string& what) {
    if (!is_so) wrong.push_back(fmt::format("{} is no {}: {}", place, what, value.dump()));
  };
  if (kind == "s") return expect(value.is_string(), "string");
  if (kind == "i") return expect(value.is_number_integer() && value >= 0, "whole number");
  if (kind == "b") return expect(value.is_boolean(), "boolean");
  if (kind == "q") return expect(is_quantity(value), "quantity");
  const std::string of = kind.substr(1, kind.size() - 2);
  if (kind.starts_with('[')) {
    expect(value.is_array() && !value.empty(), "list");
    for (std::size_t i = 0; i < value.size() && value.is_array(); ++i)
      check(value[i], of, fmt::format("{}[{}]", place, i), wrong);
    return;
  }
  expect(value.is_object(), "object");
  if (!value.is_object()) return;
  if (kind.starts_with('{')) {
    for (const auto& [name, one] : value.items()) check(one, of, place + "." + name, wrong);
    return;
  }
  const auto& fields = documented().at(kind);
  for (const auto& [name, one] : value.items()) {
    const auto field = fields.find(name);
    if (field == fields.end()) {
      wrong.push_back(fmt::format("{} has no field {}", place, name));
    } else {
      check(one, field->second.substr(0, field->second.find('!')), place + "." + name, wrong);
    }
  }
  for (const auto& [name, type] : fields) {
    if (type.ends_with('!') && !value.contains(name)) wrong.push_back(fmt::format("{} lacks {}", place, name));
  }
}

std::vector<std::string> problems_of(const Json& job) {
  std::vector<std::string> wrong;
  check(job, "Job", "job", wrong);
  if (!wrong.empty()) return wrong;
  const auto require = [&](bool is_so, const char* what) {
    if (!is_so) wrong.emplace_back(what);
  };
  const Json& spec = job.at("spec");
  const Json& pod = spec.at("template").at("spec");
  require(job.at("apiVersion") == "batch/v1" && job.at("kind") == "Job", "no Job of batch/v1");
  require(spec.value("completionMode", "") == "Indexed", "no indexed job: pods would have no number");
  require(spec.value("parallelism", 0) <= spec.value("completions", 0), "more pods at once than there are shards");
  // "Only a RestartPolicy equal to Never or OnFailure is allowed" in a job.
  require(pod.at("restartPolicy") == "OnFailure" || pod.at("restartPolicy") == "Never",
          "a restartPolicy no job may have");
  std::set<std::string> volumes;
  for (const Json& volume : pod.value("volumes", Json::array())) volumes.insert(volume.at("name"));
  for (const Json& container : pod.at("containers")) {
    for (const Json& mount : container.value("volumeMounts", Json::array()))
      require(volumes.contains(mount.at("name")), "a volumeMount of no volume");
  }
  return wrong;
}

using KubernetesJob = Engine;

TEST_F(KubernetesJob, HasTheFieldsThatTheApiDocuments) {
  const Json job = as_json(YAML::LoadFile(job_file().string()));
  EXPECT_TRUE(problems_of(job).empty()) << problems_of(job).front();
  // The same check finds what people get wrong.
  const auto problem = [&](const char* pointer, const Json& value) {
    Json changed = job;
    changed[Json::json_pointer(pointer)] = value;
    const std::vector<std::string> problems = problems_of(changed);
    return problems.empty() ? std::string() : problems.front();
  };
  EXPECT_THAT(problem("/spec/completion", 8), HasSubstr("has no field completion"));
  EXPECT_THAT(problem("/spec/completions", "8"), HasSubstr("no whole number"));
  EXPECT_THAT(problem("/spec/completionMode", "NonIndexed"), HasSubstr("no indexed job"));
  EXPECT_THAT(problem("/spec/template/spec/restartPolicy", "Always"), HasSubstr("restartPolicy"));
  EXPECT_THAT(problem("/spec/template/spec/containers/0/command/1", 5), HasSubstr("no string"));
  EXPECT_THAT(problem("/spec/template/spec/containers/0/resources/requests/memory", "1GB"), HasSubstr("no quantity"));
  EXPECT_THAT(problem("/spec/template/spec/volumes/0/name", "other"), HasSubstr("volumeMount of no volume"));
  Json without = job;
  without["spec"].erase("template");
  EXPECT_THAT(problems_of(without).front(), HasSubstr("lacks template"));
}

/// kubectl has the types of the whole API: it drops what they do not have, and refuses wrong kinds.
TEST_F(KubernetesJob, IsTakenByKubectlWithoutLoss) {
  HINDSIGHT_NEEDS_PROGRAMS("kubernetes-client", "kubectl");
  if (const Said version = shell("kubectl version --client"); version.text.find("v1.20") != std::string::npos)
    GTEST_SKIP() << "kubectl is of 1.20, which knows no indexed jobs: the job was not held against its types";
  const std::string command = "kubectl set env --local --output=json HINDSIGHT_TEST=1 --filename=";
  const Said said = shell(command + shell_quoted(job_file().string()));
  ASSERT_EQ(said.exit_code, 0) << said.text;
  const Json given = as_json(YAML::LoadFile(job_file().string())), taken = Json::parse(said.text);
  const Json added = Json::diff(given, taken);
  for (const Json& one : added) EXPECT_EQ(one.at("op"), "add") << one.dump();
  Json wrong = given;
  wrong["spec"]["completions"] = "eight";
  write_file_atomically(file("wrong.json"), wrong.dump());
  EXPECT_NE(shell(command + "wrong.json").exit_code, 0) << "kubectl checks kinds";
}

/// Its own command, with its index as the job's controller gives it, in a smaller space.
TEST_F(KubernetesJob, PodsMakeTheLogOfOneProcess) {
  const Json job = as_json(YAML::LoadFile(job_file().string()));
  std::vector<std::string> words = job.at("spec").at("template").at("spec").at("containers").at(0).at("command");
  const auto set = [&](const std::string& option, const std::string& value) {
    const auto at = std::find(words.begin(), words.end(), option);
    ASSERT_NE(at, words.end()) << option;
    *std::next(at) = value;
  };
  const int pods = job.at("spec").at("completions");
  const auto shard = std::find(words.begin(), words.end(), "--shard");
  ASSERT_NE(shard, words.end());
  EXPECT_EQ(*std::next(shard), fmt::format("auto/{}", pods)) << "as many shards as completions";
  set("--space", "tiny");
  set("--workloads", "m6,unet");
  set("--samples", "300");
  words.insert(words.end(), {"--seed", "3"});
  std::string command;
  for (const std::string& word : words) command += shell_quoted(word) + " ";
  for (int pod = 0; pod < pods; ++pod) {
    const Said said = shell(fmt::format("JOB_COMPLETION_INDEX={} {}", pod, command));
    ASSERT_EQ(said.exit_code, 0) << said.text;
  }
  const auto logs = files("study.", ".sqlite");
  ASSERT_EQ(logs.size(), static_cast<std::size_t>(pods));
  EXPECT_EQ(merged(logs), by_one_process());
}

}  // namespace
}  // namespace hindsight::cluster::test
