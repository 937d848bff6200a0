#!/usr/bin/env bash
# Searches the binaries of all archives in bin/release for known vulnerabilities, with the newest
# database that the Go module proxy serves. Fails if there are any. Needs bin/govulncheck and unzip.
set -euo pipefail
cd "$(dirname "$0")/.."

database=$(go mod download -json golang.org/x/vulndb@latest | sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

found=0
for archive in bin/release/sundry_*.tar.gz bin/release/sundry_*.zip; do
  printf '\n== %s\n' "$archive"
  case $archive in
    *.zip) unzip -p "$archive" '*/sundry.exe' ;;
    *) tar -xzOf "$archive" --wildcards '*/sundry' ;;
  esac >"$work/sundry"
  go version "$work/sundry"
  bin/govulncheck -db "file://$database/data/osv" -mode binary "$work/sundry" || found=1
done
exit "$found"
