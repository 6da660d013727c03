/// Can every constant be traced, and does nothing point at one machine?
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "checks/finding.h"

namespace hindsight::checks {

/// Keys of REFERENCES.md (`- **KEY**: ...`); duplicates and entries without text are findings.
[[nodiscard]] std::set<std::string> reference_keys(const std::filesystem::path& root, Findings& findings);

/// Judges the files of the repository at `root`:
/// - in include/, src/, data/ and configs/, `[spec: KEY ...]`, `[paper: KEY ...]` and `[data: KEY ...]` cite keys of
///   REFERENCES.md (several are separated by `;`), `[measured ...]` and `[chosen ...]` are free text, and there is no
///   other tag word;
/// - no text file contains a path of one machine or the host of a package registry.
[[nodiscard]] Findings check_sources(const std::filesystem::path& root);

}  // namespace hindsight::checks
