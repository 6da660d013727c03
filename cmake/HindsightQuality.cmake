# Targets that judge or tidy the source: format-fix, format-check, tidy, cppcheck, coverage-report. A target
# exists only where its program is installed; none is part of the default build.
file(GLOB_RECURSE hindsight_sources CONFIGURE_DEPENDS
     "${PROJECT_SOURCE_DIR}/include/*.h" "${PROJECT_SOURCE_DIR}/src/*.h" "${PROJECT_SOURCE_DIR}/src/*.cpp"
     "${PROJECT_SOURCE_DIR}/src/*.cu" "${PROJECT_SOURCE_DIR}/src/*.cuh"
     "${PROJECT_SOURCE_DIR}/apps/*.h" "${PROJECT_SOURCE_DIR}/apps/*.cpp"
     "${PROJECT_SOURCE_DIR}/tests/*.h" "${PROJECT_SOURCE_DIR}/tests/*.cpp"
     "${PROJECT_SOURCE_DIR}/bench/*.h" "${PROJECT_SOURCE_DIR}/bench/*.cpp")

# The version that Debian 12 ships: other versions format differently and know other checks.
find_program(HINDSIGHT_CLANG_FORMAT NAMES clang-format-14 clang-format)
if(HINDSIGHT_CLANG_FORMAT)
  add_custom_target(format-fix COMMAND "${HINDSIGHT_CLANG_FORMAT}" -i ${hindsight_sources}
                    COMMENT "Formatting all sources" VERBATIM)
  add_custom_target(format-check COMMAND "${HINDSIGHT_CLANG_FORMAT}" --dry-run --Werror ${hindsight_sources}
                    COMMENT "Checking the format of all sources" VERBATIM)
endif()

# Every translation unit of the product; headers are judged where they are included (HeaderFilterRegex).
set(tidy_sources ${hindsight_sources})
list(FILTER tidy_sources INCLUDE REGEX "/(src|apps)/.*\\.cpp$")
if(NOT TARGET hindsight_torch)
  list(FILTER tidy_sources EXCLUDE REGEX "/surrogate/torch/")  # has no compile command without LibTorch
endif()
# Of the CUDA part, too, only one of two variants has compile commands.
if(HINDSIGHT_CUDA_FOUND)
  list(FILTER tidy_sources EXCLUDE REGEX "\\.nocuda\\.cpp$")
else()
  list(FILTER tidy_sources EXCLUDE REGEX "/measure/cuda/[a-z_]+\\.cpp$")
endif()
find_program(HINDSIGHT_CLANG_TIDY NAMES clang-tidy-14 clang-tidy)
if(HINDSIGHT_CLANG_TIDY AND tidy_sources)
  list(JOIN tidy_sources "\n" tidy_list)
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/tidy_sources.txt" CONTENT "${tidy_list}\n" @ONLY)
  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  add_custom_target(tidy COMMAND xargs --arg-file=${PROJECT_BINARY_DIR}/tidy_sources.txt --delimiter=\\n
                                 --max-args=1 --max-procs=${cores}
                                 "${HINDSIGHT_CLANG_TIDY}" --quiet -p "${PROJECT_BINARY_DIR}"
                    COMMENT "Running clang-tidy on src/ and apps/" VERBATIM)
endif()

find_program(HINDSIGHT_CPPCHECK cppcheck)
if(HINDSIGHT_CPPCHECK)
  add_custom_target(cppcheck COMMAND "${HINDSIGHT_CPPCHECK}" --quiet --std=c++20 --enable=warning,performance,portability
                                     --inline-suppr --error-exitcode=1 --suppress=missingIncludeSystem
                                     -I "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src"
                                     "${PROJECT_SOURCE_DIR}/apps"
                    COMMENT "Running cppcheck on src/ and apps/" VERBATIM)
endif()

if(HINDSIGHT_COVERAGE)
  find_program(HINDSIGHT_GCOVR gcovr)
  if(HINDSIGHT_GCOVR)
    add_custom_target(coverage-report
                      COMMAND "${HINDSIGHT_GCOVR}" --root "${PROJECT_SOURCE_DIR}" --filter "${PROJECT_SOURCE_DIR}/src/"
                              --filter "${PROJECT_SOURCE_DIR}/include/" --html-details coverage.html --txt
                      COMMENT "Coverage of src/ and include/ by the tests that have run" VERBATIM)
  endif()
endif()
