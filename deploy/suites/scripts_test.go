package suites

// fetch compares the output of a command with the file, twice: the second time, it is stored.
func fetch(command string) string {
	return "for i in 1 2; do " + command + " | cmp - file; done"
}

// inPython runs a program that has the address as url, and writes bytes with out.
func inPython(program string) string {
	return "(/usr/bin/python3 - $URL/moved <<'EOF'\nimport sys\nurl, out = sys.argv[1], sys.stdout.buffer.write\n" + program + "\nEOF\n)"
}

// inNode runs a module that has the address as url, and writes text with out.
func inNode(program string) string {
	return "(cd $SUNDRY_TEST_NODE_MODULES; node --input-type=module - $URL/moved <<'EOF'\n" +
		"const url = process.argv[2], out = text => process.stdout.write(text);\n" + program + "\nEOF\n)"
}

// httpieOffline keeps httpie from looking for its newest version.
const httpieOffline = `echo '{"disable_update_warnings": true}' >config.json; export HTTPIE_CONFIG_DIR=$DIR; `

const aiohttp = `import aiohttp, asyncio
async def main():
    async with aiohttp.ClientSession() as s, s.get(url) as r:
        out(await r.read())
asyncio.run(main())`

// ffmpeg seeks in films, whose index is at the end or at the beginning, and plays a playlist.
const ffmpeg = `make() { ffmpeg -v error -f lavfi -i testsrc=duration=8:size=320x240:rate=25 -pix_fmt yuv420p -g 25 "$@"; }
make end.mp4
make -movflags faststart start.mp4
make -hls_time 2 -hls_list_size 0 list.m3u8
for film in end.mp4 start.mp4 list.m3u8; do
  for i in 1 2; do
    for at in $DIR $URL; do ffmpeg -v error -ss 5 -i $at/$film -f framemd5 -; done >frames
    test $(grep -vc '^#' frames) -gt 100
    test "$(grep -v '^#' frames | sort | uniq -u)" = ""
  done
done`

// litmus compares what its five programs find with what they find without Sundry.
const litmus = `for at in $ORIGIN $URL; do litmus -k $at/ | tee -a said | grep -a summary >found-${at##*:}; done
test $(wc -l <found-${URL##*:}) = 5
diff found-${ORIGIN##*:} found-${URL##*:} || { cat said; exit 1; }`

// rclone writes, reads, changes and deletes files by WebDAV.
const rclone = `run() { rclone --config "" --retries 1 --webdav-url $URL "$@"; }
mkdir -p tree/a/b; head -c 3M /dev/urandom >tree/large; echo 'é ü' >'tree/a/b/n m ü.txt'; : >tree/empty
run sync tree :webdav:; run check --download tree :webdav:
echo changed >tree/large; rm tree/empty
run sync tree :webdav:; run check --download tree :webdav:
run cat ':webdav:a/b/n m ü.txt' | cmp - 'tree/a/b/n m ü.txt'
run purge :webdav:a; test "$(run lsf :webdav:)" = large`

// git pushes to a repository, clones it, and fetches what is pushed later.
const git = `export GIT_CONFIG_GLOBAL=$DIR/config GIT_TERMINAL_PROMPT=0
git config --global user.name a; git config --global user.email a@example.org; git config --global init.defaultBranch main
git init -q --bare repo.git
git init -q work; cd work; git remote add origin $URL/repo.git
head -c 2M /dev/urandom >large; git add .; git commit -qm one; git push -q origin main
git clone -q $URL/repo.git ../clone; cmp large ../clone/large
echo two >large; git commit -qam two; git push -q origin main
cd ../clone; git pull -q; cmp large ../work/large; git fsck
git clone -q --depth 1 $URL/repo.git ../shallow; cmp large ../shallow/large`

// apt updates from flat repositories, downloads a package, and gets its next version.
const apt = `mkdir -p state/lists/partial cache/archives/partial
for to in ./ sub/; do echo "deb [trusted=yes] $URL $to"; done >sources.list
apt() {
  apt-get -qq -o Dir::Etc::sourcelist=$DIR/sources.list -o Dir::Etc::sourceparts=/dev/null -o Dir::State=$DIR/state -o Dir::State::status=/dev/null \
    -o Dir::Cache=$DIR/cache -o APT::Sandbox::User=root -o Acquire::http::Proxy=DIRECT -o Acquire::Languages=none "$@"
}
mkdir -p pack/DEBIAN sub
for version in 1 2; do
  printf 'Package: hello\nVersion: %s\nArchitecture: all\nMaintainer: a <a@example.org>\nDescription: a\n' $version >pack/DEBIAN/control
  dpkg-deb -b pack hello_$version.deb >/dev/null
  { cat pack/DEBIAN/control; echo "Filename: ./hello_$version.deb"; echo "Size: $(stat -c %s hello_$version.deb)"
    echo "SHA256: $(sha256sum <hello_$version.deb | cut -d ' ' -f 1)"; } >Packages
  cp Packages sub/; touch -d "2026-01-0$version" Packages sub/Packages
  apt -o APT::Update::Error-Mode=any update; apt download hello; cmp hello_$version.deb hello_${version}_all.deb
done`

// skopeo pushes an image to a registry, and pulls it.
const skopeo = `blob() { read -r digest _ < <(sha256sum "$1"); mv "$1" image/blobs/sha256/$digest; size=$(stat -c %s image/blobs/sha256/$digest); }
mkdir -p image/blobs/sha256; echo '{"imageLayoutVersion": "1.0.0"}' >image/oci-layout
head -c 5M /dev/urandom >data; tar -cf tar data; diff=$(sha256sum <tar | cut -d ' ' -f 1); gzip -c tar >layer; blob layer; layer=$digest layersize=$size
echo '{"architecture":"amd64","os":"linux","config":{},"rootfs":{"type":"layers","diff_ids":["sha256:'$diff'"]}}' >config; blob config
echo '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":"sha256:'$digest'","size":'$size'},
  "layers":[{"mediaType":"application/vnd.oci.image.layer.v1.tar+gzip","digest":"sha256:'$layer'","size":'$layersize'}]}' >manifest; blob manifest
echo '{"schemaVersion":2,"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:'$digest'","size":'$size'}]}' >image/index.json
skopeo --insecure-policy copy -q --dest-tls-verify=false oci:image docker://${URL#http://}/a/b:1
for i in 1 2; do
  skopeo --insecure-policy copy -q --src-tls-verify=false docker://${URL#http://}/a/b:1 dir:pulled$i
  cmp image/blobs/sha256/$layer pulled$i/$layer
done`

const websockets = `import asyncio, websockets
async def main():
    async with websockets.connect(url.replace("http", "ws"), max_size=None) as ws:
        for message in ["", "é", "x" * 200_000] + [str(i) for i in range(1000)]:
            await ws.send(message)
            assert await ws.recv() == message
asyncio.run(main())`

const ws = `import WebSocket from "ws";
const ws = new WebSocket(url.replace("http", "ws")), messages = ["", "é", "x".repeat(200000), ...Array(1000).keys()].map(String);
await new Promise((done, fail) => ws.on("open", done).on("error", fail));
for (const message of messages) {
  const next = new Promise((done, fail) => ws.once("message", done).once("close", fail));
  ws.send(message);
  if (String(await next) !== message) throw new Error(message);
}
ws.close();`
