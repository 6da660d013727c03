/// Memory that runs out: the C library's allocators, and the program's `main`, before which nothing fails.
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

#include "state.h"

extern "C" {

void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* block, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);

using hindsight::fault::call_malloc;
using hindsight::fault::fails;

void* malloc(size_t bytes) noexcept { return fails(call_malloc) ? nullptr : __libc_malloc(bytes); }

void* calloc(size_t count, size_t bytes) noexcept { return fails(call_malloc) ? nullptr : __libc_calloc(count, bytes); }

void* realloc(void* block, size_t bytes) noexcept {
  return fails(call_malloc) ? nullptr : __libc_realloc(block, bytes);
}

void* aligned_alloc(size_t alignment, size_t bytes) noexcept {
  return fails(call_malloc) ? nullptr : __libc_memalign(alignment, bytes);
}

int posix_memalign(void** block, size_t alignment, size_t bytes) noexcept {
  if (fails(call_malloc)) return ENOMEM;
  *block = __libc_memalign(alignment, bytes);
  return *block == nullptr ? ENOMEM : 0;
}

namespace {

using Main = int (*)(int, char**, char**);
Main program_main = nullptr;

int armed_main(int count, char** words, char** environment) {
  hindsight::fault::arm();
  return program_main(count, words, environment);
}

}  // namespace

int __libc_start_main(Main main, int count, char** words, void (*init)(), void (*fini)(), void (*rtld_fini)(),
                      void* stack_end) {
  using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  program_main = main;
  const auto next = reinterpret_cast<Start>(::dlsym(RTLD_NEXT, "__libc_start_main"));
  return next(armed_main, count, words, init, fini, rtld_fini, stack_end);
}

}  // extern "C"
