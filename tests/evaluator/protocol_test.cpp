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
  for (const std::string name : {"mobilenet_v2", "mobilenet_v2", "unet", "m6", "bert_base", "mobilenet_v2"}) {
    const workload::Network network = workload::load_network(name).with_batch(id % 2 + 1);
    const space::Design design{.levels = {static_cast<std::uint16_t>(id % 8), static_cast<std::uint16_t>(id % 2)}};
    const Question question = reader.read(line_of(++id, design, network));
    EXPECT_EQ(question.id, id);
    EXPECT_EQ(question.design, design);
    EXPECT_EQ(question.network.name(), network.name());
    EXPECT_EQ(question.network.batch(), network.batch());
    EXPECT_EQ(question.network.layers(), network.layers());
  }
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

}  // namespace
}  // namespace hindsight::evaluator::test
