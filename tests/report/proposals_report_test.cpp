/// Do proposals read as they are: order, the log's truth, remarks and doubts, within the width of a terminal?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "hindsight/core/terminal.h"
#include "hindsight/report/proposals.h"
#include "hindsight/surrogate/transfer.h"
#include "study/hand_proposals.h"
#include "tolerances.h"

namespace hindsight::report {
namespace {

using study::Proposals;
using study::test::predicting;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

/// Three proposals of "one", the second of which the log has as 2.0, the third as infeasible.
Proposals known_proposals() {
  Proposals proposals = predicting({1.5, 1.4, 1.7}, 0.1);
  proposals.known[1].logged = {.feasible = true, .value = 2.0};
  proposals.known[2].logged = {.feasible = false, .value = 0};
  for (const std::size_t i : {1U, 2U}) proposals.result.proposals[i].nearest_logged_distance = 0;
  return proposals;
}

TEST(ProposalsText, ShowsWhatLearnedLimitsComeToInTruth) {
  Proposals proposals = predicting({1.5, 1.4}, 0.1);
  proposals.options.constraints = {{.name = "energy_j", .limit = 0.01}};
  for (std::size_t i = 0; i < 2; ++i) {
    proposals.result.proposals[i].constraint_values = {0.009};
    proposals.result.proposals[i].cautious_constraint_values = {0.0095};
    study::Knowledge& known = proposals.known[i];
    known.verdict = study::Verdict{.networks = {{.objective = 1.5, .reasons = {}}}, .area_mm2 = {}};
    known.simulated = 1.5;
    known.limited = {{"energy_j", i == 0 ? 0.0103 : 0.0098}};
    if (i == 0) known.exceeded = {"energy_j"};
  }
  const std::string text = proposals_text(proposals, DesignStyle::compact, 0);
  EXPECT_THAT(text, ::testing::ContainsRegex("true / predicted +true energy_j"));
  EXPECT_THAT(text, ::testing::ContainsRegex("1.000 +0.0103 \\(over\\)"));
  EXPECT_THAT(text, ::testing::ContainsRegex("1.071 +0.0098\n"));
  EXPECT_THAT(text, HasSubstr("1 of the 2 designs exceed a learned limit when simulated"));
  const Json simulated = Json::parse(proposals_json(proposals)).at("proposals").at(0).at("simulated");
  EXPECT_EQ(simulated.at("limited").at("energy_j"), 0.0103);
}

TEST(ProposalsText, SaysTheBatchThatANameDoesNot) {
  Proposals proposals = predicting({1.5, 1.4}, 0.1);
  const auto headline = [&](const std::string& name, std::int64_t batch) {
    proposals.options.contexts.front().name = name;
    proposals.batches = {batch};
    const std::string text = proposals_text(proposals, DesignStyle::compact, 0);
    return text.substr(0, text.find(';'));
  };
  EXPECT_EQ(headline("kws", 4), "2 proposals for kws (batch 4)");
  EXPECT_EQ(headline("kws", 1), "2 proposals for kws");
  EXPECT_EQ(headline("kws", 0), "2 proposals for kws") << "only a log knows the network";
  EXPECT_EQ(headline("kws@4", 4), "2 proposals for kws@4");
}

TEST(ProposalsText, SaysWhatTheOrderMeansAndWhatTheLogKnows) {
  const std::string text = proposals_text(known_proposals(), DesignStyle::compact, 0);
  EXPECT_THAT(text, HasSubstr("ranked by cautious: the predicted value, worse by 1 spread of the ensemble"));
  EXPECT_THAT(text, ::testing::ContainsRegex("rank +predicted +cautious"));
  EXPECT_THAT(text, ::testing::ContainsRegex("logged +2.00 s"));
  EXPECT_THAT(text, ::testing::ContainsRegex("logged +infeasible"));
  EXPECT_THAT(text, Not(HasSubstr("must not be trusted")));
  EXPECT_THAT(text, Not(HasSubstr("predicted to be worse")));
}

TEST(ProposalsText, RemarksThatEveryPredictionIsWorseThanTheLogsBest) {
  EXPECT_THAT(proposals_text(predicting({2.1, 3}, 0), DesignStyle::compact, 0),
              HasSubstr("Every proposal is predicted to be worse"));
}

TEST(ProposalsText, NamesTheBolderListWhereNewDesignsAreAllWorse) {
  Proposals proposals = predicting({2.1, 3}, 0);
  const auto text = [&proposals] { return proposals_text(proposals, DesignStyle::compact, 0); };
  EXPECT_THAT(text(), Not(HasSubstr("--risk bold"))) << "the log's best has been looked at";
  proposals.options.only_new = true;
  EXPECT_THAT(text(), HasSubstr("as likely as these; --risk bold takes less likely ones"));
  proposals.options.pessimism = 0;
  EXPECT_THAT(text(), Not(HasSubstr("--risk bold"))) << "it is one";
}

TEST(ProposalsText, SaysThatTheLogsBestIsFirstWhateverItsScore) {
  Proposals proposals = known_proposals();
  proposals.result.relaxed_by_log = true;
  EXPECT_THAT(proposals_text(proposals, DesignStyle::compact, 0),
              HasSubstr("first the log's best, the others ranked by cautious: the predicted value"));
}

TEST(ProposalsText, ShowsAMaximisedMetricAsItself) {
  Proposals proposals = known_proposals();
  surrogate::Model::Parts parts = proposals.model.parts();
  parts.objective_text = "throughput^-1";
  proposals.model = surrogate::Model(std::move(parts));
  proposals.known[0].predicted = 0.04;
  proposals.known[1].logged->value = 0.0625;
  proposals.best_in_log = 0.0625;
  const std::string text = proposals_text(proposals, DesignStyle::compact, 0);
  EXPECT_THAT(text, HasSubstr("; largest throughput;"));
  EXPECT_THAT(text, Not(HasSubstr("throughput^-1")));
  EXPECT_THAT(text, ::testing::ContainsRegex("\n *1 +25 "));
  EXPECT_THAT(text, ::testing::ContainsRegex("logged +16"));
  EXPECT_THAT(text, HasSubstr("best in log that meets the same limits: 16"));
}

TEST(ProposalsText, SaysWhatIsLeftOfParameters) {
  Proposals proposals = known_proposals();
  const auto& parameters = proposals.model.parts().space.parameters();
  const auto headline = [&](const std::vector<std::uint16_t>& levels) {
    proposals.options.allowed = optimize::AllowedLevels(parameters.size());
    proposals.options.allowed[0] = levels;
    return proposals_text(proposals, DesignStyle::compact, 0);
  };
  const std::string& name = parameters[0].name;
  const std::vector<std::string>& labels = parameters[0].labels;
  const auto last = static_cast<std::uint16_t>(labels.size() - 1);
  EXPECT_THAT(headline({0, 1}), HasSubstr(", " + name + " <= " + labels[1] + ";"));
  EXPECT_THAT(headline({last}), HasSubstr(", " + name + " = " + labels[last] + ";"));
  EXPECT_THAT(headline({static_cast<std::uint16_t>(last - 1), last}),
              HasSubstr(", " + name + " >= " + labels[last - 1] + ";"));
  EXPECT_THAT(headline({1, 2}), HasSubstr(", " + name + " " + labels[1] + " to " + labels[2] + ";"));
  EXPECT_THAT(headline({}), Not(HasSubstr(", " + name + " ")));
}

TEST(ProposalsText, SaysWhyThereAreFewerThanWereAskedFor) {
  Proposals proposals = known_proposals();
  const auto text_of = [&proposals] { return proposals_text(proposals, DesignStyle::compact, 0); };
  EXPECT_THAT(text_of(), Not(HasSubstr("asked for"))) << "three of three";
  proposals.options.count = 10;
  proposals.options.diversity = 100;
  proposals.result.min_p_feasible_used = proposals.options.min_p_feasible = 0.9;
  EXPECT_THAT(text_of(), HasSubstr("note: 3 of the 10 proposals asked for: no other design that was found meets the "
                                   "limits, reaches p_feasible 0.9, differs from these in 100 parameters (designs "
                                   "have 6). To have more, lower --min-feasible or --diversity, or raise "
                                   "--evaluations\n"));
  proposals.options.diversity = 0;
  proposals.result.min_p_feasible_used = proposals.options.min_p_feasible = 0;
  proposals.options.only_new = true;
  EXPECT_THAT(text_of(), HasSubstr("found meets the limits, is not in the log. To have more, raise --evaluations\n"));
  proposals.result.solution.termination = optimize::Termination::enumerated;
  EXPECT_THAT(text_of(), HasSubstr("To have more, allow more values\n"));
  proposals.result.solution.termination = optimize::Termination::interrupted;
  EXPECT_THAT(text_of(), Not(HasSubstr("asked for"))) << "the interruption is why";
}

TEST(ProposalsText, WarnsOfAModelThatMustNotBeTrusted) {
  Proposals proposals = known_proposals();
  proposals.doubts = {"its networks disagree"};
  EXPECT_THAT(proposals_text(proposals, DesignStyle::compact, 0),
              HasSubstr("warning: this model must not be trusted here: its networks disagree"));
  EXPECT_EQ(Json::parse(proposals_json(proposals)).at("doubts").size(), 1U);
}

TEST(ProposalsText, SaysWhoseFactsAndRowsTheseAre) {
  Proposals proposals = known_proposals();
  proposals.remarks = {"the log's rows are of 'mysim'"};
  EXPECT_THAT(proposals_text(proposals, DesignStyle::compact, 0), HasSubstr("note: the log's rows are of 'mysim'\n"));
  EXPECT_EQ(Json::parse(proposals_json(proposals)).at("remarks").size(), 1U);
}

TEST(ProposalsText, NamesApplicationsThatNoBoundHoldsFor) {
  Proposals proposals = known_proposals();
  EXPECT_THAT(proposals_text(proposals, DesignStyle::compact, 0), Not(HasSubstr("may be below")));
  proposals.unbounded = {"m4", "mine"};
  EXPECT_THAT(proposals_text(proposals, DesignStyle::compact, 0),
              HasSubstr("note: no network that ships is the model's m4, mine: predictions for it may be below what "
                        "arithmetic and DRAM traffic allow. Name its file (--workload FILE)"));
  EXPECT_EQ(Json::parse(proposals_json(proposals)).at("unbounded"), Json::parse(R"(["m4", "mine"])"));
}

TEST(ProposalsText, SaysHowFarAnApplicationIsFromThoseLearntAndWhatWasLifted) {
  Proposals proposals = known_proposals();
  proposals.novelties = {
      {.application = "resnet50", .distance = 0.45, .nearest_layer = 0.1234, .nearer_than = 0.75, .expected = {}}};
  for (const std::size_t i : {0U, 2U}) proposals.result.proposals[i].lifted = true;
  for (optimize::Proposal& proposal : proposals.result.proposals) proposal.extrapolated = true;
  const std::string text = proposals_text(proposals, DesignStyle::compact, 0);
  EXPECT_THAT(text, HasSubstr("its layers are 0.12 deviations from the nearest learnt, nearer than 75.0 % of the"));
  EXPECT_THAT(text, HasSubstr("distance 0.45; what error that means is not known: the model's distances were never "
                              "compared with errors (`hindsight model calibrate` does)"));
  EXPECT_THAT(text, Not(HasSubstr("median error")));
  EXPECT_THAT(text, HasSubstr("2 of the 3 predictions were below what arithmetic and DRAM traffic allow"));
  EXPECT_THAT(text, Not(HasSubstr("are guesses")));
  proposals.result.proposals[0].lifted = false;
  EXPECT_THAT(proposals_text(proposals, DesignStyle::compact, 0), HasSubstr("1 of the 3 predictions was below"));
  proposals.result.proposals[0].lifted = true;
  const Json json = Json::parse(proposals_json(proposals));
  EXPECT_EQ(json.at("novelties").at(0).at("workload"), "resnet50");
  EXPECT_EQ(json.at("novelties").at(0).at("layer_distance"), 0.45);
  EXPECT_TRUE(json.at("novelties").at(0).at("expected_error").is_null());
  EXPECT_EQ(json.at("proposals").at(0).at("predicted").at("lifted"), true);
  proposals.novelties.clear();
  EXPECT_THAT(proposals_text(proposals, DesignStyle::compact, 0), HasSubstr("predicted values are guesses"));
}

TEST(ProposalsText, SaysWhatErrorNetworksAsFarCameWith) {
  Proposals proposals = known_proposals();
  surrogate::Novelty novelty{.application = "resnet50", .distance = 0.45, .nearest_layer = 0.12, .nearer_than = 0.75};
  novelty.expected = {.median_error = 0.034, .least_error = 0.02, .most_error = 0.1, .networks = 9, .beyond = false};
  proposals.novelties = {novelty};
  EXPECT_THAT(proposals_text(proposals, DesignStyle::compact, 0),
              HasSubstr("distance 0.45: networks this far had a median error in latency of about "
                        "3.4 % (9 networks, 2.0 % to 10.0 %); what is predicted best often errs more\n"));
  EXPECT_THAT(proposals_text(proposals, DesignStyle::compact, 0), Not(HasSubstr("never compared with errors")));
  const Json json = Json::parse(proposals_json(proposals)).at("novelties").at(0).at("expected_error");
  EXPECT_EQ(json.at("median_error"), 0.034);
  EXPECT_EQ(json.at("networks"), 9);
  EXPECT_EQ(json.at("beyond"), false);
  proposals.novelties[0].expected->beyond = true;
  EXPECT_THAT(
      proposals_text(proposals, DesignStyle::compact, 0),
      HasSubstr("distance 0.45, farther than every network that the model was tried on, so that its error "
                "in latency is not known: at least 3.4 %, the median of the farthest (9 networks, 2.0 % to 10.0 %)"));
}

TEST(ProposalsText, SaysWhatIsKnownOfTheErrorOfAnAdaptedModel) {
  Proposals proposals = known_proposals();
  surrogate::Model::Parts parts = proposals.model.parts();
  parts.provenance[surrogate::kErrorOnRowsHeldOut] = "0.291 in logarithms (a factor of 1.34)";
  proposals.model = surrogate::Model(std::move(parts));
  proposals.novelties = {
      {.application = "unet", .distance = 0.27, .nearest_layer = 0.1, .nearer_than = 0.75, .expected = {}}};
  const std::string text = proposals_text(proposals, DesignStyle::compact, 0);
  EXPECT_THAT(text, HasSubstr("distance 0.27; what error that means is not known for this simulator: the model was "
                              "adapted to rows of others, and its error on such rows held out was 0.291 in "
                              "logarithms (a factor of 1.34)"));
  EXPECT_THAT(text, Not(HasSubstr("model calibrate")));
}

TEST(ProposalsText, FitsTheTerminal) {
  Proposals proposals = known_proposals();
  proposals.novelties = {
      {.application = "resnet50", .distance = 0.45, .nearest_layer = 0.1234, .nearer_than = 0.75, .expected = {}}};
  proposals.doubts = {"its networks disagree about these designs 3 times as much as logged designs differ from others"};
  for (study::Knowledge& known : proposals.known) {
    known.verdict = study::Verdict{.networks = {{.objective = 1.6, .reasons = {}}}, .area_mm2 = 20};
    known.simulated = 1.6;
  }
  for (const int columns : {80, 120}) {
    std::istringstream lines(proposals_text(proposals, DesignStyle::compact, columns));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(display_width(line), static_cast<std::size_t>(columns)) << line;
    }
  }
  EXPECT_THAT(proposals_text(proposals, DesignStyle::compact, 80),
              ::testing::ContainsRegex("rank +predicted +cautious.*in log +true"));
}

/// A front of three points, simulated: the second is dominated in truth, the third infeasible.
Proposals simulated_front() {
  Proposals proposals = predicting({1.0, 2.0, 4.0}, 0.1);
  proposals.options.front = {
      {.name = "latency_s"}, {.name = "power_w"}, {.name = "area_mm2", .value = [](const auto& m) {
                                                     return Eigen::VectorXd::Ones(m.rows()).eval();
                                                   }}};
  proposals.result.front_size = 1234;
  std::vector<study::FrontPoint> points;
  for (std::size_t i = 0; i < 3; ++i) {
    const double latency = proposals.known[i].predicted;
    proposals.result.proposals[i].front = {
        {.cautious = 1.1 * latency, .predicted = latency, .by_context = {latency}},
        {.cautious = 9 - latency, .predicted = 8 - latency, .by_context = {8 - latency}},
        {.cautious = 20, .predicted = 20, .by_context = {20}}};
    study::Knowledge& known = proposals.known[i];
    known.verdict = study::Verdict{.networks = {{.objective = latency, .reasons = {}}}, .area_mm2 = 20};
    if (i == 2) known.verdict->networks = {{.objective = {}, .reasons = {"noc_timing"}}};
    if (i < 2) known.true_front = {latency, 7 + latency, 20};
    points.push_back({.predicted = {latency, 8 - latency, 20}, .truth = known.true_front});
  }
  proposals.front_truth = study::truth_of_front(points);
  return proposals;
}

TEST(FrontText, SaysWhatIsTradedAndWhatIsTrue) {
  const std::string text = proposals_text(simulated_front(), DesignStyle::compact, 0);
  EXPECT_THAT(text, HasSubstr("front of latency_s, power_w, area_mm2: 3 points of the 1,234 found for one"));
  EXPECT_THAT(text,
              ::testing::ContainsRegex("point +latency_s +power_w +area_mm2 +cautious latency_s +cautious power_w"));
  EXPECT_THAT(text, ::testing::ContainsRegex("1 +1.00 s .* yes"));
  EXPECT_THAT(text, ::testing::ContainsRegex("2 +2.00 s .* dominated"));
  EXPECT_THAT(text, ::testing::ContainsRegex("3 +4.00 s .* infeasible +noc_timing"));
  EXPECT_THAT(text, HasSubstr("simulated: 1 of 3 infeasible, 1 on the true front"));
  EXPECT_THAT(text, HasSubstr("worse by 1 spread of the ensemble (cautious)"));
  EXPECT_THAT(text, Not(HasSubstr("ranked by"))) << "a front has no order of merit";
}

TEST(FrontText, ShowsAMaximisedMetricAsItself) {
  Proposals proposals = simulated_front();
  proposals.options.front[0].name = "throughput^-1";
  const std::string text = proposals_text(proposals, DesignStyle::compact, 0);
  EXPECT_THAT(text, HasSubstr("front of throughput (more is better), power_w, area_mm2: 3 points"));
  EXPECT_THAT(text, ::testing::ContainsRegex("3 +0.25 .* infeasible +noc_timing"));
  EXPECT_THAT(text, Not(HasSubstr("throughput^-1")));
}

/// 1 / 4 is the geometric mean, and the worst, of the throughputs whose reciprocals' is 4.
TEST(FrontText, ShowsAMaximisedMetricOfSeveralApplicationsAsItself) {
  Proposals proposals = simulated_front();
  proposals.options.front[0].name = "throughput^-1";
  proposals.options.contexts.push_back(proposals.options.contexts.front());
  for (const optimize::Aggregate aggregate : {optimize::Aggregate::geomean, optimize::Aggregate::worst}) {
    proposals.options.aggregate = aggregate;
    const std::string text = proposals_text(proposals, DesignStyle::compact, 0);
    EXPECT_THAT(text, HasSubstr("front of throughput (more is better), power_w, area_mm2: 3 points"));
    EXPECT_THAT(text, ::testing::ContainsRegex("3 +0.25 .* infeasible +noc_timing"));
  }
  // The last in the loop is the worst: 4.4 times the typical reciprocal is 0.227 of the typical throughput.
  EXPECT_THAT(proposals_text(proposals, DesignStyle::compact, 0), HasSubstr("x0.227"));
  proposals.options.aggregate = optimize::Aggregate::mean;
  EXPECT_THAT(proposals_text(proposals, DesignStyle::compact, 0), HasSubstr("front of throughput^-1, power_w"))
      << "a mean of reciprocals is no mean of throughputs";
}

/// The front of the objective and a fact, with a log beside it that corrected predictions.
std::string corrected_front(dataset::ValueScale scale, double before, double after) {
  Proposals proposals = simulated_front();
  proposals.options.front[1].value = proposals.options.front[2].value;  // the model has learned the objective alone
  surrogate::Model::Parts parts = proposals.model.parts();
  parts.objective_scaler.value_scale = scale;
  proposals.model = surrogate::Model(std::move(parts));
  proposals.result.log_beside = {.designs = 2,
                                 .beaten = 1,
                                 .compared = 10,
                                 .corrected = true,
                                 .margins = {before, 0, 0},
                                 .errors_before = {before, 0, 0},
                                 .errors_after = {after, 0, 0}};
  return proposals_text(proposals, DesignStyle::compact, 0);
}

TEST(FrontText, SaysWhatTheLogCorrectedInUnitsThatMeanSomething) {
  using dataset::ValueScale;
  EXPECT_THAT(corrected_front(ValueScale::logarithmic, 0.1, 0.05), HasSubstr("latency_s 5.1 % instead of 10.5 %"));
  EXPECT_THAT(corrected_front(ValueScale::logarithmic, 0.0511, 0.0510), HasSubstr("latency_s 5.2 % with and without"));
  EXPECT_THAT(corrected_front(ValueScale::linear, 2.1837e-5, 1e-5),
              HasSubstr("latency_s 10.0 \u00b5s instead of 21.8 \u00b5s"));
  EXPECT_THAT(corrected_front(ValueScale::log1p, 2.1837e-5, 1e-5),
              HasSubstr(" instead of 2.18e-05 in log(1 + latency_s)"));
}

TEST(FrontText, FitsTheTerminalAndKeepsMetricsAndTruth) {
  for (const int columns : {80, 120}) {
    const std::string text = proposals_text(simulated_front(), DesignStyle::compact, columns);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(display_width(line), static_cast<std::size_t>(columns)) << line;
    }
    EXPECT_THAT(text, ::testing::ContainsRegex("point +latency_s +power_w +area_mm2.*true latency_s +true power_w"));
  }
}

