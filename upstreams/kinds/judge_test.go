package kinds

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"sundry/upstreams"
)

// TestPartsAndEmptinessAreNoAnswers: a part of a document that nobody asked for,
// an acceptance and an empty answer hold nothing, whatever their bodies say. A
// rule may know better.
func TestPartsAndEmptinessAreNoAnswers(t *testing.T) {
	const json, pixel = `{"v":1}`, "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00"
	for status, want := range map[int]string{200: "success", 201: "success", 203: "success", 202: "malformed", 204: "malformed", 205: "malformed", 206: "malformed", 207: "malformed", 226: "malformed", 299: "malformed"} {
		base := upstream(t, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			if r.URL.Path == "/picture" {
				_, _ = w.Write([]byte(pixel))
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
