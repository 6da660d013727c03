/// Reads the text of an expression: words, grammar, types, and the program for the stack machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hindsight/space/expression.h"

namespace hindsight::space {

/// One word of an expression.
struct Word {
  enum class Kind { number, name, text, sign, end };
  Kind kind = Kind::end;
  std::string_view text;   ///< as written; of a text without its quotes
  std::size_t offset = 0;  ///< byte of its first character
};

/// The words of `text`, an `end` last. Error{usage} for characters that begin none.
[[nodiscard]] std::vector<Word> words_of(std::string_view text, const Origin& origin);

/// `problem` at a byte of the expression.
[[noreturn]] void fail_at(const Origin& origin, std::size_t offset, const std::string& problem);

/// Reads one expression into `expression`.
class ExpressionReader {
 public:
  ExpressionReader(Expression& expression, std::string_view text, const Scope& scope, const Origin& origin);
  void read(ValueType wanted);

 private:
  using Operation = Expression::Operation;
  /// What a part of the expression is. Its program is appended to the expression's, but for texts.
  struct Part {
    ValueType type = ValueType::number;
    std::string canonical = {};
    int strength = 0;        ///< of the weakest operator outside of parentheses
    std::size_t offset = 0;  ///< byte of its first character
    // Of a text:
    std::optional<std::size_t> parameter = {};  ///< the parameter that it is; nothing: a text in quotes
    std::string text = {};                      ///< in quotes
  };

  void require_stack() const;
  Part conditional();
  Part disjunction();
  Part conjunction();
  Part negation();
  Part comparison();
  Part sum();
  Part product();
  Part negative();
  Part primary();
  Part named(const Word& word);
  Part call(const Word& word);
  Part operand(const Word& word, std::size_t index, bool further);
  /// Places of a name among parameters and further numbers.
  [[nodiscard]] std::optional<std::size_t> parameter_named(std::string_view name) const;
  [[nodiscard]] std::optional<std::size_t> number_named(std::string_view name) const;

  Part compare_texts(Part left, Part right, const Word& sign);
  void push_label(std::size_t parameter, const Part& text);
  void push_same_label(std::size_t first, std::size_t second, std::size_t offset);
  Part binary(Part left, Part right, const Word& sign, Operation operation, int strength, ValueType type);
  void emit(Operation operation, std::size_t offset, std::size_t index = 0, double number = 0);
  void use(std::vector<std::size_t>& list, std::size_t index);

  [[nodiscard]] const Word& word() const { return words_[at_]; }
  [[nodiscard]] bool is_sign(std::string_view text) const;
  [[nodiscard]] bool is_word(std::string_view text) const;
  const Word& take() { return words_[at_++]; }
  void expect_sign(std::string_view sign, std::string_view why);
  void require(const Part& part, ValueType type, std::string_view where) const;
  [[noreturn]] void fail(std::size_t offset, const std::string& problem) const { fail_at(origin_, offset, problem); }
  [[noreturn]] void fail_name(const Word& word) const;
  [[noreturn]] void fail_word(std::string_view expected) const;

  Expression& expression_;
  const Scope& scope_;
  const Origin& origin_;
  std::vector<Word> words_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
};

}  // namespace hindsight::space
