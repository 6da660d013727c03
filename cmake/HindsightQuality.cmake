# Targets that judge or tidy the source: format-fix, format-check, tidy (by scripts/check.sh), cppcheck, coverage-report,
# reader-coverage.
# None is part of the default build.
set(check_script "${PROJECT_SOURCE_DIR}/scripts/check.sh")
add_custom_target(format-fix COMMAND "${check_script}" --fix format COMMENT "Formatting all sources" VERBATIM)
add_custom_target(format-check COMMAND "${check_script}" format COMMENT "Checking the format of all sources" VERBATIM)
add_custom_target(tidy COMMAND "${check_script}" --all tidy COMMENT "Running clang-tidy on src/ and apps/" VERBATIM)

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
    # What reads bytes from outside, with a bound (docs/fuzzing.md).
    file(STRINGS "${PROJECT_SOURCE_DIR}/tests/fuzz/reader_sources.txt" readers REGEX "^[^#]")
    list(TRANSFORM readers REPLACE "(.+)" "--filter=${PROJECT_SOURCE_DIR}/\\1$")
    add_custom_target(reader-coverage
                      COMMAND "${HINDSIGHT_GCOVR}" --root "${PROJECT_SOURCE_DIR}" --object-directory
                              "${PROJECT_BINARY_DIR}" ${readers} --txt --fail-under-line 95
                      COMMENT "Lines of the readers that the tests that have run reach" USES_TERMINAL VERBATIM)
  endif()
endif()
