/// Designs as a user names them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "hindsight/accel/config.h"
#include "hindsight/accel/technology.h"
#include "hindsight/report/design_table.h"
#include "hindsight/space/design_space.h"

namespace hindsight::app {

/// Help of --design.
inline constexpr const char* kDesignHelp = "Text id, short id of --log, reference chip or file";

/// A text id names a design of a space; a short id one of a log; anything else a reference chip, by name or file.
[[nodiscard]] bool is_text_id(const std::string& design);

/// The space of a text id where none is named.
inline constexpr const char* kDefaultSpace = "edge";

/// The space that is `asked` for, else kDefaultSpace. Error{usage} where that was not asked for and does not have the
/// design of a text id: with the shipped space that has it, if one does.
[[nodiscard]] space::DesignSpace space_of_text_id(const std::string& text_id, const std::string& asked);

/// Whether a log was named and `design` can be a short id of it. A log that is named is there: the errors of
/// Log::open(), also where the design needs none.
[[nodiscard]] bool names_logged(const std::string& design, const std::string& log);
/// Error{usage} where --space was named for a short id, whose space the log knows.
void require_own_space(const std::string& space);

/// A design that a log has.
struct LoggedDesign {
  space::DesignSpace space;
  space::Design design;
  std::vector<std::string> technologies = {};  ///< study::technologies_of() it
};
/// By the beginning of its short id. Error{usage} where the log has no such design, or several.
[[nodiscard]] LoggedDesign logged_design(const std::string& file, const std::string& short_id);

/// The only one of `technologies`; "" where there is none. Error{usage} where there are several and none is `asked`
/// for: `what` ("FILE: has rows of ID with"), the technologies, and to name one with --technology.
[[nodiscard]] std::string own_technology(const std::string& asked, const std::vector<std::string>& technologies,
                                         const std::string& what);

/// The technology asked for, else the designs' own (of their space, of the rows of their log, or of the chip), else the
/// default.
/// Error{usage}; where the own one is not there, with what to name.
[[nodiscard]] accel::Technology technology_for(const std::string& asked, const std::string& own);

/// The technology asked for, else the chip's own: of one that ships (`design`, a name and no file) the one that ships,
/// whatever lies in the working folder.
[[nodiscard]] accel::Technology technology_of_chip(const std::string& asked, const std::string& design,
                                                   const std::string& own);

/// accel::load_reference_chip(), whose error says what a short id would need.
[[nodiscard]] accel::ReferenceChip reference_chip(const std::string& name);

/// A reference chip as a command asks for it.
struct AskedChip {
  accel::ReferenceChip chip;  ///< a cooling class that --technology names is its own
  std::string why = {};       ///< it has its technology, for a reader ("the chip's node"); may be empty
};
/// `technology`: what --technology says; may be empty.
[[nodiscard]] AskedChip asked_chip(const std::string& name, const std::string& technology);

/// The design of the space that a text id, a reference chip, "nearest:CHIP" (a remark says what the design has
/// otherwise) or, with a log, a short id names. `log`: may be empty, and need not exist. Error{usage} where the space
/// has no such design.
[[nodiscard]] space::Design design_in(const space::DesignSpace& space, const std::string& design,
                                      const std::string& log);

/// --columns: those of a table, by their headers.
void add_columns(CLI::App& verb, std::vector<std::string>& columns);

/// --wide: whole text ids below a table.
void add_wide(CLI::App& verb, report::DesignStyle& style);

}  // namespace hindsight::app
