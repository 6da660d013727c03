# One static library per folder of src/. A layer may use only the layers to its left (checked by the
# `layering` test from the include graph); third-party libraries are PRIVATE to their layer.
set(HINDSIGHT_LAYERS core space workload accel gpu measure log evaluator sweep dataset surrogate optimize study
                     check report)

# No bytes from outside reach it before another layer has read them.
set(HINDSIGHT_LAYERS_WITHOUT_READERS optimize)

# Private to a layer, these are no library that those who link the installed layer need.
set(HINDSIGHT_HEADER_ONLY Boost::headers Eigen3::Eigen nlohmann_json::nlohmann_json)

# hindsight_layer(NAME [USES layer...] [PRIVATE target...])
function(hindsight_layer name)
  cmake_parse_arguments(arg "" "" "USES;PRIVATE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  add_library(hindsight_${name} STATIC ${sources})
  add_library(hindsight::${name} ALIAS hindsight_${name})
  set_target_properties(hindsight_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(hindsight_${name} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
                                               PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_compile_features(hindsight_${name} PUBLIC cxx_std_20)
  foreach(layer IN LISTS arg_USES)
    target_link_libraries(hindsight_${name} PUBLIC hindsight::${layer})
  endforeach()
  target_link_libraries(hindsight_${name} PRIVATE $<BUILD_INTERFACE:hindsight_warnings>)
  foreach(library IN LISTS arg_PRIVATE)
    if(library IN_LIST HINDSIGHT_HEADER_ONLY)
      set(library "$<BUILD_INTERFACE:${library}>")
    endif()
    target_link_libraries(hindsight_${name} PRIVATE ${library})
  endforeach()
  set(precompiled core)
  set(headers <fmt/format.h>)
  if(name IN_LIST HINDSIGHT_LAYERS_WITH_EIGEN)
    set(precompiled dataset)
    list(APPEND headers <Eigen/Dense>)
  endif()
  if(name IN_LIST HINDSIGHT_LAYERS_COMPILED_OTHERWISE)
    set(precompiled ${name})
  endif()
  hindsight_build_together(hindsight_${name} 6)
  hindsight_count_readers(hindsight_${name})
  if(name IN_LIST HINDSIGHT_LAYERS_WITHOUT_READERS)
    hindsight_spare_fuzzer(hindsight_${name})
  else()
    hindsight_guide_fuzzer(hindsight_${name} -O2)
  endif()
  hindsight_precompile(hindsight_${name} hindsight_${precompiled} ${headers})
endfunction()
