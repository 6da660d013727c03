/// Do proposals come with what is known about them: the log's truth, a comparison, doubts about the model?
#include "hindsight/study/proposals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/dataset/network_context.h"
#include "hindsight/study/applications.h"
#include "hindsight/workload/layer_features.h"
#include "hindsight/workload/network.h"
#include "study/doubts.h"
#include "study/hand_proposals.h"
#include "surrogate/layer_model.h"
#include "surrogate/small_model.h"
#include "temporary_folder.h"

namespace hindsight::study {
namespace {

using test::flat_model;
using test::predicting;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST(Doubts, NoneAboutAModelThatAgreesAndStaysNearTheLog) {
  EXPECT_THAT(doubts_about(predicting({1.5, 1.6, 1.7}, 0.9)), IsEmpty());
  EXPECT_THAT(doubts_about(predicting({0.21, 1.6}, 0.9)), IsEmpty()) << "9.5 times below 2";
}

TEST(Doubts, NetworksThatDisagreeAsMuchAsLoggedDesignsDiffer) {
  EXPECT_THAT(doubts_about(predicting({1.5, 1.6, 1.7}, 1.1)), ElementsAre(HasSubstr("networks disagree")));
  Proposals one = predicting({1.5, 1.6, 1.7}, 0.1);
  one.result.proposals[0].relative_spread = 3;
  EXPECT_THAT(doubts_about(one), IsEmpty()) << "at one of three proposals only";
}

TEST(Doubts, ValuesFarBelowTheBestRowOfTheLog) {
  EXPECT_THAT(doubts_about(predicting({1.5, 0.01}, 0)), ElementsAre(HasSubstr("200 times below the best row")));
}

/// Two simulated proposals for "one": the first has no mapping of the layer "deep", the second neither that nor watts.
Proposals none_built() {
  Proposals proposals = predicting({1.5, 1.6}, 0.1);
  const Verdict stopped{.networks = {{.objective = std::nullopt, .reasons = {"no_mapping"}}}, .area_mm2 = {}};
  for (Knowledge& known : proposals.known) known.verdict = stopped;
  proposals.evaluated.resize(2);
  const log::ViolationRow deep{.code = "no_mapping", .layer = "deep"};
  proposals.evaluated[0].violations = {deep};
  proposals.evaluated[1].violations = {{.code = "cooling"}, deep};
  return proposals;
}

TEST(RemarkOnNoneBuilt, CountsWhatStopsThem) {
  Proposals proposals = none_built();
  EXPECT_EQ(remark_on_none_built(proposals),
            "none of the 2 proposals can be built: one: no_mapping of layer deep (2 of 2), one: cooling (1 of 2)");
  proposals.known.pop_back();
  proposals.evaluated.pop_back();
  EXPECT_EQ(remark_on_none_built(proposals), "the proposal cannot be built: one: no_mapping of layer deep (1 of 1)");
}

TEST(RemarkOnNoneBuilt, IsSilentWhereOneCanOrNobodyAsked) {
  Proposals proposals = none_built();
  proposals.known[1].verdict->networks[0].objective = 2.0;
  EXPECT_EQ(remark_on_none_built(proposals), "");
  proposals = none_built();
  for (Knowledge& known : proposals.known) known.verdict.reset();
  EXPECT_EQ(remark_on_none_built(proposals), "");
  EXPECT_EQ(remark_on_none_built(predicting({}, 0)), "");
}

TEST(RemarkOnNoneWithin, SaysHowNearTheyCome) {
  Proposals proposals = predicting({1.5, 1.6, 1.7}, 0.1);
  EXPECT_EQ(remark_on_none_within(proposals), "") << "nobody asked";
  proposals.options.constraints = {{.name = "energy_j", .limit = 0.01}};
  const std::vector<double> energies{0.0105, 0.0103};
  for (std::size_t i = 0; i < energies.size(); ++i) {
    proposals.known[i].verdict = Verdict{.networks = {{.objective = 1.5, .reasons = {}}}, .area_mm2 = {}};
    proposals.known[i].limited = {{"energy_j", energies[i]}};
    proposals.known[i].exceeded = {"energy_j"};
  }
  const Verdict hot{.networks = {{.objective = std::nullopt, .reasons = {"cooling"}}}, .area_mm2 = {}};
  proposals.known[2].verdict = hot;
  EXPECT_EQ(remark_on_none_within(proposals),
            "no proposal that can be built keeps what was predicted to be within its limit: least energy_j 0.0103, "
            "limit 0.01");
  proposals.known[1].exceeded.clear();
  EXPECT_EQ(remark_on_none_within(proposals), "") << "one does";
  EXPECT_EQ(remark_on_none_within(none_built()), "") << "another remark says that";
}

TEST(RemarkOnFewRows, CountsFeasibleRowsOfParametersThatHaveValues) {
  const auto remark = [](const std::map<std::string, std::string>& facts) {
    surrogate::Model::Parts parts = flat_model().parts();
    parts.provenance = facts;
    return remark_on_few_rows(surrogate::Model(std::move(parts)));
  };
  EXPECT_THAT(remark({{"feasible_rows", "59"}}), HasSubstr("learnt from 59 feasible rows of 6 parameters"));
  EXPECT_EQ(remark({{"feasible_rows", "60"}}), "") << "ten each";
  EXPECT_EQ(remark({{"feasible_rows", "16"}, {"from", "edge-any"}}), "") << "its base learnt from more";
  EXPECT_EQ(remark({}), "");
}

TEST(RemarkOnFewRows, SaysWhatPFeasibleRestsOn) {
  const auto remark = [](const std::map<std::string, std::string>& facts, bool learned) {
    surrogate::Model::Parts parts = flat_model().parts();
    parts.provenance = facts;
    parts.feasibility_learned = learned;
    return remark_on_few_rows(surrogate::Model(std::move(parts)));
  };
  const std::map<std::string, std::string> few{{"feasible_rows", "27"}, {"rows", "60"}};
  EXPECT_THAT(remark(few, true), HasSubstr("p feasible rests on 27 feasible and 33 infeasible rows"));
  EXPECT_THAT(remark(few, false), Not(HasSubstr("p feasible"))) << "another note says that it says nothing";
  EXPECT_THAT(remark({{"feasible_rows", "500"}, {"rows", "559"}}, true),
              StartsWith("p feasible rests on 500 feasible and 59 infeasible rows"))
      << "predictions of the objective rest on enough";
  EXPECT_EQ(remark({{"feasible_rows", "60"}, {"rows", "120"}}, true), "");
  EXPECT_THAT(remark({{"feasible_rows", "20"}, {"rows", "20"}}, true), Not(HasSubstr("p feasible")));
}

/// A front of two points of power and latency beside a log whose least power is 0.692.
Proposals front_beside_log() {
  Proposals proposals = predicting({1.5, 1.6}, 0.1);
  proposals.options.front = {{.name = "latency"}, {.name = "power_w"}};
  const auto value = [](double cautious, double predicted) {
    return optimize::FrontValue{.cautious = cautious, .predicted = predicted, .by_context = {predicted}};
  };
  proposals.result.proposals[0].front = {value(1.6, 1.5), value(0.7, 0.65)};
  proposals.result.proposals[1].front = {value(1.7, 1.6), value(0.44, 0.425)};
  proposals.result.log_beside = {.designs = 2, .margins = {0.02, 0.03}, .least = {1.2, 0.692}};
  return proposals;
}

TEST(RemarkOnValuesBeyondLog, NamesHowFarPointsGoAndWhereTheLogEnds) {
  Proposals proposals = front_beside_log();
  EXPECT_EQ(remark_on_values_beyond_log(proposals), "");
  proposals.result.proposals[1].front[1].beyond_log = true;
  EXPECT_THAT(remark_on_values_beyond_log(proposals),
              AllOf(StartsWith("1 of the 2 points"), HasSubstr("power_w down to 0.44, of the log 0.692"),
                    Not(HasSubstr("latency"))));
  EXPECT_THAT(prediction_json(proposals, 1), HasSubstr("\"beyond_log\":true"));
  EXPECT_THAT(prediction_json(proposals, 0), Not(HasSubstr("\"beyond_log\":true")));
  proposals.result.log_beside.reset();
  EXPECT_EQ(remark_on_values_beyond_log(proposals), "");
}

TEST(RemarkOnValuesBeyondLog, NamesAMaximisedMetricAsItself) {
  Proposals proposals = front_beside_log();
  surrogate::Model::Parts parts = proposals.model.parts();
  parts.objective_text = proposals.options.front[0].name = "throughput^-1";
  proposals.model = surrogate::Model(std::move(parts));
  proposals.result.log_beside->least[0] = 0.5;
  proposals.result.proposals[0].front[0].cautious = 0.25;
  proposals.result.proposals[0].front[0].beyond_log = true;
  EXPECT_THAT(remark_on_values_beyond_log(proposals), HasSubstr("cautiously throughput up to 4, of the log 2."));
}

/// Of a model to which all designs are alike, and all but sure to be feasible.
surrogate::Model::Parts sure_parts() {
  const auto sure = [](std::size_t p, std::size_t) { return p == 0 ? 5.0 : 0.0; };
  const space::DesignSpace space = test::mixed_space();
  return optimize::make_model(space, {optimize::additive_network(space, test::zero, sure, test::zero)}).parts();
}

/// Few designs, of a short search, by the model of a file.
ProposalRequest request_for(const std::filesystem::path& model, const std::string& workload) {
  ProposalRequest request;
  request.model = model.string();
  request.workloads = {workload};
  request.options.search.evaluations = 300;
  request.options.count = 3;
  return request;
}

TEST(RemarkOnFewRows, IsNotedBesideProposals) {
  const hindsight::test::TemporaryFolder folder;
  surrogate::Model::Parts parts = sure_parts();
  parts.provenance["feasible_rows"] = "12";
  const auto file = folder / "few.safetensors";
  surrogate::save_model(surrogate::Model(std::move(parts)), file);
  EXPECT_THAT(propose(request_for(file, "one"), {}).remarks, ElementsAre(HasSubstr("learnt from 12 feasible rows")));
}

/// Of contexts with features (the models above) none of which the networks see: that is what a recipe asks for.
TEST(RemarkOnAlike, IsOfApplicationsWithoutFeaturesWhoseWordsWereNotLearnt) {
  const hindsight::test::TemporaryFolder folder;
  surrogate::Model::Parts parts = sure_parts();
  for (dataset::Context& context : parts.training_contexts) {
    context.feature_names.clear();
    context.features.resize(0);
  }
  parts.context_scaler = {};
  parts.objective_scaler.mean_weights = parts.objective_scaler.deviation_weights = Eigen::VectorXd::Zero(1);
  const auto file = folder / "wordless.safetensors";
  surrogate::save_model(surrogate::Model(std::move(parts)), file);
  EXPECT_THAT(propose(request_for(file, "one"), {}).remarks,
              ElementsAre(HasSubstr("one, two have no number that tells them apart, and the model learnt no words")));
}

TEST(RemedyForUnlearnt, IsAnotherModelOrTraining) {
  using dataset::Context;
  const Context one = optimize::plain_context("one"), new_a = optimize::plain_context("a"),
                new_b = optimize::plain_context("b");
  EXPECT_EQ(remedy_for_unlearnt(flat_model(), {one}, "edge-any"), "");
  EXPECT_EQ(remedy_for_unlearnt(flat_model(), {one, new_a}, "edge-any"),
            "The model has not learnt a: ask --model edge-any, which predicts any network?");
  EXPECT_EQ(remedy_for_unlearnt(flat_model(), {new_a, new_b}, ""),
            "The model has not learnt a and 1 more: train on applications like it?");
  surrogate::Model::Parts parts = flat_model().parts();
  parts.error_calibration = {.source = "by hand", .applications = {{.name = "b", .distance = 1}}};
  const surrogate::Model calibrated(std::move(parts));
  EXPECT_EQ(remedy_for_unlearnt(calibrated, {new_a}, ""), "") << "it was right about others";
  EXPECT_THAT(remedy_for_unlearnt(calibrated, {new_a}, "edge-any"), HasSubstr("--model edge-any"));
}

/// Every number of its file is finite, and e^800 is not.
TEST(Propose, AModelThatPredictsNoNumberIsRefused) {
  const hindsight::test::TemporaryFolder folder;
  surrogate::Model::Parts parts = sure_parts();
  parts.objective_scaler.value_scale = dataset::ValueScale::logarithmic;
  parts.objective_scaler.mean.setConstant(800);
  const auto file = folder / "large.safetensors";
  surrogate::save_model(surrogate::Model(std::move(parts)), file);
  try {
    static_cast<void>(propose(request_for(file, "one"), {}));
    ADD_FAILURE() << "proposed";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::incompatible);
    EXPECT_THAT(error.what(), HasSubstr("large.safetensors: predicts no number for designs"));
  }
}

TEST(Propose, PassesOnTheDoubtsAboutItsModel) {
  const hindsight::test::TemporaryFolder folder;
  const auto doubts_of = [&](double apart) {
    const auto member = [](double everywhere) {
      return optimize::additive_network(
          test::mixed_space(), [=](std::size_t p, std::size_t) { return p == 0 ? everywhere : 0; },
          [](std::size_t p, std::size_t) { return p == 0 ? 3 : 0; }, test::zero);
    };
    const std::filesystem::path file = folder / "model.safetensors";
    surrogate::save_model(optimize::make_model(test::mixed_space(), {member(0), member(apart)}), file);
    ProposalRequest request;
    request.model = file.string();
    request.workloads = {"one"};
    return propose(request, {}).doubts;
  };
  // Standard deviations of the networks: 4 / sqrt(2) and 0.4 / sqrt(2) of the logged designs'.
  EXPECT_THAT(doubts_of(4), ElementsAre(HasSubstr("networks disagree about these designs 2.8 times")));
  EXPECT_THAT(doubts_of(0.4), IsEmpty());
}

/// A model of random networks by layers with the features of version 1, learnt from `network` on the built-in
/// simulator, that predicts less than a femtosecond everywhere.
surrogate::Model old_model_of(const workload::Network& network) {
  dataset::Context known = dataset::context_of(network);
  known.layers.features =
      known.layers.features.leftCols(static_cast<Eigen::Index>(workload::layer_feature_count(1))).eval();
  surrogate::Model::Parts parts = surrogate::test::small_parts(0);
  parts.space = space::load_space("edge");
  parts.objective_text = "latency";
  parts.constraint_names.clear();
  parts.constraint_scaler = {};
  parts.reason_names = {"no_mapping"};
  parts.feasibility_learned = false;
  parts.provenance["evaluator"] = "hindsight-accel 2 22nm-silicon";
  const auto features = static_cast<Eigen::Index>(known.feature_names.size());
  parts.context_scaler = {.feature_names = known.feature_names,
                          .mean = Eigen::VectorXd::Zero(features),
                          .deviation = Eigen::VectorXd::Ones(features)};
  parts.objective_scaler = {.context_names = {known.name},
                            .mean = Eigen::VectorXd::Constant(1, -40),
                            .deviation = Eigen::VectorXd::Constant(1, 0.01),
                            .mean_weights = Eigen::VectorXd::Zero(features + 1),
                            .deviation_weights = Eigen::VectorXd::Zero(features + 1)};
  parts.training_contexts = {known};
  parts.members = {surrogate::test::random_layers_network(parts.space, known.layers.features.cols(), 1)};
  return surrogate::Model(std::move(parts));
}

TEST(Propose, LiftsWhatAModelOfOlderFeaturesSaysOfANetworkThatItLearnt) {
  const hindsight::test::TemporaryFolder folder;
  const std::filesystem::path file = folder / "old.safetensors";
  surrogate::save_model(old_model_of(workload::load_network("m6")), file);
  ProposalRequest request = request_for(file, "m6");
  const Proposals lifted = propose(request, {});
  ASSERT_FALSE(lifted.result.proposals.empty());
  for (const optimize::Proposal& one : lifted.result.proposals) {
    EXPECT_TRUE(one.lifted);
    EXPECT_GT(one.objective.front(), 1e-6);
  }
  EXPECT_THAT(lifted.unbounded, IsEmpty());
  request.bounds = false;
  EXPECT_LT(propose(request, {}).result.proposals.front().objective.front(), 1e-15);
}

/// What refuses a question, and how.
std::string refusal_of(const std::function<void()>& question) {
  try {
    question();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::incompatible) << error.what();
    return error.what();
  }
  return "accepted";
}

