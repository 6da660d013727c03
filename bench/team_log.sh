#!/usr/bin/env bash
# Measures a log on a PostgreSQL server of its own, in a temporary folder (Debian: postgresql): the tables of
# docs/scale.md, "A log of a team". Usage: BUILD_DIR=build/bench bench/team_log.sh
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD_DIR:-build/bench}
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
[ -n "$bin" ] || { echo "team_log.sh: PostgreSQL is not installed. Debian: apt-get install postgresql" >&2; exit 1; }
folder=$(mktemp -d)
chmod 755 "$folder"
as_user=()
if [ "$(id -u)" -eq 0 ]; then  # the server refuses to be root
  chown postgres "$folder"
  as_user=(setpriv --reuid=postgres --regid=postgres --clear-groups)
fi
cd /
"${as_user[@]}" "$bin/initdb" -D "$folder/data" -U hindsight -A trust -E UTF8 --locale=C --no-instructions >"$folder/initdb.txt"
"${as_user[@]}" "$bin/postgres" -D "$folder/data" -k "$folder" -c listen_addresses= -c shared_buffers=512MB \
  -c max_wal_size=4GB -c max_connections=60 >"$folder/server.txt" 2>&1 &
server=$!
trap 'kill -INT $server 2>/dev/null; wait $server 2>/dev/null || true; rm -rf "$folder"' EXIT
for _ in $(seq 100); do
  "$bin/pg_isready" -q -h "$folder" -U hindsight && break
  sleep 0.1
done
cd - >/dev/null
echo "PostgreSQL $("$bin/postgres" --version | awk '{print $3}'), $(nproc) processors shared with the clients, fsync on, $(date -u +%Y-%m-%d)"
echo
"$build/bench/bench_team_log" "postgresql://hindsight@/postgres?host=$folder"
