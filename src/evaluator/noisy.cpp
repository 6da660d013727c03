/// Log-normal factors on what another evaluator answers.
#include "hindsight/evaluator/noisy.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <string_view>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/random.h"
#include "hindsight/core/text.h"

namespace hindsight::evaluator {
namespace {

/// What stands between the parts of a name.
constexpr std::string_view kNoiseWord = " noise ", kSeedWord = " seed ";

/// Two independent factors.
std::pair<double, double> factors(double sigma, const RandomStream& stream) {
  const double radius = sigma * std::sqrt(-2.0 * std::log1p(-stream.uniform(0)));
  const double angle = 2.0 * std::numbers::pi * stream.uniform(1);
  return {std::exp(radius * std::cos(angle)), std::exp(radius * std::sin(angle))};
}

class Noisy final : public Evaluator {
 public:
  Noisy(std::shared_ptr<const Evaluator> exact, Noise noise)
      : Evaluator(exact->space()), exact_(std::move(exact)), noise_(noise) {
    HINDSIGHT_EXPECT(noise.sigma > 0 && noise.sigma <= kMostNoise);
  }

  [[nodiscard]] std::string name() const override {
    return fmt::format("{}{}{}{}{}", exact_->name(), kNoiseWord, shortest(noise_.sigma), kSeedWord, noise_.seed);
  }
  [[nodiscard]] std::string definition() const override {
    return fmt::format("{}noise=log-normal version=1 sigma={} seed={}\n", exact_->definition(), noise_.sigma,
                       noise_.seed);
  }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> settings() const override {
    auto settings = exact_->settings();
    settings.emplace_back("noise", shortest(noise_.sigma));
    settings.emplace_back("noise_seed", fmt::format("{}", noise_.seed));
    return settings;
  }
  [[nodiscard]] const std::vector<std::string>& metrics() const override { return exact_->metrics(); }
  [[nodiscard]] const std::vector<std::string>& fact_names() const override { return exact_->fact_names(); }
  [[nodiscard]] std::optional<double> smallest_fact(const std::string& name) const override {
    return exact_->smallest_fact(name);
  }
  [[nodiscard]] std::vector<StatedLimit> stated_limits() const override { return exact_->stated_limits(); }
  [[nodiscard]] std::optional<std::pair<double, double>> fact_range(
      const std::string& name, const std::vector<std::vector<std::uint16_t>>& box) const override {
    return exact_->fact_range(name, box);
  }
  [[nodiscard]] const std::vector<std::string>& reasons() const override { return exact_->reasons(); }
  [[nodiscard]] std::size_t designs_at_once() const override { return exact_->designs_at_once(); }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> remarks() const override { return exact_->remarks(); }

 private:
  void begin(std::span<const std::uint16_t> levels, std::span<const workload::Network> workloads) const override {
    begin_at(*exact_, levels, workloads);
  }
  [[nodiscard]] std::vector<Row> answer(std::span<const std::uint16_t> levels,
                                        std::span<const workload::Network> workloads, unsigned threads) const override {
    std::vector<Row> rows = ask(*exact_, levels, workloads, threads);
    const std::size_t parameters = space().parameters().size();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!rows[i].feasible) continue;
      const auto design = levels.subspan(i / workloads.size() * parameters, parameters);
      add_noise(rows[i], design, workloads[i % workloads.size()]);
    }
    return rows;
  }
  void add_noise(Row& row, std::span<const std::uint16_t> design, const workload::Network& network) const {
    std::string name = "noise " + network.name();
    for (const std::uint16_t level : design) name += fmt::format(" {}", level);
    const auto [slower, hotter] = factors(noise_.sigma, RandomStream(noise_.seed, name));
    for (auto& [metric, value] : row.metrics) {
      if (metric == "latency_s" || metric == "latency_cycles") value *= slower;
      if (metric == "energy_j") value *= hotter;
      if (metric == "average_power_w") value *= hotter / slower;
    }
  }
  [[nodiscard]] std::vector<double> answer_facts(std::span<const double> limits, std::span<const std::uint16_t> levels,
                                                 std::span<const std::string> names, unsigned threads) const override {
    return ask_facts(*exact_, limits, levels, names, threads);
  }

  std::shared_ptr<const Evaluator> exact_;
  Noise noise_;
};

}  // namespace

std::shared_ptr<const Evaluator> noisy(std::shared_ptr<const Evaluator> exact, Noise noise) {
  return std::make_shared<const Noisy>(std::move(exact), noise);
}

EvaluatorName parse_evaluator_name(const std::string& name) {
  const std::size_t noise = name.rfind(kNoiseWord), seed = name.rfind(kSeedWord);
  if (noise == std::string::npos || seed == std::string::npos || seed < noise) return {.exact = name, .noise = {}};
  const std::size_t sigma_at = noise + kNoiseWord.size();
  const auto sigma = parse_double(name.substr(sigma_at, seed - sigma_at));
  const auto number = parse_int(name.substr(seed + kSeedWord.size()));
  const bool is_noise = sigma && number && *sigma > 0 && *sigma <= kMostNoise && *number >= 0;
  if (!is_noise) return {.exact = name, .noise = {}};
  return {.exact = name.substr(0, noise), .noise = Noise{.sigma = *sigma, .seed = static_cast<std::uint64_t>(*number)}};
}

}  // namespace hindsight::evaluator
