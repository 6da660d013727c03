/// A trained surrogate: an ensemble of networks with its scalers and provenance, and its file.
///
/// File: safetensors (little-endian header length, JSON header, float32 data) whose `__metadata__` holds the SHA-256 of
/// the header and of the data, the format version, and one JSON text: encoding version, space definition and its hash,
/// context definition, scalers, architectures, training provenance and metrics. Written to a temporary file, synced,
/// renamed; a Markdown model card is written beside it (`.md`). The format is described in docs/models.md.
#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "hindsight/dataset/scaling.h"
#include "hindsight/surrogate/architecture.h"
#include "hindsight/surrogate/metrics.h"

namespace hindsight::surrogate {

/// What is written where applications are known by words. Where they are not, version 5, which has none. Read too:
/// version 4, which has no networks of kind `layers`; version 3, which has one kind of network; and version 2, in which
/// moreover every scale is logarithmic and feasibility always learned.
inline constexpr int kModelFormatVersion = 6;

using LevelMatrix = Eigen::Matrix<std::uint16_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;  // n x p

/// Predictions of an ensemble in usable units.
struct EnsemblePrediction {
  Eigen::VectorXd score;        // n, mean z-score of the objective on its scale, smaller is better
  Eigen::VectorXd spread;       // n, standard deviation (m - 1) of the m members' z-scores (0 for one); for an unseen
                                // context, with that of the views
  Eigen::VectorXd objective;    // n, mean_c + score * deviation_c taken back from its scale (exp), in its unit
  Eigen::VectorXd p_feasible;   // n, mean of the members' probabilities (kinds `margins`, `layers`: the smallest),
                                // calibrated; 1 where nothing taught it
  Eigen::VectorXd p_spread;     // n, spread of the members' probabilities, as above; 0 for these kinds
  Eigen::MatrixXd constraints;  // n x k, physical units
  Eigen::MatrixXd constraint_spread;  // n x k, spread of the members' values as above, on the label's scale (log units)
  bool extrapolated = false;          ///< the context was not trained on: `objective` is a guess, the ranking is not
};

/// An application as the networks of one model are asked about it, for any number of predictions by that model.
struct PreparedContext {
  dataset::ObjectiveScaler::Scale scale = {};
  /// Per view of the application, per network; all views have equal weight.
  std::vector<std::vector<std::shared_ptr<const ContextTerms>>> views = {};
  /// Z-score of a typical design of this application: 0 where every application has a scale of its own; for kind
  /// `layers`, whose applications share one, the mean prediction for random designs, those likely to be feasible.
  double typical_score = 0;
};

/// What a model's error was on applications that it had not learnt, beside their distances (novelty.h).
struct ErrorCalibration {
  struct Application {
    std::string name;
    double distance = 0;
    double median_error = 0;  ///< of the feasible designs: median of |predicted / true - 1|
    double kendall_tau = 0;   ///< of the same designs
    std::uint64_t feasible = 0;
  };
  std::string source;  ///< log, and how it was asked
  std::vector<Application> applications;
};

class Model {
 public:
  struct Parts {
    space::DesignSpace space;
    std::string objective_text;
    std::vector<std::string> constraint_names;
    std::vector<std::string> reason_names;  ///< one head of feasibility each
    std::vector<dataset::Context> training_contexts;
    dataset::ContextScaler context_scaler;
    dataset::ObjectiveScaler objective_scaler;
    dataset::ConstraintScaler constraint_scaler;
    /// Whether a row of the log could teach feasibility. False: none was infeasible; p_feasible is 1 and says nothing.
    bool feasibility_learned = true;
    double feasibility_temperature = 1;  ///< logits are divided by it (fitted on validation rows)
    std::string recipe_text;             ///< the YAML it was trained with
    std::map<std::string, std::string> provenance;
    ModelMetrics metrics;
    std::vector<Network> members;
    ErrorCalibration error_calibration = {};  ///< no applications: nobody measured it
  };
  /// Error{incompatible} when the parts contradict each other (counts of features, levels, constraints).
  explicit Model(Parts parts);
  [[nodiscard]] const Parts& parts() const { return parts_; }
  /// `threads` splits the rows (0 = all cores); the result does not depend on it.
  ///
  /// An unseen context is taken as the even mixture of the trained ones, its views. A network that was trained at a
  /// handful of points of the context space says nothing reliable between or beyond them, and a search would find where
  /// it errs in favour; where the trained applications disagree on a design, the spread says so. Weights that favour
  /// the nearest applications were measured to be worse (docs/offline-study.md).
  ///
  /// Networks of kind `layers` see the application's layers, trained or not, and are asked about it itself.
  /// Error{usage} when its layers are not known.
  [[nodiscard]] EnsemblePrediction predict(const LevelMatrix& levels, const dataset::Context& context,
                                           unsigned threads = 1) const;
  /// The same in two steps, for many questions about one application, each of some heads only: an array of the
  /// prediction that comes from other heads is empty.
  [[nodiscard]] PreparedContext prepare(const dataset::Context& context) const;
  [[nodiscard]] EnsemblePrediction predict(const LevelMatrix& levels, Heads heads, const PreparedContext& context,
                                           unsigned threads = 1) const;
  /// Whether the networks are of kind `layers`.
  [[nodiscard]] bool sees_layers() const;
  /// What networks of kind `layers` see of an application: the features of the version that they were trained on.
  [[nodiscard]] dataset::LayerList seen_layers(const dataset::Context& context) const;
  /// Whether predictions for both contexts agree in all but `objective` and `extrapolated`: two unseen ones do.
  [[nodiscard]] bool seen_alike(const dataset::Context& a, const dataset::Context& b) const;
  /// A prediction for a context that is seen alike, as one for `context`.
  [[nodiscard]] EnsemblePrediction rescaled(EnsemblePrediction prediction, const dataset::Context& context) const;

