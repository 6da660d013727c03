/// Do questions and answers read back as what was written, whatever they are about?
#include "hindsight/evaluator/protocol.h"

#include <cmath>
#include <limits>

#include "evaluator/external_fixture.h"

namespace hindsight::evaluator::test {
namespace {

using ::testing::HasSubstr;

std::string line_of(std::int64_t id, const space::Design& design, const workload::Network& network) {
  return question_line(id, design_json(toy_space(), design), workload_json(network));
}

TEST(Protocol, QuestionsReadBack) {
  const space::DesignSpace space = toy_space();
  QuestionReader reader(space);
  std::int64_t id = 0;
  for (const std::string name : {"mobilenet_v2", "mobilenet_v2", "unet", "m6", "bert_base", "mobilenet_v2",
                                 "mixtral_8x7b_decode", "mixtral_8x7b_decode", "mixtral_8x7b_decode"}) {
    const workload::Network network = workload::load_network(name).with_batch(id % 3 + 1);
    const space::Design design{.levels = {static_cast<std::uint16_t>(id % 8), static_cast<std::uint16_t>(id % 2)}};
    const Question question = reader.read(line_of(++id, design, network));
    EXPECT_EQ(question.id, id);
    EXPECT_EQ(question.design, design);
    EXPECT_EQ(question.network.name(), network.name());
    EXPECT_EQ(question.network.batch(), network.batch());
    EXPECT_EQ(question.network.layers(), network.layers());
  }
}

/// 8 tokens ask 7 of 8 experts, 2 of 3 rows and 5 of 2: who multiplies GEMMs by `repeat` has all that is read.
TEST(Protocol, ExpertsAreRepeatedAsOftenAsTheyAreRead) {
  const std::string net =
      "name: n\nbatch: 8\nlayers:\n  - {name: up, type: fully_connected, repeat: 2, reduction: 4, columns: 3, "
      "experts: 8, experts_per_token: 2}\n";
  const std::string text = workload_json(workload::parse_network(net, "n.yaml"));
  EXPECT_THAT(text, HasSubstr("\"repeat\":4,"));
  EXPECT_THAT(text, HasSubstr("\"repeat\":10,"));
  EXPECT_THAT(text, HasSubstr("\"experts\":8,\"experts_per_token\":2,"));
  EXPECT_THAT(text, HasSubstr("\"gemm\":{\"m\":3,"));
  EXPECT_THAT(text, HasSubstr("\"gemm\":{\"m\":2,"));
  const space::DesignSpace space = toy_space();
  const auto problem = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    EXPECT_THAT(changed, HasSubstr(from));
    for (std::size_t at = changed.find(from); at != std::string::npos; at = changed.find(from, at + to.size())) {
      changed.replace(at, from.size(), to);
    }
    QuestionReader reader(space);
    const auto error =
        error_of([&] { (void)reader.read(R"({"id":1,"design":{"size":5,"flow":"os"},"workload":)" + changed + "}"); });
    if (!error) return std::string("taken");
    EXPECT_EQ(error->kind(), ErrorKind::usage);
    return std::string(error->what());
  };
  EXPECT_EQ(problem("\"repeat\":10,", "\"repeat\":3,"), "taken");
  EXPECT_EQ(problem("\"repeat\":4,", "\"repeat\":5,"),
            "repeat of layer 'up' is 15 in all, no multiple of the 7 experts that are read");
  EXPECT_EQ(problem("\"repeat\":4,", "\"repeat\":0,"), "repeat of layer 'up' is 0 (sizes lie in 1..2147483648)");
  EXPECT_EQ(problem("\"experts\":8,", ""), "layer 'up' has no field 'experts'");
  EXPECT_EQ(problem("\"experts_per_token\":2", "\"experts_per_token\":9"),
            "layer 'up': experts_per_token 9 is more than all experts (8). Write 1 to 8?");
  EXPECT_EQ(problem("\"experts\":8", "\"experts\":0"), "experts of layer 'up' is 0 (sizes lie in 1..2147483648)");
}

TEST(Protocol, AWorkloadThatIsCutInTheMiddleIsNotTakenForTheOneBefore) {
  const space::DesignSpace space = toy_space();
  QuestionReader reader(space);
  const std::string line = line_of(1, {.levels = {0, 0}}, one_layer().front());
  (void)reader.read(line);
  const auto error = error_of([&] { (void)reader.read("{\"id\":2" + line.substr(line.find(",\"workload\""))); });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->what(), HasSubstr("no field 'design'"));
  EXPECT_TRUE(error_of([&] { (void)reader.read("{\"id\":2,\"design\":{" + line.substr(line.find(",\"workload\""))); }));
}

