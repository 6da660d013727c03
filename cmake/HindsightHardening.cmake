# What turns a memory fault into an end of the program, in builds that a user runs: checked indices of the standard library,
# checked sizes of copies, canaries on the stack, an address that is nobody's to know, tables of the linker that nothing
# writes to. docs/reliability.md has what it costs; tests/hardening judges the programs that came out.
#
# Sanitizers and coverage have checks of their own; code for a GPU is left alone.
option(HINDSIGHT_HARDENING "Harden programs against memory faults (not with sanitizers or coverage)" ON)
set(HINDSIGHT_HARDENED FALSE)
if(NOT HINDSIGHT_HARDENING OR HINDSIGHT_SANITIZE OR HINDSIGHT_COVERAGE)
  return()
endif()
set(HINDSIGHT_HARDENED TRUE)

# Executables are linked with -pie (CMAKE_POSITION_INDEPENDENT_CODE is on), whatever the compiler's default is.
include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX OUTPUT_VARIABLE pie_output)
if(NOT CMAKE_CXX_LINK_PIE_SUPPORTED)
  message(STATUS "Hardening: programs are not position independent: ${pie_output}")
endif()

add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fstack-protector-strong>")
# Clang 14 has it for x86-64 alone.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" OR CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fstack-clash-protection>")
endif()
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-D_GLIBCXX_ASSERTIONS>")
# It needs optimisation; a distribution's compiler may have it at another level.
add_compile_options(
  "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<CONFIG:Debug>>>:SHELL:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3>")
foreach(keyword relro now noexecstack)
  add_link_options("$<HOST_LINK:LINKER:-z$<COMMA>${keyword}>")
endforeach()
