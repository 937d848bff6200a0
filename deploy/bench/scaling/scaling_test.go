//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"sundry/deploy/bench/harness"
	"sundry/upstreams/lib/peertest"
)

// TestTablesComeOut runs the script itself, with so few keys that its times mean
// nothing. Round trips are those that the documents speak of.
func TestTablesComeOut(t *testing.T) {
	if testing.Short() {
		t.Skip("starts twelve servers")
	}
	for peer, names := range map[string][2]string{"redis": {"redis-server", "redis-server"}, "taskset": {"util-linux", "taskset"}} {
		program := peertest.Program(t, peer, names[0], names[1])
		t.Setenv("PATH", os.Getenv("PATH")+":"+filepath.Dir(program))
	}
	if _, _, err := harness.Cores(); err != nil {
		t.Skip(err)
	}
	cmd := exec.Command("bash", "../scaling.sh", "--keys", "100,200", "--instances", "1,2", "--rounds", "1", "--seconds", "0.1")
	var messages strings.Builder
	cmd.Stderr = &messages
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, &messages)
	}
	for _, want := range []string{
		// The caller's waits are by time, and a fill that takes long renews its lease.
		`\| near hit \| 0 \| \d+ \| 0 \| none \|`,
		`\| far hit \| 1 \| \d+ \| 1 \| look \|`,
		`\| miss \| [345]\S* \| \d+ \| [45]\S* \| look, lease, (\S+ × renewal, )?store(, (\S+ × )?release)? \|`,
		`\| miss, source of a second \| \S+ \| – \| \S+ \| (\S+ × )?look, lease, (\S+ × )?renewal, store(, (\S+ × )?release)? \|`,
		`\| the same miss .* \| – \| \S+ \| .*look, .*lease, .*want, .*store.* \|`, // a lease may end meanwhile
		`\| stale hit, with its refresh \| [345]\S* \| \d+ \| [45]\S* \| look, lease, (\S+ × renewal, )?store(, (\S+ × )?release)? \|`,
		`\n\| 1 \| \d+\.\d µs \|(.*\|){8}\n\| 2 \| \d+\.\d µs \|`,
		`\n\| 100 \|(.*\|){10}\n\| 200 \| \d+\.\d µs \|`,
		"\n\\| `60s` \\| \\d", `\n\| 100,000 \| 99\.5 % \|`, `\n\| 1,000,000 \| 80 % \| 15 % \| 5 % \|`, `Redis \d+\.\d+`,
	} {
		if !regexp.MustCompile(want).Match(out) {
			t.Errorf("%s is missing in:\n%s", want, out)
		}
	}
}

// figuresOfATest have a different value in each place that documents show.
func figuresOfATest() *figures {
	each := func(v float64) cost {
		return cost{sundry: v, redis: v / 10, received: 100 * v, sent: 200 * v, answer: 1000, rate: 1e6 / v}
	}
	return &figures{
		trips: []tripRow{
			{name: nearName, timed: true, by: map[step]float64{}},
			{name: farName, each: 1, waited: 1, timed: true, commands: 1, by: map[step]float64{look: 1}},
			{name: missName, each: 4.5, waited: 2, timed: true, commands: 4.5, by: map[step]float64{look: 1, lease: 1, renewal: 0.5, store: 1, release: 1}},
		},
		idle:   []idleRow{{instances: 4, sundry: 2000, redis: 300, commands: 7, received: 400, sent: 500, resident: 100 << 20}},
		fleets: []fleetRow{{instances: 4, near: each(10), far: each(40), miss: each(100), refresh: each(200)}},
		growth: []growthRow{
			{keys: 1000, near: each(11), even: each(21), far: each(41), miss: each(101), body: 305, nearEach: 9999, redisEach: 801},
			{keys: 1_000_000, near: each(12), even: each(22), far: each(42), miss: each(102), body: 305, nearEach: 1234, redisEach: 802, resident: 1 << 30, redisUsed: 1 << 29},
		},
		endpoints: []endpointRow{{"60s", 3700}},
	}
}

// TestTablesHaveTheirPlaces writes into copies of the documents.
func TestTablesHaveTheirPlaces(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"deploy/scaling.md", "deploy/sizing.md"} {
		text, err := os.ReadFile(filepath.Join("../../..", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := harness.WriteFile(filepath.Join(root, name), string(text)); err != nil {
			t.Fatal(err)
		}
	}
	h, err := harness.New(t.Context(), &strings.Builder{}, &harness.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	b := &bench{Bench: h}
	r := b.report(figuresOfATest(), time.Date(2027, 1, 2, 0, 0, 0, 0, time.UTC), "Others were there.")
	for range 2 { // the second run replaces the figures of the first
		if err := r.write(root); err != nil {
			t.Fatal(err)
		}
	}
	for name, rows := range map[string][]string{
		"deploy/scaling.md": {
			"| near hit | 0 | 0 | 0 | none |", "| miss | 4.5 | 2 | 4.5 | look, lease, 0.5 × renewal, store, release |",
			"| 4 | 10.0 µs | 40.0 µs | 4.0 µs | 100 µs | 10.0 µs | 200 µs | 20.0 µs | 100000 | 25000 |",
			"| 4 | 2.0 ms/s | 0.30 ms/s | 7.0/s | 400/s | 500/s | 100 MiB |",
			"| 1,000 | 11.0 µs | 21.0 µs | 41.0 µs | 4.1 µs | 101 µs | 10.1 µs | – | 801 bytes | 0 MiB | 0 MiB |",
			"| 1,000,000 | 12.0 µs | 22.0 µs | 42.0 µs | 4.2 µs | 102 µs | 10.2 µs | 1,234 bytes | 802 bytes | 1024 MiB | 512 MiB |",
			"| 100,000 | 95 % | 4 % | 1 % | 12.1 µs | 1.2 | 0.80 | 2 |",
		},
		"deploy/sizing.md": {"| 1,000 | – | 801 bytes |", "| 1,000,000 | 1,234 bytes | 802 bytes |", "| `60s` | 3,700 bytes |"},
	} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if n := strings.Count(string(text), row); n != 1 {
				t.Errorf("%s has %q %d times", name, row, n)
			}
		}
		if !strings.Contains(string(text), "; 2027-01-02. Others were there.\n\n| ") {
			t.Errorf("%s has no date of the figures", name)
		}
	}
}

func TestMistakesInOptions(t *testing.T) {
	for _, args := range []string{"--keys 10", "--keys 1000,100", "--keys many", "--instances 0", "--seconds 0", "--rounds 0", "more"} {
		if _, err := readOptions(strings.Fields(args), &strings.Builder{}); err == nil {
			t.Errorf("%s: no error", args)
		}
	}
}
