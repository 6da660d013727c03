/// The file that measurements are appended to: what it took is on the disk, and whole.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hindsight::measure {

/// The text of a file; empty where there is none. Error{failure} for a file that is there and cannot be read: its tasks
/// would be measured again.
[[nodiscard]] std::string read_if_there(const std::string& file);

/// Appends to a file to which no other process of this program appends meanwhile.
class ResultsFile {
 public:
  /// Makes the file where it is missing. Of the `read_bytes` that were read of it the first `whole_bytes` stay: the
  /// rest is what another writer was cut off in. Errors: Error{failure} for a file that cannot be written, that another
  /// process measures into, or that changed since it was read.
  ResultsFile(const std::string& file, std::size_t read_bytes, std::size_t whole_bytes);
  /// Whole lines. Returns when they are on the disk. Error{failure} where they do not get there: then the file has none
  /// of them, or, where the disk cannot even take them away again, their beginning, which the next start drops.
  void append(std::string_view lines);

 private:
  /// Owns the number of an open file.
  class Descriptor {
   public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor();
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    [[nodiscard]] int number() const { return number_; }

   private:
    int number_;
  };

  std::string file_;
  Descriptor descriptor_;
  bool is_regular_ = false;  ///< a device has no size
  std::size_t bytes_;        ///< what it has of whole tasks
};

}  // namespace hindsight::measure
