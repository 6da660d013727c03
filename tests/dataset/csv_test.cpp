/// Is a table read as written, and a malformed one refused at its place?
#include <gmock/gmock.h>
#include <zlib.h>

#include "dataset/dataset_fixture.h"
#include "hindsight/dataset/csv_import.h"

namespace hindsight::dataset {
namespace {

using test::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

CsvTable parse(std::string_view text) { return parse_csv(text, "t.csv"); }

std::string refusal(std::string_view text) {
  const auto [kind, message] = error_of([&] { static_cast<void>(parse(text)); });
  EXPECT_EQ(kind, ErrorKind::usage);
  return message;
}

TEST(Csv, PlainRows) {
  const CsvTable table = parse("a,b\n1,x\n2,\n");
  EXPECT_THAT(table.header, ElementsAre("a", "b"));
  EXPECT_THAT(table.rows, ElementsAre(ElementsAre("1", "x"), ElementsAre("2", "")));
  EXPECT_THAT(table.line, ElementsAre(2, 3));
}

TEST(Csv, LineEndsAndByteOrderMark) {
  const auto wanted = parse("a,b\n1,2\n3,4\n");
  for (const char* text : {"\xef\xbb\xbf"
                           "a,b\n1,2\n3,4\n",
                           "a,b\r\n1,2\r\n3,4\r\n", "a,b\r1,2\r3,4", "a,b\n1,2\n3,4"}) {
    const CsvTable table = parse(text);
    EXPECT_EQ(table.header, wanted.header);
    EXPECT_EQ(table.rows, wanted.rows);
    EXPECT_EQ(table.line, wanted.line);
  }
}

TEST(Csv, QuotedCells) {
  const CsvTable table = parse("a,\"b,c\"\n\"x \"\"y\"\"\",\" z \"\n\"two\nlines\",2\n3,4\n");
  EXPECT_THAT(table.header, ElementsAre("a", "b,c"));
  EXPECT_THAT(table.rows[0], ElementsAre("x \"y\"", " z "));
  EXPECT_THAT(table.rows[1], ElementsAre("two\nlines", "2"));
  EXPECT_THAT(table.line, ElementsAre(2, 3, 5));  // the second row takes two lines
}

TEST(Csv, EveryCellKnowsItsPlace) {
  const CsvTable table = parse("a,b,c\n1, 22,\"x\ny\"\n\n\"p\nq\" ,3,4\n");
  const auto place = [&](std::size_t row, std::size_t cell) {
    return std::pair(table.place[row][cell].line, table.place[row][cell].column);
  };
  EXPECT_EQ(place(0, 0), std::pair(2U, 1U));
  EXPECT_EQ(place(0, 1), std::pair(2U, 4U));  // after the blank
  EXPECT_EQ(place(0, 2), std::pair(2U, 7U));
  EXPECT_EQ(place(1, 0), std::pair(5U, 1U));
  EXPECT_EQ(place(1, 1), std::pair(6U, 5U));  // the cell before it ends on the next line: q" ,3
}

TEST(Csv, BlanksAroundCellsAndBlankLinesDoNotCount) {
  const CsvTable table = parse("\n a , b\n\n1\t, 2 \n  \n \"q\" ,4\n\n");
  EXPECT_THAT(table.header, ElementsAre("a", "b"));
  EXPECT_THAT(table.rows, ElementsAre(ElementsAre("1", "2"), ElementsAre("q", "4")));
  EXPECT_THAT(table.line, ElementsAre(4, 6));
}

TEST(Csv, EveryRowHasAsManyCellsAsTheHeader) {
  EXPECT_THAT(refusal("a,b\n1,2\n3\n"), HasSubstr("t.csv:3:1: 1 cells, but the header has 2 columns"));
  EXPECT_THAT(refusal("a,b\n1,2,3\n"), HasSubstr("t.csv:2:1: 3 cells"));
  EXPECT_THAT(refusal("a,b\n\"x\ny\",2\n1\n"), HasSubstr("t.csv:4:1: 1 cells"));
}

TEST(Csv, MisplacedQuotes) {
  EXPECT_THAT(refusal("a,b\n1,\"2\n3,4\n"), HasSubstr("t.csv:2:3: a quote is opened here and never closed"));
  EXPECT_THAT(refusal("a,b\n1,x\"y\"\n"), HasSubstr("t.csv:2:4: a quote inside a cell"));
  EXPECT_THAT(refusal("a,b\n1,\"x\"y\n"), HasSubstr("t.csv:2:6: text after a closing quote"));
}

TEST(Csv, Headers) {
  EXPECT_THAT(refusal(""), HasSubstr("the table is empty"));
  EXPECT_THAT(refusal("\n \n"), HasSubstr("the table is empty"));
  EXPECT_THAT(refusal("a,,c\n"), HasSubstr("t.csv:1:1: column 2 has no name"));
  EXPECT_THAT(refusal("a,b,a\n"), HasSubstr("the name 'a' is used twice"));
  EXPECT_THAT(refusal("a;b;c\n1;2;3\n"), HasSubstr("separated by something else"));
}

TEST(Csv, HostileBytes) {
  EXPECT_THAT(refusal(std::string_view("a,b\n1,\0\n", 8)), HasSubstr("t.csv:2:3: a NUL byte"));
  EXPECT_THAT(refusal(std::string_view("a\n\"\0\"\n", 6)), HasSubstr("t.csv:2:2: a NUL byte"));
  const std::string huge(std::size_t{1} << 21U, 'x');
  EXPECT_THAT(refusal("a\n" + huge + "\n"), HasSubstr("a cell of more than 1 MiB"));
  EXPECT_THAT(refusal("a\n\"" + huge + "\"\n"), HasSubstr("a cell of more than 1 MiB"));
  EXPECT_EQ(parse("a\n" + huge.substr(0, std::size_t{1} << 20U) + "\n").rows.size(), 1U);
  EXPECT_THAT(refusal(std::string(20'000, ',')), HasSubstr("more than 10,000 columns"));
  EXPECT_EQ(parse("a\n\xff\xfe\n").rows[0][0], "\xff\xfe");
}

TEST(Csv, UnknownColumnsGetTheNearest) {
  const CsvTable table = parse("time_ms,block\n1,2\n");
  EXPECT_EQ(table.column("block"), 1U);
  const auto [kind, message] = error_of([&] { static_cast<void>(table.column("time_sm")); });
  EXPECT_EQ(kind, ErrorKind::usage);
  EXPECT_THAT(message, HasSubstr("t.csv: has no column 'time_sm'. Did you mean 'time_ms'?"));
}

TEST(Csv, TableNames) {
  EXPECT_EQ(table_name(parse_csv("a\n", "folder/conv_A100.csv")), "conv_A100");
  EXPECT_EQ(table_name(parse_csv("a\n", "grid.csv.gz")), "grid");
  EXPECT_EQ(table_name(parse_csv("a\n", "grid.v2.txt")), "grid.v2.txt");
}

class CsvFile : public test::DatasetTest {
 protected:
  /// `text` as a gzip file of one member.
  static std::string gzip(const std::string& text) {
    z_stream stream{};
    EXPECT_EQ(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    std::string packed(deflateBound(&stream, static_cast<uLong>(text.size())) + 64, '\0');
    std::string input = text;
    stream.next_in = reinterpret_cast<unsigned char*>(input.data());
    stream.avail_in = static_cast<unsigned>(input.size());
    stream.next_out = reinterpret_cast<unsigned char*>(packed.data());
    stream.avail_out = static_cast<unsigned>(packed.size());
    EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
  }
};

TEST_F(CsvFile, GzipIsUnpackedWhateverItsName) {
  std::string text = "a,b\n";
  for (int i = 0; i < 50'000; ++i) text += std::to_string(i) + ",x\n";
  const CsvTable table = read_csv(write("t.csv", gzip(text)));
  EXPECT_EQ(table.rows.size(), 50'000U);
  EXPECT_EQ(table.rows.back()[0], "49999");
  EXPECT_EQ(table.line.back(), 50'001U);
}

TEST_F(CsvFile, SeveralGzipMembersAreOneTable) {
  EXPECT_EQ(read_csv(write("t.csv.gz", gzip("a,b\n1,2\n") + gzip("3,4\n"))).rows.size(), 2U);
}

TEST_F(CsvFile, DamagedGzipIsRefused) {
  const std::string packed = gzip("a,b\n1,2\n3,4\n5,6\n7,8\n");
  const auto problem = [&](const std::string& bytes) {
    const std::filesystem::path file = write("t.csv.gz", bytes);
    const auto [kind, message] = error_of([&] { static_cast<void>(read_csv(file)); });
    EXPECT_EQ(kind, ErrorKind::incompatible);
    return message;
  };
  for (const std::size_t length : {std::size_t{2}, std::size_t{9}, packed.size() / 2, packed.size() - 1}) {
    EXPECT_THAT(problem(packed.substr(0, length)), HasSubstr("the gzip file is truncated")) << length << " bytes";
  }
  std::string flipped = packed;
  flipped[packed.size() - 6] = static_cast<char>(flipped[packed.size() - 6] ^ 0x10);
  EXPECT_THAT(problem(flipped), HasSubstr("the gzip file is damaged"));
  EXPECT_THAT(problem(packed + "tail"), HasSubstr("the gzip file is damaged"));
}

TEST_F(CsvFile, AMissingFileIsNamed) {
  const auto [kind, message] = error_of([&] { static_cast<void>(read_csv(folder_ / "none.csv")); });
  EXPECT_EQ(kind, ErrorKind::usage);
  EXPECT_THAT(message, HasSubstr("none.csv: no such file"));
}

}  // namespace
}  // namespace hindsight::dataset
