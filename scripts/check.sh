#!/usr/bin/env bash
# Judges the source without running the tests: format, clang-tidy, and the rules of tests/checks.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/check.sh [--all] [--fix] [CHECK...]

Runs the checks that are named, or all of them:
  format     every C++ and CUDA source is as clang-format 14 writes it (.clang-format)
  tidy       clang-tidy 14 has no finding (.clang-tidy) in the files that differ from the main branch, or from the
             last commit on it; with --all in every file of src/ and apps/
  layering   folders include only what is to their left
  headers    every public header compiles alone
  sources    every constant has a source, nothing names one machine
  openings   every file opens with its job
  loops      no loop walks over a member of a temporary
  types      no two types of one namespace share a name
  functions  no function has more than 60 lines without a reason

  --all      tidy: the whole tree but src/surrogate/torch, which clang 14 cannot read (half an hour on two cores)
  --fix      format: rewrites the files instead of naming them
  --help     this text

Exit codes: 0 clean, 1 findings, 2 usage, 77 clang-format 14 or clang-tidy 14 is not installed

Environment:
  JOBS       parallel jobs (default: number of processors)
  BUILD_DIR  build folder of the checks below tidy, absolute or relative to the repository (default: build/dev)
TEXT
}

all=no
fix=no
checks=()
for argument in "$@"; do
  case $argument in
    --all) all=yes ;;
    --fix) fix=yes ;;
    -h | --help) usage; exit 0 ;;
    format | tidy | layering | headers | sources | openings | functions | loops | types) checks+=("$argument") ;;
    *) echo "check.sh: unknown argument '$argument'. See --help" >&2; exit 2 ;;
  esac
done
[ ${#checks[@]} -gt 0 ] || checks=(format tidy layering headers sources openings functions loops types)

cd "$(dirname "${BASH_SOURCE[0]}")/.."
jobs=${JOBS:-$(nproc)}
build_dir=${BUILD_DIR:-build/dev}

# sources_of_tree: every C++ and CUDA source, one a line; without git, those outside of build folders.
sources_of_tree() {
  git ls-files --cached --others --exclude-standard '*.h' '*.cpp' '*.cu' '*.cuh' 2>/dev/null | sort -u | existing | grep . ||
    find . -name 'build*' -prune -o -type f '(' -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' ')' -printf '%P\n' |
    sort
}

# existing: of the files on standard input, those that exist (git lists deleted ones, too).
existing() {
  local file
  while IFS= read -r file; do
    if [ -e "$file" ]; then printf '%s\n' "$file"; fi
  done
}

# llvm_tool NAME: the program of LLVM 14 (Debian 12); other versions format differently and know other checks.
llvm_tool() {
  local program
  for program in "$1-14" "$1"; do
    if "$program" --version 2>/dev/null | grep -q 'version 14\.'; then
      echo "$program"
      return
    fi
  done
  echo "check.sh: skipped: $1 14 is not installed. On Debian 12: apt-get install $1-14" >&2
  return 77
}

check_format() {
  local program
  program=$(llvm_tool clang-format) || return
  if [ "$fix" = yes ]; then
    sources_of_tree | xargs -d '\n' "$program" -i
  elif ! sources_of_tree | xargs -d '\n' "$program" --dry-run --Werror; then
    echo "check.sh: the files above are not as clang-format writes them. To rewrite them: scripts/check.sh --fix format" >&2
    return 1
  fi
}

# changed_sources: sources of src/ and apps/ that differ from the main branch; for a header, a source that includes it.
changed_sources() {
  local base file includer
  base=$(git merge-base HEAD origin/main 2>/dev/null || git rev-parse HEAD)
  { git diff --name-only "$base" && git ls-files --others --exclude-standard; } | existing | while IFS= read -r file; do
    case $file in
      src/*.cpp | apps/*.cpp) echo "$file" ;;
      include/*.h | src/*.h | apps/*.h)
        file=${file#include/}
        includer=${file#hindsight/}
        includer=src/${includer%.h}.cpp
        if [ -e "$includer" ]; then
          echo "$includer"
        else
          file=${file#src/}
          file=${file#apps/hindsight/}
          git grep -l --fixed-strings "#include \"$file\"" -- 'src/*.cpp' 'apps/*.cpp' | head -n 1
        fi
        ;;
    esac
  done | sort -u
}

check_tidy() {
  local program database=build/tidy/compile_commands.json
  program=$(llvm_tool clang-tidy) || return
  # The compiler's precompiled headers mean nothing to clang: a tree of its own, configured and never built.
  cmake --preset tidy >/dev/null
  # Which of src/ and apps/ has a compile command depends on LibTorch and CUDA.
  local known
  # Clang 14 does not compile LibTorch's headers as C++20 (vectors of incomplete types): those sources are left out.
  known=$(sed -n "s|^ *\"file\": \"$PWD/\(.*\.cpp\)\",\?\$|\1|p" "$database" | sort -u | grep -v '^src/surrogate/torch/')
  { if [ "$all" = yes ]; then printf '%s\n' "$known" | grep -E '^(src|apps)/'; else changed_sources; fi; } |
    { grep -Fx "$known" || true; } |
    xargs -d '\n' -r -n 1 -P "$jobs" bash -c \
      'echo "tidy $3"; "$1" --quiet -p "$2" "$3" 2> >(grep -v "warnings\? generated\.$" >&2)' tidy_one "$program" build/tidy ||
    return 1
}

# check_tree CHECK: a test of tests/checks.
check_tree() {
  local output
  [ -e "$build_dir/CMakeCache.txt" ] || cmake --preset dev -B "$build_dir" >/dev/null
  if ! output=$(cmake --build "$build_dir" --parallel "$jobs" --target repository_checks 2>&1 &&
    ctest --test-dir "$build_dir" --output-on-failure --no-tests=error -R "^$1\$" 2>&1); then
    printf '%s\n' "$output" >&2
    return 1
  fi
}

status=0
for check in "${checks[@]}"; do
  result=0
  case $check in
    format | tidy) "check_$check" || result=$? ;;
    *) check_tree "$check" || result=$? ;;
  esac
  [ $result -ne 0 ] || echo "$check: clean"
  if [ $status -eq 0 ] || [ $status -eq 77 ]; then [ $result -eq 0 ] || status=$result; fi
done
exit $status
