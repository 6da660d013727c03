/// Does docs/reliability.md name tests that exist, for every class of faults, and docs/limits.md the bounds of the
/// code?
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <string_view>

#include "hindsight/core/files.h"
#include "hindsight/core/text.h"
#include "repository.h"

namespace hindsight::fault::test {
namespace {

namespace fs = std::filesystem;

/// "Suite.Name" of every test in the sources.
std::set<std::string> tests_in_sources() {
  std::set<std::string> names;
  const std::regex test(R"(TEST(?:_F|_P)?\((\w+),\s*(\w+)\))");
  for (const auto& entry : fs::recursive_directory_iterator(hindsight::test::repository() / "tests")) {
    if (!entry.path().string().ends_with("_test.cpp")) continue;
    const std::string text = read_file(entry.path());
    for (std::sregex_iterator at(text.begin(), text.end(), test), end; at != end; ++at) {
      names.insert((*at)[1].str() + "." + (*at)[2].str());
    }
  }
  return names;
}

/// A name in full has to be one; one that ends with * or ... stands for those that begin so and go on.
bool exists(const std::string& pattern, const std::set<std::string>& names) {
  const std::size_t star = pattern.find('*');
  const bool shortened = pattern.ends_with("...");
  if (!shortened && star == std::string::npos) return names.contains(pattern);
  if (!shortened && star + 1 != pattern.size()) return false;
  const std::string prefix = pattern.substr(0, shortened ? pattern.size() - 3 : star);
  const auto next = names.upper_bound(prefix);
  return next != names.end() && next->starts_with(prefix);
}

/// How many tests a text names; each has to exist.
int expect_tests_of(const std::string& text, const std::set<std::string>& names) {
  const std::regex quoted(R"(`([A-Z]\w+\.[\w*]+(?:\.\.\.)?)`)");
  int found = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), quoted), end; at != end; ++at) {
    const std::string pattern = (*at)[1];
    if (pattern.ends_with(".md")) continue;
    EXPECT_TRUE(exists(pattern, names)) << "no test " << pattern;
    ++found;
  }
  return found;
}

TEST(ReliabilityPage, EveryClassHasATestThatExistsAndACommand) {
  const std::string page = read_file(hindsight::test::repository() / "docs/reliability.md");
  const std::set<std::string> names = tests_in_sources();
  ASSERT_GT(names.size(), 1000U);
  constexpr int kClasses = 27;
  for (int number = 1; number <= kClasses; ++number) {
    const std::size_t begin = page.find("\n| " + std::to_string(number) + " |");
    ASSERT_NE(begin, std::string::npos) << "class " << number;
    const std::string row = page.substr(begin + 1, page.find('\n', begin + 1) - begin - 1);
    EXPECT_GT(expect_tests_of(row, names), 0) << "class " << number << " names no test";
    EXPECT_NE(row.find("| `ctest -R "), std::string::npos) << "class " << number << " names no command";
  }
}

TEST(ReliabilityPage, EveryTestThatItNamesExists) {
  const std::string page = read_file(hindsight::test::repository() / "docs/reliability.md");
  EXPECT_GT(expect_tests_of(page, tests_in_sources()), 60);
}

TEST(ReliabilityPage, ANameInFullIsNoBeginning) {
  const std::set<std::string> names{"Suite.Name", "Suite.NameThatGoesOn"};
  for (const char* there : {"Suite.Name", "Suite.*", "Suite.Name*", "Suite.Name...", "Suite.NameThat..."}) {
    EXPECT_TRUE(exists(there, names)) << there;
  }
  for (const char* none : {"Suite.NameThat", "Suite.NameThatGoesOn...", "Suite.*That", "Other.*", "Suite"}) {
    EXPECT_FALSE(exists(none, names)) << none;
  }
}

