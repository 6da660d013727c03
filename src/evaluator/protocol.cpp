/// Writes questions and answers as JSON, and reads both without trust.
#include "hindsight/evaluator/protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "evaluator/json_fields.h"
#include "hindsight/core/ascii.h"
#include "hindsight/core/error.h"
#include "hindsight/core/json_bounds.h"
#include "hindsight/core/json_whole.h"
#include "hindsight/core/text.h"
#include "hindsight/log/metric_values.h"
#include "hindsight/workload/context.h"

namespace hindsight::evaluator {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
/// [chosen] A reason's code stands in tables beside counts.
constexpr std::size_t kLongestCode = 64;
/// Code of a reason that is told by a text which is too long for one.
constexpr const char* kSomeReason = "infeasible";
constexpr std::size_t kLongestMetric = 200;  ///< [chosen] far above any name, short enough for a message
/// [chosen] An answer has four levels, a question six.
constexpr std::size_t kDeepestJson = 32;
constexpr std::size_t kShownValue = 40;     ///< [chosen] characters of a wrong value in a message
constexpr std::size_t kMostMessage = 1000;  ///< [chosen] characters of a message that go to the log
constexpr std::array kLayerTypes{workload::LayerType::convolution, workload::LayerType::depthwise_convolution,
                                 workload::LayerType::transposed_convolution, workload::LayerType::fully_connected,
                                 workload::LayerType::matmul};

std::string shown(const Json& value) {
  return printable(value.dump(-1, ' ', false, Json::error_handler_t::replace), kShownValue);
}

/// What programs print for a number that is none, in lower case.
constexpr std::array<std::string_view, 6> kNoNumbers{"nan", "-nan", "inf", "-inf", "infinity", "-infinity"};

bool is_no_number(std::string_view text) {
  return std::find(kNoNumbers.begin(), kNoNumbers.end(), lower_case(text)) != kNoNumbers.end();
}

/// The same text with every bare NaN or Infinity as a text of its own, so that the rest can be read.
std::string with_quoted_no_numbers(std::string_view text) {
  const auto is_of_word = [](char c) { return c == '-' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  std::string result;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    if (in_text) {
      if (text[i] == '\\' && end < text.size()) ++end;
    } else {
      while (is_of_word(text[i]) && end < text.size() && is_of_word(text[end])) ++end;
    }
    const std::string_view part = text.substr(i, end - i);
    if (part == "\"") in_text = !in_text;
    result += !in_text && is_no_number(part) ? fmt::format("\"{}\"", part) : std::string(part);
    i = end;
  }
  return result;
}

/// How an answer is read goes wrong one way, a question another.
struct Reader {
  ErrorKind kind;
  [[noreturn]] void fail(const std::string& problem) const { throw Error(kind, problem); }

  [[nodiscard]] Json object(std::string_view text) const {
    if (const std::string excess = json_excess(text, {.depth = kDeepestJson}); !excess.empty()) {
      fail(fmt::format("'{}' is {}", printable(trimmed(text), kShownValue), excess));
    }
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded()) {
      const bool number = text.find("NaN") != std::string_view::npos || text.find("Infinity") != std::string_view::npos;
      fail(fmt::format("'{}' is no JSON{}", printable(trimmed(text), kShownValue),
                       number ? ", which has no NaN and no Infinity" : ""));
    }
    if (!json.is_object()) fail(fmt::format("'{}' is no JSON object", shown(json)));
    const auto unquoted = [](std::string_view quoted) { return Json::parse(quoted).get<std::string>(); };
    if (const auto repeated = repeated_json_name(text, unquoted)) {
      fail(fmt::format("'{}' is given twice in one object", printable(repeated->name, kShownValue)));
    }
    return json;
  }
  void require_known(const Json& json, const std::vector<std::string>& known, std::string_view what) const {
    for (const auto& [name, value] : json.items()) {
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      fail(fmt::format("'{}' is no field of {}.{}", printable(name, kShownValue), what, did_you_mean(name, known)));
    }
  }
  [[nodiscard]] const Json& at(const Json& json, const char* name, std::string_view what) const {
    const auto found = json.find(name);
    if (found == json.end()) fail(fmt::format("{} has no field '{}'", what, name));
    return *found;
  }
  [[nodiscard]] std::int64_t whole(const Json& json, const char* name, std::string_view what) const {
    const Json& value = at(json, name, what);
    if (!is_integer_number(value)) fail(fmt::format("{} of {} is {}, not a whole number", name, what, shown(value)));
    return integer_number(value);
  }
  [[nodiscard]] std::string text(const Json& json, const char* name, std::string_view what) const {
    const Json& value = at(json, name, what);
    if (!value.is_string()) fail(fmt::format("{} of {} is {}, not a text", name, what, shown(value)));
    return value.get<std::string>();
  }
  [[nodiscard]] double number(const Json& value, std::string_view what) const {
    if (!value.is_number()) fail(fmt::format("{} is {}, not a number", what, shown(value)));
    const double result = value.get<double>();
    if (!std::isfinite(result)) fail(fmt::format("{} is not finite", what));
    return result;
  }
};