TEST(FrontJson, HasMetricsTruthAndEveryPoint) {
  const Json json = Json::parse(proposals_json(simulated_front()));
  const Json& front = json.at("front");
  EXPECT_EQ(front.at("metrics").at(2), Json({{"name", "area_mm2"}, {"learned", false}}));
  EXPECT_EQ(front.at("found"), 1234);
  EXPECT_EQ(front.at("truth").at("infeasible"), 1);
  EXPECT_EQ(front.at("truth").at("standing"), 1);
  const Json& second = json.at("proposals").at(1);
  EXPECT_EQ(second.at("predicted").at("front").at("power_w").at("value"), 6.0);
  EXPECT_EQ(second.at("predicted").at("front").at("power_w").at("cautious"), 7.0);
  EXPECT_EQ(second.at("simulated").at("front").at("power_w"), 9.0);
  EXPECT_EQ(second.at("simulated").at("stands"), false);
  EXPECT_FALSE(json.at("proposals").at(2).at("simulated").contains("front"));
  EXPECT_FALSE(Json::parse(proposals_json(known_proposals())).contains("front"));
}

TEST(FrontCsv, HasThreeColumnsPerMetricAndWhetherAPointStands) {
  std::istringstream lines(proposals_csv(simulated_front()));
  std::string header, first;
  std::getline(lines, header);
  std::getline(lines, first);
  EXPECT_THAT(header, HasSubstr("predicted_power_w,cautious_power_w,true_power_w,predicted_area_mm2"));
  EXPECT_THAT(header, HasSubstr(",on_true_front,"));
  EXPECT_THAT(header, ::testing::EndsWith(",reason")) << "columns to fill in";
  EXPECT_THAT(first, HasSubstr(",7,8,8,20,20,20,1,"));
  EXPECT_EQ(std::count(header.begin(), header.end(), ','), std::count(first.begin(), first.end(), ','));
}

