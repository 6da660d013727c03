#!/usr/bin/env bash
# Builds the fuzzers and runs every reader of outside bytes for a number of executions, going on where it stopped.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/fuzz.sh [--runs N] [--reader NAME]... [--most-seconds S] [--no-build]
                       [--table | --record | --recorded | --coverage | --shrink]

Every reader of bytes from outside (tests/fuzz) under libFuzzer with AddressSanitizer and UndefinedBehaviorSanitizer.
What counts as a finding: a crash, undefined behaviour, an exception that is no Error, an error without a message or with
one above 8 KiB, a promise that does not hold (what was read must read back), 10 s for one input, an allocation above
256 MiB.

  --runs N          executions per reader, counted over all calls and those that tests/fuzz/executions.csv has (default:
                    10000000; 1000000 for SQLite files, values of logs and ONNX)
  --reader NAME     this reader alone; may be given again (default: all)
  --most-seconds S  stop a reader after S seconds in this call
  --no-build        the fuzzers are built
  --table           only print what was done so far
  --record          only add what was done here to tests/fuzz/executions.csv, so that others go on from there
  --recorded        only print that file as the table of docs/fuzzing.md; needs no build
  --coverage        only print which lines of the readers the inputs found so far reach (GCC and gcovr, in
                    build/reader-coverage)
  --shrink          only leave away inputs that reach nothing new
  --help            this text

Results: build/fuzz/results.csv (a line per piece of work), inputs that reach something new build/fuzz/corpus/READER,
findings build/fuzz/findings. Run it again to go on. Exit code 1: something was found.

Environment:
  JOBS      readers at a time (default: number of processors)
  FUZZ_DIR  build folder (default: build/fuzz)
TEXT
}

runs="" build=yes only=run most_seconds=0
readers=()
while [ $# -gt 0 ]; do
  case $1 in
    --runs | --reader | --most-seconds)
      [ $# -ge 2 ] || { echo "fuzz.sh: $1 needs a value. See --help" >&2; exit 2; }
      case $1 in --runs) runs=$2 ;; --reader) readers+=("$2") ;; *) most_seconds=$2 ;; esac
      shift ;;
    --no-build) build=no ;;
    --table | --record | --recorded) only=${1#--} ;;
    --coverage) only=coverage ;;
    --shrink) only=shrink ;;
    -h | --help) usage; exit 0 ;;
    *) echo "fuzz.sh: unknown argument '$1'. See --help" >&2; exit 2 ;;
  esac
  shift
done

cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=${FUZZ_DIR:-build/fuzz}
programs=$folder/tests/fuzz
results=$folder/results.csv
recorded=tests/fuzz/executions.csv
export HINDSIGHT_DATA_DIR=$PWD
# No allocation remembers its callers: they are seen when a finding is run alone. What was freed is kept from being used
# again for longer than an execution takes (4 MiB), and memory is not given back to be asked for again.
export ASAN_OPTIONS=strict_string_checks=1:allocator_may_return_null=0:malloc_context_size=0:quarantine_size_mb=4
ASAN_OPTIONS+=:allocator_release_to_os_interval_ms=-1
export UBSAN_OPTIONS=print_stacktrace=1
# Readers of files write each input to one.
[ -d /dev/shm ] && [ -w /dev/shm ] && export TMPDIR=/dev/shm

# The recorded executions as a table of docs/fuzzing.md.
if [ "$only" = recorded ]; then
  awk -F, '
    function thousands(digits, text) {
      for (text = ""; length(digits) > 3; digits = substr(digits, 1, length(digits) - 3)) {
        text = "," substr(digits, length(digits) - 2) text
      }
      return digits text
    }
    NR == 1 { print "| reader | executions | a second | edges reached | peak, MiB | findings | last |"
              print "|---|---:|---:|---:|---:|---:|---|"; next }
    { printf "| `%s` | %s | %s | %s | %d | %d | %s |\n", $1, thousands($2), thousands($3), thousands($5), $4, $6, $7
      sum += $2; found += $6 }
    END { printf "| all | %s | | | | %d | |\n", thousands(sprintf("%d", sum)), found }' "$recorded"
  exit 0
fi

if [ "$only" = run ] && [ "$build" = yes ]; then
  command -v clang++ > /dev/null || { echo "fuzz.sh: clang++ is missing. apt-get install clang llvm" >&2; exit 1; }
  cmake --preset fuzz
  cmake --build "$folder" --target hindsight_fuzz --parallel "${JOBS:-$(nproc)}"
