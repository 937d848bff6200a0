package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// mutationsVariable makes TestSimulationFindsMutations run: 1 means all, else the words of a name.
const mutationsVariable = "SUNDRY_TEST_MUTATIONS"

// mutation is a fault that is put into the program: text of one file that is replaced by another one.
type mutation struct {
	name, file, text, by string
}

// mutations are faults that the simulation must find, each by a promise that it breaks.
func mutations() []mutation {
	return []mutation{
		{"a purge that is not stored", "proxy/live/pending.go", "r.setPending(bounded(append(slices.Clone(r.pending), p)))", "_ = p"},
		{"settings that were rolled back and take the place of those known", "proxy/live/exchange.go", "known := r.known.merge(stored)", "known := stored"},
		{"changes that are read only when a notice comes", "proxy/live/sync.go", "pollInterval = 3 * time.Second", "pollInterval = 90 * time.Second"},
		{"an unconditional SET", "cache/far/script.go", `if lasting and kind ~= "=" or lasting == (kind == "=") and older then`, `if false then`},
		{"a fill that forgets a purge", "cache/fill.go", "case !f.purgedSince(f.key, &e.Meta, now):", "case true:"},
		{"a lease that is never released", "cache/far/lease.go", "if r.stop() {", "if r.stop() && r.tier == nil {"},
		{"a lease that is not asked for", "cache/lease.go", "func (f *fill) lease(ctx context.Context) bool {", "func (f *fill) lease(ctx context.Context) bool {\n\tif f != nil {\n\t\treturn true\n\t}"},
		{"a rate of each instance", "cmd/sundry/serve.go", "cfg.Far, s.env.Quotas.Fleet = inSyncOnly{s.far, s.inSync}, s.far", "cfg.Far = inSyncOnly{s.far, s.inSync}"},
		{"a clock that is trusted", "cache/far/clock.go", "func (c *clock) off() time.Duration { return time.Duration(c.ahead.Load()) * time.Millisecond }", "func (c *clock) off() time.Duration { return 0 * time.Duration(c.ahead.Load()) }"},
		{"a negative answer in the place of a copy", "cache/policy/policy.go", "return !next.Replaceable() || !Protected(old, state)", "return true"},
		{"copies that are never confirmed", "cache/confirm/table.go", "return left <= 0 || left > int64(Every)", "return left < 0 && left > 0"},
		{"announcements that were missed", "cache/web/confirmation.go", "s.outages.Add(1)", ""},
		{"a start that knows no changes", "cmd/sundry/live.go", "func (s *server) inSync() bool { return", "func (s *server) inSync() bool { return true ||"},
		{"an unsafe request that is not told", "cache/web/store.go", "s.shareGone(s.farKey(p.Key), p.At)", ""},
		{"reads of Redis without a budget", "cache/far/far.go", "c.Timeout = cmp.Or(c.Timeout, 100*time.Millisecond)", "c.Timeout = cmp.Or(c.Timeout, 4*time.Second)"},
		{"a change that waits for a Redis that hangs", "proxy/live/accept.go", "storeTime      = 2 * time.Second", "storeTime      = 9 * time.Second"},
		{"responses that are never confirmed", "cache/web/confirmation.go", "len(o.Body) > mostFar ||", "len(o.Body) >= 0 ||"},
		{"a goroutine that remains", "cache/far/far.go", "return errors.Join(t.client.Close(), t.sharedValues.Close())", "go func() { select {} }()\n\treturn errors.Join(t.client.Close(), t.sharedValues.Close())"},
	}
}

// TestSimulationFindsMutations puts faults into the program, one after another, each of which the simulation must find.
func TestSimulationFindsMutations(t *testing.T) {
	only := os.Getenv(mutationsVariable)
	if only == "" {
		t.Skipf("it builds the program for each: %s=1", mutationsVariable)
	}
	for _, m := range mutations() {
		if only != "1" && !strings.Contains(m.name, only) {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			run := exec.CommandContext(t.Context(), m.build(t), "-test.run=^(TestKnownSchedules|TestSimulation)$", "-test.v")
			run.Env = append(os.Environ(), simulateVariable+"=200", simulateFirstVariable+"=1")
			out, err := run.CombinedOutput()
			if err == nil {
				t.Fatalf("200 seeds did not find it:\n%s", out)
			}
			t.Logf("%.4000s", out)
		})
	}
}

// build builds the tests of this package with the mutation, and returns their program.
func (m *mutation) build(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	file, _ := filepath.Abs(filepath.Join("../..", m.file)) // of a relative path
	text := readFile(t, file)
	if strings.Count(text, m.text) != 1 {
		t.Fatalf("%s has this text %d times, want once: %s", m.file, strings.Count(text, m.text), m.text)
	}
	mutant := write(t, dir, filepath.Base(file), strings.Replace(text, m.text, m.by, 1))
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {file: mutant}})
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "sundry.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-o", program, "-overlay", write(t, dir, "overlay.json", string(overlay)), ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s %v", out, err)
	}
	return program
}
