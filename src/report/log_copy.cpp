/// Text and JSON of copies.
#include "hindsight/report/log_copy.h"

#include <fmt/format.h>

#include "hindsight/core/plural.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/text.h"
#include "report/fields.h"
#include "report/json.h"

namespace hindsight::report {
namespace {

constexpr std::size_t kShownLog = 400;

}  // namespace

std::string copy_text(const NamedCopy& copy, const std::string& target, int columns) {
  const log::CopyResult& result = copy.result;
  std::string said = fmt::format("{}: {} new in {}, {} there already", printable(copy.source, kShownLog),
                                 counted(result.inserted, "evaluation"), printable(target, kShownLog),
                                 with_commas(result.already_present));
  if (result.contradicting > 0)
    said += fmt::format(", {} left out for another outcome", with_commas(result.contradicting));
  said += fmt::format("; {}", counted(result.runs, "run"));
  for (const auto& [count, noun] : {std::pair{result.models, "model"}, std::pair{result.proposals, "proposal"},
                                    std::pair{result.gpu_sessions, "GPU session"}}) {
    if (count > 0) said += fmt::format(", {}", counted(count, noun));
  }
  return wrapped("", said, columns, 2);
}

std::string copy_json(const std::vector<NamedCopy>& copies, const std::string& target) {
  Json list = Json::array();
  for (const NamedCopy& copy : copies) {
    const log::CopyResult& result = copy.result;
    list.push_back({{"log", copy.source},
                    {"evaluations", result.read()},
                    {"inserted", result.inserted},
                    {"already_present", result.already_present},
                    {"contradicting", result.contradicting},
                    {"runs", result.runs},
                    {"designs", result.designs},
                    {"models", result.models},
                    {"proposals", result.proposals},
                    {"gpu_sessions", result.gpu_sessions}});
  }
  return to_text({{"hindsight_version", build_info().version}, {"target", target}, {"copies", std::move(list)}});
}

}  // namespace hindsight::report
