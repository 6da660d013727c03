/// Applications as a surrogate knows them: named contexts with features, and those of imported tables by their columns.
#pragma once

#include <Eigen/Dense>
#include <compare>
#include <cstddef>
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

/// A word by which a model knows applications: the value of a column, or the name of an application.
struct ContextWord {
  std::string column;  ///< as in the names of contexts; empty: `value` is the whole name of one
  std::string value;
  auto operator<=>(const ContextWord&) const = default;
};
/// "app=bert", as in the names of contexts; a whole name as it is.
[[nodiscard]] std::string to_string(const ContextWord& word);

/// Most words of a model. [chosen] Each is an input of every network; of more applications than these, columns of
/// numbers say what a row of another one teaches.
inline constexpr std::size_t kMostWords = 64;
/// The words that tell contexts apart where features do not: of those that have all features of another one, the values
/// of the columns in which they differ, column after column, or, where these were not named by columns, their names.
/// Columns with the fewest are taken first, and no further one where that would be more than kMostWords. None where
/// features tell all contexts apart.
[[nodiscard]] std::vector<ContextWord> distinguishing_words(const std::vector<Context>& contexts);
/// Per word 1 where the context has it, 0 where it has another one of its column, and NaN where it has none of them, as
/// an application has that nobody knew.
[[nodiscard]] Eigen::VectorXd word_indicators(const Context& context, const std::vector<ContextWord>& words);  // w

/// Names of those, in their order, that have all features and words of another one. A network that sees these, and not
/// layers, has one answer for them.
[[nodiscard]] std::vector<std::string> alike_contexts(const std::vector<Context>& contexts,
                                                      const std::vector<ContextWord>& words = {});

/// A column that tells the applications of an imported table apart. Numeric ones are features; words name, and are
/// features where nothing else tells applications apart (distinguishing_words).
struct ContextColumn {
  std::string name;  ///< as in the names of contexts
  bool numeric = false;
  /// Where a model knows each of its applications by one of them: another word would say nothing to it.
  std::vector<std::string> words = {};
};
/// "m=4096:kind=conv": how an import names an application by its columns and their values, in order. Characters that
/// would end a name, a part or a list of names become '_'.
[[nodiscard]] std::string context_name(const std::vector<std::pair<std::string, std::string>>& values);
/// The columns by which an import named all of `known`; none when it did not: networks, tables without such columns.
/// `words`: of the model that knows them.
[[nodiscard]] std::vector<ContextColumn> context_columns(const std::vector<Context>& known,
                                                         const std::vector<ContextWord>& words = {});
/// The application that `text`, "m=4096,kind=conv", describes in the columns of `known` (the applications that a model
/// was trained on, or those of a log), named as an import would name it: one of `known` comes out as it is. Columns in
/// any order, by their name or its snake_case. Error{usage} naming a missing, unknown or repeated column (the nearest
/// offered), a value that is no number, or one that is none of the words of a column (which are named); Error{usage}
/// when `known` has no columns. `words`: of the model that knows them.
[[nodiscard]] Context context_from_columns(const std::vector<Context>& known, const std::string& text,
                                           const std::vector<ContextWord>& words = {});

}  // namespace hindsight::dataset
