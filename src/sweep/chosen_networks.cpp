/// Draws the networks of a design, and asks for a batch network by network.
#include "sweep/chosen_networks.h"

#include <algorithm>

#include "hindsight/core/random.h"
#include "hindsight/core/thread_pool.h"

namespace hindsight::sweep {

bool takes_all_networks(const SweepOptions& options) {
  return options.networks_of_a_design() == options.networks.size();
}

std::vector<std::size_t> chosen_networks(const SweepOptions& options, std::uint64_t number) {
  const std::size_t networks = options.networks.size();
  const std::size_t count = options.networks_of_a_design();
  std::vector<std::size_t> chosen;
  // Floyd's algorithm: every set of `count` is as likely, with one draw each.
  const RandomStream stream(options.seed, "networks of a design");
  for (std::size_t last = networks - count; last < networks; ++last) {
    const std::size_t drawn = stream.below(number * count + chosen.size(), last + 1);
    const bool is_new = std::find(chosen.begin(), chosen.end(), drawn) == chosen.end();
    chosen.push_back(is_new ? drawn : last);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

std::vector<evaluator::Row> evaluate_chosen(const SweepOptions& options, std::span<const std::uint16_t> levels,
                                            std::span<const std::size_t> chosen, unsigned threads) {
  const std::size_t dimensions = options.space().parameters().size();
  const std::size_t count = options.networks_of_a_design();
  std::vector<std::vector<std::size_t>> rows_of(options.networks.size());
  for (std::size_t row = 0; row < chosen.size(); ++row) rows_of[chosen[row]].push_back(row);
  std::vector<evaluator::Row> rows(chosen.size());
  // Networks are spread over the threads, because each has few designs of a batch.
  parallel_for(rows_of.size(), 1, threads, [&](std::size_t begin, std::size_t end, unsigned) {
    for (std::size_t network = begin; network < end; ++network) {
      if (rows_of[network].empty()) continue;
      std::vector<std::uint16_t> asked;
      for (const std::size_t row : rows_of[network]) {
        const auto design = levels.subspan(row / count * dimensions, dimensions);
        asked.insert(asked.end(), design.begin(), design.end());
      }
      std::vector<evaluator::Row> answers =
          options.evaluator->evaluate(asked, std::span(&options.networks[network], 1), 1);
      for (std::size_t i = 0; i < answers.size(); ++i) rows[rows_of[network][i]] = std::move(answers[i]);
    }
  });
  return rows;
}

}  // namespace hindsight::sweep