/// The columns to fill in hold what the log has measured, so that the file comes back as it is.
TEST(ProposalsCsv, KnowsWhatTheLogHasMeasured) {
  const auto rows_of = [](const Proposals& proposals) {
    std::istringstream lines(proposals_csv(proposals));
    std::vector<std::string> rows;
    for (std::string line; std::getline(lines, line);) rows.push_back(line);
    return rows;
  };
  const std::vector<std::string> rows = rows_of(known_proposals());
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_THAT(rows[0], ::testing::EndsWith(",latency_s,reason"));
  EXPECT_THAT(rows[1], ::testing::EndsWith(",,")) << "nobody has measured it";
  EXPECT_THAT(rows[2], ::testing::EndsWith(",2,"));
  EXPECT_THAT(rows[3], ::testing::EndsWith(",,")) << "the log says that it is infeasible, and not here why";
  Proposals repeated = known_proposals();
  dataset::Dataset logged = study::test::two_row_log();
  logged.repeats.designs = 1;
  repeated.logged = std::make_unique<const dataset::Dataset>(std::move(logged));
  EXPECT_THAT(rows_of(repeated)[2], ::testing::EndsWith(",,")) << "a mean is no measurement";
}

/// A measured proposal that lacks what the log's rows have is on no front with it.
TEST(ProposalsCsv, HasColumnsForWhatTheLogMeasuresBesides) {
  Proposals proposals = known_proposals();
  const std::string parameter = proposals.model.parts().space.parameters().front().name;
  proposals.also_measured = {"latency_s", "power_w", "score", parameter};
  std::istringstream lines(proposals_csv(proposals));
  std::string header, first;
  std::getline(lines, header);
  std::getline(lines, first);
  EXPECT_THAT(header, ::testing::EndsWith(",latency_s,power_w,score,reason"));
  EXPECT_THAT(header, HasSubstr(",predicted_score,"));
  EXPECT_THAT(first, ::testing::EndsWith(",,,,"));
  EXPECT_EQ(std::count(header.begin(), header.end(), ','), std::count(first.begin(), first.end(), ','));
}

