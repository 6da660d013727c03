/// Do the text helpers say what a person expects, in every locale?
#include "hindsight/core/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <clocale>
#include <cmath>
#include <limits>
#include <locale>
#include <random>

#include "core_fixture.h"

namespace hindsight {
namespace {

using testing::ElementsAre;
using Names = std::vector<std::string>;

TEST(NearestName, FindsTyposWithinTheLimit) {
  const Names names{"clock_mhz", "pes_x", "pes_y", "sram_kib"};
  EXPECT_EQ(nearest_name("clok_mhz", names), "clock_mhz");   // one letter missing
  EXPECT_EQ(nearest_name("clcok_mhz", names), "clock_mhz");  // two letters swapped
  EXPECT_EQ(nearest_name("CLOCK_MHZ", names), "clock_mhz");  // case is no difference
  EXPECT_EQ(nearest_name("bandwidth", names), std::nullopt);
  EXPECT_EQ(nearest_name("", names), std::nullopt);
  EXPECT_EQ(nearest_name("clok_mhz", Names{}), std::nullopt);
}

TEST(NearestName, LimitIsTwoEditsOrHalfTheName) {
  // Six letters allow three edits: "abcdef" -> "abcxyz" needs three, "abwxyz" four.
  EXPECT_EQ(nearest_name("abcdef", Names{"abcxyz"}), "abcxyz");
  EXPECT_EQ(nearest_name("abcdef", Names{"abwxyz"}), std::nullopt);
  // A three-letter name allows two.
  EXPECT_EQ(nearest_name("abc", Names{"axy"}), "axy");
  EXPECT_EQ(nearest_name("abc", Names{"xyz"}), std::nullopt);
  // Nothing in common is no suggestion, even within two edits.
  EXPECT_EQ(nearest_name("ab", Names{"xy"}), std::nullopt);
}

TEST(NearestName, CountsEditsBetweenTransposedLetters) {
  // True Damerau-Levenshtein: ca -> ac -> abc is 2; the restricted variant would say 3 and refuse.
  EXPECT_EQ(nearest_name("ca", Names{"abc"}), "abc");
}

TEST(NearestName, ANameWithoutItsUnitIsNearest) {
  const Names names{"peak_power_w", "area_mm2", "are"};
  EXPECT_EQ(nearest_name("area", names), "area_mm2");
  EXPECT_EQ(nearest_name("Peak_power", names), "peak_power_w");
  EXPECT_EQ(nearest_name("", Names{"_x"}), std::nullopt);
}

TEST(NearestName, ANameThatWasNotWrittenToItsEndIsNearest) {
  const Names names = {"random", "evolutionary", "firefly", "bayesian"};
  EXPECT_EQ(nearest_name("bayes", names), "bayesian");
  EXPECT_EQ(nearest_name("Evo", names), "evolutionary");
  EXPECT_EQ(nearest_name("ev", names), std::nullopt) << "two letters are too few";
  EXPECT_EQ(nearest_name("mob", Names{"mobilenet_a", "mobilenet_b", "m4"}), std::nullopt) << "two begin so";
  EXPECT_EQ(nearest_name("byte", Names{"bits", "bytes_per_s", "bytes"}), "bytes");
}

TEST(NearestName, OfANameWithMoreToItIsTheLongestThatItBeginsWith) {
  const Names names{"h100-sxm5", "h200", "rtx-4090", "rtx", ""};
  EXPECT_EQ(nearest_name("H200-sxm", names), "h200") << "not h100-sxm5, which fewer letters tell apart";
  EXPECT_EQ(nearest_name("rtx-4090-ti", names), "rtx-4090");
  EXPECT_EQ(nearest_name("h200-", Names{"h200"}), "h200");
  EXPECT_EQ(nearest_name("edge_tpu_v1_gird", Names{"edge_tpu_v1", "edge_tpu_v1_grid"}), "edge_tpu_v1_grid") << "a slip";
}

TEST(DidYouMean, SuggestsOrLists) {
  EXPECT_EQ(did_you_mean("eyeris", Names{"eyeriss", "tpu"}), " Did you mean 'eyeriss'?");
  EXPECT_EQ(did_you_mean("qqqqq", Names{"eyeriss", "tpu"}), " Known: eyeriss, tpu.");
  EXPECT_EQ(did_you_mean("qqqqq", Names{}), "");
  const Names many{"n01", "n02", "n03", "n04", "n05", "n06", "n07", "n08", "n09", "n10", "n11", "n12", "n13"};
  EXPECT_EQ(did_you_mean("qqqqq", many), " Known: n01, n02, n03, n04, n05, n06, n07, n08, n09, n10, n11, n12, ...");
}

TEST(Split, KeepsEmptyPiecesAndDropsBlanks) {
  EXPECT_THAT(split("a, b ,,c", ','), ElementsAre("a", "b", "", "c"));
  EXPECT_THAT(split("", ','), ElementsAre(""));
  EXPECT_THAT(split(",", ','), ElementsAre("", ""));
  EXPECT_EQ(join(Names{"a", "", "c"}, ", "), "a, , c");
  EXPECT_EQ(join(Names{}, ", "), "");
}

TEST(SplitNames, TheLongestNameOfPiecesIsOne) {
  const auto names = [](std::string_view list, std::size_t most_commas = 4) {
    const Names known{"a,b", "a,b,c", "kws, v2", "x,"};
    return split_names(list, most_commas, [&](const std::string& text) {
      return std::find(known.begin(), known.end(), text) != known.end();
    });
  };
  EXPECT_THAT(names("a,b"), ElementsAre("a,b"));
  EXPECT_THAT(names("a,b,c"), ElementsAre("a,b,c"));
  EXPECT_THAT(names("a,b,c", 1), ElementsAre("a,b", "c"));
  EXPECT_THAT(names("m4, a,b ,a"), ElementsAre("m4", "a,b", "a"));
  EXPECT_THAT(names("a, b"), ElementsAre("a", "b")) << "another text";
  EXPECT_THAT(names("kws, v2,a"), ElementsAre("kws, v2", "a"));
  EXPECT_THAT(names("x,,b"), ElementsAre("x,", "b"));
  EXPECT_THAT(names("a,,b,"), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(names(""), ElementsAre(""));
}

TEST(ParseNumber, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(parse_double("1.5"), 1.5);
  EXPECT_EQ(parse_double("+1e-3"), 1e-3);
  EXPECT_EQ(parse_double("-.5"), -0.5);
  for (const char* bad :
       {"", " 1", "1 ", "1,5", "1.5x", "0x10", "nan", "inf", "-inf", "1e999", "+-1", "++1", "+", "."}) {
    EXPECT_EQ(parse_double(bad), std::nullopt) << bad;
  }
  EXPECT_EQ(parse_int("-42"), -42);
  EXPECT_EQ(parse_int("+7"), 7);
  EXPECT_EQ(parse_int("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  for (const char* bad : {"", "1.0", "1e3", "9223372036854775808", "12a", " 1", "+-1"}) {
    EXPECT_EQ(parse_int(bad), std::nullopt) << bad;
  }
}

TEST(Readable, IsShortestWithoutAnExponentFromATenThousandthOn) {
  EXPECT_EQ(readable(0.0001), "0.0001") << "1e-04 is shorter by a letter";
  EXPECT_EQ(readable(-0.0009), "-0.0009");
  EXPECT_EQ(readable(0.00099), "0.00099");
  for (const double value : {0.0, 0.1, 1.5, 1e-9, 0.00001, 100000.0, 262144.0, 1e15, -2.5, 0.1 + 0.2}) {
    EXPECT_EQ(readable(value), shortest(value));
  }
}

TEST(RoundedUp, HasThreeDigitsWithoutAnExponentAndIsNotBelow) {
  EXPECT_EQ(rounded_up(11.371577546159994, 3), "11.4");
  EXPECT_EQ(rounded_up(11.4, 3), "11.4");
  EXPECT_EQ(rounded_up(0.0018390514, 3), "0.00184");
  EXPECT_EQ(rounded_up(12345, 3), "12400");
  EXPECT_EQ(rounded_up(9999, 3), "10000");
  EXPECT_EQ(rounded_up(0.0001, 3), "0.0001");
  EXPECT_EQ(rounded_up(-11.37, 3), "-11.3") << "up is towards 0";
  EXPECT_EQ(rounded_up(0.1 + 0.2, 3), "0.301") << "0.3 is below it in the last digit";
  for (double value = 1e-7; value < 1e7; value *= 1.37) {
    const std::string text = rounded_up(value, 3);
    EXPECT_GE(parse_double(text).value(), value) << text;
    EXPECT_LE(parse_double(text).value(), 1.0101 * value) << text;
  }
}

TEST(Shortest, ReadsBackAsTheSameDouble) {
  EXPECT_EQ(shortest(0.1), "0.1");
  EXPECT_EQ(shortest(262144), "262144");
  EXPECT_EQ(shortest(1e-9), "1e-09");
  EXPECT_EQ(shortest(100000), "100000");
  EXPECT_EQ(shortest(999999999999999.0), "999999999999999");
  EXPECT_EQ(shortest(1e15), "1e+15");
  EXPECT_EQ(shortest(-2.5), "-2.5");
  EXPECT_EQ(shortest(0.0), "0");
  std::mt19937_64 words(test::test_seed());
  for (int i = 0; i < 100'000; ++i) {
    const auto value = std::bit_cast<double>(words());
    if (std::isfinite(value)) {
      ASSERT_EQ(parse_double(shortest(value)), value) << shortest(value);
    }
  }
}

TEST(WithCommas, GroupsByThousands) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1000), "1,000");
  EXPECT_EQ(with_commas(452'760'000), "452,760,000");
  EXPECT_EQ(with_commas(std::numeric_limits<std::uint64_t>::max()), "18,446,744,073,709,551,615");
}

TEST(Si, ThreeSignificantDigitsWithPrefix) {
  EXPECT_EQ(si(1.234e-3, "s"), "1.23 ms");
  EXPECT_EQ(si(12345, ""), "12.3 k");
  EXPECT_EQ(si(1, "s"), "1.00 s");
  EXPECT_EQ(si(47.25e12, "op/s"), "47.2 Top/s");
  EXPECT_EQ(si(-0.5, "W"), "-500 mW");
  EXPECT_EQ(si(2.5e-6, "s"), "2.50 µs");
  EXPECT_EQ(si(0, "J"), "0 J");
  EXPECT_EQ(si(3, ""), "3.00");
}

TEST(Si, RoundingMovesToTheNextPrefix) {
  EXPECT_EQ(si(999.4, "B"), "999 B");
  EXPECT_EQ(si(999.6, "B"), "1.00 kB");
  EXPECT_EQ(si(9.996, "B"), "10.0 B");
  EXPECT_EQ(si(0.9996, "s"), "1.00 s");
}

TEST(Si, OutsideThePrefixesIsScientific) {
  EXPECT_EQ(si(1e-18, "J"), "1.00 aJ");
  EXPECT_EQ(si(1e-19, "J"), "1.00e-19 J");
  EXPECT_EQ(si(1e21, "J"), "1.00e+21 J");
  EXPECT_EQ(si(std::numeric_limits<double>::infinity(), "s"), "inf s");
  EXPECT_EQ(si(5e-324, "s"), "4.94e-324 s");
}

TEST(BinaryBytes, UsesPowersOf1024) {
  EXPECT_EQ(binary_bytes(17), "17 B");
  EXPECT_EQ(binary_bytes(1536), "1.5 KiB");
  EXPECT_EQ(binary_bytes(2097152), "2 MiB");
  EXPECT_EQ(binary_bytes(0), "0 B");
  EXPECT_EQ(binary_bytes(1023), "1023 B");
  EXPECT_EQ(binary_bytes(1024.0 * 1024.0 - 1.0), "1 MiB");  // never "1024 KiB"
  EXPECT_EQ(binary_bytes(80.0 * 1073741824.0), "80 GiB");
}

TEST(DurationText, TwoLargestUnits) {
  EXPECT_EQ(duration_text(2.52), "2.5 s");
  EXPECT_EQ(duration_text(9.96), "10 s");
  EXPECT_EQ(duration_text(59.4), "59 s");
  EXPECT_EQ(duration_text(59.6), "1 min");
  EXPECT_EQ(duration_text(80), "1 min 20 s");
  EXPECT_EQ(duration_text(3599.7), "1 h");
  EXPECT_EQ(duration_text(7500), "2 h 5 min");   // 2 * 3600 + 5 * 60
  EXPECT_EQ(duration_text(273'600), "3 d 4 h");  // 3 * 86400 + 4 * 3600
  EXPECT_EQ(duration_text(-1), "?");
  EXPECT_EQ(duration_text(std::numeric_limits<double>::quiet_NaN()), "?");
}

TEST(Printable, KeepsMessagesOnOneHarmlessLine) {
  EXPECT_EQ(printable("plain µ text"), "plain µ text");
  EXPECT_EQ(printable("a\nb\x1b[31m\x7f"), "a\\x0ab\\x1b[31m\\x7f");
  EXPECT_EQ(printable("\xff\xc0\xaf"), "\\xff\\xc0\\xaf");           // overlong "/" stays visible
  EXPECT_EQ(printable("\xc2\x9b"), "\\x9b");                         // the one-character form of ESC [
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // above U+10FFFF
  EXPECT_EQ(printable("\u202eexe.\u2066"), "\\u202eexe.\\u2066");    // text that runs backwards
  EXPECT_EQ(printable("ed\u200bge\u200f\ufeff"), "ed\\u200bge\\u200f\\ufeff");
  EXPECT_EQ(printable("\U000e0041"), "\\U000e0041");
  EXPECT_EQ(printable("abcdef", 6), "abcdef");
  EXPECT_EQ(printable("abcdefg", 6), "abcde…");
  EXPECT_EQ(printable("ab\nd", 7), "ab\\x0ad");  // runs of plain characters around others, to the last column
  EXPECT_EQ(printable("ab\ndef", 7), "ab\\x0a…");
  EXPECT_EQ(printable("µabc\xff", 8), "µabc\\xff");
  EXPECT_EQ(printable("µabc\xff", 7), "µabc\\x…");
}

TEST(Printable, IsWhatANameMustBe) {
  for (const char* name : {"", "edge", "größe 2 µ", "日本"}) EXPECT_TRUE(is_printable(name)) << name;
  for (const char* name : {"a\nb", "\x1b[31m", "\xff", "\xc2\x9b", "\u202e", "a\u200bb"})
    EXPECT_FALSE(is_printable(name));
}

TEST(Trimmed, TheHeadOfAReasonEndsAtItsFirstColon) {
  EXPECT_EQ(head_of_reason("thermal: too hot: 49.5 W"), "thermal");
  EXPECT_EQ(head_of_reason(" out of memory "), "out of memory");
  EXPECT_EQ(head_of_reason(": nothing"), "");
}

TEST(Trimmed, TakesBlanksTabsAndLineEndsFromBothEnds) {
  EXPECT_EQ(trimmed(" \t a b \r\n"), "a b");
  EXPECT_EQ(trimmed(" \n"), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(CsvCell, IsQuotedWhereItMustBe) {
  EXPECT_EQ(csv_cell("plain text"), "plain text");
  EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_cell("say \"hi\""), "\"say \"\"hi\"\"\"");
  EXPECT_EQ(csv_cell("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(csv_cell(""), "");
}

TEST(DidYouMean, StaysShortWhateverTheNamesAre) {
  const std::string huge(900'000, 'x');
  const std::vector<std::string> columns{huge, huge + "y", "cost\x1b"};
  EXPECT_LT(did_you_mean("latency", columns).size(), 300U);
  EXPECT_LT(did_you_mean(huge + "z", columns).size(), 300U) << "and no table of 900,000 by 900,000 edits";
  EXPECT_EQ(did_you_mean("cost", columns), " Did you mean 'cost\\x1b'?");
}

/// Decimal comma and grouping, as in German.
class CommaFacet : public std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

void expect_numbers_unchanged() {
  EXPECT_EQ(shortest(1234.5), "1234.5");
  EXPECT_EQ(parse_double("1234.5"), 1234.5);
  EXPECT_EQ(parse_double("1234,5"), std::nullopt);
  EXPECT_EQ(si(1.5, "s"), "1.50 s");
  EXPECT_EQ(with_commas(1234567), "1,234,567");
  EXPECT_EQ(binary_bytes(1536), "1.5 KiB");
}

TEST(Locale, CppLocaleDoesNotChangeNumbers) {
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new CommaFacet));
  expect_numbers_unchanged();
  std::locale::global(before);
}

TEST(Locale, CLocaleDoesNotChangeNumbers) {
  const test::GermanLocale german;
  if (!german.active()) {
    GTEST_SKIP() << "the locale de_DE.UTF-8 is neither installed nor can it be made with localedef";
  }
  ASSERT_STREQ(std::localeconv()->decimal_point, ",");
  expect_numbers_unchanged();
}

}  // namespace
}  // namespace hindsight
