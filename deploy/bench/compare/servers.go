//go:build linux

package main

import (
	"bufio"
	"cmp"
	"fmt"
	"net/http"
	"os/exec"
	"strings"

	"sundry/deploy/bench/harness"
)

// startServers starts those that the rows need, each after those that it asks.
func (b *bench) startServers(rows []*row) error {
	wanted := map[string]bool{}
	for _, r := range rows {
		for _, name := range r.servers {
			wanted[name] = true
		}
	}
	if err := b.WriteFiles(catalogFiles); err != nil {
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
			return b.startSundry(sundryRedis, b.serverCore, nil, "--replay", "--catalog", "catalog", "--redis", "unix://"+b.File("redis.sock")+"?"+redisPatience)
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

// findExpress leaves out the column where the program has no such setting.
func (b *bench) findExpress() error {
	schema, err := exec.CommandContext(b.Context, b.Program, "schema", "config").Output() //nolint:gosec // the program under test
	if err != nil {
		return fmt.Errorf("sundry schema config: %w", err)
	}
	if b.express = strings.Contains(string(schema), `"express"`); !b.express {
		b.Say("this Sundry has no setting express: its column is left out")
	}
	return nil
}

// startSundry starts a Sundry of that name.
func (b *bench) startSundry(name string, core int, env []string, args ...string) error {
	s, err := b.StartSundry(name, core, env, args...)
	if err == nil {
		b.servers[name] = &server{name: name, process: s.Process, address: s.Address, admin: s.Admin}
	}
	return err
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
			if err := b.Until("compressing "+path, func() bool {
				answer, err := b.Get(s.url(path), r.change(""))
				return err == nil && answer.Header.Get("Content-Encoding") == r.accept
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
	if err := harness.WriteFile(b.File("fetched/benchitem.yaml"), text); err != nil {
		return err
	}
	nowhere, err := harness.FreePort()
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
summary: {en: An answer of 1 kB that is fetched., zh: 取自上游的 1 kB 答案}
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
		if err := harness.WriteFile(b.File("paths"), strings.Join(b.mirroredPaths(rows), "\n")); err != nil {
			return err
		}
		args = append(args, "-mirror", "http://"+b.servers[sundryReplay].address, "-paths", "paths")
	}
	if wanted[bareProxy] {
		args = append(args, "-upstream", "http://"+b.servers[upstream].address)
	}
	if wanted[bareRedis] {
		args = append(args, "-redis", "unix://"+b.File("redis.sock")+"?db=1&"+redisPatience)
	}
	p, err := b.Start("bare", b.serverCore, nil, b.File("bare"), args...)
	if err != nil {
		return err
	}
	out, err := p.Stdout()
	if err != nil {
		return err
	}
	line := make(chan string, 1)
	if err := p.Begin(); err != nil {
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
	case <-b.Context.Done():
		return b.Context.Err()
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
	return b.Until("starting "+s.name, func() bool {
		resp, err := b.Get(s.url(path), nil)
		return err == nil && resp.Status == http.StatusOK
	}, s.process)
}
