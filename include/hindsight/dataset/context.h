/// Applications as a surrogate knows them: named contexts with features, and those of imported tables by their columns.
#pragma once

#include <Eigen/Dense>
#include <string>
#include <utility>
#include <vector>

namespace hindsight::dataset {

/// The layers of an application in execution order, as a surrogate sees them (workload/layer_features.h): raw features.
/// No rows where they are not known: tables of others.
struct LayerList {
  Eigen::MatrixXf features;  // l x f
  Eigen::VectorXf repeats;   // l
  [[nodiscard]] bool empty() const { return repeats.size() == 0; }
  bool operator==(const LayerList& other) const {
    return features.rows() == other.features.rows() && features.cols() == other.features.cols() &&
           features == other.features && repeats == other.repeats;
  }
};

/// One application (or any context): raw, unscaled features.
struct Context {
  std::string name;
  std::vector<std::string> feature_names;
  Eigen::VectorXd features;  // c
  LayerList layers = {};
};

/// Two contexts of one name that describe different applications: some feature differs beyond rounding, or the layers
/// do where both are known, in the features that both have.
[[nodiscard]] bool contradict(const Context& a, const Context& b);

/// Names of those, in their order, that have all features of another one, as applications have that words alone name. A
/// network that sees features, and not layers, has one answer for them.
[[nodiscard]] std::vector<std::string> alike_contexts(const std::vector<Context>& contexts);

/// A column that tells the applications of an imported table apart. Numeric ones are features; words only name.
struct ContextColumn {
  std::string name;  ///< as in the names of contexts
  bool numeric = false;
};
/// "m=4096:kind=conv": how an import names an application by its columns and their values, in order. Characters that
/// would end a name, a part or a list of names become '_'.
[[nodiscard]] std::string context_name(const std::vector<std::pair<std::string, std::string>>& values);
/// The columns by which an import named all of `known`; none when it did not: networks, tables without such columns.
[[nodiscard]] std::vector<ContextColumn> context_columns(const std::vector<Context>& known);
/// The application that `text`, "m=4096,kind=conv", describes in the columns of `known` (the applications that a model
/// was trained on, or those of a log), named as an import would name it: one of `known` comes out as it is. Columns in
/// any order, by their name or its snake_case. Error{usage} naming a missing, unknown or repeated column (the nearest
/// offered), or a value that is no number; Error{usage} when `known` has no columns.
[[nodiscard]] Context context_from_columns(const std::vector<Context>& known, const std::string& text);

}  // namespace hindsight::dataset
