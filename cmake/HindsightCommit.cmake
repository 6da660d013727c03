# hindsight_commit(SOURCE_DIR COMMIT EPOCH): the checked-out commit of SOURCE_DIR ("-dirty" with changes), and its time in
# seconds; "unknown" and 0 outside a git checkout of its own.

# git must see the repository of this source tree only, not one that happens to enclose it, and must not
# take its index lock while somebody else works in it.
function(run_git source_dir result)
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -E env --unset=GIT_DIR --unset=GIT_WORK_TREE --unset=GIT_INDEX_FILE git --no-optional-locks -C
            "${source_dir}" ${ARGN}
    OUTPUT_VARIABLE output
    RESULT_VARIABLE status
    ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT status EQUAL 0)
    set(output "git-failed")
  endif()
  set(${result} "${output}" PARENT_SCOPE)
endfunction()

function(hindsight_commit source_dir commit_result epoch_result)
  set(${commit_result} "unknown" PARENT_SCOPE)
  set(${epoch_result} 0 PARENT_SCOPE)
  file(REAL_PATH "${source_dir}" source_dir)
  run_git("${source_dir}" top rev-parse --show-toplevel)
  if(NOT top STREQUAL source_dir)
    return()
  endif()
  run_git("${source_dir}" commit rev-parse HEAD)
  if(commit MATCHES "^[0-9a-f]+$")
    run_git("${source_dir}" changes status --porcelain --untracked-files=no)
    if(NOT changes STREQUAL "")
      string(APPEND commit "-dirty")
    endif()
    run_git("${source_dir}" epoch log -1 --format=%ct)
    set(${commit_result} "${commit}" PARENT_SCOPE)
    set(${epoch_result} "${epoch}" PARENT_SCOPE)
  endif()
endfunction()
