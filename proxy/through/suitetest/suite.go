// Package suitetest holds caches to http-tests/cache-tests, the public suite of HTTP caches: it is the suite's origin and
// its client, and its verdicts are those of the suite's own engine. A cache passes if it does all that is required and as
// much of what is optimal as may be. The suite's data is not part of the repository: without it, tests are skipped with a
// word.
package suitetest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sundry/upstreams/lib/longtest"
)

// The suite's words, as its schema has them.
type (
	group struct {
		Tests []*test `json:"tests"`
	}
	test struct {
		ID          string     `json:"id"`
		Kind        string     `json:"kind"`
		DependsOn   []string   `json:"depends_on"`
		BrowserOnly bool       `json:"browser_only"`
		Requests    []*request `json:"requests"`
	}
	// request is one of a test: what the client sends, what the origin answers, and what is to come of it.
	request struct {
		Method          string            `json:"request_method"`
		RequestHeaders  [][]any           `json:"request_headers"`
		RequestBody     string            `json:"request_body"`
		Query           string            `json:"query_arg"`
		File            string            `json:"filename"`
		MagicIMS        bool              `json:"magic_ims"`
		MagicLocations  bool              `json:"magic_locations"`
		RFC850          []string          `json:"rfc850date"`
		Setup           bool              `json:"setup"`
		SetupTests      []string          `json:"setup_tests"`
		PauseAfter      bool              `json:"pause_after"`
		ResponsePause   float64           `json:"response_pause"`
		Disconnect      bool              `json:"disconnect"`
		Interim         []json.RawMessage `json:"interim_responses"`
		Status          []any             `json:"response_status"`
		ResponseHeaders [][]any           `json:"response_headers"`
		ResponseBody    *string           `json:"response_body"`
		CheckBody       *bool             `json:"check_body"`

		ExpectedType          string             `json:"expected_type"`
		ExpectedStatus        json.RawMessage    `json:"expected_status"`
		ExpectedHeaders       []json.RawMessage  `json:"expected_response_headers"`
		ExpectedMissing       []json.RawMessage  `json:"expected_response_headers_missing"`
		ExpectedRequest       []json.RawMessage  `json:"expected_request_headers"`
		ExpectedRequestAbsent []json.RawMessage  `json:"expected_request_headers_missing"`
		ExpectedText          json.RawMessage    `json:"expected_response_text"`
		ExpectedMethod        string             `json:"expected_method"`
		ExpectedInterim       *[]json.RawMessage `json:"expected_interim_responses"`
	}
)

// isSetup reports whether what a request says under this name prepares the test.
func (r *request) isSetup(name string) bool { return r.Setup || slices.Contains(r.SetupTests, name) }

// kind is required, optimal or check, which is neither good nor bad.
func (t *test) kind() string {
	if t.Kind == "" {
		return "required"
	}
	return t.Kind
}

// read reads the tests that are not for browsers; SUNDRY_CACHE_TEST names a single one.
func read(t *testing.T) []*test {
	t.Helper()
	dir, only := os.Getenv("SUNDRY_CACHE_TESTS"), os.Getenv("SUNDRY_CACHE_TEST")
	if dir == "" {
		t.Skip("SUNDRY_CACHE_TESTS does not name a directory with tests.json of http-tests/cache-tests")
	}
	longtest.NotShort(t, "the suite pauses")
	b, err := os.ReadFile(filepath.Join(dir, "tests.json")) //nolint:gosec // the tester's own
	if err != nil {
		t.Fatal(err)
	}
	var groups []group
	if err := json.Unmarshal(b, &groups); err != nil {
		t.Fatal(err)
	}
	var all []*test
	for _, g := range groups {
		for _, one := range g.Tests {
			if !one.BrowserOnly && (only == "" || only == one.ID) {
				all = append(all, one)
			}
		}
	}
	return all
}