constexpr Reader kOfAnswers{ErrorKind::failure};
constexpr Reader kOfQuestions{ErrorKind::usage};

constexpr const char* kExperts = "experts";
constexpr const char* kExpertsPerToken = "experts_per_token";

/// `repeat` is how often the GEMM runs, so that who knows nothing of experts multiplies by it.
Json layer_json(const workload::Layer& layer, const workload::GemmLayer& gemm) {
  Json json{{"name", layer.name}, {"type", workload::to_string(layer.type)}, {"repeat", gemm.repeat}};
  for (const LayerSize& size : sizes_of(layer.type)) json[std::string(size.name)] = layer.*size.member;
  if (layer.experts > 0) {
    json[kExperts] = layer.experts;
    json[kExpertsPerToken] = layer.experts_per_token;
  }
  json["bias"] = layer.has_bias;
  json["batch_norm"] = layer.batch_norm;
  for (const workload::VectorWork work : layer.after.list()) json["after"].push_back(workload::to_string(work));
  json["gemm"] = {{"m", gemm.m},
                  {"n", gemm.n},
                  {"k", gemm.k},
                  {"count", gemm.count},
                  {"macs", gemm.macs},
                  {"weight_bytes", gemm.weight_bytes},
                  {"input_bytes", gemm.input_bytes},
                  {"output_bytes", gemm.output_bytes}};
  return json;
}

bool flag(const Json& json, const char* name, std::string_view what) {
  const Json& value = kOfQuestions.at(json, name, what);
  if (!value.is_boolean())
    kOfQuestions.fail(fmt::format("{} of {} is {}, not true or false", name, what, shown(value)));
  return value.get<bool>();
}

/// What runs behind a layer; nothing where the question does not say.
workload::VectorWorks works_after(const Json& json, std::string_view what) {
  workload::VectorWorks after;
  const auto list = json.find("after");
  if (list == json.end()) return after;
  if (!list->is_array()) kOfQuestions.fail(fmt::format("after of {} is {}, not a list", what, shown(*list)));
  const std::vector<std::string> known = workload::vector_work_names();
  for (const Json& one : *list) {
    const auto found = one.is_string() ? std::ranges::find(known, one.get<std::string>()) : known.end();
    if (found == known.end()) kOfQuestions.fail(fmt::format("after of {} has the unknown {}", what, shown(one)));
    after.add(static_cast<workload::VectorWork>(found - known.begin()));
  }
  return after;
}

std::string named(const workload::Layer& layer) {
  return fmt::format("layer '{}'", printable(layer.name, kShownValue));
}

/// The group of experts that a layer of a question is one of, if any; `repeat` still counts experts.
void read_group(const Json& json, std::string_view what, workload::Layer& layer) {
  if (!json.contains(kExperts) && !json.contains(kExpertsPerToken)) return;
  layer.experts = kOfQuestions.whole(json, kExperts, what);
  layer.experts_per_token = kOfQuestions.whole(json, kExpertsPerToken, what);
  for (const auto& [name, value] : {std::pair("repeat", layer.repeat), std::pair(kExperts, layer.experts)}) {
    if (value < 1 || value > workload::kLargestSize) {
      kOfQuestions.fail(fmt::format("{} of {} is {} (sizes lie in 1..{})", name, what, value, workload::kLargestSize));
    }
  }
}

