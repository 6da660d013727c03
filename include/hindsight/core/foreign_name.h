/// Names that stand in a log, a model or another file from elsewhere, and that are looked up: of a network, a
/// technology, a space. They name data that ship, and never a file: whoever wrote them would choose what is opened.
#pragma once

#include <string>
#include <string_view>

namespace hindsight {

/// True where a name would be taken for a file, its '@...' aside: it has a '/', the ending of a YAML file, or a file of
/// that name lies in the working folder.
[[nodiscard]] bool names_a_file(const std::string& name);

/// `name`. Error{incompatible} where it names a file, which says who does (`where`: "study.sqlite: its evaluator") and
/// the way out (`remedy`: "Name it with --technology"; may be empty).
const std::string& foreign_name(const std::string& name, std::string_view where, std::string_view remedy);

}  // namespace hindsight
