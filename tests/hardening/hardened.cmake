# Reads what was built and fails for every protection that it lacks:
#   cmake -DREADELF=readelf -DFILES=A;B -DKIND=program|module|archive -P hardened.cmake
# An archive holds nothing but code of ours: a library of somebody else's in a program could hide what ours lacks.
set(missing "")

# read_elf(RESULT option...): what readelf says of `file`.
function(read_elf result)
  execute_process(COMMAND "${READELF}" ${ARGN} "${file}" OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
  set(${result} "${output}" PARENT_SCOPE)
endfunction()

# require(REGEX IN MESSAGE): notes MESSAGE where the text IN has no REGEX.
macro(require regex in message)
  if(NOT "${${in}}" MATCHES "${regex}")
    string(APPEND missing "${file}: ${message}\n")
  endif()
endmacro()

foreach(file IN LISTS FILES)
  if(NOT KIND STREQUAL "archive")
    read_elf(headers -hlW)
    read_elf(dynamic -dW)
    require("Type: +DYN " headers "is linked to a fixed address (no PIE). Link it with -pie")
    if(KIND STREQUAL "program")
      require("FLAGS_1[^\n]* PIE" dynamic "is no position-independent program. Link it with -pie")
    endif()
    require("GNU_RELRO" headers "has no RELRO. Link it with -Wl,-z,relro")
    require("FLAGS_1[^\n]* NOW" dynamic "resolves functions late, so that its table stays writable (no BIND_NOW). Link it with -Wl,-z,now")
    require("GNU_STACK +[0x0-9a-f ]+ RW +0x" headers "has an executable stack. Link it with -Wl,-z,noexecstack")
  endif()
  read_elf(symbols -sW)
  require(" UND __stack_chk_fail" symbols "has no stack protector. Compile it with -fstack-protector-strong")
  require(" UND [^\n]*glibcxx_assert_fail" symbols "does not check indices of the standard library. Compile it with -D_GLIBCXX_ASSERTIONS")
  if(KIND STREQUAL "program" OR file MATCHES "_(core|accel|log)\\.a$")  # others copy nothing of unclear size: fortified.cmake
    require(" UND __[a-z]+_chk[@ \n]" symbols "does not check the sizes of copies. Compile it with -D_FORTIFY_SOURCE=3")
  endif()
endforeach()
if(missing)
  message("${missing}")  # as it is: an error's text would be wrapped
  message(FATAL_ERROR "The files above lack protections of cmake/HindsightHardening.cmake.")
endif()
