# Commands by short names. CI (.ci/run) has them but for fuzz, bench, lighthouse, suites and vuln.
.PHONY: build run check doctor test race chaos simulate soak alerts cache-tests cost fuzz bench bench-diff lint fmt golden pictures image release vuln lighthouse suites nightly ci

build:
	go build -trimpath -o bin/sundry ./cmd/sundry

run:
	go run ./cmd/sundry serve --replay

check:
	go run ./cmd/sundry check

doctor:
	go run ./cmd/sundry doctor

# In less time: go test -short ./... With the long stories: SUNDRY_TEST_LONG=1 make test
test:
	go test ./...

race:
	go test -race -shuffle=on -timeout 60m ./...

# Everything fails at random, for SUNDRY_TEST_CHAOS. The seed is printed; the same
# events again: SUNDRY_TEST_CHAOS_SEED=<seed> make chaos
chaos:
	SUNDRY_TEST_CHAOS=$${SUNDRY_TEST_CHAOS:-2m} go test -count 1 -timeout 30m -run TestChaos -v ./cmd/sundry

# Fleets in simulated time, with random faults, for FOR=1h or FOR=300 seeds. What fails is shown by the shortest
# schedule that fails. The first seed: SUNDRY_TEST_SIMULATE_SEED=<seed> make simulate
simulate:
	SUNDRY_TEST_SIMULATE=$(or $(FOR),1h) go test -count 1 -timeout 0 -run TestSimulation -v ./cmd/sundry

# Three instances of the program under faults and orders, for SUNDRY_TEST_SOAK.
soak:
	SUNDRY_TEST_SOAK=$${SUNDRY_TEST_SOAK:-20m} go test -count 1 -timeout 60m -run TestSoak -v ./cmd/sundry

# Each alert, provoked by its cause under a real Prometheus with rules that are sped up. Before that, idle instances for ten
# minutes. Some alone: SUNDRY_TEST_ALERTS=SundrySlow,SundryDown make alerts
alerts:
	SUNDRY_TEST_ALERTS=$${SUNDRY_TEST_ALERTS:-1} SUNDRY_TEST_IDLE=$${SUNDRY_TEST_IDLE:-10m} go test -count 1 -timeout 60m -run 'TestIdleInstancesAlertNobody|TestEachAlertHasItsCause' -v ./cmd/sundry

# The public suite of HTTP caches, whose tests.json is in DIR; deploy/proxy.md says where that comes from.
cache-tests:
	SUNDRY_CACHE_TESTS="$(abspath $(DIR))" go test -count 1 -parallel 3 -run TestHTTPCacheSuite -v ./cmd/sundry

# What a request may cost, in all cases, for some minutes.
cost:
	SUNDRY_TEST_LONG=1 go test -count 1 -timeout 60m -run 'IsExpensive$$' ./cmd/sundry

fuzz:
	go test -run xxx -fuzz FuzzParse -fuzztime 10s ./cache/entry
	go test -run xxx -fuzz FuzzCheck -fuzztime 10s ./cache/entry
	go test -run xxx -fuzz FuzzFar -fuzztime 10s ./cache
	go test -run xxx -fuzz FuzzHead -fuzztime 10s ./cache/far
	go test -run xxx -fuzz FuzzObject -fuzztime 10s -fuzzminimizetime 1x ./cache/web
	go test -run xxx -fuzz FuzzKept -fuzztime 10s -fuzzminimizetime 1x ./cache/web
	go test -run xxx -fuzz FuzzKept -fuzztime 10s ./cache
	go test -run xxx -fuzz FuzzRead -fuzztime 10s ./cache/snapshot
	go test -run xxx -fuzz FuzzCheckHost -fuzztime 10s ./upstreams/lib/guard
	go test -run xxx -fuzz FuzzStatus -fuzztime 10s ./upstreams/lib/minecraft
	go test -run xxx -fuzz FuzzXDB -fuzztime 10s ./upstreams/lib/geoip
	go test -run xxx -fuzz FuzzInput -fuzztime 10s ./upstreams/catalog
	go test -run xxx -fuzz FuzzCheckURL -fuzztime 10s ./upstreams/lib/guard
	go test -run xxx -fuzz FuzzHead -fuzztime 10s -fuzzminimizetime 1x ./proxy/express
	go test -run xxx -fuzz FuzzDifference -fuzztime 10s -fuzzminimizetime 1x ./proxy/express
	go test -run xxx -fuzz 'FuzzParse$$' -fuzztime 10s -fuzzminimizetime 1x ./upstreams/lib/sharelink
	go test -run xxx -fuzz FuzzInitState -fuzztime 10s ./upstreams/lib/sharelink
	go test -run xxx -fuzz FuzzDouyinPage -fuzztime 10s -fuzzminimizetime 1x ./upstreams/lib/signing
	go test -run xxx -fuzz FuzzNew -fuzztime 10s ./upstreams/scaffold
	go test -run xxx -fuzz FuzzReadCall -fuzztime 10s ./upstreams/scaffold
	go test -run xxx -fuzz FuzzStraight -fuzztime 10s -fuzzminimizetime 1x ./upstreams/jq
	go test -run xxx -fuzz FuzzDecode -fuzztime 10s ./upstreams/lib/plainjson
	go test -run xxx -fuzz FuzzEncode -fuzztime 10s ./upstreams/lib/plainjson
	go test -run xxx -fuzz FuzzJSONStaysValid -fuzztime 10s ./upstreams/lib/redact
	go test -run xxx -fuzz FuzzRedactor -fuzztime 10s ./upstreams/lib/redact
	go test -run xxx -fuzz FuzzPage -fuzztime 10s ./upstreams/httpsource
	go test -run xxx -fuzz FuzzAgainstNoCache -fuzztime 10s -fuzzminimizetime 1x ./proxy/through
	go test -run xxx -fuzz FuzzFieldValue -fuzztime 10s ./proxy
	go test -run xxx -fuzz FuzzCallerAddress -fuzztime 10s ./proxy
	go test -run xxx -fuzz FuzzMessages -fuzztime 10s ./proxy/mcp
	go test -run xxx -fuzz FuzzWBISign -fuzztime 10s ./upstreams/lib/signing
	go test -run xxx -fuzz FuzzParse -fuzztime 10s ./upstreams/lib/idcard
	go test -run xxx -fuzz FuzzCard -fuzztime 10s ./upstreams/lib/ipcard
	go test -run xxx -fuzz FuzzHead -fuzztime 10s ./upstreams/lib/favicon
	go test -run xxx -fuzz FuzzNormalize -fuzztime 10s ./upstreams/lib/shortlink
	go test -run xxx -fuzz FuzzNumber -fuzztime 10s ./upstreams/lib/tracking

