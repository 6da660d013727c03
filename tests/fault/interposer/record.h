/// The trace of changes of files, from which a disk after a power failure is made.
///
/// Records follow each other: RecordHead, then `name_bytes` of name, then `data_bytes`. A rename or link has its new
/// name as data.
#pragma once

#include <cstdint>

namespace hindsight::fault {

enum class Change : std::uint32_t { create = 1, write, truncate, sync, sync_folder, rename, link, unlink, acknowledge };

struct RecordHead {
  Change change{};
  std::uint32_t name_bytes = 0;
  std::uint64_t inode = 0;   ///< as the system numbers it; may come again after `unlink`
  std::uint64_t offset = 0;  ///< of what is written; new size; what was acknowledged
  std::uint64_t data_bytes = 0;
};

}  // namespace hindsight::fault
