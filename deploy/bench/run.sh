#!/usr/bin/env bash
# What a request costs Sundry, a bare net/http handler, nginx and Varnish that do the
# same, as ratios in one run; then latencies and memory. Wants Go, and from Debian
# wrk, nginx, varnish and redis-server. Uses loopback only.
#
#   deploy/bench/run.sh [--rounds 5] [--seconds 2] [--only hit-1k,304] [--keep] [--write]
#
# --help lists the rows. --write puts the figures into the documents.
set -euo pipefail
cd "$(dirname "$0")/../.."
export PATH=$PATH:/usr/sbin:/sbin
for tool in go taskset wrk nginx varnishd redis-server; do
  command -v "$tool" >/dev/null || { echo "no $tool here" >&2; exit 1; }
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go build -o "$dir/compare" ./deploy/bench/compare
"$dir/compare" "$@"