/// A model that learnt another network, which it calls m6.
surrogate::Model model_of_another_m6() { return old_model_of(workload::load_network("m4").with_name("m6")); }

TEST(NetworksOf, AreThoseThatTheModelLearnt) {
  const surrogate::Model model = old_model_of(workload::load_network("m6"));
  const std::vector<Application> wanted = applications(model, {"m6"}, {});
  const std::string hash = workload::load_network("m6").definition_hash();
  EXPECT_EQ(networks_of(wanted).at(0).definition_hash(), hash);
  EXPECT_EQ(networks_at_hand(wanted).at(0)->definition_hash(), hash);
}

TEST(NetworksOf, RefuseTheOneThatShipsUnderTheNameOfAnother) {
  const hindsight::test::TemporaryFolder folder;
  const surrogate::Model model = model_of_another_m6();
  const std::vector<Application> by_name = applications(model, {"m6"}, {});
  EXPECT_THAT(refusal_of([&] { static_cast<void>(networks_of(by_name)); }),
              HasSubstr("the model's m6 is not the network that ships as m6 (their features or layers differ). Name "
                        "its file (--workload FILE)"));
  EXPECT_FALSE(networks_at_hand(by_name).at(0).has_value());
  const workload::Network own = workload::load_network("m4").with_name("m6");
  const std::filesystem::path file = folder / "mine.yaml";
  write_file_atomically(file, workload::to_yaml(own));
  const std::vector<Application> by_file = applications(model, {file.string()}, {});
  EXPECT_EQ(networks_of(by_file).at(0).definition_hash(), own.definition_hash()) << "as the message says";
  EXPECT_TRUE(networks_at_hand(by_file).at(0).has_value());
}

