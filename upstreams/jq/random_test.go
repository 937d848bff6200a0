package jq

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"sundry/upstreams/lib/longtest"
)

// randomValues makes values that a program may meet: with the names that it reads, and
// with all that is odd about numbers and texts.
type randomValues struct {
	*rand.Rand
	names   []string
	scalars []any
	left    int // of the values that it makes
}

// named are the words of a program.
var named = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)

// newRandomValues makes the same values for the same seed.
func newRandomValues(program string, seed uint64) *randomValues {
	return &randomValues{rand.New(rand.NewPCG(seed, 7)), append(named.FindAllString(program, -1), "a", ""), oddScalars(), 300}
}

// oddScalars are all kinds of values without parts.
func oddScalars() []any {
	huge, _ := new(big.Int).SetString("100000000000000000000", 10)
	return []any{
		nil, nil, true, false, 0, 1, -7, math.MaxInt, math.MinInt, 0.5, math.Copysign(0, -1), 1e300, huge,
		json.Number("0"), json.Number("-0"), json.Number("1"), json.Number("1.0"), json.Number("1e0"), json.Number("2.50"), json.Number("1e400"), json.Number("-1E+400"), json.Number("1e-400"),
		json.Number("9007199254740993"), json.Number("9223372036854775808"), json.Number("100000000000000000000"), json.Number("0.1e1"),
		"", "a", "text", "0", "1", "null", "true", ",", "\u00e9", "e\u0301", "\u4e2d\u6587", "\U0001F600", "\u2028\x00\x7f", "\xff", "\"<&>\\", "2026-11-22", "https://example.org/a?b=c", strings.Repeat("x", 300),
	}
}

func (r *randomValues) pick(from []string) string { return from[r.IntN(len(from))] }

func (r *randomValues) value(depth int) any {
	r.left--
	switch n := r.IntN(10); {
	case depth == 0 || n < 3 || r.left < 0:
		if n == 0 {
			return r.pick(r.names)
		}
		return r.scalars[r.IntN(len(r.scalars))]
	case n < 5:
		list := make([]any, r.IntN(4))
		for i := range list {
			list[i] = r.value(depth - 1)
		}
		return list
	}
	return r.object(depth)
}

func (r *randomValues) object(depth int) map[string]any {
	object := map[string]any{}
	for range min(r.IntN(2*len(r.names)), 30) {
		object[r.pick(r.names)] = r.value(depth - 1)
	}
	return object
}

func (r *randomValues) env() *Env {
	return &Env{
		Params: r.object(1), Vars: r.object(3), Secrets: r.object(1), Status: r.IntN(600), Now: time.Unix(r.Int64N(1<<33), 0),
		Header: http.Header{"Location": {r.pick(r.names)}, "Set-Cookie": {r.pick(r.names) + "=b"}, http.CanonicalHeaderKey(r.pick(r.names)): {"1"}},
	}
}

// TestStraightOfRandomValues compares every program of the catalog that is straight, and
// all constructs, for values that no recording has.
func TestStraightOfRandomValues(t *testing.T) {
	rounds := 20 / longtest.Every(4)
	programs, sure := 0, 0
	compare := func(text string, defs *Defs) {
		q := compileText(text, defs)
		if q == nil || q.straight == nil {
			return
		}
		programs++
		for round := range uint64(rounds) {
			r := newRandomValues(text, round)
			if compareRunsWith(t, text, q, r.value(5), r.env()) {
				sure++
			}
		}
	}
	for _, text := range straightPrograms {
		compare(text, nil)
	}
	for _, endpoint := range endpoints(t) {
		texts, defs := catalogTexts(t, endpoint)
		for _, text := range texts {
			compare(text, defs)
		}
	}
	t.Logf("%d programs, sure in %d of %d runs", programs, sure, programs*rounds)
	if sure < programs*rounds/4 {
		t.Errorf("%d programs were sure in %d of %d runs only", programs, sure, programs*rounds)
	}
}
