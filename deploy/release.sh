#!/usr/bin/env bash
# Makes what is published of a version, in bin/release: for each platform an archive with a static
# binary and its papers, and the checksums of all. The same commit and version give the same bytes:
# the go command downloads the Go of the Dockerfile where another is installed. Needs Go, git, GNU tar
# and zip.
#   deploy/release.sh            stamped with the git tag; without one, with CHANGELOG.md's newest and the commit
#   VERSION=0.1.0 PLATFORMS="linux/amd64 windows/amd64" deploy/release.sh
set -euo pipefail
cd "$(dirname "$0")/.."

GOTOOLCHAIN=go$(sed -n 's|^FROM .*library/golang:\([0-9.]*\)-.*|\1|p' deploy/Dockerfile)
export GOTOOLCHAIN
go version

commit=$(git rev-parse HEAD)
seconds=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
tag=$(git describe --tags --match 'v[0-9]*' --dirty 2>/dev/null || true)
newest=$(sed -n 's/^## \([0-9.]*\).*/\1/p' CHANGELOG.md | head -n 1)
version=${VERSION:-${tag#v}}
version=${version:-$newest-dev.${commit:0:12}}
flags="-s -w -buildid= -X main.stampedVersion=$version -X main.stampedCommit=$commit -X main.stampedDate=$(date -u -d "@$seconds" +%FT%TZ)"
papers="README.md README.zh-CN.md LICENSE CHANGELOG.md"
out=$PWD/bin/release
rm -rf "$out" && mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for platform in ${PLATFORMS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64}; do
  os=${platform%/*} arch=${platform#*/}
  name=sundry_${version}_${os}_$arch binary=sundry
  [ "$os" = windows ] && binary=sundry.exe
  mkdir "$work/$name" && cp $papers "$work/$name"
  # Without the caller's variables that would change what is compiled.
  env -u GOFLAGS -u GOAMD64 -u GOARM64 -u GOEXPERIMENT -u GODEBUG -u GOFIPS140 -u GOWORK CGO_ENABLED=0 GOOS="$os" GOARCH="$arch" \
    go build -trimpath -buildvcs=false -ldflags "$flags" -o "$work/$name/$binary" "${PACKAGE:-./cmd/sundry}"
  chmod 644 "$work/$name"/* && chmod 755 "$work/$name" "$work/$name/$binary"
  find "$work/$name" -exec touch -d "@$seconds" {} +
  if [ "$os" = windows ]; then
    (cd "$work" && find "$name" | LC_ALL=C sort | TZ=UTC zip -qX@ "$out/$name.zip")
  else
    tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --format=ustar -cf - "$name" | gzip -n9 >"$out/$name.tar.gz"
  fi
done
(cd "$out" && sha256sum sundry_* >"sundry_${version}_checksums.txt")
ls -l "$out"