TEST(NetworksOf, AskForTheFileOfANetworkThatOnlyALogHas) {
  const hindsight::test::TemporaryFolder folder;
  const workload::Network own = workload::load_network("m4").with_name("net_of_ours");
  const surrogate::Model model = old_model_of(own);
  EXPECT_THAT(refusal_of([&] { static_cast<void>(networks_of(applications(model, {}, {}))); }),
              HasSubstr("no network that ships is called net_of_ours. Name its file (--workload FILE)"));
  const std::filesystem::path file = folder / "ours.yaml";
  write_file_atomically(file, workload::to_yaml(own));
  const std::vector<Application> by_file = applications(model, {file.string()}, {});
  EXPECT_EQ(networks_of(by_file).at(0).definition_hash(), own.definition_hash()) << "as the message says";
  EXPECT_THAT(refusal_of([&] { static_cast<void>(networks_of(applications(flat_model(), {"one"}, {}))); }),
              AllOf(HasSubstr("the model knows one from a table alone"), HasSubstr("hindsight tell next.csv")))
      << "no file of a network would be taken";
}

TEST(NetworksOf, LookAtTheLayersToo) {
  surrogate::Model::Parts parts = old_model_of(workload::load_network("m6")).parts();
  parts.training_contexts.front().layers.features(3, 10) += 0.1F;  // log2 of a layer's MACs
  const surrogate::Model model(std::move(parts));
  const std::vector<Application> by_name = applications(model, {"m6"}, {});
  EXPECT_THAT(refusal_of([&] { static_cast<void>(networks_of(by_name)); }), HasSubstr("features or layers differ"));
  const hindsight::test::TemporaryFolder folder;
  const std::filesystem::path file = folder / "m6.yaml";
  write_file_atomically(file, workload::to_yaml(workload::load_network("m6")));
  EXPECT_THAT(refusal_of([&] { static_cast<void>(applications(model, {file.string()}, {})); }),
              HasSubstr("'m6' is not the one of that name in the model"));
}

