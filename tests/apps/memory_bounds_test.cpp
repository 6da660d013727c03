/// Does a file that is made to take all memory get one line, and take little?
///
/// Each kind of file that the program reads is given at its worst: as large as is read, nested as deeply, of as many
/// values as its size allows. The peak of the process's memory is compared with that of `hindsight --version`.
#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <future>

#include "apps/app_fixture.h"
#include "workload/onnx_writer.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Lt;

constexpr std::int64_t kMib = 1 << 20;
/// Above a process that reads nothing.
constexpr std::int64_t kMostBytes = 256 * kMib;

struct Ended {
  int exit_code = -1;
  std::int64_t peak_bytes = 0;
  std::string err;
};

class MemoryBounds : public AppTest {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "skipped: a sanitizer keeps what was freed";
#endif
  }
  /// Runs the program; its own memory is measured, which needs the parent's to be small.
  Ended run(const std::vector<std::string>& arguments) const {
    const std::string err = file("stderr.txt");
    const pid_t child = ::fork();
    if (child == 0) {
      ::dup2(::open("/dev/null", O_WRONLY), STDOUT_FILENO);
      ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), STDERR_FILENO);
      const std::string program = program_path().string();
      std::vector<char*> argv{const_cast<char*>(program.c_str())};
      for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
      argv.push_back(nullptr);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    Ended ended;
    int status = 0;
    rusage usage{};
    ::wait4(child, &status, 0, &usage);
    ended.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    ended.peak_bytes = std::int64_t{usage.ru_maxrss} * 1024;
    ended.err = read_file(err);
    return ended;
  }
  /// Ends with one line and one of the exit codes for bad input, and took little memory.
  void expect_refused(const std::vector<std::string>& arguments, const std::string& part) const {
    const Ended normal = run({"--version"}), ended = run(arguments);
    EXPECT_THAT(ended.exit_code, ::testing::AnyOf(1, 2, 4)) << ended.err;
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(part));
    EXPECT_THAT(ended.peak_bytes, Lt(normal.peak_bytes + kMostBytes)) << ended.err;
  }
  /// `head`, then `piece` again and again until the file has `bytes`, then `tail`.
  std::string write_large(const std::string& name, const std::string& head, const std::string& piece,
                          std::int64_t bytes, const std::string& tail = "") const {
    std::ofstream out(file(name), std::ios::binary);
    std::string block;
    while (block.size() < 64U * 1024) block += piece;
    out << head;
    for (std::int64_t written = 0; written < bytes; written += std::ssize(block)) out << block;
    out << tail;
    return file(name);
  }
  void expect_import_refused(const std::string& table, const std::string& part) const {
    expect_refused({"log", "import", table, "--objective", "y", "--log", file("new.sqlite")}, part);
    EXPECT_FALSE(std::filesystem::exists(file("new.sqlite")));
  }
};

TEST_F(MemoryBounds, Yaml) {
  const std::string head = "name: s\nparameters:\n  - {name: a, values: [";
  expect_refused({"space", "show", write_large("values.yaml", head, "1,", 15 * kMib, "1]}\n")}, "values.yaml");
  expect_refused({"space", "show", write_large("deep.yaml", "name: ", "[", 15 * kMib)}, "deep.yaml");
  expect_refused({"space", "show", write_large("large.yaml", "name: ", "x", 20 * kMib)}, "large.yaml");
  expect_refused({"workload", "show", write_large("maps.yaml", "layers: [", "{a: {}},", 15 * kMib, "]\n")},
                 "maps.yaml");
}

TEST_F(MemoryBounds, JsonOfOthers) {
  expect_import_refused(write_large("deep.json", "", "[", 60 * kMib), "nested deeper than 256");
  expect_import_refused(write_large("values.json", "[", "{},", 60 * kMib, "{}]"), "more than 1,000,000 values");
  expect_import_refused(write_large("large.json", "[\"", "x", 70 * kMib, "\"]"), "larger than 64 MiB");
  expect_import_refused(write_large("text.json", "[\"", "x", 60 * kMib, "\"]"), "text.json");
  expect_import_refused(write_large("keys.json", "{", R"("a":{"b":[{}]},)", 6 * kMib, "\"c\":0}"), "keys.json");
}

