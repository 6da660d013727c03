# Precompiled headers: the standard library, fmt, GoogleTest and CLI11 are parsed once instead of in every source. They
# halve the time of a build. Sources still include what they use: with HINDSIGHT_PRECOMPILED=OFF (the preset `tidy`)
# they are compiled without.
option(HINDSIGHT_PRECOMPILED "Precompile the headers that most sources include" ON)
if(HINDSIGHT_PRECOMPILED AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13
   AND CMAKE_BUILD_TYPE STREQUAL "Debug")
  # Behind a precompiled header GCC 12 takes xmmintrin.h for optimised at -O0: Eigen's prefetching does not compile.
  set(HINDSIGHT_PRECOMPILED OFF)
  message(STATUS "Headers are not precompiled: GCC ${CMAKE_CXX_COMPILER_VERSION} cannot in a Debug build")
endif()
if(HINDSIGHT_PRECOMPILED AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 forgets in a precompiled header that std::string is a system's, and reports impossible lengths in it.
  target_compile_options(
    hindsight_warnings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>")
endif()

set(HINDSIGHT_STANDARD_HEADERS
    <algorithm> <array> <cmath> <cstdint> <filesystem> <functional> <limits> <map> <memory> <numeric> <optional> <set>
    <span> <string> <string_view> <tuple> <utility> <vector>)

# The layers from dataset on compute with Eigen and share a precompiled header with it, the others one without. Those
# with compiler options or macros of their own have one of their own.
set(HINDSIGHT_LAYERS_WITH_EIGEN dataset surrogate optimize study check report)
set(HINDSIGHT_LAYERS_COMPILED_OTHERWISE accel gpu evaluator report)

# hindsight_precompile(TARGET FIRST header...): TARGET uses the precompiled header of FIRST, which it becomes itself
# where FIRST has none yet. Targets of one FIRST are compiled with the same options.
function(hindsight_precompile target first)
  if(NOT HINDSIGHT_PRECOMPILED)
    return()
  endif()
  if(target STREQUAL first)
    target_precompile_headers(${target} PRIVATE ${ARGN} ${HINDSIGHT_STANDARD_HEADERS})
  else()
    target_precompile_headers(${target} REUSE_FROM ${first})
  endif()
endfunction()
