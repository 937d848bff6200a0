#!/usr/bin/env bash
# What grows with instances, keys and requests: round trips to Redis, CPU of Sundry and
# of Redis, memory of an entry in both tiers; and how many instances a load takes. Wants
# Go, and Debian's redis-server. Uses loopback only. Takes about six minutes and 6 GB.
#
#   deploy/bench/scaling.sh [--instances 1,2,4] [--keys 1000,10000,100000,1000000] [--rounds 3] [--seconds 2] [--keep] [--write]
#
# --write puts the tables into deploy/scaling.md and deploy/sizing.md.
set -euo pipefail
cd "$(dirname "$0")/../.."
for tool in go taskset redis-server; do
  command -v "$tool" >/dev/null || { echo "no $tool here" >&2; exit 1; }
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go build -o "$dir/scaling" ./deploy/bench/scaling
"$dir/scaling" "$@"