/// Experts of one group that have a row more than the others are listed before these: `repeat` alone differs.
bool is_same_group(const workload::Layer& before, workload::Layer layer) {
  layer.repeat = before.repeat;
  return layer.experts > 0 && layer == before;
}

/// Of a layer that is one of a group, whose `repeat` counts all experts that are read: counts groups.
void count_groups(workload::Layer& layer, std::int64_t batch) {
  const std::int64_t runs = std::exchange(layer.repeat, 1);
  std::int64_t experts_read = 0;
  for (const workload::GemmLayer& gemm : workload::gemms_of(layer, batch)) experts_read += gemm.repeat;
  if (runs % experts_read != 0) {
    kOfQuestions.fail(fmt::format("repeat of {} is {} in all, no multiple of the {} experts that are read",
                                  named(layer), runs, experts_read));
  }
  layer.repeat = runs / experts_read;
}

workload::Layer parse_layer(const Json& json) {
  if (!json.is_object()) kOfQuestions.fail(fmt::format("a layer is {}, not an object", shown(json)));
  workload::Layer layer;
  layer.name = kOfQuestions.text(json, "name", "a layer");
  const std::string what = named(layer);
  const std::string type = kOfQuestions.text(json, "type", what);
  const auto found = std::find_if(kLayerTypes.begin(), kLayerTypes.end(),
                                  [&](workload::LayerType one) { return workload::to_string(one) == type; });
  if (found == kLayerTypes.end()) {
    kOfQuestions.fail(fmt::format("{} has the unknown type '{}'", what, printable(type, kShownValue)));
  }
  layer.type = *found;
  layer.repeat = kOfQuestions.whole(json, "repeat", what);
  for (const LayerSize& size : sizes_of(layer.type)) {
    layer.*size.member = kOfQuestions.whole(json, std::string(size.name).c_str(), what);
  }
  read_group(json, what, layer);
  layer.has_bias = flag(json, "bias", what);
  layer.batch_norm = flag(json, "batch_norm", what);
  layer.after = works_after(json, what);
  return layer;
}

workload::Network parse_workload(const Json& json) {
  constexpr std::string_view kWhat = "workload";
  if (!json.is_object()) kOfQuestions.fail(fmt::format("workload is {}, not an object", shown(json)));
  const Json& list = kOfQuestions.at(json, "layers", kWhat);
  if (!list.is_array()) kOfQuestions.fail(fmt::format("layers of workload is {}, not a list", shown(list)));
  const std::int64_t batch = kOfQuestions.whole(json, "batch", kWhat);
  std::vector<workload::Layer> layers;
  for (const Json& one : list) {
    workload::Layer layer = parse_layer(one);
    if (!layers.empty() && is_same_group(layers.back(), layer)) {
      layers.back().repeat += layer.repeat;
    } else {
      layers.push_back(std::move(layer));
    }
  }
  for (workload::Layer& layer : layers) {
    if (layer.experts > 0) count_groups(layer, batch);
  }
  return {kOfQuestions.text(json, "name", kWhat), "", "", false, batch, std::move(layers)};
}

space::Design parse_design(const Json& json, const space::DesignSpace& space) {
  if (!json.is_object()) kOfQuestions.fail(fmt::format("design is {}, not an object", shown(json)));
  std::string text;
  for (const auto& [name, value] : json.items()) {
    if (!value.is_number() && !value.is_string()) {
      kOfQuestions.fail(fmt::format("parameter '{}' of design is {}", printable(name, kShownValue), shown(value)));
    }
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name,
                        value.is_string() ? value.get<std::string>() : shortest(value.get<double>()));
  }
  return space.parse_design(text);
}

Json violation_json(const log::ViolationRow& violation) {
  Json json{{"reason", violation.code}};
  const auto add = [&](const char* name, const auto& value, bool known) {
    if (known) json[name] = value;
  };
  add("quantity", violation.quantity, !violation.quantity.empty());
  add("value", violation.value, !std::isnan(violation.value));
  add("limit", violation.limit, !std::isnan(violation.limit));
  add("nearest_passing", violation.nearest_passing.value_or(0), violation.nearest_passing.has_value());
  add("layer", violation.layer, !violation.layer.empty());
  add("message", violation.message, !violation.message.empty());
  return json;
}

