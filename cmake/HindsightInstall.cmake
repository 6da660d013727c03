# `cmake --install`: the component `runtime` (programs, the library that trains, data, documents) and the component
# `development` (headers, static libraries, what find_package(Hindsight) reads, examples).
include(CMakePackageConfigHelpers)

# Whoever builds the program has built all that is installed.
add_dependencies(hindsight hindsight-measure)
set(installed_libraries hindsight_measure_plain hindsight_measure_run)
if(TARGET hindsight_measure_device_graph)
  list(APPEND installed_libraries hindsight_measure_device_graph)
endif()
# All layers in one target, for those who do not choose.
add_library(hindsight_library INTERFACE)
set_target_properties(hindsight_library PROPERTIES EXPORT_NAME hindsight)
foreach(layer IN LISTS HINDSIGHT_LAYERS)
  add_dependencies(hindsight hindsight_${layer})
  target_link_libraries(hindsight_library INTERFACE hindsight_${layer})
  list(APPEND installed_libraries hindsight_${layer})
endforeach()

install(TARGETS hindsight RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT runtime)
# Man pages and completions: what the program prints from its own table of options.
set(pages "${PROJECT_BINARY_DIR}/pages")
install(DIRECTORY "${pages}/man1" DESTINATION "${CMAKE_INSTALL_MANDIR}" COMPONENT runtime)
install(FILES "${pages}/bash/hindsight" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions"
        COMPONENT runtime)
install(FILES "${pages}/zsh/_hindsight" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" COMPONENT runtime)
install(FILES "${pages}/fish/hindsight.fish" DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d"
        COMPONENT runtime)
if(TARGET hindsight_torch)
  install(TARGETS hindsight_torch LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/hindsight" COMPONENT runtime)
endif()
# docs/ for `hindsight help`; once more below, where people look.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/configs" "${PROJECT_SOURCE_DIR}/data" "${PROJECT_SOURCE_DIR}/models"
                  "${PROJECT_SOURCE_DIR}/docs"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/hindsight" COMPONENT runtime)
install(FILES README.md CHANGELOG.md REFERENCES.md LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT runtime)
install(DIRECTORY docs DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT runtime)

install(TARGETS hindsight_library ${installed_libraries} EXPORT HindsightTargets
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development
        INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(DIRECTORY include/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development FILES_MATCHING PATTERN "*.h")
install(DIRECTORY examples DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT development)
install(EXPORT HindsightTargets NAMESPACE Hindsight:: DESTINATION "${HINDSIGHT_CMAKE_DIR}" COMPONENT development)
configure_package_config_file(cmake/HindsightConfig.cmake.in "${PROJECT_BINARY_DIR}/HindsightConfig.cmake"
                              INSTALL_DESTINATION "${HINDSIGHT_CMAKE_DIR}")
# Below 1.0 every second number may break what was.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/HindsightConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/HindsightConfig.cmake" "${PROJECT_BINARY_DIR}/HindsightConfigVersion.cmake"
              cmake/installed_here.cpp
        DESTINATION "${HINDSIGHT_CMAKE_DIR}" COMPONENT development)
