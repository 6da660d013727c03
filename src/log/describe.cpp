/// The view of a space's designs with one column per parameter.
#include <fmt/format.h>

#include "log/impl.h"

namespace hindsight::log {
namespace {

/// [chosen] SQLite allows 2000 columns in a view; a wider space has no view.
constexpr std::size_t kMaxViewParameters = 1000;

/// A text as SQL identifier.
std::string quoted_identifier(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) {
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  }
  return quoted + '"';
}

/// A text as SQL string literal.
std::string quoted_literal(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    quoted += c == '\'' ? "''" : std::string(1, c);
  }
  return quoted + '\'';
}

/// "designs_" and the name with every character that would need quotes replaced; unique in the file.
std::string free_view_name(Database database, std::int64_t space_id) {
  Statement query(database, "SELECT name FROM spaces WHERE space_id = ?");
  query.bind(1, space_id);
  std::string name = "designs_";
  if (query.step()) {
    for (const char c : query.column(0).text()) {
      const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
      name += plain ? c : '_';
    }
  }
  Statement taken(database, database.on_server() ? "SELECT 1 FROM pg_class WHERE relname = ? AND "
                                                   "relnamespace = to_regnamespace(quote_ident(current_schema()))"
                                                 : "SELECT 1 FROM sqlite_master WHERE name = ? COLLATE NOCASE");
  taken.bind(1, name);
  return taken.step() ? fmt::format("{}_{}", name, space_id) : name;
}

/// SQL of one parameter's value: a number when the text is one, else the text.
std::string value_sql(const std::string& parameter) {
  const std::string text = "(parameters ->> " + quoted_literal("$.\"" + parameter + "\"") + ")";
  return fmt::format("iif(CAST({0} AS NUMERIC) = {0}, CAST({0} AS NUMERIC), {0})", text);
}

/// On a server a column has one type: the text, cut out of the text id, in which parameters stand in their order.
std::string server_value_sql(std::size_t position) {
  return fmt::format("split_part(split_part(text_id, ',', {}), '=', 2)", position + 1);
}

/// Views are made by those who may make tables; writers of a team may not.
bool may_create_views(Database database) {
  return !database.on_server() || database.integer_of("SELECT has_schema_privilege(current_schema(), 'CREATE')") != 0;
}

}  // namespace

void describe_parameters(Database database, std::int64_t space_id, const std::vector<std::string>& names) {
  Statement insert(database, "INSERT INTO space_parameters VALUES (?, ?, ?)");
  std::string columns;
  for (std::size_t i = 0; i < names.size(); ++i) {
    insert.bind(1, space_id);
    insert.bind(2, static_cast<std::int64_t>(i));
    insert.bind(3, names[i]);
    insert.exec();
    insert.reset();
    columns += fmt::format(", {} AS {}", database.on_server() ? server_value_sql(i) : value_sql(names[i]),
                           quoted_identifier(names[i]));
  }
  if (names.size() > kMaxViewParameters || !may_create_views(database)) {
    return;
  }
  const std::string view = free_view_name(database, space_id);
  database.exec(fmt::format("CREATE VIEW {} AS SELECT design_id{}, text_id FROM designs WHERE space_id = {}",
                            quoted_identifier(view), columns, space_id));
  Statement update(database, "UPDATE spaces SET designs_view = ? WHERE space_id = ?");
  update.bind(1, view);
  update.bind(2, space_id);
  update.exec();
}

}  // namespace hindsight::log
