# `cpack`: a .tar.gz of everything, and two Debian packages, `hindsight` and `hindsight-dev` (the library).
# scripts/package.sh makes all three.
set(CPACK_PACKAGE_NAME hindsight)
set(CPACK_PACKAGE_VENDOR "The maintainers of Hindsight")
set(CPACK_PACKAGE_CONTACT "The maintainers of Hindsight <maintainers@hindsight.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_GENERATOR TGZ DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_COMPONENTS_ALL runtime development)

# The archive goes anywhere: programs find their data beside themselves.
set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME hindsight)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
if(TARGET hindsight_torch)
  # LibTorch takes any BLAS; with another one training is sixteen times slower (scripts/packages.sh).
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS libopenblas0-pthread)
endif()
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME hindsight-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
# What HindsightConfig.cmake looks for.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "hindsight (= ${PROJECT_VERSION}), libeigen3-dev, libfmt-dev, libpq-dev, libsqlite3-dev, libsqlitecpp-dev, libssl-dev, libyaml-cpp-dev, zlib1g-dev")
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "The programs hindsight and hindsight-measure, their data and documents")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Headers, static libraries, CMake package and examples of the library")
include(CPack)