TEST_F(MemoryBounds, JsonLinesWithNamesInNames) {
  std::string line = "{\"" + std::string(2 * kMib, 'k') + "\":{";
  for (int i = 0; i < 10'000; ++i) line += "\"" + std::to_string(i) + "\":1,";
  expect_import_refused(write("names.jsonl", line + "\"y\":1}}\n"), "has more than 1000 bytes");
}

TEST_F(MemoryBounds, OptunaJournal) {
  const std::string head = R"({"op_code": 0, "worker_id": "w", "study_name": "s", "directions": [1]})"
                           "\n";
  expect_import_refused(write_large("deep.log", head + R"({"op_code": 4, "params": )", "[", 30 * kMib), "deep.log");
}

TEST_F(MemoryBounds, TablesOfManyColumns) {
  const std::string row(60'000, ',');
  expect_import_refused(write("wide.csv", row + "\n" + row + "\n"), "wide.csv:1");
  expect_import_refused(write_large("cell.csv", "a,y\n", "x", 60 * kMib), "cell.csv");
}

TEST_F(MemoryBounds, AFileThatUnpacksWithoutEnd) {
  const std::string bomb = file("bomb.csv.gz");
  if (std::system(("head -c 400M /dev/zero | gzip -1 > '" + bomb + "'").c_str()) != 0) GTEST_SKIP() << "no gzip";
  expect_import_refused(bomb, "of a packed file of its size");
}

/// Short files that unpack to many cells, or to rows that all say the same: nine cells a row.
TEST_F(MemoryBounds, PackedTables) {
  const auto packed = [&](const std::string& name, const std::string& head, const std::string& row, int rows) {
    const std::string command =
        fmt::format("{{ printf '{}'; yes '{}' | head -n {}; }} | gzip -1 > '{}'", head, row, rows, file(name));
    return std::system(command.c_str()) == 0;
  };
  const std::string head = "a,b,c,d,e,f,g,h,y\\n";
  if (!packed("cells.csv.gz", head, "1,2,3,4,5,6,7,8,9", 5'000'000)) GTEST_SKIP() << "no gzip";
  expect_import_refused(file("cells.csv.gz"), "unpacks to more than 10,000,000 cells");
  ASSERT_TRUE(packed("cells.jsonl.gz", "", R"({"a":1,"y":2})", 6'000'000));
  expect_import_refused(file("cells.jsonl.gz"), "unpacks to more than 10,000,000 cells");
  const std::int64_t most = run({"--version"}).peak_bytes + kMostBytes;
  const auto import = [&](const std::string& table, const std::string& log) {
    return run({"log", "import", file(table), "--objective", "y", "--log", file(log)});
  };
  ASSERT_TRUE(packed("same.csv.gz", head, "1,2,3,4,5,6,7,8,9", 1'100'000));
  const Ended same = import("same.csv.gz", "same.sqlite");
  EXPECT_EQ(same.exit_code, 0) << same.err;
  EXPECT_THAT(same.peak_bytes, Lt(most)) << "rows that repeat are kept";
  ASSERT_TRUE(packed("odd.csv.gz", head + "1,2,3,4,5,6,7,8,9\\n", "1,2,3,4,5,6,7,8,9x", 1'100'000));
  const Ended odd = import("odd.csv.gz", "odd.sqlite");
  EXPECT_EQ(odd.exit_code, 0) << odd.err;
  EXPECT_THAT(odd.peak_bytes, Lt(most)) << "rows that are refused are kept";
}

TEST_F(MemoryBounds, ModelFiles) {
  const auto model = [&](const std::string& name, std::uint64_t header, const std::string& piece) {
    std::string length(8, '\0');
    for (std::size_t i = 0; i < 8; ++i) length[i] = static_cast<char>(header >> (8 * i));
    return write_large(name, length + "{\"__metadata__\":[", piece, static_cast<std::int64_t>(header), "]}");
  };
  expect_refused({"model", "show", model("values.safetensors", 99'000'000, "0,")}, "values.safetensors");
  expect_refused({"model", "show", model("deep.safetensors", 99'000'000, "[")}, "deep.safetensors");
}

TEST_F(MemoryBounds, Networks) {
  // Field 7 of an ONNX model is its graph: of 2^62 bytes, it says.
  const std::string onnx = write("net.onnx", std::string("\x08\x08\x3a\x80\x80\x80\x80\x80\x80\x80\x80\x40", 12));
  expect_refused({"workload", "import", onnx}, "net.onnx");
  expect_refused({"workload", "import", write_large("net.csv", "name,", "1,", 60 * kMib)}, "net.csv");
}

TEST_F(MemoryBounds, GraphsOfManyNodes) {
  using hindsight::test::onnx_attribute;
  using hindsight::test::onnx_node;
  const auto chain = [&](const std::string& name, int nodes, const std::vector<std::string>& attributes) {
    hindsight::test::OnnxModel model;
    model.input("t0", {"1", "64"});
    for (int i = 0; i < nodes; ++i) {
      model.node(onnx_node("Relu", {"t" + std::to_string(i)}, {"t" + std::to_string(i + 1)}, attributes));
    }
    return write(name, model.text());
  };
  expect_refused({"workload", "import", chain("nodes.onnx", 420'000, {})}, "the graph takes more than 160 MiB");
  // Read as a whole, and refused when it has been followed to its end.
  expect_refused({"workload", "import", chain("whole.onnx", 150'000, {})}, "no layer multiplies anything");
  std::vector<std::string> attributes;
  for (int i = 0; i < 1000; ++i) attributes.push_back(onnx_attribute("a" + std::to_string(i), 1));
  expect_refused({"workload", "import", chain("attributes.onnx", 1000, attributes)}, "takes more than 160 MiB");
  hindsight::test::WireWriter body;
  for (int i = 0; i < 1'200'000; ++i) body.bytes(7, hindsight::test::WireWriter().bytes(4, std::to_string(i)).text());
  const std::string function = hindsight::test::WireWriter().bytes(25, body.text()).text();
  expect_refused({"workload", "import", write("function.onnx", hindsight::test::OnnxModel().text() + function)},
                 "takes more than 160 MiB");
}

/// As many bytes as a file has, each a value of a tensor that says to have one.
TEST_F(MemoryBounds, ATensorWithMoreValuesThanItsAxesSay) {
  using hindsight::test::WireWriter;
  constexpr int kBoolean = 9;  // [spec: onnx] TensorProto.DataType
  const std::string tensor =
      WireWriter().integer(1, 1).integer(2, kBoolean).bytes(8, "w").bytes(9, std::string(60 * kMib, '\0')).text();
  expect_refused({"workload", "import", write("tensor.onnx", hindsight::test::OnnxModel().initializer(tensor).text())},
                 "tensor 'w' holds 62914560 values, but its axes say 1");
}

TEST_F(MemoryBounds, TablesOfLayers) {
  const std::string head = "name,type,count,H,W,C,K,R,S,stride,pad,groups,P,Q,M,N,Kd,macs,params\n";
  const std::string row = "l,gemm,1,1,1,1,1,1,1,1,0,1,1,1,8,8,8,512,64\n";
  expect_refused({"workload", "import", write_large("layers.csv", head, row, 15 * kMib)}, "more than 65,535 layers");
  const std::string scale_sim =
      "Layer,IFMAP Height,IFMAP Width,Filter Height,Filter Width,Channels,Num Filter,Strides,\n";
  expect_refused({"workload", "import", write_large("scale.csv", scale_sim, "l,8,8,1,1,1,8,1,\n", 15 * kMib)},
                 "more than 65,535 layers");
  expect_refused({"workload", "import", write_large("row.csv", head, "1,", 15 * kMib)}, "more than 10,000 cells");
}

TEST_F(MemoryBounds, MeasurementsOfAGpu) {
  const std::string line = write_large("sheet.jsonl", "{\"record\":\"", "x", 60 * kMib, "\"}\n");
  expect_refused({"measure", "import", line, "--log", file("new.sqlite")}, "sheet.jsonl");
  expect_refused({"gemm", "--gpu", write_large("gpu.yaml", "name: ", "[", 15 * kMib), "-m", "8", "-n", "8", "-k", "8"},
                 "gpu.yaml");
}

TEST_F(MemoryBounds, LogsOfOthers) {
  const std::string log = file("study.sqlite");
  ASSERT_EQ(hindsight({"sweep", "--space", "tiny", "--workloads", "m4", "--samples", "5", "--log", log}).exit_code, 0);
  const auto with = [&](const std::string& name, const std::string& sql) {
    std::filesystem::copy_file(log, file(name));
    SQLite::Database(file(name), SQLite::OPEN_READWRITE).exec(sql);
    return file(name);
  };
  // Larger than the bound, and just below it.
  const std::string large = with("large.sqlite", "UPDATE spaces SET definition = printf('%.*c', 250000000, 'x')");
  expect_refused({"log", "show", large}, "large.sqlite");
  const std::string deep = with("deep.sqlite",
                                "UPDATE runs SET options_json = replace(printf('%.*c', 400000, 'x'), 'x', '[') || "
                                "replace(printf('%.*c', 400000, 'x'), 'x', ']')");
  const Ended normal = run({"log", "show", log, "--json"}), ended = run({"log", "show", deep, "--json"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.peak_bytes, Lt(normal.peak_bytes + kMostBytes));
}

TEST_F(MemoryBounds, EvaluatorsThatNeverEnd) {
  const auto sweep = [&](const std::string& command) {
    return std::vector<std::string>{
        "sweep",     "--space",     "tiny",  "--workloads",        "m4",   "--samples",
        "1",         "--evaluator", command, "--evaluator-faults", "stop", "--evaluator-metrics",
        "latency_s", "--quiet",     "--log", file("new.sqlite")};
  };
  expect_refused(sweep("cat /dev/zero"), "");
  expect_refused(sweep("yes"), "");
  const std::string deep =
      write("answer.json", R"({"id":1,"infeasible":)" + std::string(400'000, '[') + std::string(400'000, ']') + "}\n");
  expect_refused(sweep("cat " + deep), "nested deeper than 32");
}

/// What waits for a file that never comes ends with Ctrl-C.
TEST_F(MemoryBounds, CtrlCEndsWhatReads) {
  const std::string pipe = file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::vector<std::string>& verb :
       {std::vector<std::string>{"log", "import", pipe, "--objective", "y", "--log", file("new.sqlite")},
        {"space", "show", pipe},
        {"model", "show", pipe},
        {"measure", "import", pipe, "--log", file("new.sqlite")},
        {"sweep", "--space", pipe, "--workloads", "m4", "--samples", "1", "--log", file("new.sqlite")}}) {
    Process process(verb);
    const int writer = ::open(pipe.c_str(), O_RDWR);  // keeps the pipe open, and writes nothing
    ::usleep(200'000);
    process.send(SIGINT);
    std::future<Outcome> ended = std::async(std::launch::async, [&] { return process.wait(); });
    if (ended.wait_for(std::chrono::seconds(20)) != std::future_status::ready) process.send(SIGKILL);
    const Outcome outcome = ended.get();
    EXPECT_EQ(outcome.exit_code, 130) << verb[0] << " " << verb[1];
    ::close(writer);
  }
}

}  // namespace
}  // namespace hindsight::app::test