log::ViolationRow plain_violation(const std::string& reason) {
  const std::string text = printable(trimmed(reason), kWholeText);
  if (text.empty()) kOfAnswers.fail("the reason of \"infeasible\" is empty");
  const std::string head(head_of_reason(text));
  const bool is_code = !head.empty() && head.size() <= kLongestCode;
  log::ViolationRow violation{.code = is_code ? head : kSomeReason, .value = kUnknown, .limit = kUnknown};
  if (violation.code != text) violation.message = printable(text, kMostMessage);
  return violation;
}

log::ViolationRow parse_violation(const Json& json) {
  constexpr std::string_view kWhat = "a reason";
  if (!json.is_object()) kOfAnswers.fail(fmt::format("a reason in the list \"infeasible\" is {}", shown(json)));
  kOfAnswers.require_known(json, {"reason", "quantity", "value", "limit", "nearest_passing", "layer", "message"},
                           kWhat);
  log::ViolationRow violation = plain_violation(kOfAnswers.text(json, "reason", kWhat));
  const auto number = [&](const char* name) {
    const auto found = json.find(name);
    return found == json.end() ? kUnknown : kOfAnswers.number(*found, name);
  };
  const auto text = [&](const char* name) {
    return json.contains(name) ? printable(kOfAnswers.text(json, name, kWhat), kMostMessage) : std::string();
  };
  violation.quantity = text("quantity");
  violation.value = number("value");
  violation.limit = number("limit");
  if (json.contains("nearest_passing")) violation.nearest_passing = number("nearest_passing");
  violation.layer = text("layer");
  if (json.contains("message")) violation.message = text("message");
  return violation;
}

std::vector<log::ViolationRow> parse_reasons(const Json& json) {
  if (json.is_string()) return {plain_violation(json.get<std::string>())};
  if (!json.is_array() || json.empty()) {
    kOfAnswers.fail(fmt::format("\"infeasible\" is {}, not a reason or a list of reasons", shown(json)));
  }
  std::vector<log::ViolationRow> violations;
  for (const Json& one : json) violations.push_back(parse_violation(one));
  return violations;
}

void parse_metrics(const Json& json, const Expected& expected, Row& row) {
  if (!json.is_object()) kOfAnswers.fail(fmt::format("\"metrics\" is {}, not an object", shown(json)));
  for (const auto& [name, value] : json.items()) {
    if (name.empty() || name.size() > kLongestMetric || !is_printable(name)) {
      kOfAnswers.fail(fmt::format("'{}' cannot be the name of a metric", printable(name, kShownValue)));
    }
    const auto& known = expected.metrics;
    if (!known.empty() && std::find(known.begin(), known.end(), name) == known.end()) {
      kOfAnswers.fail(fmt::format("unknown metric '{}'.{}", printable(name, kShownValue), did_you_mean(name, known)));
    }
    if (value.is_null() || (value.is_string() && is_no_number(value.get<std::string>()))) {
      throw NoFiniteMetric(ErrorKind::failure,
                           fmt::format("{} is {}, not a finite number", name,
                                       value.is_null() ? "null" : printable(value.get<std::string>(), kShownValue)));
    }
    const double number = kOfAnswers.number(value, name);
    if (const std::string problem = log::impossible_value(name, number); !problem.empty()) kOfAnswers.fail(problem);
    const bool cost = name == "latency_s" || name == "energy_j";
    if (!row.feasible && cost) kOfAnswers.fail(fmt::format("an infeasible design has {}", name));
    row.metrics.emplace_back(name, number);
  }
  if (!row.feasible) return;
  if (row.metrics.empty()) kOfAnswers.fail("\"metrics\" is empty");
  for (const std::string& metric : expected.metrics) {
    if (!metric_of(row, metric)) kOfAnswers.fail(fmt::format("the metric '{}' is missing", metric));
  }
}

