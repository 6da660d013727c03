# Options, warnings and optimisation flags shared by every target.
option(HINDSIGHT_BUILD_TESTS "Build the tests" ON)
option(HINDSIGHT_BUILD_BENCH "Build the benchmarks" OFF)
option(HINDSIGHT_WERROR "Treat warnings as errors" OFF)
set(HINDSIGHT_COVERAGE OFF CACHE STRING "Counters of lines and branches: OFF, ON, or READERS (of bytes from outside alone)")
set_property(CACHE HINDSIGHT_COVERAGE PROPERTY STRINGS OFF ON READERS)
option(HINDSIGHT_FUZZ "Build the fuzzers of what is read from outside (clang alone)" OFF)
set(HINDSIGHT_SANITIZE "" CACHE STRING "Sanitizers: address,undefined or thread; empty for none")
set_property(CACHE HINDSIGHT_SANITIZE PROPERTY STRINGS "" "address,undefined" "thread")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# Of the build: libraries that the program opens while it runs. In a prefix: what find_package(Hindsight) reads.
set(HINDSIGHT_RUNTIME_LIBRARY_DIR "${PROJECT_BINARY_DIR}/lib/hindsight")
set(HINDSIGHT_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/Hindsight")

# -Wno-sign-conversion: indices are int where a library says so and size_t elsewhere; -Wconversion still
# reports every narrowing that loses a value. nvcc takes none of these.
add_library(hindsight_warnings INTERFACE)
target_compile_options(
  hindsight_warnings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wconversion;-Wshadow;-Wno-sign-conversion>")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 reports an overlap inside std::string for `"text" + std::string(...)` at -O2 and above (GCC bug 105651).
  target_compile_options(hindsight_warnings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>")
endif()
if(HINDSIGHT_WERROR)
  target_compile_options(hindsight_warnings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-Werror>")
endif()

# hindsight_build_quickly(TARGET LEVEL): what TARGET itself does is little (tests, tables, verbs), its build is most of its
# cost. LEVEL: its optimisation in a release build, -O1 or -O0.
function(hindsight_build_quickly target level)
  if(HINDSIGHT_FUZZ)
    return()  # an input runs through it some million times
  elseif(HINDSIGHT_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  else()
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${level}>)
    if(HINDSIGHT_HARDENED AND level STREQUAL "-O0")
      target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-U_FORTIFY_SOURCE>)  # glibc: not without optimisation
    endif()
  endif()
endfunction()

# Sources of a target compiled together share what they include and instantiate: a build from nothing takes a third less,
# one after a change more. Scripts that build once switch it on.
option(HINDSIGHT_UNITY "Compile several sources at a time" OFF)
if(HINDSIGHT_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC takes a source that another one includes for a header, where names of unnamed namespaces do not belong.
  target_compile_options(hindsight_warnings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>")
endif()

# hindsight_build_together(TARGET COUNT): so many sources of TARGET at a time, with HINDSIGHT_UNITY.
function(hindsight_build_together target count)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${HINDSIGHT_UNITY} UNITY_BUILD_BATCH_SIZE ${count})
endfunction()

if(HINDSIGHT_SANITIZE)
  # A sanitizer that only prints would leave the test green. Higher optimisation doubles the time of the build.
  add_compile_options(-O1 -g1 -fsanitize=${HINDSIGHT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${HINDSIGHT_SANITIZE})
  # Instrumentation hides initialisations from GCC's flow analysis (std::regex, std::optional); other builds keep it.
  target_compile_options(hindsight_warnings INTERFACE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>")
endif()

# Atomic counters: the thread pool would otherwise make counts negative and the report fail.
set(HINDSIGHT_COUNTERS --coverage -fprofile-update=atomic -fno-inline)
if(HINDSIGHT_COVERAGE)
  add_link_options(--coverage)
endif()
if(HINDSIGHT_COVERAGE STREQUAL "READERS")
  file(STRINGS "${PROJECT_SOURCE_DIR}/tests/fuzz/reader_sources.txt" HINDSIGHT_READERS REGEX "^[^#]")
  list(TRANSFORM HINDSIGHT_READERS PREPEND "${PROJECT_SOURCE_DIR}/")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/fuzz/reader_sources.txt")
elseif(HINDSIGHT_COVERAGE)
  add_compile_options(${HINDSIGHT_COUNTERS})
endif()
# hindsight_count_readers(TARGET): those of its sources that read bytes from outside count their lines, where asked for.
# All else stays optimised, so that the tests take no longer than without.
function(hindsight_count_readers target)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    if(source IN_LIST HINDSIGHT_READERS)
      set_source_files_properties("${source}" PROPERTIES COMPILE_OPTIONS "-O0;${HINDSIGHT_COUNTERS}"
                                                         SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endfunction()
if(HINDSIGHT_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "HINDSIGHT_FUZZ needs clang's libFuzzer (apt-get install clang; cmake --preset fuzz)")
  endif()
  # Checks of indices as in what a user runs (cmake/HindsightHardening.cmake). The default of clang 14 also prepares every
  # function for a check that is switched on when a program starts, which scripts/fuzz.sh does not.
  add_compile_options(-D_GLIBCXX_ASSERTIONS -fsanitize-address-use-after-return=never)
endif()
# hindsight_guide_fuzzer(TARGET [LEVEL]): what TARGET does with an input guides the fuzzer, and is what its executions cost:
# optimised at LEVEL (-O2), where abstractions cost nothing.
function(hindsight_guide_fuzzer target)
  if(HINDSIGHT_FUZZ)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link ${ARGV1})
  endif()
endfunction()
# hindsight_spare_fuzzer(TARGET): readers do not call it. The fuzzer looks at every counter after every execution, so it has
# none; all else is as where there are some, and precompiled headers are shared.
set(HINDSIGHT_NO_GUIDE -fno-sanitize-coverage=edge,inline-8bit-counters,pc-table,trace-cmp,indirect-calls,stack-depth)
function(hindsight_spare_fuzzer target)
  if(HINDSIGHT_FUZZ)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link ${HINDSIGHT_NO_GUIDE})
  endif()
endfunction()
