# One static library per folder of src/. A layer may use only the layers to its left (checked by the
# `layering` test from the include graph); third-party libraries are PRIVATE to their layer.
set(HINDSIGHT_LAYERS core space workload accel gpu measure log sweep dataset surrogate optimize check report)

# hindsight_layer(NAME [USES layer...] [PRIVATE target...])
function(hindsight_layer name)
  cmake_parse_arguments(arg "" "" "USES;PRIVATE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  add_library(hindsight_${name} STATIC ${sources})
  add_library(hindsight::${name} ALIAS hindsight_${name})
  target_include_directories(hindsight_${name} PUBLIC "${PROJECT_SOURCE_DIR}/include" PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_compile_features(hindsight_${name} PUBLIC cxx_std_20)
  foreach(layer IN LISTS arg_USES)
    target_link_libraries(hindsight_${name} PUBLIC hindsight::${layer})
  endforeach()
  target_link_libraries(hindsight_${name} PRIVATE hindsight_warnings ${arg_PRIVATE})
  hindsight_precompile(hindsight_${name} hindsight_${name} <fmt/format.h>)
endfunction()
