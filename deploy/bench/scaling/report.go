//go:build linux

package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"sundry/deploy/bench/harness"
)

// report is what was measured, as Markdown.
type report struct {
	f      *figures
	origin string // machine and date, and who disturbed
}

// setting is how the figures came about, behind the machine.
const setting = "; loopback, no TLS; all instances on one core, Redis and the load on another, 64 connections; "

func (b *bench) report(f *figures, now time.Time, warning string) *report {
	origin := b.Machine("Redis") + setting + now.UTC().Format(time.DateOnly) + ". " + warning
	return &report{f, strings.TrimSpace(origin) + "\n\n"}
}

// block is a table with its place in a document.
type block struct{ file, name, text string }

func (r *report) blocks() []block {
	const scaling = "deploy/scaling.md"
	return []block{
		{scaling, "trips", r.origin + r.trips()}, {scaling, "instances", r.origin + r.instances()}, {scaling, "idle", r.origin + r.idle()},
		{scaling, "keys", r.origin + r.keys()}, {scaling, "plan", r.plan()},
		{"deploy/sizing.md", "entries", r.origin + r.entries()}, {"deploy/sizing.md", "keys of endpoints", r.origin + r.endpoints()},
	}
}

// whole is everything.
func (r *report) whole() string {
	return r.origin + strings.Join([]string{r.trips(), r.instances(), r.idle(), r.keys(), r.endpoints(), r.plan()}, "\n")
}

// write puts the tables into the documents below the root of the repository.
func (r *report) write(root string) error {
	for _, b := range r.blocks() {
		begin, end := marks(b.name)
		if err := harness.ReplaceFigures(filepath.Join(root, b.file), begin, b.text, end); err != nil {
			return err
		}
	}
	return nil
}

// marks stand around a table in a document.
func marks(name string) (begin, end string) {
	return "<!-- " + name + ": made by `deploy/bench/scaling.sh --write` -->\n", "<!-- end of " + name + " -->\n"
}

// trips is the table of round trips.
func (r *report) trips() string {
	var out strings.Builder
	out.WriteString("| request | round trips | the caller waits for | commands | which |\n|---|---|---|---|---|\n")
	for _, row := range r.f.trips {
		waited := "–"
		if row.timed {
			waited = fmt.Sprintf("%.0f", row.waited)
		}
		fmt.Fprintf(&out, "| %s | %s | %s | %s | %s |\n", row.name, short(row.each), waited, short(row.commands), row.steps())
	}
	return out.String()
}

// steps are the round trips of a row, in their order.
func (row *tripRow) steps() string {
	var out []string
	for _, s := range requestSteps() {
		switch n := row.by[s]; {
		case n == 1:
			out = append(out, string(s))
		case n > 0:
			out = append(out, short(n)+" × "+string(s))
		}
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}

// short is a number with a decimal where it is no whole one.
func short(v float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0") }

// instances is the table of CPU by the number of instances.
func (r *report) instances() string {
	var out strings.Builder
	out.WriteString("| instances | near hit | far hit | of Redis | miss | of Redis | refresh | of Redis | near hits a second | far hits a second |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, row := range r.f.fleets {
		fmt.Fprintf(&out, "| %d | %.1f µs | %.1f µs | %.1f µs | %.0f µs | %.1f µs | %.0f µs | %.1f µs | %.0f | %.0f |\n", row.instances, row.near.sundry, row.far.sundry, row.far.redis,
			row.miss.sundry, row.miss.redis, row.refresh.sundry, row.refresh.redis, row.near.rate, row.far.rate)
	}
	return out.String()
}

// idle is the table of what instances cost that nobody asks.
func (r *report) idle() string {
	var out strings.Builder
	out.WriteString("| instances | CPU of each | CPU of Redis for each | commands of each | bytes to Redis | bytes from Redis | resident memory of each |\n|---|---|---|---|---|---|---|\n")
	for _, row := range r.f.idle {
		fmt.Fprintf(&out, "| %d | %.1f ms/s | %.2f ms/s | %.1f/s | %.0f/s | %.0f/s | %.0f MiB |\n", row.instances, row.sundry/1000, row.redis/1000, row.commands, row.received, row.sent, row.resident/(1<<20))
	}
	return out.String()
}

// keys is the table by the number of keys.
func (r *report) keys() string {
	var out strings.Builder
	out.WriteString("| keys | near hit, popular keys | near hit, keys asked evenly | far hit | of Redis | miss | of Redis | near tier, an entry | Redis, an entry | instance | Redis |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
	for i := range r.f.growth {
		row := &r.f.growth[i]
		fmt.Fprintf(&out, "| %s | %.1f µs | %.1f µs | %.1f µs | %.1f µs | %.0f µs | %.1f µs | %s | %.0f bytes | %.0f MiB | %.0f MiB |\n", thousands(row.keys), row.near.sundry, row.even.sundry, row.far.sundry, row.far.redis,
			row.miss.sundry, row.miss.redis, row.nearEntry(), row.redisEach, row.resident/(1<<20), row.redisUsed/(1<<20))
	}
	return out.String()
}

// entries is the table of sizing.md: what an entry takes.
func (r *report) entries() string {
	var out strings.Builder
	fmt.Fprintf(&out, "| entries, with bodies of %.0f bytes of JSON and of a line of text | near tier, each | Redis, each |\n|---|---|---|\n", r.f.growth[0].body)
	for i := range r.f.growth {
		row := &r.f.growth[i]
		fmt.Fprintf(&out, "| %s | %s | %.0f bytes |\n", thousands(row.keys), row.nearEntry(), row.redisEach)
	}
	return out.String()
}

// endpoints is the table of sizing.md: what keys of built-in endpoints take in Redis.
func (r *report) endpoints() string {
	var out strings.Builder
	out.WriteString("| endpoint | Redis, a key |\n|---|---|\n")
	for _, row := range r.f.endpoints {
		fmt.Fprintf(&out, "| `%s` | %s bytes |\n", row.endpoint, thousands(int(row.bytes)))
	}
	return out.String()
}

// leastGrowth is by how many bytes an instance has to grow for its entries to be told
// from what its heap varies by.
const leastGrowth = 16 << 20

// nearEntry is the size of an entry in the near tier, where it is known.
func (row *growthRow) nearEntry() string {
	if row.nearEach*float64(row.keys) < leastGrowth {
		return "–"
	}
	return thousands(int(row.nearEach)) + " bytes"
}

// plan is the table of loads.
func (r *report) plan() string {
	var out strings.Builder
	p, m := r.f.prices(), planned()
	fmt.Fprintf(&out, "Instances of %.0f cores and %.0f Gbit/s, no more than %.0f %% busy with one of them away; answers of %.0f bytes with their heads.\n\n", m.cores, m.gbit, 100*m.busy, p.answer)
	out.WriteString("| requests a second | near hits | far hits | misses | CPU of a request | cores | answers, Gbit/s | instances | Redis, round trips a second | Redis, cores | Redis, Gbit/s | masters |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, l := range loads() {
		q := p.plan(l, m)
		fmt.Fprintf(&out, "| %s | %s %% | %s %% | %s %% | %.1f µs | %.1f | %.2f | %.0f | %s | %.2f | %.2f | %.0f |\n", thousands(int(l.rate)), short(100*l.near), short(100*l.far), short(100*l.miss),
			q.cpu, q.cores, q.gbit, q.instances, thousands(int(q.trips)), q.redis, q.gbitRedis, q.masters)
	}
	return out.String()
}

// thousands writes a number with commas.
func thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