fi
[ -x "$programs/hindsight_fuzz_seeds" ] ||
  { echo "fuzz.sh: $programs has no fuzzers. Run scripts/fuzz.sh without --no-build" >&2; exit 1; }
declare -A program_of dictionary_of
all_readers=()
while read -r reader dictionary; do
  all_readers+=("$reader")
  dictionary_of[$reader]=tests/fuzz/dictionaries/$dictionary.dict
done < <("$programs/hindsight_fuzz_seeds")
[ ${#readers[@]} -gt 0 ] || readers=("${all_readers[@]}")

# Each fuzzer says its readers when it is not told one.
for list in table yaml network log study model word program; do
  for reader in $({ "$programs/hindsight_fuzz_$list" 2>&1 || true; } | sed -n 's/.*Readers: //p'); do
    program_of[$reader]=$programs/hindsight_fuzz_$list
  done
done
for reader in "${readers[@]}"; do
  [ -n "${program_of[$reader]:-}" ] || { echo "fuzz.sh: no reader '$reader'. Readers: ${!program_of[*]}" >&2; exit 2; }
done

# What a reader is to be asked: executions, longest input.
runs_of() {
  if [ -n "$runs" ]; then echo "$runs"; return; fi
  case $1 in log | log_repair | log_values | log_merge | optuna | onnx) echo 1000000 ;; *) echo 10000000 ;; esac
}
longest_of() {
  case $1 in
    log | log_repair | optuna) echo 65536 ;;
    model | checkpoint | training_part | landscape | residual) echo 16384 ;;
    command_line | command_words | recorded_command | environment | address | expression | objective | condition | design | numbers | \
      synthetic | gemm_columns) echo 256 ;;
    *) echo 2048 ;;
  esac
}
# Executions of all calls here, and those recorded.
done_of() {
  awk -F, -v reader="$1" '$1 == reader { sum += $2 } END { printf "%d", sum }' "$recorded" "$results"
}

# One piece of work of one reader on inputs of so many bytes: a line of the results, and the findings.
fuzz_piece() {
  local reader=$1 count=$2 seconds=$3 longest=$4 corpus=$folder/corpus/$1 output=$folder/output/$1.txt
  local program=${program_of[$1]}
  local options=()
  [ -f "${dictionary_of[$reader]}" ] && options+=("-dict=${dictionary_of[$reader]}")
  mkdir -p "$corpus" "$folder/findings" "$folder/output"
  local status=0
  # Inputs are drawn as libFuzzer did before it weighed them by rare features: counting these after every execution took a
  # tenth of the time of small readers and half of that of large ones.
  HINDSIGHT_FUZZ_READER=$reader "$program" "$corpus" -runs="$count" -max_total_time="$seconds" -max_len="$longest" \
    -entropic=0 -timeout=10 -rss_limit_mb=2560 -malloc_limit_mb=256 -len_control=100 -reload=0 -print_funcs=0 -print_final_stats=1 \
    -artifact_prefix="$folder/findings/$reader-" "${options[@]}" > "$output" 2>&1 || status=$?
  local executed seconds_taken rss edges
  executed=$(sed -n 's/^stat::number_of_executed_units: //p' "$output" | tail -1)
  rss=$(sed -n 's/^stat::peak_rss_mb: *//p' "$output" | tail -1)
  edges=$(grep -o 'cov: [0-9]*' "$output" | tail -1 | cut -d' ' -f2)
  seconds_taken=$(sed -n 's/^Done [0-9]* runs in \([0-9]*\) second.*/\1/p' "$output" | tail -1)
  echo "$reader,${executed:-0},${seconds_taken:-0},${rss:-0},${edges:-0},$status,$(date -u +%F)" >> "$results"
  return "$status"
}
# Until the reader has its executions, something was found, or the time is over. Nine of ten executions are on short
# inputs, the others on inputs as long as its longest seed.
fuzz_reader() {
  local reader=$1 short longest seed left count seconds round=0 begin=$SECONDS
  short=$(longest_of "$reader")
  seed=$(find "$folder/corpus/$reader" -type f -printf '%s\n' | sort -n | tail -1)
  longest=$((seed > short ? seed : short))
  left=$(($(runs_of "$reader") - $(done_of "$reader")))
  while [ "$left" -gt 0 ]; do
    count=$((left / 10 + 1))
    [ "$count" -le 100000 ] || count=100000
    seconds=0
    if [ "$most_seconds" -gt 0 ]; then
      seconds=$((most_seconds - (SECONDS - begin)))
      [ "$seconds" -gt 0 ] || break
      [ "$round" = 0 ] && seconds=$((seconds / 10 + 1))
    fi
    if [ "$round" = 0 ]; then
      fuzz_piece "$reader" "$count" "$seconds" "$longest" || break
    else
      fuzz_piece "$reader" "$((count * 9))" "$seconds" "$short" || break
    fi
    round=$((1 - round))
    left=$(($(runs_of "$reader") - $(done_of "$reader")))
  done
  if [ "$(tail -n 20 "$results" | awk -F, -v reader="$reader" '$1 == reader { last = $6 } END { print last + 0 }')" != 0 ]; then
    echo "$reader: FOUND something: $folder/output/$reader.txt, $folder/findings/$reader-*"
    return 1
  fi
  echo "$reader: $(done_of "$reader") executions"
}

