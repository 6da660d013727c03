#!/usr/bin/env bash
# Installs what is missing, builds everything with warnings as errors, and runs all tests, or runs them under sanitizers.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/test.sh [--no-install] [--sanitize | --valgrind | --coverage | --browser]

Runs every test from a fresh Debian 12 on, in three steps:
  1. installs the missing Debian packages with apt-get (through sudo when not root);
     when none is missing neither apt-get nor sudo is called
  2. builds program and tests in build/test: optimised, contracts on, warnings are errors
  3. runs the tests with ctest; the exit status is ctest's

Safe to run again: only what changed is built.

  --sanitize     instead: every test under AddressSanitizer and UndefinedBehaviorSanitizer in build/asan, then those
                 of what runs in several threads under ThreadSanitizer in build/tsan
  --valgrind     instead: the readers of bytes from outside, on their seeds and changes of them, under valgrind's
                 memcheck: reads of memory that was never written, which the sanitizers do not see
  --coverage     instead: the tests of what reads bytes from outside and of all that it stands on, in
                 build/reader-coverage; prints which lines of tests/fuzz/reader_sources.txt they reach, and which not.
                 Exit code 2: fewer than 95 %
  --browser      instead: builds the program, makes a report and opens it in headless Chromium; says that it skips
                 where Chromium is not installed
  --no-install   skip step 1 (packages come from elsewhere)
  --help         this text

Environment:
  JOBS           parallel compile jobs and tests (default: number of processors; 2 tests)
  BUILD_DIR      build folder without --sanitize, absolute or relative to the repository (default: build/test)
TEXT
}

install=yes
sanitize=no
valgrind=no
coverage=no
browser=no
for argument in "$@"; do
  case $argument in
    --no-install) install=no ;;
    --sanitize) sanitize=yes ;;
    --valgrind) valgrind=yes ;;
    --coverage) coverage=yes ;;
    --browser) browser=yes ;;
    -h | --help) usage; exit 0 ;;
    *) echo "test.sh: unknown argument '$argument'. See --help" >&2; exit 2 ;;
  esac
done

cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/packages.sh
. scripts/packages.sh
build_dir=${BUILD_DIR:-build/test}

echo "== 1/3 Packages"
if [ "$install" = yes ]; then
  install_packages "${build_packages[@]}" "${training_packages[@]}" "${test_packages[@]}"
else
  echo "Skipped (--no-install)."
fi

if [ "$sanitize" = yes ]; then
  jobs=(--parallel "${JOBS:-$(nproc)}")
  echo "== 2/3 Every test under AddressSanitizer and UndefinedBehaviorSanitizer in build/asan"
  cmake --preset asan
  cmake --build --preset asan "${jobs[@]}"
  status=0
  ctest --preset asan --parallel "${JOBS:-2}" || status=$?

  echo "== 3/3 Tests of what runs in several threads under ThreadSanitizer in build/tsan"
  cmake --preset tsan
  cmake --build --preset tsan "${jobs[@]}" --target core_tests log_tests evaluator_tests sweep_tests \
    optimize_tests
  ctest --preset tsan --parallel "${JOBS:-2}" -R '^(core|log|evaluator|sweep)\.|^optimize\..*Threads' || status=$?
  exit "$status"
fi

if [ "$valgrind" = yes ]; then
  command -v valgrind > /dev/null || { echo "test.sh: valgrind is missing. apt-get install valgrind" >&2; exit 1; }
  echo "== 2/3 Build of the readers in $build_dir"
  cmake -S . -B "$build_dir" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHINDSIGHT_BUILD_TESTS=ON -DHINDSIGHT_WERROR=ON
  cmake --build "$build_dir" --parallel "${JOBS:-$(nproc)}" --target fuzz_tests
  echo "== 3/3 Every reader under memcheck"
  exec valgrind --quiet --error-exitcode=99 --errors-for-leak-kinds=definite --leak-check=full --num-callers=30 \
    "$build_dir/tests/fuzz/fuzz_tests" --gtest_brief=1
fi

if [ "$coverage" = yes ]; then
  command -v gcovr > /dev/null || { echo "test.sh: gcovr is missing. apt-get install gcovr" >&2; exit 1; }
  echo "== 2/3 Build of the tests, the readers with counters of lines, in build/reader-coverage"
  cmake --preset reader-coverage
  layers=(core space workload accel gpu measure log evaluator dataset surrogate apps fuzz)
  cmake --build --preset reader-coverage --parallel "${JOBS:-$(nproc)}" --target "${layers[@]/%/_tests}"
  echo "== 3/3 Tests, and the lines that they reach"
  find build/reader-coverage -name '*.gcda' -delete
  status=0
  ctest --preset reader-coverage --parallel "${JOBS:-2}" -R "^($(IFS='|' && echo "${layers[*]}"))\\." || status=$?
  cmake --build --preset reader-coverage --target reader-coverage || status=2
  exit "$status"
fi

if [ "$browser" = yes ]; then
  chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
  if [ -z "$chromium" ]; then
    echo "Skipped: no Chromium is installed (apt-get install chromium)."
    exit 0
  fi
  echo "== 2/3 Build of the program in $build_dir"
  cmake -S . -B "$build_dir" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHINDSIGHT_BUILD_TESTS=ON -DHINDSIGHT_WERROR=ON
  cmake --build "$build_dir" --parallel "${JOBS:-$(nproc)}" --target hindsight
  echo "== 3/3 A report in headless Chromium"
  exec scripts/test-report.sh "$build_dir/apps/hindsight/hindsight" "$chromium"
fi

echo "== 2/3 Build in $build_dir"
cmake -S . -B "$build_dir" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHINDSIGHT_BUILD_TESTS=ON -DHINDSIGHT_WERROR=ON \
  -DHINDSIGHT_UNITY=ON
cmake --build "$build_dir" --parallel "${JOBS:-$(nproc)}"

echo "== 3/3 Tests"
exec ctest --test-dir "$build_dir" --output-on-failure --no-tests=error --timeout 600 -j "${JOBS:-2}"