TEST(NetworksOf, AreReadOnce) {
  const hindsight::test::TemporaryFolder folder;
  const surrogate::Model model = old_model_of(workload::load_network("m6"));
  const std::filesystem::path file = folder / "piped.yaml";
  const workload::Network piped = workload::load_network("m4").with_name("piped");
  write_file_atomically(file, workload::to_yaml(piped));
  const std::vector<Application> wanted = applications(model, {file.string()}, {});
  std::filesystem::remove(file);  // as a pipe is empty the second time
  EXPECT_EQ(networks_of(wanted).at(0).definition_hash(), piped.definition_hash());
  ASSERT_TRUE(networks_at_hand(wanted).at(0).has_value());
  EXPECT_EQ(networks_at_hand(wanted).at(0)->definition_hash(), piped.definition_hash());
}

TEST(NetworksOf, OpenNoFileThatAModelNames) {
  const hindsight::test::TemporaryFolder folder;
  const std::filesystem::path file = folder / "theirs.yaml";
  const workload::Network network = workload::load_network("m6").with_name(file.string());
  write_file_atomically(file, workload::to_yaml(workload::load_network("m6")));
  const std::vector<Application> unnamed = applications(old_model_of(network), {}, {});
  EXPECT_THAT(refusal_of([&] { static_cast<void>(networks_of(unnamed)); }), HasSubstr("which names a file"));
  EXPECT_FALSE(networks_at_hand(unnamed).at(0).has_value());
}