TEST(Protocol, AnswersReadBack) {
  Row feasible;
  feasible.feasible = true;
  feasible.metrics = {{"latency_s", 0.1 + 0.2}, {"odd_count", 1e-300}};
  const Row same = parse_answer(answer_line(3, feasible), {.id = 3});
  EXPECT_TRUE(same.feasible);
  EXPECT_EQ(same.metrics, feasible.metrics);
  Row infeasible;
  infeasible.metrics = {{"area_mm2", 7}};
  infeasible.violations = {{.code = "sram",
                            .quantity = "sram_bytes",
                            .value = 12,
                            .limit = std::numeric_limits<double>::quiet_NaN(),
                            .nearest_passing = 4,
                            .layer = "stem",
                            .message = "too large"}};
  const Row again = parse_answer(answer_line(4, infeasible), {.id = 4});
  EXPECT_FALSE(again.feasible);
  EXPECT_EQ(again.metrics, infeasible.metrics);
  ASSERT_EQ(again.violations.size(), 1U);
  EXPECT_EQ(again.violations[0].code, "sram");
  EXPECT_EQ(again.violations[0].quantity, "sram_bytes");
  EXPECT_EQ(again.violations[0].value, 12);
  EXPECT_TRUE(std::isnan(again.violations[0].limit));
  EXPECT_EQ(again.violations[0].nearest_passing, 4);
  EXPECT_EQ(again.violations[0].layer, "stem");
  EXPECT_EQ(again.violations[0].message, "too large");
}

TEST(Protocol, AReasonsCodeIsWhatStandsBeforeItsColon) {
  const auto reason = [](const std::string& text) {
    return parse_answer("{\"infeasible\":\"" + text + "\"}", {}).violations.at(0);
  };
  EXPECT_EQ(reason("noc_timing").code, "noc_timing");
  EXPECT_EQ(reason("noc_timing").message, "");
  EXPECT_EQ(reason("area: 12 > 8").code, "area");
  EXPECT_EQ(reason("area: 12 > 8").message, "area: 12 > 8");
  EXPECT_EQ(reason(std::string(65, 'x')).code, "infeasible");
  EXPECT_EQ(reason(std::string(65, 'x')).message, std::string(65, 'x'));
}

/// What is wrong with an answer.
std::string answer_problem(const std::string& text, const Expected& expected = {}) {
  const auto error = error_of([&] { (void)parse_answer(text, expected); });
  if (!error) return "taken";
  EXPECT_EQ(error->kind(), ErrorKind::failure);
  return error->what();
}

TEST(Protocol, AnswersThatCannotBeAreRefusedByField) {
  EXPECT_EQ(answer_problem(std::string(40, '[')), "'" + std::string(40, '[') + "' is nested deeper than 32");
  EXPECT_EQ(answer_problem(R"({"id":1.5,"infeasible":"x"})"), "id of an answer is 1.5, not a whole number");
  EXPECT_EQ(answer_problem(R"({"id":18446744073709551615,"infeasible":"x"})"),
            "id of an answer is 18446744073709551615, not a whole number");
  EXPECT_EQ(answer_problem(R"({"metrics":[1]})"), "\"metrics\" is [1], not an object");
  EXPECT_EQ(answer_problem(R"({"metrics":{"":1}})"), "'' cannot be the name of a metric");
  EXPECT_EQ(answer_problem(R"({"metrics":{"a\nb":1}})"), "'a\\x0ab' cannot be the name of a metric");
  EXPECT_EQ(answer_problem(R"({"metrics":{"energy_j":-1}})"), "energy_j is -1, and no energy is below 0");
  EXPECT_EQ(answer_problem(R"({"metrics":{"hold_ns":-1}})"), "taken") << "a slack";
  EXPECT_EQ(answer_problem(R"({"metrics":{"a":1e-5,"b\"NaN":NaN}})"), "b\"NaN is NaN, not a finite number");
  EXPECT_EQ(answer_problem(R"({"infeasible":"NaN, -inf"})"), "taken") << "the words of a text";
  EXPECT_EQ(answer_problem(R"({"metrics":{"a":nanny}})"), "'{\"metrics\":{\"a\":nanny}}' is no JSON");
  EXPECT_EQ(answer_problem(R"({"infeasible":7})"), "\"infeasible\" is 7, not a reason or a list of reasons");
  EXPECT_EQ(answer_problem(R"({"infeasible":[]})"), "\"infeasible\" is [], not a reason or a list of reasons");
  EXPECT_EQ(answer_problem(R"({"infeasible":[7]})"), "a reason in the list \"infeasible\" is 7");
  EXPECT_EQ(answer_problem(R"({"infeasible":[{"reason":7}]})"), "reason of a reason is 7, not a text");
  EXPECT_EQ(answer_problem(R"({"infeasible":[{"value":7}]})"), "a reason has no field 'reason'");
  EXPECT_EQ(answer_problem(R"({"infeasible":[{"reason":"x","limt":7}]})"),
            "'limt' is no field of a reason. Did you mean 'limit'?");
  EXPECT_EQ(answer_problem(R"({"infeasible":[{"reason":"x","limit":"7"}]})"), "limit is \"7\", not a number");
}