TEST(ProposalsCsv, KnowsTheMetricOfAnObjectiveThatIsMaximised) {
  const auto second_row = [](const std::string& objective, double logged) {
    Proposals proposals = known_proposals();
    surrogate::Model::Parts parts = proposals.model.parts();
    parts.objective_text = objective;
    proposals.model = surrogate::Model(std::move(parts));
    proposals.known.at(1).logged->value = logged;
    std::istringstream lines(proposals_csv(proposals));
    std::string line;
    for (int i = 0; i < 3; ++i) std::getline(lines, line);
    return line;
  };
  EXPECT_THAT(second_row("throughput^-1", 1 / 1250.16), ::testing::EndsWith(",1250.16,")) << "as it was measured";
  EXPECT_THAT(second_row("1 / throughput", 1 / 49.0), ::testing::EndsWith(",49,"));
  EXPECT_THAT(second_row("throughput^-1", 0), ::testing::EndsWith(",,")) << "no number has that reciprocal";
  EXPECT_THAT(second_row("throughput^-2", 0.25), ::testing::EndsWith(",,"));
}

TEST(ProposalsJson, HasTheScoreInUnitsAndTheTruthOfTheLog) {
  const Json json = Json::parse(proposals_json(known_proposals()));
  EXPECT_EQ(json.at("all_worse_than_log"), false);
  EXPECT_THAT(json.at("ranked_by").get<std::string>(), HasSubstr("cautious"));
  const Json& second = json.at("proposals").at(1).at("predicted");
  EXPECT_EQ(second.at("logged_value"), 2.0);
  EXPECT_EQ(second.at("logged_feasible"), true);
  EXPECT_NEAR(second.at("cautious").get<double>(), 1.54, hindsight::test::kRounding);
  EXPECT_TRUE(json.at("proposals").at(0).at("predicted").at("logged_value").is_null());
}

TEST(ProposalsJson, SaysTheTechnologyThatCheckTakesUp) {
  Proposals proposals = known_proposals();
  EXPECT_TRUE(Json::parse(proposals_json(proposals)).at("technology").is_null()) << "another simulator judged them";
  proposals.technology = "7nm-silicon@air";
  EXPECT_EQ(Json::parse(proposals_json(proposals)).at("technology"), "7nm-silicon@air");
}

}  // namespace
}  // namespace hindsight::report