TEST(Propose, SaysThatNoBoundHoldsForANetworkOfAnothersName) {
  const hindsight::test::TemporaryFolder folder;
  const std::filesystem::path file = folder / "other.safetensors";
  surrogate::save_model(model_of_another_m6(), file);
  ProposalRequest request = request_for(file, "m6");
  const Proposals proposals = propose(request, {});
  EXPECT_THAT(proposals.unbounded, ElementsAre("m6"));
  EXPECT_FALSE(proposals.result.proposals.front().lifted);
  request.bounds = false;
  EXPECT_THAT(propose(request, {}).unbounded, IsEmpty()) << "nobody asked for bounds";
  request.simulate = true;
  EXPECT_THAT(refusal_of([&] { static_cast<void>(propose(request, {})); }), HasSubstr("Name its file"));
}

TEST(AllWorseThanLog, TakesTheTruthWhereTheLogHasIt) {
  EXPECT_TRUE(all_worse_than_log(predicting({2.1, 3}, 0)));
  EXPECT_FALSE(all_worse_than_log(predicting({2.1, 1.9}, 0)));
  Proposals logged = predicting({2.1, 3}, 0);
  logged.known[1].logged = {.feasible = true, .value = 2.0};
  EXPECT_FALSE(all_worse_than_log(logged)) << "predicted 3, but it is the log's best";
  Proposals without = predicting({2.1, 3}, 0);
  without.best_in_log = std::nullopt;
  EXPECT_FALSE(all_worse_than_log(without));
}

