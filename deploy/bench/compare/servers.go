//go:build linux

package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// startServers starts those that the rows need, each after those that it asks.
func (b *bench) startServers(rows []*row) error {
	wanted := map[string]bool{}
	for _, r := range rows {
		for _, name := range r.servers {
			wanted[name] = true
		}
	}
	if err := b.writeCatalog(); err != nil {
		return err
	}
	if err := b.findExpress(); err != nil {
		return err
	}
	mirrored := wanted[bareMirror] || wanted[nginx] || wanted[varnish]
	steps := []struct {
		wanted bool
		start  func() error
	}{
		{wanted[sundryReplay] || mirrored, func() error {
			return b.startSundry(sundryReplay, b.serverCore, nil, "--replay", "--catalog", "catalog")
		}},
		{wanted[sundryPlain] && b.express, func() error {
			return b.startSundry(sundryPlain, b.serverCore, []string{"SUNDRY_EXPRESS=false"}, "--replay", "--catalog", "catalog")
		}},
		{true, func() error { return b.compress(rows) }},
		{wanted[sundryFetches] || wanted[bareProxy], b.startUpstream},
		{wanted[sundryFetches], b.startFetching},
		{wanted[sundryRedis] || wanted[bareRedis], b.startRedis},
		{wanted[sundryRedis] || wanted[bareRedis], func() error {
			return b.startSundry(sundryRedis, b.serverCore, nil, "--replay", "--catalog", "catalog", "--redis", "unix://"+b.file("redis.sock")+"?"+redisPatience)
		}},
		{wanted[bareMirror] || wanted[bareProxy] || wanted[bareRedis], func() error { return b.startBare(rows, wanted) }},
		{wanted[nginx], b.startNginx},
		{wanted[varnish], b.startVarnish},
	}
	for _, step := range steps {
		if !step.wanted {
			continue
		}
		if err := step.start(); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) file(name string) string { return filepath.Join(b.dir, name) }

// findExpress leaves out the column where the program has no such setting.
func (b *bench) findExpress() error {
	schema, err := exec.CommandContext(b.ctx, b.sundry, "schema", "config").Output() //nolint:gosec // the program under test
	if err != nil {
		return fmt.Errorf("sundry schema config: %w", err)
	}
	if b.express = strings.Contains(string(schema), `"express"`); !b.express {
		b.say("this Sundry has no setting express: its column is left out")
	}
	return nil
}

// startSundry starts it without limits of rate and of queues, because all of the load
// has one address and is meant to keep the core busy.
func (b *bench) startSundry(name string, core int, env []string, args ...string) error {
	p, err := b.start(name, core, append([]string{"SUNDRY_LIMITS_RATE=0", "SUNDRY_LIMITS_QUEUE_DELAY=0s", "SUNDRY_DRAIN_DELAY=0s"}, env...), b.sundry,
		append([]string{"serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"}, args...)...)
	if err != nil {
		return err
	}
	if err := p.begin(); err != nil {
		return err
	}
	s := &server{name: name, process: p}
	b.servers[name] = s
	return b.until("starting "+name, func() bool {
		text, err := os.ReadFile(b.file(name + ".log"))
		s.address, s.admin = field(string(text), "public"), field(string(text), "admin")
		return err == nil && s.address != "" && s.admin != ""
	}, p)
}

// field is a value of the line that says that it serves.
func field(log, name string) string {
	_, line, _ := strings.Cut(log, "msg=serving ")
	line, _, complete := strings.Cut(line, "\n")
	for part := range strings.FieldsSeq(line) {
		if value, ok := strings.CutPrefix(part, name+"="); ok && complete {
			return value
		}
	}
	return ""
}

// compress asks until the codings are there that rows ask for: Sundry makes them once
// somebody has asked, and the caches in front of it keep what they get first.
func (b *bench) compress(rows []*row) error {
	for _, r := range rows {
		for _, name := range []string{r.servers[withExpress], r.servers[withoutExpress]} {
			s := b.servers[name]
			if s == nil || r.accept == "" {
				continue
			}
			path := r.paths(b, s, 0)[0]
			if err := b.until("compressing "+path, func() bool {
				answer, err := b.get(s.url(path), r.change(""))
				return err == nil && answer.header.Get("Content-Encoding") == r.accept
			}, s.process); err != nil {
				return err
			}
		}
	}
	return nil
}

// startFetching starts a Sundry that asks upstreams for real. Nobody asks it for
// anything but the bench's own endpoint; whatever else it wanted to fetch would go to
// a proxy that does not exist.
func (b *bench) startFetching() error {
	text := strings.ReplaceAll(fetchedEndpoint, "UPSTREAM", b.servers[upstream].address)
	if err := writeFile(b.file("fetched/benchitem.yaml"), text); err != nil {
		return err
	}
	nowhere, err := freePort()
	if err != nil {
		return err
	}
	return b.startSundry(sundryFetches, b.serverCore,
		[]string{"SUNDRY_CACHE_WARM=false", "SUNDRY_PROXY=http://" + nowhere, "SUNDRY_PROXIES=benchitem=direct"}, "--catalog", "fetched")
}

// fetchedEndpoint asks the bench's upstream and maps what it replies.
const fetchedEndpoint = `version: 1
name: benchitem
group: text
summary: {en: An answer of 1 kB that is fetched., zh: 取自上游的 1 kB 回答}
params:
  - {name: id, type: int, min: 1, max: 1000000000, required: true, example: "7"}
  - {name: type, role: form, example: text}
cache: {class: keyed, ttl: 24h, jitter: 0, fill_timeout: 30s}
fields:
  id: {en: The number., zh: 编号。}
  title: {en: The title., zh: 标题。}
  text: {en: The text., zh: 正文。}
forms:
  - {name: json, json: .}
  - {name: text, text: '.title + "\n" + .text'}
sources:
  - name: upstream
    timeout: 20s
    http: {url: "http://UPSTREAM/item", query: {id: "{id}"}}
    judge: [{if: .code != 0, is: unavailable}]
    map: '{id: .data.number, title: .data.name, text: .data.content}'
`

// startBare starts the handlers that do only what cannot be left out.
func (b *bench) startBare(rows []*row, wanted map[string]bool) error {
	var args []string
	if wanted[bareMirror] {
		if err := writeFile(b.file("paths"), strings.Join(b.mirroredPaths(rows), "\n")); err != nil {
			return err
		}
		args = append(args, "-mirror", "http://"+b.servers[sundryReplay].address, "-paths", "paths")
	}
	if wanted[bareProxy] {
		args = append(args, "-upstream", "http://"+b.servers[upstream].address)
	}
	if wanted[bareRedis] {
		args = append(args, "-redis", "unix://"+b.file("redis.sock")+"?db=1&"+redisPatience)
	}
	p, err := b.start("bare", b.serverCore, nil, b.file("bare"), args...)
	if err != nil {
		return err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	line := make(chan string, 1)
	if err := p.begin(); err != nil {
		return err
	}
	go func() {
		text, _ := bufio.NewReader(out).ReadString('\n') // "" when it ends
		line <- text
	}()
	select {
	case text := <-line:
		addresses := strings.Fields(text)
		if len(addresses) != 3 {
			return fmt.Errorf("starting the bare handlers: expected three addresses, got %q", text)
		}
		for i, name := range []string{bareMirror, bareProxy, bareRedis} {
			b.servers[name] = &server{name: name, process: p, address: addresses[i]}
		}
		return nil
	case <-b.ctx.Done():
		return b.ctx.Err()
	}
}

// mirroredPaths are those of the rows that the bare handler has a column in, each with its coding.
func (b *bench) mirroredPaths(rows []*row) []string {
	seen := map[string]bool{}
	var out []string
	for _, r := range rows {
		if r.servers[bareHandler] != bareMirror {
			continue
		}
		for _, path := range r.paths(b, nil, 0) {
			if line := cmp.Or(r.accept, "identity") + " " + path; !seen[line] {
				seen[line] = true
				out = append(out, line)
			}
		}
	}
	return out
}

// answers waits until an address speaks HTTP.
func (b *bench) answers(s *server, path string) error {
	return b.until("starting "+s.name, func() bool {
		resp, err := b.get(s.url(path), nil)
		return err == nil && resp.status == http.StatusOK
	}, s.process)
}

// reply is an answer to a single request of the bench itself.
type reply struct {
	status int
	header http.Header
	body   string
}

// get asks for an address, without a coding unless the headers ask for one.
func (b *bench) get(url string, change func(*http.Request)) (*reply, error) {
	req, err := http.NewRequestWithContext(b.ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "") // the load has none, and some answers depend on it
	if change != nil {
		change(req)
	}
	resp, err := b.transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	return &reply{resp.StatusCode, resp.Header, string(body)}, errors.Join(err, resp.Body.Close())
}

func writeFile(name, text string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil { //nolint:gosec // nginx and Varnish may be other users
		return err
	}
	return os.WriteFile(name, []byte(text), 0o644) //nolint:gosec // nginx and Varnish may be other users
}
