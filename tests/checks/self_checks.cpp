/// Does every check of the repository go red on a bad tree and stay green on a good one?
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "checks/functions.h"
#include "checks/header_list.h"
#include "checks/layering.h"
#include "checks/loops.h"
#include "checks/openings.h"
#include "checks/source_text.h"
#include "checks/sources.h"
#include "checks/types.h"
#include "temporary_folder.h"

namespace hindsight::checks {
namespace {

namespace fs = std::filesystem;

using hindsight::test::TemporaryFolder;

/// Expects exactly one finding, at `line` of `file`, whose text contains `words`.
void expect_one(const Findings& findings, const std::string& file, std::size_t line, const std::string& words) {
  ASSERT_EQ(findings.size(), 1U) << (findings.empty() ? "no finding" : findings[1].problem);
  EXPECT_EQ(findings[0].file, file);
  EXPECT_EQ(findings[0].line, line);
  EXPECT_NE(findings[0].problem.find(words), std::string::npos) << findings[0].problem;
}

/// Findings of `layering` for one file with these lines.
Findings layering_of(const std::string& file, const std::string& text) {
  const TemporaryFolder tree;
  tree.write("src/log/schema.h", "");
  tree.write(file, text);
  return check_layering(tree.path());
}

TEST(Layering, LeftOwnCoreStandardAndPlatformAreFine) {
  EXPECT_TRUE(layering_of("src/log/a.cpp",
                          "#include \"hindsight/accel/area.h\"\n#include \"hindsight/core/units.h\"\n"
                          "#include \"hindsight/log/log.h\"\n#include \"schema.h\"\n#include \"log/schema.h\"\n"
                          "#include <vector>\n#include <unistd.h>\n#include <sys/stat.h>\n#include <fmt/core.h>\n"
                          "#include <sqlite3.h>\n#include <Eigen/Dense>\n")
                  .empty());
  EXPECT_TRUE(
      layering_of("apps/hindsight/main.cpp", "#include <CLI/CLI.hpp>\n#include \"hindsight/log/log.h\"\n").empty());
  EXPECT_TRUE(layering_of("include/hindsight/space/a.h", "#include <Eigen/Core>\n#include <cstdint>\n").empty());
}

TEST(Layering, ALayerToTheRightIsFound) {
  expect_one(layering_of("src/space/a.cpp", "#include <vector>\n#include \"hindsight/log/log.h\"\n"), "src/space/a.cpp",
             2, "to its right");
  expect_one(layering_of("include/hindsight/core/a.h", "  #  include \"hindsight/space/b.h\"\n"),
             "include/hindsight/core/a.h", 1, "to its right");
  expect_one(layering_of("src/core/a.cpp", "#include \"hindsight/apps/x.h\"\n"), "src/core/a.cpp", 1, "to its right");
}

TEST(Layering, ALearnerThatReachesASimulatorIsFoundThroughAnyChain) {
  expect_one(layering_of("src/dataset/a.cpp", "#include <vector>\n#include \"hindsight/accel/area.h\"\n"),
             "src/dataset/a.cpp", 2, "include/hindsight/accel/area.h");
  const TemporaryFolder tree;
  tree.write("include/hindsight/log/rows.h", "#include \"hindsight/gpu/spec.h\"\n");
  tree.write("include/hindsight/gpu/spec.h", "");
  tree.write("include/hindsight/optimize/search.h", "\n#include \"hindsight/log/rows.h\"\n");
  tree.write("include/hindsight/study/both.h",
             "#include \"hindsight/accel/area.h\"\n#include \"hindsight/optimize/search.h\"\n");
  EXPECT_TRUE(check_layering(tree.path()).empty());
  tree.write("src/gpu/spec.cpp", "#include \"hindsight/accel/area.h\"\n");
  expect_one(check_layering(tree.path()), "include/hindsight/optimize/search.h", 2,
             "include/hindsight/log/rows.h -> include/hindsight/gpu/spec.h -> src/gpu/spec.cpp -> "
             "include/hindsight/accel/area.h");
  tree.write("src/gpu/spec.cpp", "");
  tree.write("include/hindsight/gpu/spec.h", "#include \"hindsight/accel/area.h\"\n");
  expect_one(check_layering(tree.path()), "include/hindsight/optimize/search.h", 2,
             "include/hindsight/gpu/spec.h -> include/hindsight/accel/area.h");
}

TEST(Layering, APrivateHeaderOfAnotherLayerIsFound) {
  expect_one(layering_of("src/report/a.cpp", "#include \"log/schema.h\"\n"), "src/report/a.cpp", 1,
             "private to layer log");
  expect_one(layering_of("src/report/a.cpp", "#include \"../log/schema.h\"\n"), "src/report/a.cpp", 1,
             "private to layer log");
  expect_one(layering_of("include/hindsight/log/a.h", "#include \"log/schema.h\"\n"), "include/hindsight/log/a.h", 1,
             "private header");
}

TEST(Layering, ALibraryOutsideItsLayerIsFound) {
  expect_one(layering_of("src/accel/a.cpp", "#include <sqlite3.h>\n"), "src/accel/a.cpp", 1, "belongs to log");
  expect_one(layering_of("src/accel/a.cpp", "#include \"yaml-cpp/yaml.h\"\n"), "src/accel/a.cpp", 1, "belongs to core");
  expect_one(layering_of("src/core/a.cpp", "#include <nlohmann/json.hpp>\n"), "src/core/a.cpp", 1, "belongs to log");
  expect_one(layering_of("src/core/a.cpp", "#include <llama/llama.h>\n"), "src/core/a.cpp", 1, "no layer owns");
  expect_one(layering_of("src/surrogate/a.cpp", "#include <torch/torch.h>\n"), "src/surrogate/a.cpp", 1,
             "src/surrogate/torch/");
  EXPECT_TRUE(layering_of("src/surrogate/torch/a.cpp", "#include <torch/torch.h>\n").empty());
}

TEST(Layering, ALibraryInAPublicHeaderIsFound) {
  expect_one(layering_of("include/hindsight/core/a.h", "#include <fmt/core.h>\n"), "include/hindsight/core/a.h", 1,
             "users would need");
  expect_one(layering_of("include/hindsight/core/a.h", "#include <unistd.h>\n"), "include/hindsight/core/a.h", 1,
             "users would need");
  expect_one(layering_of("include/hindsight/log/a.h", "#include <SQLiteCpp/SQLiteCpp.h>\n"),
             "include/hindsight/log/a.h", 1, "users would need");
}

TEST(Layering, AFileInNoLayerIsFound) {
  expect_one(layering_of("src/shiny/a.cpp", ""), "src/shiny/a.cpp", 0, "no layer folder");
  expect_one(layering_of("include/hindsight/a.h", ""), "include/hindsight/a.h", 0, "no layer folder");
  expect_one(layering_of("src/core/a.cpp", "#include \"hindsight/all.h\"\n"), "src/core/a.cpp", 1, "no layer folder");
}

/// Findings of `sources` for one file beside a REFERENCES.md with the keys prime and cacti7.
Findings sources_of(const std::string& file, const std::string& text) {
  const TemporaryFolder tree;
  tree.write("REFERENCES.md", "# References\n- **prime**: Kumar.\n- **cacti7**: Balasubramonian.\n");
  tree.write(file, text);
  return check_sources(tree.path());
}

TEST(Sources, KnownKeysFreeTagsAndOtherBracketsAreFine) {
  EXPECT_TRUE(sources_of("src/accel/a.cpp",
                         "// [paper: prime] [spec: cacti7, Table 2; prime p. 3] [data: prime]\n"
                         "/* [chosen] because; [measured: command, date] [mm2] energy [pJ per access] [0, 1] */\n"
                         "const char* text = \"[paper: nobody] // [guess]\"; auto raw = R\"x(\" [bogus: 1] )x\";\n"
                         "int million = 1'000'000; // levels[memory] [[nodiscard]] file:line[:column]\n")
                  .empty());
  EXPECT_TRUE(
      sources_of("data/technology/a.yaml", "energy_pj: 1  # [paper: prime, p. 4]\nnode_nm: [22, 32]\n").empty());
}

TEST(Sources, AnUnknownOrMissingKeyIsFound) {
  expect_one(sources_of("include/hindsight/accel/a.h", "\n// [paper: nobody-1999, Table 2]\n"),
             "include/hindsight/accel/a.h", 2, "'nobody-1999'");
  expect_one(sources_of("src/a/a.cpp", "int x = 1;  ///< [spec: prime; nobody]\n"), "src/a/a.cpp", 1, "'nobody'");
  expect_one(sources_of("src/a/a.cpp", "// [spec] Edge TPU\n"), "src/a/a.cpp", 1, "cites nothing");
  expect_one(sources_of("src/a/a.cpp", "// [paper:\n// prime]\n"), "src/a/a.cpp", 1, "cites nothing");
  expect_one(sources_of("src/a/a.cpp", "// [paper prime]\n"), "src/a/a.cpp", 1, "cites nothing");
  expect_one(sources_of("configs/spaces/a.yaml", "# [data: nobody]\n"), "configs/spaces/a.yaml", 1, "'nobody'");
  expect_one(sources_of("data/a.yaml", "source: \"[spec: nobody]\"\n"), "data/a.yaml", 1, "'nobody'");
}

TEST(Sources, AnUnknownTagWordIsFound) {
  expect_one(sources_of("src/a/a.cpp", "// [thesis: prime]\n"), "src/a/a.cpp", 1, "unknown tag");
  expect_one(sources_of("src/a/a.cpp", "double x = 3;  // [estimated]\n"), "src/a/a.cpp", 1, "unknown tag");
}

TEST(Sources, ABrokenReferenceListIsFound) {
  const TemporaryFolder tree;
  expect_one(check_sources(tree.path()), "REFERENCES.md", 0, "missing");
  tree.write("REFERENCES.md", "- **prime**: Kumar.\n- **prime**: again.\n");
  expect_one(check_sources(tree.path()), "REFERENCES.md", 2, "second time");
  tree.write("REFERENCES.md", "- **prime** Kumar.\n");
  expect_one(check_sources(tree.path()), "REFERENCES.md", 1, "no entry");
}

TEST(Sources, MachinePathsAndRegistryHostsAreFound) {
  // Split literals: this file must pass the check it tests.
  expect_one(sources_of("docs/a.md",
                        "see /wo"
                        "rk/tree/x\n"),
             "docs/a.md", 1, "one machine");
  expect_one(sources_of("scripts/a.sh",
                        "\ncp /ro"
                        "ot/x .\n"),
             "scripts/a.sh", 2, "one machine");
  expect_one(sources_of("scripts/a.sh",
                        "out=/t"
                        "mp/out\n"),
             "scripts/a.sh", 1, "mktemp");
  expect_one(sources_of("docs/a.md",
                        "from deb.deb"
                        "ian.org\n"),
             "docs/a.md", 1, "package registry");
  EXPECT_TRUE(sources_of("docs/a.md",
                         "https://host.org/wo"
                         "rk/x src/ro"
                         "ot/y\n")
                  .empty());
}

TEST(Sources, BinaryFilesAndBuildFoldersAreSkipped) {
  EXPECT_TRUE(sources_of("build/log.txt",
                         "/wo"
                         "rk/x")
                  .empty());
  EXPECT_TRUE(sources_of("data/a.gz", std::string("/wo"
                                                  "rk/x\0",
                                                  8))
                  .empty());
}

TEST(Openings, ASourceThatDoesNotSayItsJobIsFound) {
  const auto openings_of = [](const std::string& file, const std::string& text) {
    const TemporaryFolder tree;
    tree.write(file, text);
    return check_openings(tree.path());
  };
  EXPECT_TRUE(openings_of("src/a/a.cpp", "/// Reads version 1.2 of\n/// a file.\n#include <string>\n").empty());
  EXPECT_TRUE(openings_of("tests/a/a.cu", "/// Does it hold? Model: by hand\n").empty());
  EXPECT_TRUE(openings_of("scripts/a.sh", "true\n").empty());
  for (const char* text : {"", "#include <string>\n", "// Reads a file.\n", "/// Reads a file\n",
                           "/// Reads version 1.2\n", "\n/// Reads a file.\n", "/// Reads\n///\n/// a file.\n"}) {
    SCOPED_TRACE(text);
    expect_one(openings_of("include/hindsight/a/a.h", text), "include/hindsight/a/a.h", 1, "does not say its job");
  }
}

/// Findings of `functions` for one source.
Findings functions_of(const std::string& text) {
  const TemporaryFolder tree;
  tree.write("src/a/a.cpp", text);
  return check_functions(tree.path());
}

std::string statements(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += "  if (x) { g(\"{\", '}'); }  // {\n";
  return text;
}

TEST(Functions, AFunctionAbove60LinesWithoutAReasonIsFound) {
  for (const std::string before :
       {"", "namespace n {\n", "#define OPEN() {\nstruct S {\n public:\n", "template <class T> class C : B<T> {\n"}) {
    const auto line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 2;
    const std::string after = before.empty() ? "" : "};\n";
    for (const std::string head : {"int f(S s = {}) {\n", "TEST(A, B) {\n", "A(int x) : a_{1}, b_{x} {\n",
                                   "template <typename T> T f(T x) {\n", "auto f = [](int x) {\n"}) {
      SCOPED_TRACE(before + head);
      EXPECT_TRUE(functions_of(before + "/// Why.\n" + head + statements(58) + "}\n" + after).empty());
      expect_one(functions_of(before + "/// Why.\n" + head + statements(59) + "}\n" + after), "src/a/a.cpp", line,
                 "61 lines");
      EXPECT_TRUE(functions_of(before + "/// Long: a list.\n" + head + statements(59) + "}\n" + after).empty());
    }
  }
}

TEST(Functions, TypesTablesAndNamespacesMayBeLong) {
  const std::string lines(70, '\n');
  for (const std::string head : {"namespace n", "struct S", "enum class E",
                                 "const std::array<int, f(3)> t =", "struct alignas(16) S", "extern \"C\""}) {
    SCOPED_TRACE(head);
    EXPECT_TRUE(functions_of(head + " {" + lines + "};\n").empty());
  }
}

TEST(Loops, ARangeInsideATemporaryIsFound) {
  const auto loops_of = [](const std::string& loop) {
    const TemporaryFolder tree;
    tree.write("src/a/a.cpp", "void g() {\n  " + loop + "\n}\n");
    return check_loops(tree.path());
  };
  for (const char* loop : {"for (x : f().items()) {}", "for (const auto& [k, v] : a::parse(t, \"(\").at(\"k\")) {}",
                           "for(auto x: read<A, B>(t).all.rows()) {}", "for (A::B x\n : A{1, {2}}.all()) {}",
                           "for (x : f() ->items) {}", "for (x : f().rows[0]) {}"}) {
    SCOPED_TRACE(loop);
    expect_one(loops_of(loop), "src/a/a.cpp", 2, "temporary");
  }
  for (const char* loop :
       {"for (x : f()) {}", "for (x : f(a.b()).rows) {}", "for (x : a.items()) {}", "for (x : a.f().items()) {}",
        "// for (x : f().items()) {}", "for (int i = f().n; i < g().n; ++i) {}", "for (x : items) f(x).g();",
        "transform(x ? f().a : f().b);", "for (x : (a ? b : c)) {}", "for (x : std::vector<int>{f().n}) {}"}) {
    SCOPED_TRACE(loop);
    EXPECT_TRUE(loops_of(loop).empty());
  }
}

TEST(Types, OneNameForTwoTypesIsFound) {
  const auto types_of = [](const std::string& first, const std::string& second) {
    const TemporaryFolder tree;
    tree.write("src/a/a.h", first);
    tree.write("src/a/b.cpp", second);
    return check_types(tree.path());
  };
  const std::string head = "namespace n::a {\nstruct Head { int x; };\n}\n";
  for (const char* other :
       {"namespace n::a {\nstruct Head {\n};\n}\n", "namespace n::a {\nclass Head final : public B { f() {} };\n}\n",
        "namespace n::a {\nenum class Head : int { a };\n}\n",
        "namespace n::a {\nstruct alignas_ok; struct Head {};\n}\n"}) {
    SCOPED_TRACE(other);
    expect_one(types_of(head, other), "src/a/b.cpp", 2, "n::a::Head");
  }
  for (const char* other :
       {"namespace n::b {\nstruct Head {};\n}\n", "namespace n::a {\nnamespace {\nstruct Head {};\n}\n}\n",
        "namespace n::a {\nstruct Other { struct Head {}; };\n}\n", "namespace n::a {\nstruct Head;\n}\n",
        "namespace n::a {\nvoid f(struct Head h) { struct Head {}; }\n}\n",
        "namespace n::a {\ntemplate <> struct Head<int> {};\n}\n", "// namespace n::a { struct Head {}; }\n"}) {
    SCOPED_TRACE(other);
    EXPECT_TRUE(types_of(head, other).empty());
  }
}

TEST(Types, OneNameInUnnamedNamespacesOfALayerIsFound) {
  const auto found = [](const std::string& second, const std::string& file) {
    const TemporaryFolder tree;
    tree.write("src/a/a.cpp",
               "namespace n {\nnamespace {\nstruct Row {};\nconstexpr int kMost = 3;\nconst std::string kWord{};\n"
               "std::string text(const A& a, int n = 3) { return f(a); }\n}\n}\n");
    tree.write(file, "namespace n {\nnamespace {\n" + second + "\n}\n}\n");
    return check_types(tree.path());
  };
  for (const char* other : {"class Row { int x; };", "constexpr std::size_t kMost = f(3);", "constexpr A kMost{3};",
                            "auto text(const A& other, int) {}"}) {
    SCOPED_TRACE(other);
    expect_one(found(other, "src/a/b.cpp"), "src/a/b.cpp", 3, "(unnamed)");
    EXPECT_TRUE(found(other, "src/b/b.cpp").empty()) << "another layer";
  }
  for (const char* other :
       {"struct Row;", "std::string text(const A& a, int n);", "auto text(A a, int n) {}",
        "void g() { int kMost = 3; f(text(a, kMost)); }", "int kLeast = kMost;", "using Row = B::Row;"}) {
    SCOPED_TRACE(other);
    EXPECT_TRUE(found(other, "src/a/b.cpp").empty());
  }
}

TEST(Functions, BracesThatDoNotPairAreFound) {
  expect_one(functions_of("int x;\n}\n"), "src/a/a.cpp", 2, "not open");
  expect_one(functions_of("int x;\nvoid f() {\n"), "src/a/a.cpp", 2, "never closed");
}

TEST(Headers, AHeaderTheBuildLeftOutIsFound) {
  const TemporaryFolder tree;
  tree.write("include/hindsight/core/a.h", "#pragma once\n");
  tree.write("include/hindsight/core/b.h", "#pragma once\n");
  tree.write("list.txt", "hindsight/core/a.h\n");
  expect_one(check_header_list(tree.path(), tree.path() / "list.txt"), "include/hindsight/core/b.h", 0, "not compiled");
  tree.write("list.txt", "hindsight/core/a.h\nhindsight/core/b.h\n");
  EXPECT_TRUE(check_header_list(tree.path(), tree.path() / "list.txt").empty());
  tree.write("include/hindsight/core/c.hpp", "");
  expect_one(check_header_list(tree.path(), tree.path() / "list.txt"), "include/hindsight/core/c.hpp", 0, "no .h file");
}

int run(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Configures and builds hindsight_check_headers over one header; the exit status of the build.
int build_alone(const std::string& header_text, std::string& output) {
  const TemporaryFolder tree;
  tree.write("include/hindsight/core/a.h", header_text);
  tree.write("CMakeLists.txt",
             "cmake_minimum_required(VERSION 3.25)\nproject(fixture LANGUAGES CXX)\ninclude(\"" HINDSIGHT_HEADER_CHECKS
             "\")\nhindsight_check_headers(headers_check \"${PROJECT_SOURCE_DIR}/include\" list.txt)\n");
  const std::string folder = "\"" + tree.path().string() + "\"";
  const std::string log = (tree.path() / "output.txt").string();
  const std::string configure = "\"" HINDSIGHT_CMAKE "\" -G \"" HINDSIGHT_GENERATOR
                                "\" -DCMAKE_CXX_COMPILER=\"" HINDSIGHT_COMPILER "\" -S " +
                                folder + " -B " + folder + "/build";
  EXPECT_EQ(run(configure + " > \"" + log + "\" 2>&1"), 0) << read_text(log);
  const int status = run("\"" HINDSIGHT_CMAKE "\" --build " + folder + "/build > \"" + log + "\" 2>&1");
  output = read_text(log);
  return status;
}

TEST(Format, AFileThatDiffersIsFoundAndFixed) {
  const TemporaryFolder tree;
  for (const char* file : {HINDSIGHT_FORMAT_CHECK, HINDSIGHT_FORMAT}) {
    const fs::path from = file;
    const fs::path to = tree.path() / (from.extension() == ".sh" ? "scripts" : "");
    fs::create_directories(to);
    fs::copy_file(from, to / from.filename());
  }
  tree.write("src/core/good.cpp", "int good = 1;\n");
  const std::string log = (tree.path() / "output.txt").string();
  const auto check = [&](const std::string& arguments) {
    return run("\"" + (tree.path() / "scripts/check.sh").string() + "\" " + arguments + " > \"" + log + "\" 2>&1");
  };
  const int clean = check("format");
  if (clean == 77) GTEST_SKIP() << read_text(log);
  EXPECT_EQ(clean, 0) << read_text(log);
  tree.write("src/core/bad.cu", "int  bad=2;\n");
  EXPECT_EQ(check("format"), 1);
  EXPECT_NE(read_text(log).find("src/core/bad.cu:1:4"), std::string::npos) << read_text(log);
  EXPECT_EQ(read_text(log).find("good"), std::string::npos) << read_text(log);
  EXPECT_EQ(check("--fix format"), 0) << read_text(log);
  EXPECT_EQ(read_text(tree.path() / "src/core/bad.cu"), "int bad = 2;\n");
}

TEST(Headers, AHeaderThatStandsAloneCompiles) {
  std::string output;
  EXPECT_EQ(build_alone("#pragma once\n#include <string>\ninline std::string name() { return {}; }\n", output), 0)
      << output;
}

TEST(Headers, AMissingIncludeFailsTheBuild) {
  std::string output;
  EXPECT_NE(build_alone("#pragma once\ninline std::string name() { return {}; }\n", output), 0);
  EXPECT_NE(output.find("std::string"), std::string::npos) << output;
}

TEST(Headers, AMissingGuardFailsTheBuild) {
  std::string output;
  EXPECT_NE(build_alone("struct Twice {};\n", output), 0);
  EXPECT_NE(output.find("redefinition"), std::string::npos) << output;
}

}  // namespace
}  // namespace hindsight::checks
