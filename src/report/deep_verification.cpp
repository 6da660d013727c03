/// Text and JSON of deep verifications.
#include "hindsight/report/deep_verification.h"

#include <fmt/format.h>

#include "hindsight/core/plural.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/table.h"
#include "hindsight/core/text.h"
#include "report/fields.h"
#include "report/json.h"

namespace hindsight::report {

std::string deep_verification_text(const log::Log& log, const study::DeepVerification& deep, int columns) {
  const std::string file = printable(log.path().string(), 400);
  std::string out;
  for (const log::DeepFinding& finding : deep.findings) {
    out += wrapped("",
                   fmt::format("{}: {} ({}), first {}: {}. {}", file, finding.kind, counted(finding.rows, "row"),
                               finding.first, finding.text, finding.remedy),
                   columns, 2);
  }
  for (const std::string& skipped : deep.skipped) out += wrapped("", fmt::format("{}: {}", file, skipped), columns, 2);
  out += wrapped("",
                 fmt::format("{}: {}; {} of {} that the built-in model can repeat were repeated, of {} in all", file,
                             deep.sound() ? "sound" : "not sound", with_commas(deep.repeated),
                             with_commas(deep.repeatable), counted(deep.evaluations, "evaluation")),
                 columns, 2);
  return out;
}

std::string deep_verification_json(const log::Log& log, const study::DeepVerification& deep) {
  Json findings = Json::array();
  for (const log::DeepFinding& finding : deep.findings) {
    findings.push_back({{"kind", finding.kind},
                        {"rows", finding.rows},
                        {"first", finding.first},
                        {"text", finding.text},
                        {"remedy", finding.remedy}});
  }
  return to_text({{"hindsight_version", build_info().version},
                  {"log", log.path().string()},
                  {"sound", deep.sound()},
                  {"evaluations", deep.evaluations},
                  {"repeatable", deep.repeatable},
                  {"repeated", deep.repeated},
                  {"skipped", deep.skipped},
                  {"findings", findings}});
}

}  // namespace hindsight::report
