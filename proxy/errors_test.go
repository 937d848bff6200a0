package proxy

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"sundry/upstreams"
)

// TestDocumentsOfFailures: whatever is in a message, what is read is what was
// meant.
func TestDocumentsOfFailures(t *testing.T) {
	for _, text := range []string{
		"", "plain", `"quoted" \ and / <b>&`, "line\nand\ttab\x00\x1f\x7f", "中文 \U0001F600", "ends\u2028with\u2029", "not UTF-8: \xff\xe2", "\xe2\x80", "\ufffd",
	} {
		var doc struct {
			Code    int
			Message string
			Error   struct {
				Type      string
				Parameter *string
				RequestID string `json:"request_id"`
			}
		}
		f := &failure{status: 400, kind: typeInvalid, message: text, parameter: text}
		b := f.appendTo(nil, "some-id")
		want := strings.ToValidUTF8(text, "\ufffd")
		if err := json.Unmarshal(b, &doc); err != nil || doc.Code != 400 || doc.Message != want || doc.Error.Type != typeInvalid || doc.Error.RequestID != "some-id" {
			t.Errorf("%q: %s: %v", text, b, err)
		}
		if doc.Error.Parameter == nil != (text == "") || text != "" && *doc.Error.Parameter != want {
			t.Errorf("%q: parameter in %s", text, b)
		}
		if strings.ContainsAny(string(b), "\u2028\u2029\n") {
			t.Errorf("%q breaks the line of a script", b)
		}
	}
}

func FuzzDocument(f *testing.F) {
	f.Add("plain")
	f.Add("\xe2\x80\xa8\"\\")
	f.Fuzz(func(t *testing.T, text string) {
		var back string
		if err := json.Unmarshal(appendText(nil, text), &back); err != nil || back != strings.ToValidUTF8(text, "\ufffd") && !strings.Contains(back, "\ufffd") {
			t.Errorf("%q: %q %v", text, back, err)
		}
	})
}

func TestSampler(t *testing.T) {
	var s sampler
	at, picked := time.Unix(1000, 0), ""
	for i := range 20 {
		if s.pick(at.Add(time.Duration(i)*150*time.Millisecond), 8) {
			picked += fmt.Sprint(" ", i)
		}
	}
	if picked != " 0 7 14 15" { // of the seconds: 0, 7, 14; of each eight: 7, 15
		t.Errorf("picked%s", picked)
	}
}

// TestRefusalsAreSampledInTheLog: the first of each second is there, and the
// others are not all.
func TestRefusalsAreSampledInTheLog(t *testing.T) {
	logged := &lines{}
	f := newFront(t, map[string]string{"simple": simple("ttl: 1h", newFake(t, `{"v":"x"}`))}, func(c *Config, _ *upstreams.Environment) {
		c.Log, c.RefusalSample = slog.New(slog.NewTextHandler(logged, nil)), 1000
	})
	began := time.Now()
	for range 200 {
		f.get("/api/simple?id=x").want(t, http.StatusBadRequest)
		f.get("/api/nothing").want(t, http.StatusNotFound)
	}
	most := int(time.Since(began)/time.Second) + 2
	for _, outcome := range []string{"outcome=invalid", "outcome=negative"} {
		if n := strings.Count(logged.String(), outcome); n == 0 || n > most {
			t.Errorf("%d lines of %s, want 1 to %d", n, outcome, most)
		}
	}
	f.get("/api/simple?id=1").want(t, http.StatusOK)
	if !strings.Contains(logged.String(), "outcome=miss") {
		t.Error("a miss is not logged")
	}
}
