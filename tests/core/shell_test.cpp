/// Are words split as a shell does it, and is what only a shell obeys refused with a command that works?
#include "hindsight/core/shell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hindsight/core/error.h"

namespace hindsight {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

std::vector<std::string> words(const std::string& command) { return command_words(command, "--evaluator"); }

std::string refusal(const std::string& command) {
  try {
    (void)words(command);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  ADD_FAILURE() << command << " was taken";
  return {};
}

TEST(Shell, SplitsWordsAsAShellDoes) {
  EXPECT_THAT(words("  python3  sim.py\t--size=8 "), ElementsAre("python3", "sim.py", "--size=8"));
  EXPECT_THAT(words(R"(./run 'a b' "c d" e\ f '' "")"), ElementsAre("./run", "a b", "c d", "e f", "", ""));
  EXPECT_THAT(words(R"(x o'n'"e"\w"'"'"'\")"), ElementsAre("x", R"(onew'"")"));
  EXPECT_THAT(words(R"(x '$HOME|*\' "a\b\"\\\$ {design.json} #~")"),
              ElementsAre("x", R"($HOME|*\)", R"(a\b"\$ {design.json} #~)"));
  EXPECT_THAT(words("./sim.py a=b c#d e~f {out.json}"), ElementsAre("./sim.py", "a=b", "c#d", "e~f", "{out.json}"));
  EXPECT_THAT(words("./a=b/sim =x"), ElementsAre("./a=b/sim", "=x"));
  EXPECT_THAT(words("sim a\\\n b \"c\\\nd\" e\\ \n"), ElementsAre("sim", "a", "b", "cd", "e "));
}

TEST(Shell, WhatOnlyAShellObeysIsRefused) {
  for (const char* command :
       {"a | b", "a & b", "a; b", "a < b", "a > b", "a $b", "a `b`", "(a)",  "a *",      "a b?",      "a [b]", "exec a",
        "cd a",  ". a",   "if a", "{ a",   "~/a",   "a ~b", "#a",    "a #b", "a \"$b\"", "a \"`b`\"", "A=1 b"}) {
    EXPECT_THAT(refusal(command),
                HasSubstr(" is for a shell, and none reads the command. Put one in front: --evaluator"));
  }
  EXPECT_EQ(refusal("tee x | sim 'a b'"),
            "--evaluator: '|' is for a shell, and none reads the command. Put one in front: --evaluator "
            R"('sh -c '\''tee x | sim '\''\'\'''\''a b'\''\'\'''\'''\''')");
  EXPECT_THAT(refusal(std::string(300, 'x') + " | y"), EndsWith("let one read that: --evaluator 'sh FILE'"));
  EXPECT_EQ(refusal("'' x"), "--evaluator: '' is no program. Name one first?");
  EXPECT_EQ(refusal("-c x"), "--evaluator: '-c' is no program. Name one first?");
  EXPECT_THAT(refusal("A=1 b"), HasSubstr("'A=' is for a shell"));
  EXPECT_THAT(refusal("a\nb"), HasSubstr("a line end is for a shell"));
}

TEST(Shell, APastedPathIsWholeOrNone) {
  EXPECT_EQ(pasted_path("runs/a.sqlite"), "runs/a.sqlite");
  EXPECT_EQ(pasted_path("my runs/it's.db"), R"('my runs/it'\''s.db')");
  EXPECT_EQ(pasted_path(std::string(100, 'a')), std::string(100, 'a'));
  EXPECT_EQ(pasted_path(std::string(101, 'a')), "FILE");
  EXPECT_EQ(pasted_path("a\nb"), "FILE");
  EXPECT_EQ(pasted_path("-my log.db"), "./'-my log.db'") << "no option";
  EXPECT_EQ(pasted_path("-"), "-");
}

/// What the message says to write is taken, and its shell gets the command as it was.
TEST(Shell, TheRemedyWorks) {
  for (const std::string command : {"tee x | sim 'a b'", "A=\"1 2\" sim \\' $B"}) {
    const std::string said = refusal(command);
    const std::string argument = words("x " + said.substr(said.rfind("--evaluator ") + 12)).at(1);
    EXPECT_THAT(words(argument), ElementsAre("sh", "-c", command));
  }
}

TEST(Shell, AnOpenQuoteIsRefused) {
  EXPECT_EQ(refusal("sim 'a b"), "--evaluator: a quote has no end in: sim 'a b. Close it, or put a backslash in front");
  EXPECT_THAT(refusal("sim \"a b"), HasSubstr("a quote has no end"));
  EXPECT_THAT(refusal("sim a\\"), HasSubstr("a backslash has no end"));
  EXPECT_THAT(refusal(" \t"), HasSubstr("the command is empty"));
}

TEST(Shell, ACommandReadsBackWordForWord) {
  EXPECT_EQ(shell_command({"hindsight", "optimum", "--workloads", "my net.yaml"}),
            "hindsight optimum --workloads 'my net.yaml'");
  EXPECT_THAT(words(shell_command({"a", "it's", "", "$HOME"})), ElementsAre("a", "it's", "", "$HOME"));
  EXPECT_EQ(shell_command({}), "");
}

TEST(Shell, QuotedWordsReadBack) {
  for (const std::string word : {"plain", "a b", "it's", "$HOME", "", "'", "\\", "a\"b", "*"}) {
    EXPECT_THAT(words("x " + shell_quoted(word)), ElementsAre("x", word));
  }
}

}  // namespace
}  // namespace hindsight