 private:
  /// Scaled features that the networks are asked with, all of equal weight in a prediction for `context`.
  [[nodiscard]] std::vector<Eigen::VectorXf> views_of(const dataset::Context& context) const;
  [[nodiscard]] double typical_score(const PreparedContext& context) const;
  [[nodiscard]] dataset::ObjectiveScaler::Scale scale_of(const dataset::Context& context) const;
  Parts parts_;
};

/// Key of the provenance that names values of parameters that no row had: "pes_x=64,mode=os". Missing: every value had
/// some, or the model is older than the key.
inline constexpr const char* kUnseenLevels = "unseen_levels";
/// Key of the provenance that names labels of which more is better, as the logs said that the model learnt from:
/// "speed,score". Missing: none, or the model is older than the key.
inline constexpr const char* kMoreIsBetter = "more_is_better";
[[nodiscard]] std::set<std::string> maximised_labels(const Model& model);
/// Those of kUnseenLevels that a design has, "pes_x=64".
[[nodiscard]] std::vector<std::string> unseen_levels_of(const Model& model, const space::Design& design);

/// Random designs of a space, the same ones every time: what an application costs on no design in particular.
[[nodiscard]] LevelMatrix typical_designs(const space::DesignSpace& space);

/// That of the file that save_model() writes: kModelFormatVersion, or an older one that has all of the model.
[[nodiscard]] int model_format_version(const Model& model);
/// Writes the model and its card (`file` with the extension .md). Error{failure}; the old file stays then.
void save_model(const Model& model, const std::filesystem::path& file);
/// Error{incompatible}: truncated, bit-flipped, of another format, wrong shapes; the message says which.
[[nodiscard]] Model load_model(const std::filesystem::path& file);
/// Error{incompatible} when the model was trained on another space (names both hashes and the first difference).
void require_space(const Model& model, const space::DesignSpace& space);
/// The model card.
[[nodiscard]] std::string model_card(const Model& model);

}  // namespace hindsight::surrogate
