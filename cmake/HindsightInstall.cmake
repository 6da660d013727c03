# `cmake --install`: the binary, the libraries with their headers, and the data that the binary looks for in
# ../share/hindsight beside itself.
include(GNUInstallDirs)

install(TARGETS hindsight RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
foreach(layer IN LISTS HINDSIGHT_LAYERS)
  install(TARGETS hindsight_${layer} ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endforeach()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/data" "${PROJECT_SOURCE_DIR}/configs" DESTINATION "${CMAKE_INSTALL_DATADIR}/hindsight")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/REFERENCES.md" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
