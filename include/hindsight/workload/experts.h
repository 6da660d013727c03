/// Mixtures of experts: how many experts of a group a pass reads, and how many tokens each of them gets.
///
/// Model: a router sends each of T tokens to k different experts of a group of E, every choice equally likely and
/// independent of the other tokens'. One token leaves an expert out with probability 1 - k / E, all of them do with
/// (1 - k / E)^T, and the expected number of experts that are not left out is the sum over all E:
///
///     distinct = E (1 - (1 - k / E)^T)
///     rows     = floor(T k / distinct), and one more for `fuller` = T k mod distinct of them
///
/// distinct is rounded to the nearest whole number (halves upwards) and kept within k..E; the rows of all are T k. E =
/// 8 and k = 2 give 2 experts of 1 row for one token; for 8 tokens 7, 2 of 3 rows and 5 of 2; for 64 tokens 8 of 16.
/// Source: derived above. Uniform routing is what routers are trained for: a loss balances the experts' shares of the
/// tokens [paper: shazeer-2017, section 4; fedus-2021, section 2.2]. Valid for: the design point of a balanced router.
/// Ignores: that the tokens of one text ask alike experts, which lowers distinct; that experts of a pass get numbers of
/// tokens that differ by more than one.
#pragma once

#include <cstdint>

namespace hindsight::workload {

/// Whole numbers: distinct * rows + fuller == tokens * experts_per_token, exactly while these are at most 2^53.
struct ExpertLoad {
  double distinct = 1;  ///< experts that some token asks: their weights are read
  double rows = 1;      ///< tokens of each of them, at least 1
  double fuller = 0;    ///< those of them that get one token more, less than all
};

/// Precondition: 1 <= experts_per_token <= experts, tokens >= 1.
[[nodiscard]] ExpertLoad expert_load(std::int64_t experts, std::int64_t experts_per_token, double tokens);

}  // namespace hindsight::workload
