/// hindsight model: what a trained surrogate says about itself.
#include "hindsight/surrogate/model.h"

#include <memory>

#include "hindsight/core/files.h"
#include "hindsight/core/hash.h"
#include "hindsight/report/model.h"
#include "output.h"
#include "shipped_models.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

struct Options {
  std::string file;
  bool json = false;
};

constexpr std::uint64_t kLargestModelBytes = std::uint64_t{1} << 34;

int show(const Options& options) {
  const surrogate::Model model = surrogate::load_model(options.file);
  print(options.json ? report::model_json(model, options.file, sha256_hex(read_file(options.file, kLargestModelBytes)))
                     : surrogate::model_card(model));
  return 0;
}

}  // namespace

void add_model(CLI::App& app, Session& session) {
  const auto options = std::make_shared<Options>();
  CLI::App* group = app.add_subcommand("model", "Show a trained surrogate");
  group->require_subcommand(1);
  group->footer("Example: hindsight model show study.safetensors");
  CLI::App* verb = group->add_subcommand("show", "The model card: data, space, quality, provenance");
  verb->add_option("model,--model", options->file, "File, or name of a shipped model")->required();
  verb->add_flag("--json", options->json, "As JSON");
  verb->footer("Exit code 4 when the file is damaged.\nExample: hindsight model show edge-prime9");
  verb->callback([options, &session] {
    session.action = [options] {
      options->file = model_file(options->file);
      return show(*options);
    };
  });
}

}  // namespace hindsight::app