TEST(Applications, AreTrainedOnesByNameEachOnce) {
  const std::vector<Application> found = applications(flat_model(), {"two,one", "two"}, {});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].context.name, "two");
  EXPECT_EQ(found[1].context.name, "one");
}

TEST(Applications, AnotherNetworkOfANameIsNoRepetition) {
  const hindsight::test::TemporaryFolder folder;
  const surrogate::Model model = old_model_of(workload::load_network("m6"));
  const std::filesystem::path edited = folder / "edited.yaml", copy = folder / "copy.yaml";
  write_file_atomically(edited, workload::to_yaml(workload::load_network("m4").with_name("m5")));
  write_file_atomically(copy, workload::to_yaml(workload::load_network("m5")));
  EXPECT_EQ(applications(model, {"m5," + copy.string()}, {}).size(), 1U) << "the same by another name";
  try {
    static_cast<void>(applications(model, {"m5", edited.string()}, {}));
    FAIL() << "one of the two was dropped";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("'m5' and '"), HasSubstr("edited.yaml' are both named 'm5'")));
  }
}

TEST(Applications, NoNameIsTheOnlyOneThatTheModelLearnt) {
  surrogate::Model::Parts parts = flat_model().parts();
  parts.training_contexts.resize(1);
  parts.objective_scaler.context_names.resize(1);
  for (Eigen::VectorXd* values : {&parts.objective_scaler.mean, &parts.objective_scaler.deviation}) {
    values->conservativeResize(1);
  }
  const std::vector<Application> found = applications(surrogate::Model(std::move(parts)), {}, {});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].context.name, "one");
  try {
    static_cast<void>(applications(flat_model(), {}, {}));
    FAIL() << "of several none was named";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), HasSubstr("that the model learnt (one, two)"));
  }
}

