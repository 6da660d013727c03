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
  builder.fully_connected("feed_forward.up", kTokens, kWidth, kFeedForward, Channel::bias, kBlocks);
  builder.fully_connected("feed_forward.down", kTokens, kFeedForward, kWidth, Channel::bias, kBlocks);
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

/// Source: Grattafiori et al. 2024, "The Llama 3 herd of models", table 3 [paper: llama3]. `queries` tokens are
/// processed against `context` keys; logits are computed for the last token. Causal masking is ignored: the full
/// score matrix is computed.
Network llama3_8b(const std::string& name, const std::string& description, std::int64_t queries, std::int64_t context) {
  constexpr std::int64_t kBlocks = 32, kWidth = 4096, kFeedForward = 14336, kHeads = 32, kKvHeads = 8, kHeadDim = 128;
  constexpr std::int64_t kVocabulary = 128256;  // [paper: llama3]
  NetworkBuilder builder({}, Border::none);
  builder.fully_connected("attention.query", queries, kWidth, kHeads * kHeadDim, Channel::plain, kBlocks);
  builder.fully_connected("attention.key_value", queries, kWidth, kKvHeads * kHeadDim, Channel::plain, 2 * kBlocks);
  builder.attention("attention", {.repeat = kBlocks,
                                  .heads = kHeads,
                                  .kv_heads = kKvHeads,
                                  .queries = queries,
                                  .keys = context,
                                  .head_dim = kHeadDim});
  builder.fully_connected("attention.output", queries, kHeads * kHeadDim, kWidth, Channel::plain, kBlocks);
  builder.fully_connected("feed_forward.gate_up", queries, kWidth, kFeedForward, Channel::plain, 2 * kBlocks);
  builder.fully_connected("feed_forward.down", queries, kFeedForward, kWidth, Channel::plain, kBlocks);
  builder.fully_connected("logits", 1, kWidth, kVocabulary, Channel::plain);
  // RMS norms have a scale only: two per block and one at the end.
  return {name,
          description,
          "Grattafiori et al. 2024, table 3",
          false,
          1,
          builder.take(),
          {.count = kVocabulary * kWidth + (2 * kBlocks + 1) * kWidth, .what = "token embedding, RMS norms"}};
}

}  // namespace

void generate_language_networks(std::vector<Network>& networks) {
  networks.push_back(bert_base());
  networks.push_back(llama3_8b("llama3_8b_prefill", "Llama 3 8B, prefill of 2048 tokens", 2048, 2048));
  networks.push_back(llama3_8b("llama3_8b_decode", "Llama 3 8B, one token at a context of 2048", 1, 2048));
}

}  // namespace hindsight::workload