TEST(Protocol, NothingOfAnAnswerIsPassedOver) {
  EXPECT_EQ(answer_problem(R"({"metrics":{"latency_s":1.5,"latency_s":2}})"),
            "'latency_s' is given twice in one object");
  EXPECT_EQ(answer_problem(R"({"infeasible":"x","infeasible":"y"})"), "'infeasible' is given twice in one object");
  const std::string cut("{\"infeasible\":\"x\"}\0 more", 24);
  EXPECT_EQ(answer_problem(cut), "'{\"infeasible\":\"x\"}\\x00 more' is cut off by a NUL byte");
}

TEST(Protocol, AnAnswerMayRepeatItsDesign) {
  const space::DesignSpace space = toy_space();
  const space::Design design{.levels = {4, 1}};
  const Expected expected{.space = &space, .design = &design};
  const auto problem = [&](const std::string& said) {
    return answer_problem(R"({"design":)" + said + R"(,"infeasible":"x"})", expected);
  };
  EXPECT_EQ(problem(R"({"size":5,"flow":"os","more":1})"), "taken");
  EXPECT_EQ(problem("5"), "\"design\" is 5, not an object");
  EXPECT_EQ(problem(R"({"size":5})"), "it is about another design: flow is missing, asked was \"os\"");
}

TEST(Protocol, QuestionsThatCannotBeAreRefusedByField) {
  const space::DesignSpace space = toy_space();
  const auto problem = [&](const std::string& design, const std::string& workload) {
    QuestionReader reader(space);
    const auto error =
        error_of([&] { (void)reader.read(R"({"id":1,"design":)" + design + R"(,"workload":)" + workload + "}"); });
    if (!error) return std::string("taken");
    EXPECT_EQ(error->kind(), ErrorKind::usage);
    return std::string(error->what());
  };
  const std::string design = R"({"size":5,"flow":"os"})", good = workload_json(one_layer().front());
  EXPECT_EQ(problem(design, good), "taken");
  EXPECT_EQ(problem("5", good), "design is 5, not an object");
  EXPECT_EQ(problem(R"({"size":true,"flow":"os"})", good), "parameter 'size' of design is true");
  EXPECT_EQ(problem(design, "5"), "workload is 5, not an object");
  EXPECT_EQ(problem(design, R"({"name":"n","batch":1})"), "workload has no field 'layers'");
  EXPECT_EQ(problem(design, R"({"name":"n","batch":1,"layers":{}})"), "layers of workload is {}, not a list");
  EXPECT_EQ(problem(design, R"({"name":"n","batch":1,"layers":[5]})"), "a layer is 5, not an object");
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return problem(design, text.replace(at, from.size(), to));
  };
  EXPECT_EQ(changed("\"fully_connected\"", "\"pool\""), "layer 'only' has the unknown type 'pool'");
  EXPECT_EQ(changed("\"repeat\":1", "\"repeat\":0.5"), "repeat of layer 'only' is 0.5, not a whole number");
  EXPECT_EQ(changed("\"bias\":true", "\"bias\":0"), "bias of layer 'only' is 0, not true or false");
  EXPECT_EQ(changed("\"bias\":true", "\"bias\":true,\"after\":1"), "after of layer 'only' is 1, not a list");
  EXPECT_EQ(changed("\"bias\":true", "\"bias\":true,\"after\":[\"sing\"]"),
            "after of layer 'only' has the unknown \"sing\"");
}

}  // namespace
}  // namespace hindsight::evaluator::test