TEST(Applications, AnUnknownNameIsRefusedWithTheNearest) {
  try {
    static_cast<void>(applications(flat_model(), {"onne"}, {}));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), HasSubstr("one"));
  }
}

TEST(Applications, UnseenOnesAreDescribedByTheColumnsOfTheLog) {
  surrogate::Model::Parts parts = flat_model().parts();
  parts.training_contexts = {{"size=1", {"size"}, Eigen::VectorXd{{1.0}}},
                             {"size=2", {"size"}, Eigen::VectorXd{{2.0}}}};
  parts.objective_scaler.context_names = {"size=1", "size=2"};
  const surrogate::Model model(std::move(parts));
  const std::vector<Application> found = applications(model, {"size=1"}, {"size=4096", "size=2"});
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[1].context.name, "size=4096");
  EXPECT_EQ(found[1].context.features, (Eigen::VectorXd{{4096.0}}));
  EXPECT_EQ(found[2].context.name, "size=2");
  for (const char* wrong : {"width=4", "size=many", ""}) {
    EXPECT_THROW(static_cast<void>(applications(model, {}, {wrong})), Error) << wrong;
  }
  EXPECT_THROW(static_cast<void>(applications(flat_model(), {}, {"size=4"})), Error) << "no table has named them";
}

TEST(Applications, AWordThatTheModelDidNotLearnIsRefused) {
  const surrogate::Model model(surrogate::test::parts_of_words(1));
  EXPECT_EQ(applications(model, {"app=bert"}, {"app=conv"}).size(), 2U);
  const auto refusal = [&](const std::vector<std::string>& workloads, const std::vector<std::string>& columns) {
    try {
      static_cast<void>(applications(model, workloads, columns));
      return std::string("accepted");
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return std::string(error.what());
    }
  };
  EXPECT_THAT(refusal({}, {"app=gpt"}), AllOf(HasSubstr("no application with app=gpt"), HasSubstr("bert, conv")));
  EXPECT_THAT(refusal({"gpt"}, {}), AllOf(HasSubstr("app=bert"), Not(HasSubstr("--context"))))
      << "no column describes another one";
  EXPECT_THAT(refusal({}, {}), AllOf(HasSubstr("(app=bert, app=conv) with --workload"), Not(HasSubstr("--context"))));
}

TEST(Why, SaysWhatChoseADesignInPlaceOfTheScore) {
  using Judgement = optimize::Hedge::Judgement;
  Proposals proposals = predicting({1.5, 1.6, 1.7, 1.8, 1.9}, 0.1);
  proposals.result.proposals[1].hedge = {.judgement = Judgement::member, .member = 1, .p_feasible = 0};
  proposals.result.proposals[2].hedge = {.judgement = Judgement::surer, .member = 0, .p_feasible = 1 - 0.1 * (1 - 0.9)};
  proposals.result.proposals[3].hedge = {.judgement = Judgement::optimistic, .member = 0, .p_feasible = 0};
  std::vector<std::string> reasons;
  for (std::size_t i = 0; i < 5; ++i) reasons.push_back(why(proposals, i));
  EXPECT_THAT(reasons, ElementsAre("best", "best of network 2", "p_feasible 0.99", "optimistic", "next best"));
}

}  // namespace
}  // namespace hindsight::study
