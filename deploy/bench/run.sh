#!/usr/bin/env bash
# Pits a hit of Sundry against nginx and Varnish that serve the same bytes with
# the same headers: CPU of each server for one request, as ratios, in one run.
# Wants Go, and wrk, nginx and varnish from Debian. Uses loopback only.
#
#   deploy/bench/run.sh [ROUNDS [SECONDS]]
#
# Rounds alternate between the servers, so that what else the machine does hits
# all alike; the median of the rounds counts.
set -euo pipefail
cd "$(dirname "$0")/../.."
rounds=${1:-5} seconds=${2:-3}
dir=$(mktemp -d)
chmod 755 "$dir" # the workers of nginx are somebody else
trap 'kill $(jobs -p) 2>/dev/null; wait 2>/dev/null; rm -rf "$dir"' EXIT

for tool in wrk nginx varnishd; do
  PATH=$PATH:/usr/sbin command -v "$tool" >/dev/null || { echo "no $tool here" >&2; exit 1; }
done
export PATH=$PATH:/usr/sbin

# cpu PID...: clock ticks of the processes and their children.
cpu() {
  local total=0 pid
  for pid in "$@"; do
    total=$((total + $(awk '{print $14 + $15}' "/proc/$pid/stat")))
  done
  echo "$total"
}

up() { # waits until an address answers
  for _ in $(seq 200); do
    curl -fso /dev/null "$1" && return
    sleep 0.05
  done
  echo "$1 does not answer" >&2
  cat "$dir"/*.out "$dir"/*.err 2>/dev/null >&2 || true
  exit 1
}

go build -o "$dir/sundry" ./cmd/sundry
SUNDRY_LIMITS_RATE=0 "$dir/sundry" serve --replay --listen 127.0.0.1:18601 --admin 127.0.0.1:18602 2>"$dir/sundry.log" &
sundry=$!
up http://127.0.0.1:18601/api/60s/index.php
path=/api/60s/index.php
mkdir -p "$dir/www$(dirname $path)"
curl -fs "http://127.0.0.1:18601$path" >"$dir/www$path"

# The headers of a hit, those aside that a server makes itself.
curl -fsD - -o /dev/null "http://127.0.0.1:18601$path" | tr -d '\r' |
  grep -viE '^(HTTP/|date:|content-length:|content-type:|connection:|etag:|$)' >"$dir/headers"
cat >"$dir/nginx.conf" <<CONF
worker_processes auto; daemon off; pid $dir/nginx.pid; error_log $dir/nginx.err;
events { worker_connections 1024; }
http {
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000000; open_file_cache max=100;
  types { } default_type "application/json; charset=utf-8";
  server {
    listen 127.0.0.1:18603; root $dir/www;
$(sed -E 's/^([^:]+): (.*)$/    add_header \1 "\2";/' "$dir/headers")
  }
}
CONF
nginx -c "$dir/nginx.conf" -p "$dir" 2>"$dir/nginx.out" &
up "http://127.0.0.1:18603$path"
cat >"$dir/varnish.vcl" <<'VCL'
vcl 4.1;
backend sundry { .host = "127.0.0.1"; .port = "18601"; }
sub vcl_backend_response { set beresp.ttl = 1h; }
VCL
varnishd -F -n "$dir/varnish" -a 127.0.0.1:18604 -f "$dir/varnish.vcl" -s malloc,64m -p workspace_client=64k >/dev/null 2>&1 &
up "http://127.0.0.1:18604$path"

declare -A port=([sundry]=18601 [nginx]=18603 [varnish]=18604)
pids() {
  case $1 in
  sundry) echo $sundry ;;
  nginx) pgrep -f "nginx: worker" ;;
  varnish) pgrep -f "varnishd.*$dir/varnish" ;;
  esac
}
for server in sundry nginx varnish; do : >"$dir/$server.us"; done
for _ in $(seq "$rounds"); do
  for server in sundry nginx varnish; do
    # shellcheck disable=SC2046 # one word for each process
    before=$(cpu $(pids $server))
    n=$(wrk -t1 -c16 -d"${seconds}s" "http://127.0.0.1:${port[$server]}$path" | awk '/requests in/ {print $1}')
    # shellcheck disable=SC2046
    after=$(cpu $(pids $server))
    awk -v t=$((after - before)) -v n="$n" -v hz="$(getconf CLK_TCK)" 'BEGIN {printf "%.2f\n", t / hz * 1e6 / n}' >>"$dir/$server.us"
  done
done
median() { sort -n "$1" | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }
own=$(median "$dir/sundry.us")
for server in sundry nginx varnish; do
  us=$(median "$dir/$server.us")
  awk -v s="$server" -v us="$us" -v own="$own" 'BEGIN {printf "%-8s %6.1f us of CPU a request   sundry/%s %.2f\n", s, us, s, own / us}'
done
