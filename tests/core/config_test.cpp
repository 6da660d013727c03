/// Does the reader give typed values, and errors that lead to the place and the remedy?
#include "hindsight/core/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core_fixture.h"

namespace hindsight {
namespace {

using testing::ElementsAre;

ConfigNode parse(const std::string& text) { return ConfigNode::parse(text, "x.yaml"); }

const std::string kDesign =
    "# a design\n"
    "name: edge\n"
    "clock_mhz: 700\n"
    "voltage: 0.85\n"
    "sparse: true\n"
    "levels:\n"
    "  - {name: l1, kib: 64}\n"
    "  - name: l2\n"
    "    kib: 2e3\n"
    "note:\n"
    "label: \"700\"\n";

TEST(Config, ReadsTypedValues) {
  const ConfigNode root = parse(kDesign);
  EXPECT_TRUE(root.is_map());
  EXPECT_THAT(root.keys(), ElementsAre("name", "clock_mhz", "voltage", "sparse", "levels", "note", "label"));
  EXPECT_EQ(root.at("name").as_string(), "edge");
  EXPECT_EQ(root.at("clock_mhz").as_int(), 700);
  EXPECT_EQ(root.at("clock_mhz").as_string(), "700");
  EXPECT_DOUBLE_EQ(root.at("voltage").as_double(), 0.85);
  EXPECT_TRUE(root.at("sparse").as_bool());
  EXPECT_EQ(root.at("label").as_string(), "700");
  const auto levels = root.at("levels").items();
  ASSERT_EQ(levels.size(), 2U);
  EXPECT_EQ(levels[0].at("kib").as_int(), 64);
  EXPECT_EQ(levels[1].at("kib").as_int(), 2000);
  EXPECT_EQ(levels[1].at("kib").where(), "x.yaml:9:10");
}

TEST(Config, NodesOutliveTheRoot) {
  const auto nodes = [] { return parse(kDesign).at("levels").items(); }();
  EXPECT_EQ(nodes.at(1).at("name").as_string(), "l2");
}

TEST(Config, MissingAndEmptyValues) {
  const ConfigNode root = parse(kDesign);
  EXPECT_TRUE(root.has("note"));
  EXPECT_FALSE(root.has("none"));
  EXPECT_EQ(root.find("note"), std::nullopt);
  EXPECT_EQ(root.find("none"), std::nullopt);
  EXPECT_TRUE(root.find("name"));
  EXPECT_EQ(root.get_string("note", "fallback"), "fallback");
  EXPECT_EQ(root.get_string("name", "fallback"), "edge");
  EXPECT_EQ(root.get_int("pes", 16), 16);
  EXPECT_DOUBLE_EQ(root.get_double("voltage", 1.0), 0.85);
  EXPECT_USAGE_ERROR(root.at("note").as_string(), "x.yaml:10:1: 'note' is empty but must be a text.");
  EXPECT_USAGE_ERROR(root.at("pes"), "x.yaml:2:1: missing key 'pes' in the document. Add it.");
  EXPECT_USAGE_ERROR(root.at("levels").items()[0].at("ports"),
                     "x.yaml:7:5: missing key 'ports' in item 1 of 'levels'. Add it.");
}

TEST(Config, UnknownKeySuggestsTheNearest) {
  const ConfigNode root = parse("pe:\n  rows: 4\n  clok_mhz: 700\n");
  EXPECT_USAGE_ERROR(root.at("pe").require_only_keys({"rows", "clock_mhz"}),
                     "x.yaml:3:3: unknown key 'clok_mhz'. Did you mean 'clock_mhz'?");
  EXPECT_NO_THROW(root.require_only_keys({"pe", "unused"}));
  EXPECT_USAGE_ERROR(root.at("pe").at("rows").require_only_keys({"a"}),
                     "x.yaml:2:9: 'rows' is '4' but must be a map. Write it as NAME: VALUE lines.");
}

/// A key that is there is no remedy for another one: it would be given twice, or be missing itself.
TEST(Config, NoKeyThatIsThereIsSuggested) {
  const ConfigNode root = parse("mac_int8_pj: 1\nmac_fp8_pj: 2\n");
  EXPECT_USAGE_ERROR(root.at("mac_int8_um2"), "x.yaml:1:1: missing key 'mac_int8_um2' in the document. Add it.");
  EXPECT_USAGE_ERROR(root.require_only_keys({"mac_int8_pj", "node_nm"}),
                     "x.yaml:2:1: unknown key 'mac_fp8_pj'. Known: mac_int8_pj, node_nm.");
  EXPECT_USAGE_ERROR(root.require_only_keys({"mac_int8_pj", "mac_fp16_pj"}),
                     "x.yaml:2:1: unknown key 'mac_fp8_pj'. Did you mean 'mac_fp16_pj'?");
  EXPECT_USAGE_ERROR(root.require_only_keys({"mac_int8_pj"}),
                     "x.yaml:2:1: unknown key 'mac_fp8_pj'. Known: mac_int8_pj.");
}

TEST(Config, NumbersNameTheValueAndTheRange) {
  const ConfigNode root = parse("clock_mhz: -5\nbanks: 2.5\nname: fast\nlevels: [1, x]\n");
  EXPECT_USAGE_ERROR(root.at("clock_mhz").as_double(kPositive), "x.yaml:1:12: 'clock_mhz' is -5 but must be above 0.");
  EXPECT_USAGE_ERROR(root.at("clock_mhz").as_double(kNonNegative),
                     "x.yaml:1:12: 'clock_mhz' is -5 but must be at least 0.");
  EXPECT_USAGE_ERROR(root.at("clock_mhz").as_int(1, 64), "x.yaml:1:12: 'clock_mhz' is -5 but must be in [1, 64].");
  EXPECT_USAGE_ERROR(root.get_int("clock_mhz", 3, 1), "x.yaml:1:12: 'clock_mhz' is -5 but must be at least 1.");
  EXPECT_USAGE_ERROR(root.get_double("banks", 1.0, {.high = 2.0}), "x.yaml:2:8: 'banks' is 2.5 but must be at most 2.");
  EXPECT_USAGE_ERROR(root.at("banks").as_int(), "x.yaml:2:8: 'banks' is '2.5' but must be a whole number.");
  EXPECT_USAGE_ERROR(root.at("name").as_double(), "x.yaml:3:7: 'name' is 'fast' but must be a finite number.");
  EXPECT_USAGE_ERROR(root.at("levels").as_double(), "x.yaml:4:9: 'levels' is a list but must be a number.");
  EXPECT_USAGE_ERROR(root.at("levels").items()[1].as_int(),
                     "x.yaml:4:13: item 2 of 'levels' is 'x' but must be a whole number.");
  EXPECT_USAGE_ERROR(parse("a: \"12\"").at("a").as_double(),
                     "x.yaml:1:4: 'a' is the text '12' but must be a number. Remove the quotes?");
}

TEST(Config, BoundsIncludeTheirEnds) {
  const ConfigNode node = parse("a: 64").at("a");
  EXPECT_EQ(node.as_int(64, 64), 64);
  EXPECT_EQ(node.as_double({.low = 64, .high = 64}), 64);
  EXPECT_TRUE(test::error_of([&] { (void)node.as_int(65); }));
  EXPECT_TRUE(test::error_of([&] { (void)node.as_int(0, 63); }));
  EXPECT_TRUE(test::error_of([] { (void)parse("a: 0").at("a").as_double(kPositive); }));
  EXPECT_EQ(parse("a: 0").at("a").as_double(kNonNegative), 0.0);
}

TEST(Config, OnlyFiniteNumbersAreNumbers) {
  for (const char* text : {".inf", "-.inf", ".nan", "inf", "nan", "1e999", "0x10", "1_000", "1,5", "12 ns", "1e"}) {
    const ConfigNode node = parse(std::string("a: ") + text).at("a");
    EXPECT_TRUE(test::error_of([&] { (void)node.as_double(); })) << text;
    EXPECT_TRUE(test::error_of([&] { (void)node.as_int(); })) << text;
  }
  EXPECT_EQ(parse("a: 9223372036854775807").at("a").as_int(), 9223372036854775807);
  EXPECT_TRUE(test::error_of([] { (void)parse("a: 9223372036854775808").at("a").as_int(); }));
  EXPECT_TRUE(test::error_of([] { (void)parse("a: 1e300").at("a").as_int(); }));
}

TEST(Config, DaysAreOfTheCalendar) {
  const auto day = [](const std::string& text) { return parse("a: " + text + "\n").at("a").as_day(); };
  EXPECT_EQ(day("2026-01-31"), "2026-01-31");
  EXPECT_EQ(day("'2024-02-29'"), "2024-02-29");
  for (const char* text :
       {"2026-02-29", "2026-00-10", "2026-1-31", "31.01.2026", "soon", "2026-01-31 12:00", "-026-01-31"}) {
    EXPECT_THROW(static_cast<void>(day(text)), Error) << text;
  }
}

TEST(Config, BooleansAreTrueAndFalseOnly) {
  EXPECT_FALSE(parse("a: false").at("a").as_bool());
  for (const char* text : {"yes", "on", "True", "1", "\"true\""}) {
    EXPECT_TRUE(test::error_of([&] { (void)parse(std::string("a: ") + text).at("a").as_bool(); })) << text;
  }
}

TEST(Config, NumbersIgnoreTheLocale) {
  const test::GermanLocale german;
  if (!german.active()) {
    GTEST_SKIP() << "the locale de_DE.UTF-8 is neither installed nor can it be made with localedef";
  }
  EXPECT_DOUBLE_EQ(parse("a: 0.85").at("a").as_double(), 0.85);
}

TEST(Config, TextsKeepTheirCharacters) {
  const ConfigNode root = parse("a: 'it''s'\nb: \"tab\\tnewline\\n\"\nc: |\n  two\n  lines\nd: µm²\n");
  EXPECT_EQ(root.at("a").as_string(), "it's");
  EXPECT_EQ(root.at("b").as_string(), "tab\tnewline\n");
  EXPECT_EQ(root.at("c").as_string(), "two\nlines\n");
  EXPECT_EQ(root.at("d").as_string(), "µm²");
}

TEST(Config, WindowsLineEndsAndByteOrderMarkAreFine) {
  const ConfigNode root = parse(
      "\xef\xbb\xbf"
      "a: 1\r\nb: 2\r\n");
  EXPECT_EQ(root.at("a").as_int(), 1);
  EXPECT_EQ(root.at("b").where(), "x.yaml:2:4");
}

TEST(Config, FailPutsThePlaceInFront) {
  EXPECT_USAGE_ERROR(parse("a: 1").at("a").fail("odd number of banks."), "x.yaml:1:4: odd number of banks.");
}

TEST(Config, LoadReadsAFileAndNamesAMissingOne) {
  const test::TemporaryFolder folder;
  const auto file = folder.write("d.yaml", "a: x\n");
  EXPECT_EQ(ConfigNode::load(file).at("a").as_string(), "x");
  EXPECT_USAGE_ERROR(ConfigNode::load(file).at("a").as_int(),
                     file.string() + ":1:4: 'a' is 'x' but must be a whole number.");
  const auto missing = folder.path() / "none.yaml";
  EXPECT_USAGE_ERROR(ConfigNode::load(missing), missing.string() + ": no such file. Is the path right?");
}

}  // namespace
}  // namespace hindsight
