#!/usr/bin/env bash
# Offers a server of one core half, once, twice and four times what it can do:
# half hits, half QR codes to be drawn. The server has one core, the load another.
# Uses loopback only.
#
#   deploy/bench/overload.sh [SPAN]
#
# SPAN of each step, 10s if not given. Variables SUNDRY_… reach the server.
set -euo pipefail
cd "$(dirname "$0")/../.."
span=${1:-10s}
dir=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; wait 2>/dev/null; rm -rf "$dir"' EXIT
command -v taskset >/dev/null || { echo "no taskset here" >&2; exit 1; }

go build -o "$dir/sundry" ./cmd/sundry
go build -o "$dir/overload" ./deploy/bench/overload
export SUNDRY_LIMITS_RATE=0 # all callers have one address
taskset -c 0 "$dir/sundry" serve --replay --listen 127.0.0.1:18611 --admin 127.0.0.1:18612 2>"$dir/sundry.log" &
for _ in $(seq 200); do
  curl -fso /dev/null http://127.0.0.1:18611/api/60s/index.php && break
  sleep 0.05
done
taskset -c 1 "$dir/overload" -url http://127.0.0.1:18611 -span "$span"
echo
curl -fs http://127.0.0.1:18612/metrics | grep -E '^(sundry_shed_total|process_resident_memory_bytes) '
