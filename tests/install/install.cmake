# Installs BUILD_DIR into an empty PREFIX and empties WORK_DIR: cmake -DBUILD_DIR=.. -DPREFIX=.. -DWORK_DIR=.. -P this
file(REMOVE_RECURSE "${PREFIX}" "${WORK_DIR}")
file(MAKE_DIRECTORY "${WORK_DIR}")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${PREFIX}" OUTPUT_QUIET
                COMMAND_ERROR_IS_FATAL ANY)
