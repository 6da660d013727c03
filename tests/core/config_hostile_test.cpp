/// Does the reader refuse hostile and broken files with a message, and never crash?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "core_fixture.h"
#include "hindsight/core/config.h"

namespace hindsight {
namespace {

using testing::HasSubstr;

ConfigNode parse(const std::string& text) { return ConfigNode::parse(text, "x.yaml"); }

std::string repeated(const std::string& piece, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += piece;
  }
  return text;
}

TEST(HostileConfig, DuplicateKeys) {
  EXPECT_USAGE_ERROR(parse("a: 1\nb: 2\na: 3\n"), "x.yaml:3:1: key 'a' is given twice (first in line 1). Remove one.");
  EXPECT_USAGE_ERROR(parse("m: {a: 1, \"a\": 2}\n"),
                     "x.yaml:1:11: key 'a' is given twice (first in line 1). Remove one.");
  EXPECT_NO_THROW(parse("a: {b: 1}\nc: {b: 1}\n"));
}

TEST(HostileConfig, AliasesAnchorsAndTags) {
  EXPECT_USAGE_ERROR(parse("a: &x 1\n"), "x.yaml:1:4: an anchor (&name). Remove it and write values out.");
  EXPECT_USAGE_ERROR(parse("a: &x [1]\n"), "x.yaml:1:4: an anchor (&name). Remove it and write values out.");
  EXPECT_USAGE_ERROR(parse("a: !!int 3\n"), "x.yaml:1:4: a tag (tag:yaml.org,2002:int). Remove it.");
  EXPECT_TRUE(test::error_of([] { parse("a: *x\n"); }));
  // The billion laughs: ten lists of ten references each.
  std::string laughs = "l0: &l0 [lol]\n";
  for (int i = 1; i < 10; ++i) {
    laughs += "l" + std::to_string(i) + ": &l" + std::to_string(i) + " [" +
              repeated("*l" + std::to_string(i - 1) + ", ", 9) + "*l" + std::to_string(i - 1) + "]\n";
  }
  EXPECT_TRUE(test::error_of([&] { parse(laughs); }));
}

TEST(HostileConfig, DepthLimitIs64InFlowAndBlock) {
  EXPECT_NO_THROW(parse("a: " + repeated("[", 63) + repeated("]", 63)));
  EXPECT_USAGE_ERROR(parse("a: " + repeated("[", 64) + repeated("]", 64)),
                     "x.yaml:1:67: nested deeper than 64 levels.");
  std::string block;
  for (std::size_t i = 0; i < 64; ++i) {
    block += std::string(i, ' ') + "a:\n";
  }
  EXPECT_NO_THROW(parse(block));
  EXPECT_USAGE_ERROR(parse(block + std::string(64, ' ') + "a:\n"), "x.yaml:65:65: nested deeper than 64 levels.");
}

TEST(HostileConfig, DeepNestingDoesNotOverflowTheStack) {
  for (const char* piece : {"[", "{a: ", "- ", "[{a: ", "? ", "[? "}) {
    const auto error = test::error_of([&] { parse(repeated(piece, 100'000)); });
    ASSERT_TRUE(error) << piece;
    EXPECT_EQ(error->kind(), ErrorKind::usage) << piece;
  }
}

TEST(HostileConfig, TooManyValues) {
  // 25,000 lists of 40 values, each list a value too.
  const std::string list = "- [" + repeated("a,", 39) + "a]\n";
  EXPECT_USAGE_ERROR(parse(repeated(list, 25'000)), "x.yaml:24391:20: more than 1,000,000 values.");
  EXPECT_TRUE(test::error_of([] { parse("[" + repeated(",", 1'000'001) + "]"); }));
}

TEST(HostileConfig, ALongListIsNamedBeforeTheFileIsFull) {
  const std::string layer = "  - {name: l, type: fully_connected, rows: 1, reduction: 8, columns: 8}\n";
  EXPECT_EQ(parse("layers:\n" + repeated(layer, 65'535)).at("layers").items().size(), 65'535U);
  EXPECT_USAGE_ERROR(parse("layers:\n" + repeated(layer, 91'000)),
                     "x.yaml:65537:5: 'layers' has more than 65,535 items, the most that a list may have.");
}

TEST(HostileConfig, TooLarge) {
  std::string text = "a: 1\n#";
  text.resize((16U << 20U) - 1, 'x');
  EXPECT_EQ(parse(text + "\n").at("a").as_int(), 1);
  EXPECT_USAGE_ERROR(parse(text + "\n\n"), "x.yaml:1:1: is larger than 16 MiB.");
}

TEST(HostileConfig, TabsControlCharactersAndBinary) {
  EXPECT_USAGE_ERROR(parse("a:\n\t- 1\n"), "x.yaml:2:1: a tab, which YAML does not allow for indentation. Use spaces.");
  EXPECT_USAGE_ERROR(parse("a: 1\x04\nb: 2\n"), "x.yaml:1:5: control character U+0004. Is this a YAML file?");
  EXPECT_USAGE_ERROR(parse(std::string("a: 1\0", 5)), "x.yaml:1:5: control character U+0000. Is this a YAML file?");
  EXPECT_USAGE_ERROR(parse("a: 1\rb: 2"), "x.yaml:1:5: control character U+000D. Is this a YAML file?");
  EXPECT_USAGE_ERROR(parse("a: \xc3("), "x.yaml:1:4: byte 0xc3 is not UTF-8 text. Is this a YAML file?");
  EXPECT_TRUE(test::error_of([] {
    parse(
        "\xff\xfe"
        "a");
  }));
}

TEST(HostileConfig, SeveralDocumentsAndTrailingGarbage) {
  const std::string after =
      "text after the end of the document. One file holds one document; is the indentation right?";
  EXPECT_USAGE_ERROR(parse("a: 1\n---\nb: 2\n"), "x.yaml:2:1: " + after);
  EXPECT_USAGE_ERROR(parse("a: 1\n...\nrubbish\n"), "x.yaml:3:1: " + after);
  EXPECT_USAGE_ERROR(parse("- a\nb: 1\n"), "x.yaml:2:1: " + after);
  EXPECT_EQ(parse("---\na: 1\n...\n").at("a").as_int(), 1);
}

TEST(HostileConfig, EmptyFiles) {
  for (const char* text : {"", "\n", "# only a comment\n", "---\n", "~", "null\n"}) {
    EXPECT_USAGE_ERROR(parse(text), "x.yaml:1:1: the file is empty.");
  }
}

TEST(HostileConfig, UnfinishedBracketsAndQuotes) {
  EXPECT_USAGE_ERROR(parse("a: 1\nx: [1, 2\n"),
                     "x.yaml:2:4: a list in brackets is not closed, or lacks a comma. Add ']'?");
  EXPECT_USAGE_ERROR(parse("x: {a: 1\n"), "x.yaml:1:4: a map in braces is not closed, or lacks a comma. Add '}'?");
  EXPECT_TRUE(test::error_of([] { parse("[1, 2"); }));
  // yaml-cpp alone would take a quote that is never closed for a text up to the end of the file.
  for (const char* text : {"a: 'x\n", "a: 'x", "a: \"x\n", "a: \"x\nb: 2\n"}) {
    EXPECT_TRUE(test::error_of([&] { parse(text); })) << text;
  }
}

TEST(HostileConfig, KeysWithoutAName) {
  for (const char* text : {": 1\n", "~: 1\n", "\"\": 1\n", "[a]: 1\n", "{a: 1}: 2\n", "? [a]\n: 1\n"}) {
    EXPECT_TRUE(test::error_of([&] { parse(text); })) << text;
  }
}

TEST(HostileConfig, MessagesStayOnOneHarmlessLine) {
  const auto error = test::error_of([] { (void)parse("a: \"line\\nbreak\"").at("a").as_double(); });
  ASSERT_TRUE(error);
  EXPECT_STREQ(error->what(), "x.yaml:1:4: 'a' is the text 'line\\x0abreak' but must be a number. Remove the quotes?");
  const auto named = test::error_of([] { ConfigNode::parse("", "bad\nname.yaml"); });
  ASSERT_TRUE(named);
  EXPECT_EQ(std::string(named->what()).find('\n'), std::string::npos);
  const auto long_value = test::error_of([] { (void)parse("a: " + std::string(10'000, 'x')).at("a").as_int(); });
  ASSERT_TRUE(long_value);
  EXPECT_LT(std::string(long_value->what()).size(), 200U);
}

TEST(HostileConfig, RefusesWhatMakesTextLookLikeOtherText) {
  for (const char* hidden : {"\u200b", "\u200f", "\u202e", "\u2066", "\ufeff", "\u061c"}) {
    const auto error = test::error_of([&] { parse(std::string("name: edge") + hidden + "\n"); });
    ASSERT_TRUE(error) << hidden;
    EXPECT_THAT(error->what(), testing::HasSubstr("x.yaml:1:11: character U+"));
  }
  // The same through the escapes of a text in double quotes, where the file itself looks innocent.
  EXPECT_USAGE_ERROR(parse("name: \"\\u202eedge\"\n"),
                     "x.yaml:1:7: character U+202E, which nobody sees and which can make text look like other text. "
                     "Remove it.");
  EXPECT_USAGE_ERROR(parse("name: \"\\e[31medge\"\n"),
                     "x.yaml:1:7: a text with the control character U+001B. Remove it.");
  EXPECT_USAGE_ERROR(parse("? \"\\x9b1m\"\n: 1\n"), "x.yaml:1:3: a text with the control character U+009B. Remove it.");
  EXPECT_EQ(parse("name: \xef\xbc\xa1 é µ\n").at("name").as_name(), "\xef\xbc\xa1 é µ");
}

TEST(HostileConfig, ANameHasOneLineThatIsNotBlank) {
  EXPECT_USAGE_ERROR(parse("name: \"a\\nb\"\n").at("name").as_name(),
                     "x.yaml:1:7: 'name' is the text 'a\\x0ab', but a name has one line. Remove the line end or tab.");
  EXPECT_USAGE_ERROR(parse("name: \" \"\n").at("name").as_name(),
                     "x.yaml:1:7: 'name' is the text ' ', but a name is not blank. Write one.");
  EXPECT_EQ(parse("note: |\n  two\n  lines\n").at("note").as_string(), "two\nlines\n");
}

TEST(HostileConfig, AFileOfAnotherKindIsNamed) {
  const test::TemporaryFolder folder;
  const auto file = folder.write("runs.yaml", std::string("SQLite format 3\0\x10\0", 18));
  EXPECT_USAGE_ERROR(ConfigNode::load(file), file.string() + ": is a SQLite database, not YAML. Is it the right file?");
}

TEST(HostileConfig, MutatedFilesParseOrFailCleanly) {
  const std::string base =
      "name: edge\nlevels:\n  - {name: l1, kib: 64}\n  - name: \"l2\"\n    kib: 2e3\nnote: |\n  text\nlist: [1, 'two', "
      "{a: b}]\n";
  const std::string alphabet = "[]{}:,-?&*!|>'\"%@`#~ \n\t\\.0aé";
  std::mt19937_64 words(test::test_seed());
  int refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = base;
    for (std::uint64_t edits = 1 + words() % 6; edits > 0; --edits) {
      const std::size_t at = words() % text.size();
      const char c = alphabet[words() % alphabet.size()];
      switch (words() % 4) {
        case 0:
          text[at] = c;
          break;
        case 1:
          text.insert(at, 1, c);
          break;
        case 2:
          text.erase(at, 1 + words() % 3);
          break;
        default:
          text.insert(at, text.substr(words() % text.size(), words() % 12));
      }
      if (text.empty()) {
        text = base;
      }
    }
    try {
      (void)parse(text).where();
    } catch (const Error& error) {
      ++refused;
      ASSERT_EQ(error.kind(), ErrorKind::usage);
      ASSERT_THAT(error.what(), testing::StartsWith("x.yaml:")) << text;
      ASSERT_EQ(std::string(error.what()).find('\n'), std::string::npos) << text;
    }
  }
  EXPECT_GT(refused, 1'000);   // the mutations do hurt,
  EXPECT_LT(refused, 20'000);  // but not always
}

}  // namespace
}  // namespace hindsight
