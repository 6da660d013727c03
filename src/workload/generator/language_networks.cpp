/// Transformers for text: an encoder, and one decoder model in its two phases.
///
/// Repeats stand for the blocks: one line is executed by every block, with weights of its own.
#include <string>
#include <vector>

#include "workload/generator/network_builder.h"

namespace hindsight::workload {
namespace {

/// Source: Devlin et al. 2019, "BERT", section 3 [paper: bert]: L = 12, H = 768, A = 12; WordPiece vocabulary 30,522.
Network bert_base() {
  constexpr std::int64_t kBlocks = 12, kWidth = 768, kFeedForward = 3072, kHeads = 12, kTokens = 128;
  constexpr std::int64_t kVocabulary = 30522, kPositions = 512, kSegments = 2;  // [paper: bert]
  NetworkBuilder builder({}, Border::none);
  builder.fully_connected("attention.qkv", kTokens, kWidth, kWidth, Channel::bias, 3 * kBlocks);
  builder.attention(
      "attention",
      {.repeat = kBlocks, .heads = kHeads, .queries = kTokens, .keys = kTokens, .head_dim = kWidth / kHeads});
  builder.fully_connected("attention.output", kTokens, kWidth, kWidth, Channel::bias, kBlocks);
  builder.then({VectorWork::add, VectorWork::norm});
  builder.fully_connected("feed_forward.up", kTokens, kWidth, kFeedForward, Channel::bias, kBlocks);
  builder.then({VectorWork::activation});
  builder.fully_connected("feed_forward.down", kTokens, kFeedForward, kWidth, Channel::bias, kBlocks);
  builder.then({VectorWork::add, VectorWork::norm});
  builder.fully_connected("pooler", 1, kWidth, kWidth, Channel::bias);
  // Two layer norms per block and one behind the embeddings.
  const std::int64_t norms = (2 * kBlocks + 1) * 2 * kWidth;
  const std::int64_t embeddings = (kVocabulary + kPositions + kSegments) * kWidth;
  return {"bert_base",
          "BERT base encoder, 128 tokens, with pooler",
          "Devlin et al. 2019, section 3",
          false,
          1,
          builder.take(),
          {.count = embeddings + norms, .what = "token, position and segment embeddings, layer norms"}};
}

}  // namespace

void add_llama_attention(NetworkBuilder& builder, const LlamaSizes& sizes, std::int64_t queries, std::int64_t context) {
  const auto& [blocks, width, feed_forward, heads, kv_heads, head_dim, vocabulary] = sizes;
  builder.fully_connected("attention.query", queries, width, heads * head_dim, Channel::plain, blocks);
  builder.then({VectorWork::rotary});  // that of keys is left out: one line with the values, and few
  builder.fully_connected("attention.key_value", queries, width, kv_heads * head_dim, Channel::plain, 2 * blocks);
  builder.attention("attention", {.repeat = blocks,
                                  .heads = heads,
                                  .kv_heads = kv_heads,
                                  .queries = queries,
                                  .keys = context,
                                  .head_dim = head_dim});
  builder.fully_connected("attention.output", queries, heads * head_dim, width, Channel::plain, blocks);
  builder.then({VectorWork::add, VectorWork::norm});
}

Network llama_network(const std::string& name, const std::string& description, const LlamaSizes& sizes,
                      std::int64_t queries, std::int64_t context) {
  NetworkBuilder builder({}, Border::none);
  add_llama_attention(builder, sizes, queries, context);
  builder.fully_connected("feed_forward.gate_up", queries, sizes.width, sizes.feed_forward, Channel::plain,
                          2 * sizes.blocks);
  builder.then({VectorWork::gate});
  builder.fully_connected("feed_forward.down", queries, sizes.feed_forward, sizes.width, Channel::plain, sizes.blocks);
  builder.then({VectorWork::add, VectorWork::norm});
  builder.fully_connected("logits", 1, sizes.width, sizes.vocabulary, Channel::plain);
  // RMS norms have a scale only: two per block and one at the end.
  const std::int64_t outside = sizes.vocabulary * sizes.width + (2 * sizes.blocks + 1) * sizes.width;
  return {name,
          description,
          "Grattafiori et al. 2024, table 3",
          false,
          1,
          builder.take(),
          {.count = outside, .what = "token embedding, RMS norms"}};
}

void generate_language_networks(std::vector<Network>& networks) {
  networks.push_back(bert_base());
  // Source: Grattafiori et al. 2024, "The Llama 3 herd of models", table 3 [paper: llama3].
  constexpr LlamaSizes kSizes{.blocks = 32,
                              .width = 4096,
                              .feed_forward = 14336,
                              .heads = 32,
                              .kv_heads = 8,
                              .head_dim = 128,
                              .vocabulary = 128256};
  networks.push_back(llama_network("llama3_8b_prefill", "Llama 3 8B, prefill of 2048 tokens", kSizes, 2048, 2048));
  networks.push_back(llama_network("llama3_8b_decode", "Llama 3 8B, one token at a context of 2048", kSizes, 1, 2048));
}

}  // namespace hindsight::workload
