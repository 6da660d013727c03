/// A program with three memory faults, one an argument: each has to end it, not to go on.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

namespace {

/// Reads behind the end of a vector: what _GLIBCXX_ASSERTIONS checks.
int behind_the_end(const std::vector<int>& values, std::size_t index) { return values[index]; }

/// Fills memory beyond the size that it was asked for, known when it runs: what level 3 of _FORTIFY_SOURCE checks.
void beyond_the_allocation(std::size_t size) {
  char* memory = static_cast<char*>(std::malloc(size));
  std::memset(memory, 'x', size + 1);
  std::puts(memory[0] == 'x' ? "filled" : "empty");
  std::free(memory);
}

/// Writes behind an array on the stack: what -fstack-protector-strong sees when the function returns.
__attribute__((noinline)) void behind_the_array(std::size_t count) {
  char array[16];
  volatile char* to = array;
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = 'x';
  }
}

}  // namespace

int main(int argument_count, char** arguments) {
  const std::string_view fault = argument_count > 1 ? arguments[1] : "";
  const auto size = static_cast<std::size_t>(argument_count) * 10;  // 20, which the compiler does not know
  if (fault == "index") {
    return behind_the_end(std::vector<int>(size), size);
  }
  if (fault == "copy") {
    beyond_the_allocation(size);
  } else if (fault == "stack") {
    behind_the_array(size * 4);
  }
  std::puts("went on");
  return 0;
}
