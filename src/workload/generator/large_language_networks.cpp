/// Language models of tens to hundreds of billions of parameters: dense, and mixtures of experts.
///
/// A mixture sends every token to a few of its experts: its layers say of how many (workload/experts.h), and how many
/// are read follows from the tokens. A prompt asks all, one token its own few.
#include <string>
#include <vector>

#include "workload/generator/network_builder.h"

namespace hindsight::workload {
namespace {

constexpr std::int64_t kPrompt = 2048;  // [chosen] tokens of a prefill, and the context of a decode

/// Experts of a mixture, in `blocks` blocks.
struct Experts {
  std::int64_t blocks = 0, count = 0, active = 0, width = 0, feed_forward = 0;
};

/// Adds the router and the experts, to which it sends `queries` tokens.
void add_experts(NetworkBuilder& builder, const Experts& experts, std::int64_t queries) {
  builder.fully_connected("router", queries, experts.width, experts.count, Channel::plain, experts.blocks);
  builder.fully_connected("expert.gate_up", queries, experts.width, experts.feed_forward, Channel::plain,
                          2 * experts.blocks);
  builder.as_expert(experts.count, experts.active);
  builder.then({VectorWork::gate});
  builder.fully_connected("expert.down", queries, experts.feed_forward, experts.width, Channel::plain, experts.blocks);
  builder.as_expert(experts.count, experts.active);
  builder.then({VectorWork::add});  // to the outputs of the other experts; the last brings the norm, left out
}

/// Source: Jiang et al. 2024, "Mixtral of Experts", table 1 [paper: mixtral]: 8 experts, 2 for each token.
Network mixtral(const std::string& name, const std::string& description, std::int64_t queries) {
  constexpr LlamaSizes kSizes{.blocks = 32,
                              .width = 4096,
                              .feed_forward = 14336,
                              .heads = 32,
                              .kv_heads = 8,
                              .head_dim = 128,
                              .vocabulary = 32000};
  constexpr std::int64_t kExperts = 8;  // [paper: mixtral]
  NetworkBuilder builder({}, Border::none);
  add_llama_attention(builder, kSizes, queries, kPrompt);
  add_experts(builder,
              {.blocks = kSizes.blocks,
               .count = kExperts,
               .active = 2,
               .width = kSizes.width,
               .feed_forward = kSizes.feed_forward},
              queries);
  builder.fully_connected("logits", 1, kSizes.width, kSizes.vocabulary, Channel::plain);
  const std::int64_t outside = kSizes.vocabulary * kSizes.width + (2 * kSizes.blocks + 1) * kSizes.width;
  return {name,
          description,
          "Jiang et al. 2024, table 1",
          false,
          1,
          builder.take(),
          {.count = outside, .what = "token embedding, RMS norms"}};
}

/// Source: DeepSeek-AI 2024, "DeepSeek-V3 technical report", section 4.2 [paper: deepseek-v3]: 61 blocks, the first
/// three dense; multi-head latent attention; one shared and 256 routed experts, 8 for each token. Differs: keys and
/// values of past tokens are taken as expanded already (the latent product runs on new tokens only).
Network deepseek_v3(const std::string& name, const std::string& description, std::int64_t queries) {
  constexpr std::int64_t kBlocks = 61, kDense = 3, kWidth = 7168, kHeads = 128,
                         kVocabulary = 129280;                                                   // [paper: deepseek-v3]
  constexpr std::int64_t kQueryRank = 1536, kKeyRank = 512, kContent = 128, kRotary = 64;        // [paper: deepseek-v3]
  constexpr std::int64_t kDenseWidth = 18432, kExpertWidth = 2048, kExperts = 256, kActive = 8;  // [paper: deepseek-v3]
  constexpr std::int64_t kMoeBlocks = kBlocks - kDense;
  NetworkBuilder builder({}, Border::none);
  builder.fully_connected("attention.query_down", queries, kWidth, kQueryRank, Channel::plain, kBlocks);
  builder.then({VectorWork::norm});
  builder.fully_connected("attention.query_up", queries, kQueryRank, kHeads * (kContent + kRotary), Channel::plain,
                          kBlocks);
  builder.fully_connected("attention.key_value_down", queries, kWidth, kKeyRank + kRotary, Channel::plain, kBlocks);
  builder.then({VectorWork::norm});
  builder.fully_connected("attention.key_value_up", queries, kKeyRank, kHeads * 2 * kContent, Channel::plain, kBlocks);
  builder.product(
      "attention.scores",
      {.repeat = kBlocks, .heads = kHeads, .rows = queries, .columns = kPrompt, .reduction = kContent + kRotary});
  builder.product("attention.values",
                  {.repeat = kBlocks, .heads = kHeads, .rows = queries, .columns = kContent, .reduction = kPrompt});
  builder.fully_connected("attention.output", queries, kHeads * kContent, kWidth, Channel::plain, kBlocks);
  builder.then({VectorWork::add, VectorWork::norm});
  builder.fully_connected("dense.gate_up", queries, kWidth, kDenseWidth, Channel::plain, 2 * kDense);
  builder.then({VectorWork::gate});
  builder.fully_connected("dense.down", queries, kDenseWidth, kWidth, Channel::plain, kDense);
  builder.then({VectorWork::add, VectorWork::norm});
  builder.fully_connected("shared.gate_up", queries, kWidth, kExpertWidth, Channel::plain, 2 * kMoeBlocks);
  builder.then({VectorWork::gate});
  builder.fully_connected("shared.down", queries, kExpertWidth, kWidth, Channel::plain, kMoeBlocks);
  builder.then({VectorWork::add, VectorWork::norm});
  add_experts(
      builder,
      {.blocks = kMoeBlocks, .count = kExperts, .active = kActive, .width = kWidth, .feed_forward = kExpertWidth},
      queries);
  builder.fully_connected("logits", 1, kWidth, kVocabulary, Channel::plain);
  // RMS norms: two of the width and those of both ranks per block, one at the end. A bias of the router per expert.
  const std::int64_t norms = kBlocks * (2 * kWidth + kQueryRank + kKeyRank) + kWidth;
  const std::int64_t outside = kVocabulary * kWidth + norms + kMoeBlocks * kExperts;
  return {name,
          description,
          "DeepSeek-AI 2024, section 4.2",
          false,
          1,
          builder.take(),
          {.count = outside, .what = "token embedding, RMS norms, router biases"}};
}

}  // namespace

void generate_large_language_networks(std::vector<Network>& networks) {
  // Source: Grattafiori et al. 2024, table 3 [paper: llama3].
  constexpr LlamaSizes kLlama70{.blocks = 80,
                                .width = 8192,
                                .feed_forward = 28672,
                                .heads = 64,
                                .kv_heads = 8,
                                .head_dim = 128,
                                .vocabulary = 128256};
  networks.push_back(
      llama_network("llama3_70b_prefill", "Llama 3 70B, prefill of 2048 tokens", kLlama70, kPrompt, kPrompt));
  networks.push_back(
      llama_network("llama3_70b_decode", "Llama 3 70B, one token at a context of 2048", kLlama70, 1, kPrompt));
  networks.push_back(mixtral("mixtral_8x7b_prefill", "Mixtral 8x7B, prefill of 2048 tokens", kPrompt));
  networks.push_back(mixtral("mixtral_8x7b_decode", "Mixtral 8x7B, one token at a context of 2048", 1));
  networks.push_back(deepseek_v3("deepseek_v3_prefill", "DeepSeek-V3, prefill of 2048 tokens", kPrompt));
  networks.push_back(deepseek_v3("deepseek_v3_decode", "DeepSeek-V3, one token at a context of 2048", 1));
}

}  // namespace hindsight::workload
