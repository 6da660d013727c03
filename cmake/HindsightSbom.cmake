# The target `sbom`: writes hindsight.spdx.json, the bill of materials of this build (SPDX 2.3), which is installed with the
# program. It names what configuring found and bundled, with versions; what those libraries need themselves is theirs to say.
# The same commit, options and libraries give the same bytes: its time is SOURCE_DATE_EPOCH, or else the commit's.
#
# Included: below. Run as a script at every build (`cmake -P`): writes the document, but only when it changes.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(HINDSIGHT_SBOM "${PROJECT_BINARY_DIR}/hindsight.spdx.json")
  set(components "")
  set(HINDSIGHT_SBOM_ABSENT "")  # what this build does not use: the test of the document does not look for it

  # hindsight_component(FOUND_AS VERSION LICENCE HOME RELATION [NAME]): FOUND_AS is the name that find_package or
  # find_library asks for; RELATION is SPDX's. NAME where people say another.
  macro(hindsight_component found_as version licence home relation)
    set(name "${found_as}")
    if(${ARGC} GREATER 5)
      set(name "${ARGV5}")
    endif()
    list(APPEND components "${found_as}|${name}|${version}|${licence}|${home}|${relation}")
  endmacro()

  # version_in(RESULT FILE REGEX): the first group of REGEX in FILE.
  function(version_in result file regex)
    set(text "")
    if(EXISTS "${file}")
      file(STRINGS "${file}" text REGEX "${regex}" LIMIT_COUNT 1)
    endif()
    string(REGEX REPLACE ".*${regex}.*" "\\1" text "${text}")
    set(${result} "${text}" PARENT_SCOPE)
  endfunction()
  version_in(httplib_version "${HINDSIGHT_HTTPLIB_INCLUDE_DIR}/httplib.h" "CPPHTTPLIB_VERSION \"([0-9.]+)\"")
  find_path(HINDSIGHT_SQLITE3_INCLUDE_DIR sqlite3.h)
  version_in(sqlite3_version "${HINDSIGHT_SQLITE3_INCLUDE_DIR}/sqlite3.h" "SQLITE_VERSION +\"([0-9.]+)\"")
  version_in(echarts_version "${PROJECT_SOURCE_DIR}/data/report/README.md" "Apache ECharts ([0-9.]+[0-9])")

  hindsight_component(fmt "${fmt_VERSION}" MIT https://fmt.dev DEPENDS_ON)
  hindsight_component(yaml-cpp "${yaml-cpp_VERSION}" MIT https://github.com/jbeder/yaml-cpp DEPENDS_ON)
  hindsight_component(CLI11 "${CLI11_VERSION}" BSD-3-Clause https://github.com/CLIUtils/CLI11 DEPENDS_ON)
  hindsight_component(SQLiteCpp "${SQLiteCpp_VERSION}" MIT https://github.com/SRombauts/SQLiteCpp DEPENDS_ON)
  hindsight_component(SQLite3 "${sqlite3_version}" blessing https://sqlite.org DEPENDS_ON SQLite)
  hindsight_component(PostgreSQL "${PostgreSQL_VERSION_STRING}" PostgreSQL https://www.postgresql.org DEPENDS_ON libpq)
  hindsight_component(nlohmann_json "${nlohmann_json_VERSION}" MIT https://json.nlohmann.me DEPENDS_ON)
  hindsight_component(OpenSSL "${OPENSSL_VERSION}" Apache-2.0 https://openssl-library.org DEPENDS_ON)
  hindsight_component(Boost "${Boost_VERSION_STRING}" BSL-1.0 https://www.boost.org DEPENDS_ON)
  hindsight_component(Eigen3 "${Eigen3_VERSION}" MPL-2.0 https://eigen.tuxfamily.org DEPENDS_ON Eigen)
  hindsight_component(ZLIB "${ZLIB_VERSION_STRING}" Zlib https://zlib.net DEPENDS_ON zlib)
  hindsight_component(cpp-httplib "${httplib_version}" MIT https://github.com/yhirose/cpp-httplib DEPENDS_ON)
  hindsight_component(echarts "${echarts_version}" "Apache-2.0 AND BSD-3-Clause" https://echarts.apache.org CONTAINS "Apache ECharts")
  # Opened at run time where it is installed; the number is that of its interface.
  hindsight_component(xgboost 0 Apache-2.0 https://xgboost.ai OPTIONAL_DEPENDENCY_OF XGBoost)
  if(TARGET hindsight_torch)
    get_directory_property(torch_version DIRECTORY "${PROJECT_SOURCE_DIR}/src/surrogate" DEFINITION Torch_VERSION)
    hindsight_component(Torch "${torch_version}" BSD-3-Clause https://pytorch.org DEPENDS_ON LibTorch)
  else()
    list(APPEND HINDSIGHT_SBOM_ABSENT Torch)
  endif()
  if(TARGET hindsight_torch AND HINDSIGHT_GLOO_INCLUDE AND HINDSIGHT_GLOO_LIBRARY)
    version_in(gloo_major "${HINDSIGHT_GLOO_INCLUDE}/gloo/config.h" "GLOO_VERSION_MAJOR ([0-9]+)")
    version_in(gloo_minor "${HINDSIGHT_GLOO_INCLUDE}/gloo/config.h" "GLOO_VERSION_MINOR ([0-9]+)")
    hindsight_component(gloo "${gloo_major}.${gloo_minor}" BSD-3-Clause https://github.com/facebookincubator/gloo DEPENDS_ON Gloo)
  else()
    list(APPEND HINDSIGHT_SBOM_ABSENT gloo)
  endif()
  if(HINDSIGHT_CUDA_FOUND)
    hindsight_component(CUDAToolkit "${CUDAToolkit_VERSION}" NOASSERTION https://developer.nvidia.com/cuda-toolkit DEPENDS_ON
                        "NVIDIA CUDA Toolkit")
  else()
    list(APPEND HINDSIGHT_SBOM_ABSENT CUDAToolkit)
  endif()
  if(HINDSIGHT_BUILD_TESTS)
    hindsight_component(GTest "${GTest_VERSION}" BSD-3-Clause https://github.com/google/googletest TEST_DEPENDENCY_OF GoogleTest)
  else()
    list(APPEND HINDSIGHT_SBOM_ABSENT GTest)
  endif()
  if(HINDSIGHT_BUILD_BENCH)
    hindsight_component(benchmark "${benchmark_VERSION}" Apache-2.0 https://github.com/google/benchmark DEV_DEPENDENCY_OF
                        "Google Benchmark")
  else()
    list(APPEND HINDSIGHT_SBOM_ABSENT benchmark)
  endif()
  hindsight_component(compiler "${CMAKE_CXX_COMPILER_VERSION}" NOASSERTION NOASSERTION BUILD_TOOL_OF "${CMAKE_CXX_COMPILER_ID}")

  string(REPLACE ";" "\n" lines "${components}")
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/sbom_components.txt" CONTENT "${lines}\n" @ONLY)
  set(HINDSIGHT_SBOM_COMMAND
      "${CMAKE_COMMAND}" "-DSOURCE_DIR=${PROJECT_SOURCE_DIR}" "-DVERSION=${PROJECT_VERSION}"
      "-DCOMPONENTS=${PROJECT_BINARY_DIR}/sbom_components.txt")
  set(HINDSIGHT_SBOM_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")
  add_custom_target(sbom COMMAND ${HINDSIGHT_SBOM_COMMAND} "-DOUTPUT=${HINDSIGHT_SBOM}" -P "${HINDSIGHT_SBOM_SCRIPT}"
                    BYPRODUCTS "${HINDSIGHT_SBOM}" COMMENT "Writing the bill of materials" VERBATIM)
  # Whoever builds the program has built all that is installed.
  add_dependencies(hindsight sbom)
  install(FILES "${HINDSIGHT_SBOM}" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT runtime)
  if(HINDSIGHT_BUILD_TESTS)
    add_subdirectory("${PROJECT_SOURCE_DIR}/tests/sbom" "${PROJECT_BINARY_DIR}/tests/sbom")
  endif()
  return()
endif()

include("${CMAKE_CURRENT_LIST_DIR}/HindsightCommit.cmake")
hindsight_commit("${SOURCE_DIR}" commit epoch)
if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
  set(ENV{SOURCE_DATE_EPOCH} "${epoch}")
endif()
string(TIMESTAMP created "%Y-%m-%dT%H:%M:%SZ" UTC)  # of SOURCE_DATE_EPOCH

set(packages "")
set(relations "")
# add_package(FOUND_AS NAME VERSION LICENCE HOME SUPPLIER MORE): MORE are further members, as JSON.
macro(add_package found_as name version licence home supplier more)
  if("${version}" STREQUAL "")
    set(version_info NOASSERTION)
  else()
    set(version_info "${version}")
  endif()
  string(APPEND packages "${separator}
    {
      \"SPDXID\": \"SPDXRef-${found_as}\",
      \"name\": \"${name}\",
      \"versionInfo\": \"${version_info}\",
      \"supplier\": \"${supplier}\",
      \"downloadLocation\": \"NOASSERTION\",
      \"homepage\": \"${home}\",
      \"filesAnalyzed\": false,
      \"licenseConcluded\": \"NOASSERTION\",
      \"licenseDeclared\": \"${licence}\",
      \"copyrightText\": \"NOASSERTION\"${more}
    }")
endmacro()
# add_relation(FROM TYPE TO)
macro(add_relation from type to)
  string(APPEND relations "${separator}
    {\"spdxElementId\": \"SPDXRef-${from}\", \"relationshipType\": \"${type}\", \"relatedSpdxElement\": \"SPDXRef-${to}\"}")
endmacro()

set(separator "")
add_package(hindsight hindsight "${VERSION}" Apache-2.0 NOASSERTION "Organization: The maintainers of Hindsight"
            ",\n      \"primaryPackagePurpose\": \"APPLICATION\",\n      \"sourceInfo\": \"commit ${commit}\"")
add_relation(DOCUMENT DESCRIBES hindsight)
set(separator ",")
file(STRINGS "${COMPONENTS}" components)
foreach(component IN LISTS components)
  string(REPLACE "|" ";" component "${component}")
  list(GET component 0 found_as)
  string(REPLACE "_" "-" found_as "${found_as}")  # SPDX's identifiers have no underscore
  list(GET component 1 name)
  list(GET component 2 version)
  list(GET component 3 licence)
  list(GET component 4 home)
  list(GET component 5 relation)
  set(more "")
  if(found_as STREQUAL "echarts")
    file(SHA256 "${SOURCE_DIR}/data/report/echarts.min.js" hash)
    set(more ",\n      \"checksums\": [{\"algorithm\": \"SHA256\", \"checksumValue\": \"${hash}\"}]")
  endif()
  add_package("${found_as}" "${name}" "${version}" "${licence}" "${home}" NOASSERTION "${more}")
  if(relation MATCHES "_OF$")
    add_relation("${found_as}" "${relation}" hindsight)
  else()
    add_relation(hindsight "${relation}" "${found_as}")
  endif()
endforeach()

string(SHA256 content "${commit}${created}${packages}${relations}")  # no two documents share a name
set(document "{
  \"spdxVersion\": \"SPDX-2.3\",
  \"dataLicense\": \"CC0-1.0\",
  \"SPDXID\": \"SPDXRef-DOCUMENT\",
  \"name\": \"hindsight-${VERSION}\",
  \"documentNamespace\": \"https://hindsight.example/spdx/hindsight-${VERSION}-${content}\",
  \"creationInfo\": {\"created\": \"${created}\", \"creators\": [\"Tool: hindsight-sbom-${VERSION}\"]},
  \"packages\": [${packages}
  ],
  \"relationships\": [${relations}
  ]
}
")
string(JSON checked ERROR_VARIABLE error GET "${document}" spdxVersion)
if(error)
  message(FATAL_ERROR "${OUTPUT}: is no JSON: ${error}. Which name or version of ${COMPONENTS} has a quote?")
endif()
set(before "")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" before)
endif()
if(NOT before STREQUAL document)
  file(WRITE "${OUTPUT}" "${document}")
endif()
