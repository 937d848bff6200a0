# The same commands as in CI, by short names.
.PHONY: build run check test race fuzz bench bench-diff lint fmt golden ci

build:
	go build -trimpath -o bin/sundry ./cmd/sundry

run:
	go run ./cmd/sundry serve --replay

check:
	go run ./cmd/sundry check

test:
	go test ./...

race:
	go test -race -shuffle=on ./...

fuzz:
	go test -run xxx -fuzz FuzzParse -fuzztime 10s ./cache
	go test -run xxx -fuzz FuzzCheckHost -fuzztime 10s ./upstreams/guard
	go test -run xxx -fuzz FuzzStatus -fuzztime 10s ./upstreams/minecraft
	go test -run xxx -fuzz FuzzXDB -fuzztime 10s ./upstreams/geoip
	go test -run xxx -fuzz FuzzInput -fuzztime 10s ./upstreams/catalog

bench:
	go test -run xxx -bench . -benchmem ./cache ./upstreams ./upstreams/qrcode ./proxy

# Compares with the numbers of the last commit on main: make bench-diff
bench-diff: bin/benchstat
	go test -run xxx -bench 'Hit|Handler|Key|Decode|Map' -count 6 ./cache ./upstreams ./proxy > bin/new.txt
	git stash -q && go test -run xxx -bench 'Hit|Handler|Key|Decode|Map' -count 6 ./cache ./upstreams ./proxy > bin/old.txt; git stash pop -q
	bin/benchstat bin/old.txt bin/new.txt

lint: bin/golangci-lint
	bin/golangci-lint run ./...

bin/golangci-lint: deploy/tools/go.mod
	mkdir -p bin && cd deploy/tools && go build -o ../../bin/golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint

bin/benchstat: deploy/tools/go.mod
	mkdir -p bin && cd deploy/tools && go build -o ../../bin/benchstat golang.org/x/perf/cmd/benchstat

fmt:
	gofmt -w .

# Writes the golden files and the README's table anew; read the diff.
golden:
	go test ./cmd/sundry ./upstreams/catalog -run 'Golden|README|Exchanges' -update

ci:
	bash .ci/run