void require_same_design(const Json& json, const Expected& expected) {
  const auto found = json.find("design");
  if (found == json.end()) return;
  const Json asked = Json::parse(design_json(*expected.space, *expected.design));
  if (!found->is_object()) kOfAnswers.fail(fmt::format("\"design\" is {}, not an object", shown(*found)));
  for (const auto& [name, value] : asked.items()) {
    const auto given = found->find(name);
    if (given != found->end() && *given == value) continue;
    kOfAnswers.fail(fmt::format("it is about another design: {} is {}, asked was {}", name,
                                given == found->end() ? "missing" : shown(*given), shown(value)));
  }
}

}  // namespace

std::string design_json(const space::DesignSpace& space, const space::Design& design) {
  std::string text = "{";
  for (std::size_t p = 0; p < design.levels.size(); ++p) {
    const space::Parameter& parameter = space.parameters()[p];
    const std::string& label = parameter.labels[design.levels[p]];
    const bool number = parameter.kind == space::ParameterKind::ordinal;
    text += fmt::format("{}\"{}\":{}", p == 0 ? "" : ",", parameter.name, number ? label : Json(label).dump());
  }
  return text + "}";
}

std::string workload_json(const workload::Network& network) {
  Json json{{"name", network.name()}, {"batch", network.batch()}};
  const std::vector<double> values = workload::context_vector(network);
  for (std::size_t i = 0; i < values.size(); ++i) {
    json["context"][std::string(workload::context_features()[i].name)] = values[i];
  }
  for (std::size_t i = 0; i < network.gemms().size(); ++i) {
    json["layers"].push_back(layer_json(network.layer_of(i), network.gemms()[i]));
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string question_line(std::int64_t id, const std::string& design_json, const std::string& workload_json) {
  return fmt::format("{{\"id\":{},\"design\":{},\"workload\":{}}}", id, design_json, workload_json);
}

std::string answer_line(std::int64_t id, const Row& row) {
  Json json{{"id", id}};
  if (row.feasible || !row.metrics.empty()) {
    json["metrics"] = Json::object();
    for (const auto& [name, value] : row.metrics) json["metrics"][name] = value;
  }
  if (!row.feasible) {
    json["infeasible"] = Json::array();
    for (const log::ViolationRow& violation : row.violations) {
      json["infeasible"].push_back(violation_json(violation));
    }
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Question QuestionReader::read(std::string_view line) {
  constexpr std::string_view kWhat = "a question";
  const std::size_t end = std::min(line.find(",\"workload\":"), line.size());
  const std::string_view rest = line.substr(end);
  const std::string head = std::string(line.substr(0, end)) + "}";
  // What is no object alone was cut in the middle of something, and is read whole.
  const bool again = known_ && rest == known_text_ && Json::accept(bounded_json(head));
  const Json json = kOfQuestions.object(again ? head : line);
  kOfQuestions.require_known(json, {"id", "design", "workload"}, kWhat);
  const std::int64_t id = kOfQuestions.whole(json, "id", kWhat);
  const space::Design design = parse_design(kOfQuestions.at(json, "design", kWhat), space_);
  if (!again) {
    known_ = parse_workload(kOfQuestions.at(json, "workload", kWhat));
    known_text_ = rest;
  }
  return {.id = id, .design = design, .network = *known_};
}

Row parse_answer(std::string_view text, const Expected& expected) {
  constexpr std::string_view kWhat = "an answer";
  const Json json = kOfAnswers.object(with_quoted_no_numbers(text));
  kOfAnswers.require_known(json, {"id", "design", "metrics", "infeasible"}, kWhat);
  if (expected.id || json.contains("id")) {
    const std::int64_t id = kOfAnswers.whole(json, "id", kWhat);
    if (expected.id && id != *expected.id) {
      kOfAnswers.fail(fmt::format("it is about another design: id is {}, asked was {}", id, *expected.id));
    }
  }
  if (expected.design != nullptr) require_same_design(json, expected);
  const auto metrics = json.find("metrics"), infeasible = json.find("infeasible");
  if (metrics == json.end() && infeasible == json.end()) {
    kOfAnswers.fail("it has neither \"metrics\" nor \"infeasible\"");
  }
  Row row;
  row.feasible = infeasible == json.end();
  if (!row.feasible) row.violations = parse_reasons(*infeasible);
  if (metrics != json.end()) parse_metrics(*metrics, expected, row);
  return row;
}

}  // namespace hindsight::evaluator
