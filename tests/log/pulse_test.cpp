/// Does a look at a log see what others wrote since?
#include "hindsight/log/pulse.h"

#include "log/log_fixture.h"

namespace hindsight::log::test {
namespace {

class PulseTest : public LogTest {};

TEST_F(PulseTest, SeesRowsAndRunsOfOthers) {
  Log writer = Log::open(file_, OpenMode::read_write_create);
  const Ids ids = register_all(writer);
  const Log reader = Log::open(file_, OpenMode::read_only);
  const Pulse first = pulse(reader);
  EXPECT_EQ(first.last_evaluation_id, 0);
  ASSERT_EQ(first.running.size(), 1U);
  EXPECT_EQ(first.running[0], (RunningRun{.run_id = ids.run, .kind = "sweep", .rows = 0}));
  EXPECT_EQ(pulse(reader).data_version, first.data_version) << "nothing was written";
  writer.append(ids.run, ids.space, ids.evaluator,
                {feasible_row(ids.workload, text_id(1), 1, 2), feasible_row(ids.workload, text_id(2), 1, 2)});
  const Pulse second = pulse(reader);
  EXPECT_NE(second.data_version, first.data_version);
  EXPECT_EQ(second.last_evaluation_id, 2);
  EXPECT_EQ(second.running.at(0).rows, 2U);
  writer.end_run(ids.run, RunStatus::finished);
  EXPECT_TRUE(pulse(reader).running.empty());
}

TEST_F(PulseTest, SeesACheckpointThatIsStoredAlone) {
  Log writer = Log::open(file_, OpenMode::read_write_create);
  const Log reader = Log::open(file_, OpenMode::read_only);
  const Pulse first = pulse(reader);
  writer.set_checkpoint({.key = "training:a", .value_json = "{}"});
  EXPECT_NE(pulse(reader).data_version, first.data_version);
  EXPECT_EQ(reader.checkpoint("training:a"), "{}");
  writer.set_checkpoint({.key = "training:a", .value_json = "[1]"});
  EXPECT_EQ(reader.checkpoint("training:a"), "[1]");
}

TEST_F(PulseTest, NamesTheNewestOfManyRuns) {
  Log writer = Log::open(file_, OpenMode::read_write_create);
  std::int64_t last = 0;
  for (std::size_t i = 0; i < kMostRunning + 5; ++i) last = writer.begin_run(RunKind::train, provenance(), "{}");
  const Pulse now = pulse(Log::open(file_, OpenMode::read_only));
  ASSERT_EQ(now.running.size(), kMostRunning);
  EXPECT_EQ(now.running.front().run_id, last);
}

}  // namespace
}  // namespace hindsight::log::test