bench:
	go test -run xxx -bench . -benchmem ./cache ./cache/entry ./upstreams ./upstreams/lib/qrcode ./upstreams/lib/ipcard ./upstreams/lib/idcard ./proxy

# Compares with the numbers of the last commit on main: make bench-diff
# In a worktree of its own: yours stays as it is.
BENCHED = go test -run xxx -bench 'Hit|Handler|Key|Decode|Map' -count 6 ./cache ./cache/entry ./upstreams ./proxy
bench-diff: bin/benchstat
	$(BENCHED) > bin/new.txt
	git worktree remove --force bin/main 2>/dev/null; git worktree add -q --detach --force bin/main main
	cd bin/main && $(BENCHED) > ../old.txt; code=$$?; cd ../..; git worktree remove --force bin/main; exit $$code
	bin/benchstat bin/old.txt bin/new.txt

lint: bin/golangci-lint
	bin/golangci-lint run ./...

bin/golangci-lint: deploy/tools/go.mod
	mkdir -p bin && cd deploy/tools && go build -o ../../bin/golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint

bin/benchstat: deploy/tools/go.mod
	mkdir -p bin && cd deploy/tools && go build -o ../../bin/benchstat golang.org/x/perf/cmd/benchstat

bin/govulncheck: deploy/tools/go.mod
	mkdir -p bin && cd deploy/tools && go build -o ../../bin/govulncheck golang.org/x/vuln/cmd/govulncheck

fmt:
	gofmt -w .

# Writes the golden files and the README's table anew; read the diff.
golden:
	go test ./cmd/sundry ./cmd/sundry/internal/config ./proxy/admin ./upstreams/fixtures -run 'Golden|README|Exchanges|Rendering' -update

# The pictures of the README, of a run in replay, with Chromium.
pictures:
	go test ./cmd/sundry -run TestPictures -pictures "$(CURDIR)/deploy/pictures"

# The image of deploy/Dockerfile, labelled with what it is made of.
image:
	docker build -f deploy/Dockerfile -t sundry --build-arg VERSION="$$(git describe --tags --match 'v[0-9]*' --dirty=+dirty | sed s/^v//)" \
		--build-arg REVISION="$$(git rev-parse HEAD)" --build-arg CREATED="$$(git log -1 --format=%cI)" \
		--build-arg SOURCE="$$(git config --get remote.origin.url | sed 's#//[^/@]*@#//#')" .

# Archives of static binaries and their checksums in bin/release, stamped with the version of the git
# tag (or VERSION=0.1.0).
release:
	deploy/release.sh

# Known vulnerabilities of the binaries that make release makes. Needs unzip.
vuln: release bin/govulncheck
	deploy/vuln.sh

# The four figures of the pages, the median of three runs each; on a machine that does
# nothing else.
lighthouse: build
	cd deploy/tools/lighthouse && npm ci --silent && node measure.mjs ../../../bin/sundry / /docs /docs/ip /status

# Public test suites and real clients, through Sundry, which all must be installed: a missing one fails with the
# name of its Debian package. Those of npm: (cd deploy/tools/node && npm ci). One alone: make suite-git
suites: \
	suite-curl \
	suite-wget \
	suite-httpie \
	suite-lwp \
	suite-requests \
	suite-httpx \
	suite-aiohttp \
	suite-undici \
	suite-axios \
	suite-got \
	suite-h2load \
	suite-aria2 \
	suite-ffmpeg \
	suite-rclone \
	suite-litmus \
	suite-git \
	suite-apt \
	suite-docker-registry \
	suite-websockets \
	suite-ws

suite-%:
	SUNDRY_TEST_SUITES=1 SUNDRY_TEST_REQUIRE=node,$* SUNDRY_TEST_NODE_MODULES="$(CURDIR)/deploy/tools/node/node_modules" \
		go test -count 1 -run 'TestSuites/^$*$$' -v ./deploy/suites

# Everything that takes too long for CI, in some hours. A failure does not end it. With cache-tests: make nightly DIR=…
nightly:
	$(MAKE) -k race simulate chaos soak alerts fuzz cost suites vuln bench $(if $(DIR),cache-tests)

ci:
	bash .ci/run
