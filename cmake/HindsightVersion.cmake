# Build facts (version, commit, compiler) compiled into one source file.
#
# Included: defines hindsight_build_info(TARGET), which adds a generated build_info.cpp to TARGET.
# Run as a script at every build (`cmake -P`): writes that file, but only when its content changes, so an
# unchanged commit rebuilds nothing. Outside a git checkout of its own the commit is "unknown".
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(HINDSIGHT_VERSION_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")

  # Optional parts announce themselves: set_property(TARGET hindsight_core APPEND PROPERTY HINDSIGHT_FEATURES cuda)
  function(hindsight_build_info target)
    set(output "${CMAKE_CURRENT_BINARY_DIR}/build_info.cpp")
    if(HINDSIGHT_SANITIZE)
      set_property(TARGET ${target} APPEND PROPERTY HINDSIGHT_FEATURES "sanitizers")
    endif()
    add_custom_target(
      ${target}_build_info
      COMMAND
        "${CMAKE_COMMAND}" "-DHINDSIGHT_SOURCE_DIR=${PROJECT_SOURCE_DIR}" "-DHINDSIGHT_OUTPUT=${output}"
        "-DHINDSIGHT_VERSION=${PROJECT_VERSION}" "-DHINDSIGHT_COMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
        "-DHINDSIGHT_BUILD_TYPE=$<CONFIG>" "-DHINDSIGHT_FEATURES=$<JOIN:$<TARGET_PROPERTY:${target},HINDSIGHT_FEATURES>,|>" -P
        "${HINDSIGHT_VERSION_SCRIPT}"
      BYPRODUCTS "${output}"
      COMMENT "Recording version and commit"
      VERBATIM)
    target_sources(${target} PRIVATE "${output}")
    add_dependencies(${target} ${target}_build_info)
  endfunction()
  return()
endif()

include("${CMAKE_CURRENT_LIST_DIR}/HindsightCommit.cmake")
hindsight_commit("${HINDSIGHT_SOURCE_DIR}" HINDSIGHT_COMMIT commit_epoch)

set(HINDSIGHT_FEATURE_INITIALISERS "")
if(NOT HINDSIGHT_FEATURES STREQUAL "")
  string(REPLACE "|" "\", \"" HINDSIGHT_FEATURE_INITIALISERS "\"${HINDSIGHT_FEATURES}\"")
endif()
# configure_file leaves an unchanged output alone.
configure_file("${CMAKE_CURRENT_LIST_DIR}/build_info.cpp.in" "${HINDSIGHT_OUTPUT}" @ONLY)
