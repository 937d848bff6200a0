package main

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// connections of the load.
const connections = 64

// outcome is what came of a load.
type outcome struct {
	answers, failed int
	bytes           int // of answers
}

// verb and good are what a row asks for, and the status that it gets.
func (r *row) verb() string { return cmp.Or(r.method, http.MethodGet) }
func (r *row) good() int    { return cmp.Or(r.status, http.StatusOK) }

// load asks a server for the paths, over and over, as fast as it answers, by wrk with
// files/load.lua.
func (b *bench) load(r *row, s *server, paths []string) (outcome, error) {
	if r.verb() == http.MethodHead { // wrk waits for the body
		return r.came(attack{vegeta.Rate{}, b.span(), connections}.summary(r.targets(s, paths))), nil
	}
	args := []string{"-t1", fmt.Sprintf("-c%d", connections), fmt.Sprintf("-d%ds", max(1, r.spans)*b.seconds),
		"--timeout", "30s", "-s", b.file("files/load.lua")}
	for name, value := range r.header {
		args = append(args, "-H", name+": "+value)
	}
	done := outcome{}
	cmd := exec.CommandContext(b.ctx, "wrk", append(args, s.url(paths[0]))...) //nolint:gosec // of the bench
	cmd.Env = os.Environ()
	if r.delay > 0 {
		cmd.Env = append(cmd.Env, fmt.Sprintf("DELAY=%d", r.delay.Milliseconds()))
	}
	if len(paths) > 1 {
		if err := os.WriteFile(b.file("paths"), []byte(strings.Join(paths, "\n")), 0o600); err != nil { //nolint:gosec // in a directory of its own
			return done, err
		}
		cmd.Env = append(cmd.Env, "PATHS="+b.file("paths"))
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return done, fmt.Errorf("wrk: %w: %s", err, out)
	}
	_, line, _ := strings.Cut(string(out), "\nDONE ")
	if _, err := fmt.Sscan(line, &done.answers, &done.bytes, &done.failed); err != nil {
		return done, fmt.Errorf("wrk: no result in %s: %w", out, err)
	}
	return done, nil
}

// targets are what vegeta asks for.
func (r *row) targets(s *server, paths []string) []vegeta.Target {
	header := http.Header{"User-Agent": {""}} // as wrk has none
	for name, value := range r.header {
		header.Set(name, value)
	}
	var out []vegeta.Target
	for _, path := range paths {
		out = append(out, vegeta.Target{Method: r.verb(), URL: s.url(path), Header: header})
	}
	return out
}

// came is what came of a load by vegeta.
func (r *row) came(m *vegeta.Metrics) outcome {
	answers := int(m.Requests)
	return outcome{answers, answers - m.StatusCodes[fmt.Sprint(r.good())], int(m.BytesIn.Total)}
}

// attack is a load by vegeta.
type attack struct {
	pace   vegeta.Pacer  // vegeta.Rate{} is as fast as they are answered
	span   time.Duration // 0: until the pace ends it
	atMost uint64        // requests under way
}

// times makes so many requests as fast as they are answered.
type times int

// Pace ends the load after the last request.
func (n times) Pace(_ time.Duration, made uint64) (time.Duration, bool) { return 0, made >= uint64(n) }

// Rate is asked for by nobody here.
func (times) Rate(time.Duration) float64 { return 0 }

// run hands over what came of each request.
func (a attack) run(targets vegeta.Targeter, seen func(*vegeta.Result)) {
	transport := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 4096}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: 10 * time.Second}
	attacker := vegeta.NewAttacker(vegeta.Client(client), vegeta.Workers(connections), vegeta.MaxWorkers(a.atMost))
	for result := range attacker.Attack(targets, a.pace, a.span, "") {
		seen(result)
	}
}

// summary runs it with targets in their order, over and over.
func (a attack) summary(targets []vegeta.Target) *vegeta.Metrics {
	m := &vegeta.Metrics{}
	a.run(vegeta.NewStaticTargeter(targets...), m.Add)
	m.Close()
	return m
}