/// A bound as the code has it, and as the row of docs/limits.md says it.
struct Bound {
  std::string_view source, code, row, words;
};
constexpr Bound kBounds[] = {
    {"src/core/config.cpp", "kMaxFileBytes = 16U << 20U", "YAML:", "16 MiB a file"},
    {"src/core/config_parser.cpp", "kMostDepth = 64;", "YAML:", "64 levels"},
    {"src/core/config_parser.cpp", "kMostUnclosed = 1'000;", "YAML:", "1,000 brackets open at once"},
    {"src/core/config_parser.cpp", "kMostValues = 1'000'000;", "YAML:", "1,000,000 values a file"},
    {"src/core/config_parser.cpp", "kMostItems = 65'535;", "YAML:", "65,535 items a list"},
    {"include/hindsight/space/expression.h", "kMostNesting = 100;", "expressions", "100 brackets"},
    {"include/hindsight/space/expression.h", "kMostOperations = 4096;", "expressions", "4,096 operations"},
    {"include/hindsight/space/expression.h", "kMostStack = 256;", "expressions", "256 values at once"},
    {"include/hindsight/space/design_space.h", "kMaxParameters = 4096;", "design spaces", "4,096 parameters"},
    {"include/hindsight/space/design_space.h", "kMaxLevels = 65535;", "design spaces", "65,535 levels"},
    {"src/space/validation.cpp", "kMaxNameLength = 64;", "design spaces", "names up to 64 bytes"},
    {"src/dataset/csv_parser.h", "kMaxCellBytes = std::size_t{1} << 20U", "CSV tables", "a cell 1 MiB"},
    {"src/dataset/csv_parser.cpp", "kMaxRecordBytes = std::size_t{1} << 24U", "CSV tables", "a record 16 MiB"},
    {"src/dataset/csv_parser.cpp", "kMaxColumns = 10'000;", "CSV tables", "10,000 columns"},
    {"src/dataset/json_text.cpp", "kBounds{.depth = 256}", "JSON imports", "256 levels"},
    {"src/dataset/trial_table.cpp", "kMostColumns = 10'000;", "JSON imports", "10,000 columns"},
    {"src/dataset/trial_table.cpp", "kAlwaysCells = 4'000'000, kMostTimes = 20", "JSON imports",
     "4,000,000, or 20 times"},
    {"src/dataset/read_json_rows.cpp", "kLongestName = 1000;", "JSON imports", "1,000 bytes"},
    {"src/dataset/read_trials.cpp", "kMostLimits = 1000;", "JSON imports", "1,000 outcome constraints"},
    {"src/dataset/import_text.h", "kMostTextBytes = std::uint64_t{2} << 30U", "imports by lines", "2 GiB a file"},
    {"src/dataset/optuna_journal.cpp", "kMostObjectives = 1000;", "imports by lines", "1,000 objectives"},
    {"include/hindsight/core/json_bounds.h", "bytes = std::size_t{64} << 20U", "JSON in the columns", "64 MiB"},
    {"include/hindsight/core/json_bounds.h", "depth = 64;", "JSON in the columns", "64 levels"},
    {"include/hindsight/core/json_bounds.h", "values = 1'000'000;", "JSON in the columns", "1,000,000 values"},
    {"include/hindsight/core/json_bounds.h", "comparisons = 1'000'000'000;", "JSON in the columns", "1,000,000,000"},
    {"src/dataset/import_text.cpp", "kAlways = std::uint64_t{100} << 20U, kMostTimes = 30", "gzip, zip", "30 times"},
    {"src/dataset/import_text.cpp", "kAlways = 10'000'000, kMostTimes = 15", "gzip, zip", "10,000,000 cells, or 15"},
    {"src/log/optuna_study.cpp", "kMostObjectives = 1000;", "Optuna's SQLite file", "1,000 objectives"},
    {"src/log/connection.h", "kMostTextBytes = 64 << 20", "logs (SQLite)", "64 MiB"},
    {"src/log/append_row.cpp", "kMaxTextBytes = 65536;", "logs (SQLite)", "64 KiB"},
    {"src/log/sql_query.cpp", "kMostValueBytes = 64 << 20", "`log query`", "a value 64 MiB"},
    {"apps/hindsight/log_query.cpp", "kMostQueryRows = 1'000'000'000;", "`log query`", "1,000,000,000 rows"},
    {"src/log/page_file.cpp", "kMostPayloadBytes = 64U << 20U", "`log repair`", "64 MiB"},
    {"src/log/page_file.cpp", "kMostColumns = 200;", "`log repair`", "200 columns"},
    {"src/log/page_file.cpp", "kMostPasses = 16;", "`log repair`", "16 times the file"},
    {"src/log/salvage.cpp", "kMostLevels = 20;", "`log repair`", "20 levels of a tree"},
    {"src/workload/import/onnx/model.cpp", "kDeepestGraph = 16;", "ONNX", "graphs in graphs: 16"},
    {"src/workload/import/onnx/model.cpp", "kMostAxes = 64;", "ONNX", "64 axes"},
    {"src/workload/import/onnx/model.cpp", "kMostListed = 65'536;", "ONNX", "65,536 items"},
    {"src/workload/import/onnx/kept_bytes.h", "kMostKeptBytes = std::size_t{160} << 20U", "ONNX", "160 MiB"},
    {"src/workload/import/onnx/wire.cpp", "kLongestName = std::uint64_t{1} << 16U", "ONNX", "names 64 KiB"},
    {"src/workload/import/onnx/onnx.cpp", "kMostKept = std::uint64_t{1} << 22U", "ONNX", "4,194,304 numbers"},
    {"src/workload/import/text_rows.cpp", "kLargestTableBytes = std::uint64_t{16} << 20U", "other networks", "16 MiB"},
    {"src/workload/import/text_rows.cpp", "kMostCells = 10'000;", "other networks", "10,000 cells a row"},
    {"src/workload/import/import_parts.cpp", "kMostLayers = 65'535;", "other networks", "65,535 layers"},
    {"src/workload/import/nest.h", "kMostNestParts = 64;", "other networks", "64 loops"},
    {"include/hindsight/workload/layer.h", "kLargestSize = std::int64_t{1} << 31", "other networks", "2^31"},
    {"include/hindsight/core/files.h", "max_bytes = 64U << 20U", "other networks", "64 MiB MAESTRO's"},
    {"src/surrogate/tensor_file.h", "kMaxFileBytes = std::uint64_t{1} << 30", "model files", "1 GiB"},
    {"src/surrogate/tensor_file.cpp", "kMaxHeaderBytes = 100'000'000;", "model files", "header 100 MB"},
    {"src/surrogate/json_entries.cpp", "kDeepest = 16;", "model files", "16 levels"},
    {"include/hindsight/surrogate/architecture.h", "kMaxWeights = std::int64_t{1} << 26", "model files",
     "2^26 weights"},
    {"include/hindsight/accel/optimum/landscape.h", "kMostLandscapeBytes = std::uint64_t{1} << 30U", "landscapes",
     "1 GiB of records"},
    {"src/accel/optimum/landscape_format.cpp", "kMostHeaderBytes = std::size_t{1} << 20U", "landscapes",
     "header 1 MiB"},
    {"apps/hindsight/join.cpp", "kLargestPartBytes = std::uint64_t{1} << 30U", "parts for `join`", "1 GiB a file"},
    {"src/surrogate/part_file.cpp", "kMostShards = 1'000'000;", "parts of a training", "1,000,000 shards"},
    {"src/surrogate/json_entries.cpp", "std::size_t{128} << 20U", "parts of a training", "128 MiB"},
    {"src/surrogate/trials.cpp", "kMostBytes = 1U << 20U", "results of trials", "1 MiB a file"},
    {"src/check/offline_results.cpp", "kLargestFile = std::uint64_t{1} << 30", "results of `bench`", "1 GiB a file"},
    {"apps/hindsight/bench_offline.cpp", "kMostSeeds = 1000,", "results of `bench`", "1,000 seeds of `offline`"},
    {"apps/hindsight/bench_w50.cpp", "kMostW50Seeds = 10'000;", "results of `bench`", "10,000 seeds"},
    {"apps/hindsight/bench_w50.cpp", "kMostW50Proposals = 100'000;", "results of `bench`", "100,000 proposals"},
    {"include/hindsight/evaluator/protocol.h", "kMostAnswerBytes = std::size_t{1} << 20U", "answers of an",
     "1 MiB a line"},
    {"include/hindsight/evaluator/protocol.h", "kMostQuestionBytes = std::size_t{1} << 26U", "answers of an",
     "64 MiB a question"},
    {"src/evaluator/simulator_process.h", "kMostBytes = 4096;", "answers of an", "4 KiB of its standard error"},
    {"src/evaluator/protocol.cpp", "kDeepestJson = 32;", "answers of an", "32 levels"},
    {"src/evaluator/protocol.cpp", "kLongestMetric = 200;", "answers of an", "metrics up to 200 bytes"},
    {"src/evaluator/protocol.cpp", "kLongestCode = 64;", "answers of an", "of reasons to 64"},
    {"src/evaluator/protocol.cpp", "kMostMessage = 1000;", "answers of an", "messages to 1,000 characters"},
    {"include/hindsight/evaluator/external.h", "kMostFaultsInARow = 10;", "answers of an", "10 faults in a row"},
    {"src/measure/plain/json_lines.cpp", "kLongestLine = 1U << 20U", "measurements of GPUs", "1 MiB a line"},
    {"src/measure/plain/json_lines.cpp", "kLargestSize = 2147483647;", "measurements of GPUs", "2^31 - 1"},
    {"include/hindsight/gpu/gemm.h", "kLargestDimension = (std::int64_t{1} << 31) - 1", "measurements of GPUs",
     "2^31 - 1"},
    {"src/gpu/residual_file.cpp", "kMostTrees = 4096;", "learned corrections", "4,096 trees"},
    {"src/gpu/residual_file.cpp", "kDeepest = 64;", "learned corrections", "64 levels of a tree"},
    {"apps/hindsight/page_server.cpp", "kMostBody = 1024;", "requests to", "a body 1 KiB"},
    {"apps/hindsight/page_server.cpp", "kMostListeners = 8;", "requests to", "8 listeners"},
    {"src/core/text.cpp", "kLongestName = 200;", "names on the command line", "200 bytes"},
    {"src/core/terminal.cpp", "kMinColumns = 40;", "environment: `COLUMNS`", "40 to"},
    {"src/core/terminal.cpp", "kMaxColumns = 100'000;", "environment: `COLUMNS`", "100,000 columns"},
    {"src/log/server_log.cpp", "kMost_s = 1'000'000;", "environment: `HINDSIGHT_SERVER_PATIENCE_S`", "1,000,000"},
    {"apps/hindsight/output.cpp", "kMostErrorWidth = 400;", "output", "400 characters"}};

