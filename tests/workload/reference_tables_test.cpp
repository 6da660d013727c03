/// Does every generated layer equal the one of an independently made table of the same network?
///
/// The tables (CSV, one row per distinct layer) lie outside the repository: folder data/workloads under
/// $HINDSIGHT_SHARED_DIR, else under ../shared beside the source tree. Without them the tests are skipped.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <tuple>

#include "hindsight/core/files.h"
#include "hindsight/core/text.h"
#include "hindsight/workload/import.h"
#include "hindsight/workload/network.h"
#include "repository.h"

namespace hindsight::workload {
namespace {

std::filesystem::path table_folder() { return hindsight::test::shared_folder() / "data" / "workloads"; }

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> result(1);
  bool in_quotes = false;
  for (const char c : line) {
    if (c == '"') {
      in_quotes = !in_quotes;
    } else if (c == ',' && !in_quotes) {
      result.emplace_back();
    } else if (c != '\r') {
      result.back() += c;
    }
  }
  return result;
}

/// What both sides can say of one layer: type, GEMM, MACs, parameters.
struct Row {
  std::string type;
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t macs = 0, parameters = 0;
  bool operator<(const Row& other) const {
    return std::tie(type, m, n, k, macs, parameters) <
           std::tie(other.type, other.m, other.n, other.k, other.macs, other.parameters);
  }
};

std::string to_text(const Row& row) {
  std::ostringstream text;
  text << row.type << " m " << row.m << " n " << row.n << " k " << row.k << " macs " << row.macs << " parameters "
       << row.parameters;
  return text.str();
}

using Rows = std::map<Row, std::int64_t>;  // how often each layer is executed

Rows read_table(const std::filesystem::path& file) {
  std::istringstream lines(read_file(file));
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> header = cells(line);
  Rows rows;
  while (std::getline(lines, line)) {
    const std::vector<std::string> values = cells(line);
    std::map<std::string, std::string> row;
    for (std::size_t i = 0; i < header.size() && i < values.size(); ++i) row[header[i]] = values[i];
    const auto number = [&](const std::string& key) { return parse_int(row[key]).value_or(0); };
    const std::map<std::string, std::string> same{{"gemm", "fc"}, {"conv1d", "conv"}};
    const std::string type = same.contains(row["type"]) ? same.at(row["type"]) : row["type"];
    // Tied weights count once: in the table with the embedding, with us in the layer.
    const bool tied = row["name"].find("(tied)") != std::string::npos;
    const std::int64_t parameters = tied ? number("N") * number("Kd") : number("params");
    rows[{type, number("M"), number("N"), number("Kd"), number("macs"), parameters}] += number("count");
  }
  return rows;
}

/// The tables list one product per attention head, one filter per depthwise channel (N = 1), and no heads that share
/// keys.
Rows rows_of(const Network& network) {
  Rows rows;
  for (std::size_t i = 0; i < network.layers().size(); ++i) {
    const Layer& layer = network.layers()[i];
    const GemmLayer& gemm = network.gemms()[i];
    Row row{
        "", gemm.m, gemm.n, gemm.k, static_cast<std::int64_t>(gemm.macs), static_cast<std::int64_t>(gemm.parameters)};
    std::int64_t executions = gemm.repeat;
    switch (layer.type) {
      case LayerType::convolution:
        row.type = "conv";
        break;
      case LayerType::depthwise_convolution:
        row.type = "dwconv";
        row.n = 1;
        break;
      case LayerType::transposed_convolution:
        row.type = "trconv";
        break;
      case LayerType::fully_connected:
        row.type = "fc";
        break;
      case LayerType::matmul:
        row.type = "attn";
        row.m = layer.rows;
        row.macs /= layer.heads;
        executions *= layer.heads;
        break;
    }
    rows[row] += executions;
  }
  return rows;
}

class ReferenceTable : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(ReferenceTable, EqualsTheNetworkLayerByLayer) {
  const auto& [name, table] = GetParam();
  const std::filesystem::path file = table_folder() / table;
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not there (set HINDSIGHT_SHARED_DIR)";
  const Rows expected = read_table(file);
  const Rows actual = rows_of(load_network(name));
  for (const auto& [row, count] : expected) {
    const auto found = actual.find(row);
    EXPECT_EQ(found == actual.end() ? 0 : found->second, count) << "in the table: " << to_text(row);
  }
  for (const auto& [row, count] : actual) {
    EXPECT_TRUE(expected.contains(row)) << "in the network only: " << to_text(row);
  }
}

/// Totals of every table, as they were computed beside it.
struct TableTotals {
  const char* table;
  double macs, parameters;
};
constexpr TableTotals kTables[] = {
    {"bert_base_T384.csv", 35333406720, 85608192},
    {"bert_large_T384.csv", 123212922880, 303260672},
    {"mobilenet_v2.csv", 300774272, 3504872},
    {"mobilenet_edgetpu.csv", 990670464, 4092713},
    {"mobilenet_v3_large.csv", 216589760, 5483032},
    {"resnet50.csv", 4089184256, 25557032},
    {"ssdlite320_mbv3_large.csv", 583171904, 3440060},
    {"unet_paper_572.csv", 150428424448, 31030658},
    {"unet_padded_256_rgb.csv", 48167387136, 31031745},
    {"unet_base16_256.csv", 3032481792, 1941105},
    {"unet_base32_256.csv", 12071206912, 7760097},
    {"vit_b_16.csv", 17563828224, 86377192},
    {"llama3_70b_prefill2048.csv", 145686341353472, 69501714432},
    {"deepseek_v3_prefill2048.csv", 83589982846976, 670098718720},
    {"whisper_large_v3.csv", 1724239544320, 1540582400},
    {"sd15_unet_64.csv", 401636720640, 859320644},
};

TEST(ReferenceTables, ImportWithTheirTotals) {
  if (!std::filesystem::exists(table_folder())) GTEST_SKIP() << table_folder() << " is not there";
  for (const TableTotals& expected : kTables) {
    const ImportedNetwork imported = import_network(table_folder() / expected.table);
    EXPECT_EQ(imported.network.totals().macs, expected.macs) << expected.table;
    EXPECT_EQ(imported.network.totals().parameters, expected.parameters) << expected.table;
    const Network again = parse_network(to_yaml(imported.network), "again.yaml");
    EXPECT_EQ(again.definition_hash(), imported.network.definition_hash()) << expected.table;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Networks, ReferenceTable,
    ::testing::Values(
        std::pair{"mobilenet_edgetpu", "mobilenet_edgetpu.csv"}, std::pair{"mobilenet_v2", "mobilenet_v2.csv"},
        std::pair{"mobilenet_v3_large", "mobilenet_v3_large.csv"}, std::pair{"resnet50", "resnet50.csv"},
        std::pair{"ssdlite", "ssdlite320_mbv3_large.csv"}, std::pair{"vit_b_16", "vit_b_16.csv"},
        std::pair{"bert_base", "bert_base_T128.csv"}, std::pair{"llama3_8b_prefill", "llama3_8b_prefill2048.csv"},
        std::pair{"llama3_8b_decode", "llama3_8b_decode_ctx2048.csv"},
        std::pair{"llama3_70b_prefill", "llama3_70b_prefill2048.csv"},
        std::pair{"llama3_70b_decode", "llama3_70b_decode_ctx2048.csv"},
        std::pair{"mixtral_8x7b_prefill", "mixtral_8x7b_prefill2048.csv"},
        std::pair{"mixtral_8x7b_decode", "mixtral_8x7b_decode_ctx2048.csv"},
        std::pair{"deepseek_v3_prefill", "deepseek_v3_prefill2048.csv"},
        std::pair{"deepseek_v3_decode", "deepseek_v3_decode_ctx2048.csv"},
        std::pair{"whisper_base", "whisper_base.csv"}, std::pair{"whisper_large_v2", "whisper_large_v2.csv"},
        std::pair{"whisper_large_v3", "whisper_large_v3.csv"}, std::pair{"sd15_unet", "sd15_unet_64.csv"}),
    [](const auto& case_info) { return std::string(case_info.param.first); });

}  // namespace
}  // namespace hindsight::workload
