package catalog

import (
	"strings"
	"testing"
	"time"

	"sundry/upstreams"
	"sundry/upstreams/declare"
	"sundry/upstreams/jq"
)

func TestFreshByTheData(t *testing.T) {
	c, err := loadText(t, "whole", strings.Replace(whole, "ttl: 1h", "ttl: 1h, fresh: .n * 60", 1))
	if err != nil {
		t.Fatal(err)
	}
	e, _ := c.Get("whole")
	fill := func() (time.Duration, error) {
		in, bad := e.Parse("n=4", Caller{Addr: caller})
		if bad != nil {
			t.Fatal(bad)
		}
		content, err := (&Fill{Input: in}).Load(t.Context(), false)
		return content.Fresh, err
	}
	if fresh, err := fill(); err != nil || fresh != 4*time.Minute {
		t.Errorf("as declared: %v, %v", fresh, err)
	}
	e.fresh = nil
	if fresh, err := fill(); err != nil || fresh != 0 {
		t.Errorf("without a program: %v, %v", fresh, err)
	}
	program := func(text string) *jq.Program {
		var problems declare.Problems
		q := jq.Compile(&declare.Expr{Source: text}, &problems)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		return q
	}
	for text, want := range map[string]time.Duration{"$params.n * 1.9": 7 * time.Second, "null": 0, "if .n > 5 then 1 else null end": 0, "1": time.Second} {
		e.fresh = program(text)
		if fresh, err := fill(); err != nil || fresh != want {
			t.Errorf("%s: %v, %v; want %v", text, fresh, err, want)
		}
	}
	for _, text := range []string{"0", "0.5", "-60", `"60"`, "true", ".n, 2", "empty", "infinite", "nan", `error("no")`, "1e20"} {
		e.fresh = program(text)
		if fresh, err := fill(); upstreams.KindOf(err) != upstreams.Malformed || !strings.Contains(err.Error(), "fresh: ") {
			t.Errorf("%s: %v, %v; want a malformed answer", text, fresh, err)
		}
	}
}

func TestMistakeInFresh(t *testing.T) {
	_, err := loadText(t, "whole", strings.Replace(whole, "ttl: 1h", "ttl: 1h, fresh: '.n |'", 1))
	if err == nil || !strings.Contains(err.Error(), "whole.yaml:8: jq: unexpected EOF") {
		t.Errorf("%v", err)
	}
}

func TestDigits(t *testing.T) {
	const declared = "type: int, min: 1, max: 9, default: \"3\", example: \"4\""
	rows := []struct{ by, allowed, good, bad string }{
		{`type: digits, min_len: 4, max_len: 4, leading_zero: true, example: "0123"`, "4 digits", "0123 0000 9999", "123 01234 012x 0１23 %20123"},
		{`type: digits, min_len: 4, max_len: 6, leading_zero: true, example: "0123"`, "4 to 6 digits", "0123 123456", "123 0123456"},
		{`type: digits, min_len: 4, max_len: 4, example: "1234"`, "4 digits, the first not 0", "1000 9999", "0123 123 12345"},
		{`type: digits, min_len: 1, max_len: 20, example: "1"`, "1 to 20 digits, the first not 0", "1 18446744073709551616", "0 -1 1.0"},
	}
	for _, r := range rows {
		c, err := loadText(t, "whole", strings.Replace(whole, declared, r.by, 1))
		if err != nil {
			t.Fatal(err)
		}
		e, _ := c.Get("whole")
		if got := e.Params[0].Allowed; got != r.allowed {
			t.Errorf("%s: allowed %q, want %q", r.by, got, r.allowed)
		}
		for value := range strings.FieldsSeq(r.good) {
			if in, bad := e.Parse("n="+value, Caller{}); bad != nil || in.values[0] != value {
				t.Errorf("%s: %s gave %v, %v", r.by, value, in.values[0], bad)
			}
		}
		for value := range strings.FieldsSeq(r.bad) {
			if _, bad := e.Parse("n="+value, Caller{}); bad == nil {
				t.Errorf("%s: %s was taken", r.by, value)
			}
		}
	}
}