TEST(LimitsPage, ItsNumbersAreThoseOfTheCode) {
  const std::filesystem::path root = hindsight::test::repository();
  const std::string page = read_file(root / "docs/limits.md");
  std::set<std::string> rows;
  for (const Bound& bound : kBounds) {
    EXPECT_NE(read_file(root / bound.source).find(bound.code), std::string::npos)
        << bound.source << " has no '" << bound.code << "': does docs/limits.md say the new bound (" << bound.row
        << ")?";
    const std::size_t begin = page.find("\n| " + std::string(bound.row));
    ASSERT_NE(begin, std::string::npos) << bound.row;
    const std::string row = page.substr(begin + 1, page.find('\n', begin + 1) - begin - 1);
    EXPECT_NE(row.find(bound.words), std::string::npos) << bound.row << ": no '" << bound.words << "'";
    rows.insert(row);
  }
  std::ptrdiff_t all = -1;  // without the header
  for (const std::string& line : split(page.substr(0, page.find("\n## Memory")), '\n')) all += line.starts_with("| ");
  // Of the environment three: what is on the command line, too, numbers, and names that the system bounds.
  EXPECT_EQ(all - static_cast<std::ptrdiff_t>(rows.size()), 3) << "rows that are compared with nothing";
}

/// What the report of covered lines looks at.
TEST(ReaderSources, AreThereAndNamedOnce) {
  const std::filesystem::path root = hindsight::test::repository();
  std::set<std::string> names;
  for (const std::string& line : split(read_file(root / "tests/fuzz/reader_sources.txt"), '\n')) {
    if (line.empty() || line.front() == '#') continue;
    EXPECT_TRUE(std::filesystem::exists(root / line)) << line;
    EXPECT_TRUE(names.insert(line).second) << line << " stands there twice";
  }
  // Who parses YAML, JSON or a whole file that somebody names reads bytes from outside.
  const std::regex reads(R"(ConfigNode::load|ConfigNode::parse|parse_bounded_json|bounded_json\(|json_excess\()");
  for (const char* folder : {"src", "apps/hindsight"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() != ".cpp") continue;
      const std::string name = std::filesystem::relative(entry.path(), root).string();
      if (std::regex_search(read_file(entry.path()), reads)) {
        EXPECT_TRUE(names.contains(name)) << name << " reads what others wrote: name it in reader_sources.txt";
      }
    }
  }
}

}  // namespace
}  // namespace hindsight::fault::test
