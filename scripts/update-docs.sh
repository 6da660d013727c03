#!/usr/bin/env bash
# Writes the output of commands into the pages that quote it, so that no figure is copied by hand.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/update-docs.sh [--check] [--slow] [PAGE...]

Pages quote commands in blocks of the form

  <!-- prints: hindsight workload list -->
  (what the command prints)
  <!-- end -->

where `COMMAND | table 2` is the second Markdown table that COMMAND prints, or show what their own commands say:

  ```sh
  hindsight log stats study.sqlite
  ```

  <!-- says: head -n 5 -->
  ```
  (what the command says, through the filter; `cat` for all of it)
  ```
  <!-- end -->

All such commands of a page run in order, each ending at the first that fails, in a folder that begins empty.

Runs each command of the first form
in the repository (once, however many of its tables are quoted), with the programs of BUILD_DIR on the PATH, and replaces
what stands in its block. Without PAGE all pages of the repository are read. A command that
fails leaves its page as it was.

  --check   write nothing; exit 1 when a block differs from what its command prints. Blocks marked
            `says (learned):` are run and not compared: trained weights differ between machines
  --slow    also the blocks marked `prints (slow):`: studies, and what needs recorded data
  --help    this text

Environment:
  BUILD_DIR            build folder with the program (default: build/release)
  BENCH_DIR            build folder with the benches (default: build/bench)
  HINDSIGHT_SHARED_DIR folder of recorded data, for slow blocks that need it
TEXT
}

check=no
slow=no
pages=()
for argument in "$@"; do
  case $argument in
    --check) check=yes ;;
    --slow) slow=yes ;;
    -h | --help) usage; exit 0 ;;
    -*) echo "update-docs.sh: unknown argument '$argument'. See --help" >&2; exit 2 ;;
    *) pages+=("$(realpath -- "$argument")") ;;
  esac
done

cd "$(dirname "${BASH_SOURCE[0]}")/.."
build_dir=$(realpath -m -- "${BUILD_DIR:-build/release}")
bench_dir=$(realpath -m -- "${BENCH_DIR:-build/bench}")
PATH="$build_dir/apps/hindsight:$bench_dir/bench:$PATH"
export PATH NO_COLOR=1 COLUMNS=100 LC_ALL=C.UTF-8
if [ ${#pages[@]} -eq 0 ]; then
  mapfile -t pages < <(find README.md CONTRIBUTING.md docs models data bench -name '*.md' | sort)
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# wrap N: prose in lines of at most N bytes; tables and pictures, which have runs of blanks, as they are.
wrap() {
  awk -v most="$1" '/^ / || /  / || /[█▁]/ || length($0) <= most { print; next }
                    { line = $1; for (i = 2; i <= NF; i++) { if (length(line) + 1 + length($i) > most) { print line
                        line = $i } else line = line " " $i } print line }'
}
export -f wrap

# table N: the N-th Markdown table of standard input.
table() {
  awk -v wanted="$1" '/^\|/ { if (!inside) { inside = 1; n++ } if (n == wanted) { print; found = 1 } next }
                      { inside = 0 } END { exit !found }'
}

# output_of COMMAND: what it prints, from the first time that it ran.
output_of() {
  local kept
  kept=$folder/$(printf '%s' "$1" | sha256sum | cut -c1-16)
  [ -e "$kept" ] || { bash -o pipefail -c "$1" </dev/null >"$kept.part" && mv "$kept.part" "$kept"; } || return 1
  cat "$kept"
}

# run COMMAND, or COMMAND | table N.
run() {
  if [[ $1 =~ ^(.*)\ \|\ table\ ([0-9]+)$ ]]; then
    output_of "${BASH_REMATCH[1]}" | table "${BASH_REMATCH[2]}"
  else
    output_of "$1"
  fi
}

# said SCRIPT FILTER: what the commands of a page say, in a fence.
said() {
  mkdir -p "$folder/work"
  (cd "$folder/work" && bash -eo pipefail -c "$1" </dev/null >"$folder/said" 2>&1) || {
    cat "$folder/said" >&2
    return 1
  }
  bash -o pipefail -c "$2" <"$folder/said" >"$folder/filtered" || return 1
  [ ! -s "$folder/filtered" ] || { echo '```'; sed 's/ *$//' "$folder/filtered"; echo '```'; }
}

# expand PAGE: prints PAGE with every block replaced.
expand() {
  local line command in_block=no number=0 begin tells=no in_script=no script='' script_at=0 keep=no
  rm -rf "$folder/work"
  ! grep -q '^<!-- says' "$1" || tells=yes
  while IFS= read -r line || [ -n "$line" ]; do
    number=$((number + 1))
    if [ $tells = yes ] && [ "$in_block" = no ]; then
      if [ "$line" = '```sh' ]; then
        if [ $script_at != 0 ]; then
          echo "update-docs.sh: $1:$script_at: commands that no '<!-- says: ' follows" >&2
          return 1
        fi
        in_script=yes script='' script_at=$number
      elif [ "$line" = '```' ]; then
        in_script=no
      elif [ $in_script = yes ]; then
        script+=$line$'\n'
      fi
    fi
    if [ "$in_block" = yes ]; then
      if [ "$line" != '<!-- end -->' ]; then
        [ $keep = no ] || printf '%s\n' "$line"
        continue
      fi
      in_block=no keep=no
    elif [[ $line =~ ^\<!--\ says(\ \(learned\))?:\ (.*)\ --\>$ ]]; then
      begin=$number
      [ $check = no ] || [ -z "${BASH_REMATCH[1]}" ] || keep=yes
      command=${BASH_REMATCH[2]}
      printf '%s\n' "$line"
      if ! said "$script" "$command" >"$folder/output" 2>"$folder/error"; then
        echo "update-docs.sh: $1:$script_at: these commands failed: $(tail -n 1 "$folder/error")" >&2
        return 1
      fi
      [ $keep = yes ] || cat "$folder/output"
      in_block=yes script_at=0
      continue
    elif [[ $line == '<!-- prints: '*' -->' || ($slow = yes && $line == '<!-- prints (slow): '*' -->') ]]; then
      begin=$number
      printf '%s\n' "$line"
      command=${line#*: }
      command=${command% -->}
      if ! run "$command" >"$folder/output" 2>"$folder/error"; then
        echo "update-docs.sh: $1:$begin: '$command' failed: $(tail -n 1 "$folder/error")" >&2
        return 1
      fi
      cat "$folder/output"
      in_block=yes
      continue
    fi
    printf '%s\n' "$line"
  done <"$1"
  if [ "$in_block" = yes ]; then
    echo "update-docs.sh: $1:$begin: block without '<!-- end -->'" >&2
    return 1
  fi
  if [ $script_at != 0 ]; then
    echo "update-docs.sh: $1:$script_at: commands that no '<!-- says: ' follows" >&2
    return 1
  fi
}

status=0
for page in "${pages[@]}"; do
  grep -qE '^<!-- (prints|says)' "$page" || continue
  if ! expand "$page" >"$folder/page"; then
    status=1
  elif cmp -s "$page" "$folder/page"; then
    continue
  elif [ "$check" = yes ]; then
    diff -u "$page" "$folder/page" | head -n 20 >&2 || true
    echo "update-docs.sh: $page does not say what its commands print. Run scripts/update-docs.sh?" >&2
    status=1
  else
    cat "$folder/page" >"$page"
    echo "$page: updated"
  fi
done
exit $status