# Totals of a reader, recorded and done here: executions, those a second at its fastest (pieces of ten seconds or more),
# peak, edges of the newest program, findings, day.
totals() {
  awk -F, -v reader="$1" '
    $1 != reader { next }
    FILENAME == ARGV[1] { runs = $2; rate = $3; rss = $4; edges = $5; found = $6; day = $7; next }
    { runs += $2; if ($4 > rss) rss = $4; if ($5 > now) now = $5; found += $6 != 0; if ($7 > day) day = $7
      if ($3 >= 10 && $2 / $3 > rate) rate = $2 / $3 }
    END { printf "%s,%d,%d,%d,%d,%d,%s\n", reader, runs, rate, rss, now ? now : edges, found, day }' "$recorded" "$results"
}

table() {
  printf '%-18s %12s %12s %9s %7s %9s %s\n' reader executions per_second peak_MiB edges findings last
  local reader
  for reader in "${readers[@]}"; do
    totals "$reader" | awk -F, '{ printf "%-18s %12d %12d %9d %7d %9d %s\n", $1, $2, $3, $4, $5, $6, $7 }'
  done
}

# Adds the results to the recorded ones, of all readers; what was added stays beside.
record() {
  local reader
  {
    echo "reader,executions,per_second,peak_mib,edges,findings,date"
    for reader in "${all_readers[@]}"; do totals "$reader"; done
  } > "$recorded.new"
  mv "$recorded.new" "$recorded"
  tail -n +2 "$results" >> "$folder/results-recorded.csv"
  rm "$results"
}

coverage() {
  local counted=build/reader-coverage
  cmake --preset reader-coverage
  cmake --build --preset reader-coverage --parallel "${JOBS:-$(nproc)}" --target fuzz_tests
  find "$counted" -name '*.gcda' -delete
  HINDSIGHT_FUZZ_INPUTS=$PWD/$folder/corpus "$counted/tests/fuzz/fuzz_tests" --gtest_filter='*InputsOfTheFuzzer*' --gtest_brief=1
  cmake --build --preset reader-coverage --target reader-coverage || true  # its bound is that of the tests
}

shrink() {
  local reader
  for reader in "${readers[@]}"; do
    [ -d "$folder/corpus/$reader" ] || continue
    rm -rf "$folder/corpus.new"
    mkdir -p "$folder/corpus.new"
    HINDSIGHT_FUZZ_READER=$reader "${program_of[$reader]}" -merge=1 "$folder/corpus.new" "$folder/corpus/$reader" > /dev/null 2>&1
    echo "$reader: $(ls "$folder/corpus/$reader" | wc -l) -> $(ls "$folder/corpus.new" | wc -l) inputs"
    rm -rf "$folder/corpus/$reader"
    mv "$folder/corpus.new" "$folder/corpus/$reader"
  done
}

[ -f "$results" ] || echo "reader,executions,seconds,peak_rss_mb,edges,status,date" > "$results"
case $only in
  table) table; exit 0 ;;
  record) record; exit 0 ;;
  coverage) coverage; exit 0 ;;
  shrink) shrink; exit 0 ;;
esac

"$programs/hindsight_fuzz_seeds" "$folder/corpus" > "$folder/seeds.txt"
status=0
running=0
for reader in "${readers[@]}"; do
  fuzz_reader "$reader" &
  running=$((running + 1))
  if [ "$running" -ge "${JOBS:-$(nproc)}" ]; then
    wait -n || status=1
    running=$((running - 1))
  fi
done
while [ "$running" -gt 0 ]; do
  wait -n || status=1
  running=$((running - 1))
done
table
exit "$status"
