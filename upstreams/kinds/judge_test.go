package kinds

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"sundry/metrics/words"
	"sundry/upstreams"
)

// TestPartialAndEmptyRepliesAreMalformed: an unrequested part, an acceptance and an
// empty reply have no data, whatever their bodies are. A rule may decide otherwise.
func TestPartialAndEmptyRepliesAreMalformed(t *testing.T) {
	const json = `{"v":1}`
	for status, want := range map[int]string{200: "success", 201: "success", 203: "success", 202: "malformed", 204: "malformed", 205: "malformed", 206: "malformed", 207: "malformed", 226: "malformed", 299: "malformed"} {
		base := upstream(t, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			if r.URL.Path == "/picture" {
				_, _ = w.Write([]byte(png))
			} else {
				_, _ = w.Write([]byte(json))
			}
		})
		for name, text := range map[string]string{
			"json":    "name: s\nhttp: {url: \"" + base + "/\"}\n",
			"rule":    "name: s\njudge: [{if: .v == 1, is: success}]\nhttp: {url: \"" + base + "/\"}\n",
			"picture": "name: s\nhttp: {url: \"" + base + "/picture\", decode: image}\n",
		} {
			_, err := compile(t, environment(t), text).Probe(t.Context(), &upstreams.Call{Now: time.Now()}, nil)
			got := "success"
			if err != nil {
				got = upstreams.KindOf(err).String()
			}
			if got != want {
				t.Errorf("%d as %s: %s, want %s", status, name, got, want)
			}
		}
		text := "name: s\njudge: [{status: [" + strconv.Itoa(status) + "], is: negative}]\nhttp: {url: \"" + base + "/\"}\n"
		if _, err := compile(t, environment(t), text).Probe(t.Context(), &upstreams.Call{Now: time.Now()}, nil); upstreams.KindOf(err) != upstreams.Negative {
			t.Errorf("%d that a rule names: %v", status, err)
		}
	}
}

func TestVerdicts(t *testing.T) {
	rows := []struct {
		name   string
		status int
		body   string
		judge  string
		want   upstreams.ErrorKind
		ok     bool
	}{
		{"good", 200, `{"a":1}`, "", 0, true},
		{"created", 201, `{}`, "", 0, true},
		{"not found", 404, `gone`, "", upstreams.Unavailable, false},
		{"gone", 410, ``, "", upstreams.Unavailable, false},
		{"not found, which is an answer here", 404, `<html>`, `[{status: [404, 410], is: negative}]`, upstreams.Negative, false},
		{"not found, which is not the host's fault", 404, `<html>`, `[{status: [404], is: skipped}]`, upstreams.Skipped, false},
		{"too many", 429, ``, "", upstreams.Limited, false},
		{"timeout status", 408, ``, "", upstreams.Unavailable, false},
		{"forbidden", 403, `<html>`, "", upstreams.Unavailable, false},
		{"server error", 500, `{}`, "", upstreams.Unavailable, false},
		{"teapot", 418, ``, "", upstreams.Malformed, false},
		{"login page", 200, `<html>`, "", upstreams.Malformed, false},
		{"cut JSON", 200, `{"a":`, "", upstreams.Malformed, false},
		{"two values", 200, `{} {}`, "", upstreams.Malformed, false},
		{"empty", 200, ``, "", upstreams.Malformed, false},
		{"error inside", 200, `{"code":500}`, `[{if: .code != 200, is: unavailable}]`, upstreams.Unavailable, false},
		{"no inside", 200, `{"data":null}`, `[{if: .data == null, is: negative}]`, upstreams.Negative, false},
		{"limited inside", 200, `{"m":"limit"}`, `[{if: '.m | test("limit")', is: limited}]`, upstreams.Limited, false},
		{"first rule wins", 200, `{"a":1}`, `[{if: .a == 1, is: success}, {if: .a == 1, is: malformed}]`, 0, true},
		{"status rule", 404, `{"a":1}`, `[{status: [404], if: .a == 1, is: success}]`, 0, true},
		{"condition on a strange shape does not hold", 200, `[1]`, `[{if: .code.x == 1, is: negative}]`, 0, true},
		{"a condition is about successes", 429, `{"code":1}`, `[{if: .code != 200, is: malformed}]`, upstreams.Limited, false},
		{"unless it names the status", 429, `{"code":1}`, `[{status: [429], if: .code == 1, is: negative}]`, upstreams.Negative, false},
		{"condition needs a body", 404, `<html>`, `[{if: 'true', is: success}]`, upstreams.Unavailable, false},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			url := upstream(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(r.status); fmt.Fprint(w, r.body) })
			env := environment(t)
			text := "name: one\nhttp: {url: " + url + "/}\n"
			if r.judge != "" {
				text += "judge: " + r.judge + "\n"
			}
			s := compile(t, env, text)
			_, err := s.Probe(t.Context(), &upstreams.Call{}, nil)
			if r.ok != (err == nil) || err != nil && upstreams.KindOf(err) != r.want {
				t.Errorf("got %v", err)
			}
		})
	}
}

// A reply may say that the caller's value is wrong.
func TestVerdictInvalidNamesTheParameter(t *testing.T) {
	base := upstream(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"code":408}`)) })
	text := "name: s\njudge: [{if: .code == 408, is: invalid, parameter: phone, message: {en: expected four digits, zh: 应为四位数字}}]\nhttp: {url: \"" + base + "/\"}\n"
	_, err := compile(t, environment(t), text).Probe(t.Context(), &upstreams.Call{Now: time.Now()}, nil)
	typed, ok := errors.AsType[*upstreams.Error](err)
	if !ok || typed.Kind != upstreams.Invalid || typed.Parameter != "phone" || typed.Message != words.Say("expected four digits", "应为四位数字") {
		t.Errorf("%+v", err)
	}
}
