package catalog

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"sundry/upstreams"
)

// telltale is every upstream at once: it answers as each would, and puts into
// the answer all that it was sent.
type telltale struct{ sent []string }

func (s *telltale) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	form, _ := url.ParseQuery(string(body))
	for _, name := range []string{"sign", "DataSign", "customer", "EBusinessID"} {
		if v := form.Get(name); v != "" {
			s.sent = append(s.sent, v, strings.ToLower(v), url.QueryEscape(v))
			if plain, err := base64.StdEncoding.DecodeString(v); err == nil && len(plain) == 32 {
				s.sent = append(s.sent, string(plain))
			}
		}
	}
	echo := fmt.Sprintf("%s %s %s %v", r.URL, body, r.Header.Get("Authorization"), form)
	event := map[string]any{"time": "2026-11-19 16:30:05", "ftime": "2026-11-19 16:30:05", "AcceptTime": "2026-11-19 16:30:05", "context": echo, "status": echo, "AcceptStation": echo}
	answer, err := json.Marshal(map[string]any{
		"status": map[bool]any{true: "0", false: "200"}[strings.Contains(r.URL.Host, "alicloud")], "state": "0", "com": "yuantong", "data": []any{event},
		"result": map[string]any{"list": []any{event}}, "Success": true, "ShipperCode": "YTO", "State": "2", "Traces": []any{event},
	})
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r, Body: io.NopCloser(strings.NewReader(string(answer))),
	}, err
}

// TestSignedSourcesShowNoSecret: neither keys nor what is signed with them, in what an operator sees of a call beside its
// data.
func TestSignedSourcesShowNoSecret(t *testing.T) {
	for _, name := range []string{"kuaidi100", "alimarket", "kdniao"} {
		up := &telltale{}
		env := testEnvironment(t, nil)
		env.Transport = up
		env.Secret = func(name string) (string, bool) {
			if strings.HasSuffix(name, "_URL") {
				return "https://own.example.org", true // the address of a service, whose form is checked
			}
			return "geheim+/" + strings.ToLower(name), true
		}
		set, err := Load(Options{}, env)
		if err != nil {
			t.Fatal(err)
		}
		e, _ := set.Get("kd")
		var shown []string
		for _, s := range e.Sources() {
			if s.Declared != name {
				continue
			}
			call := &upstreams.Call{Endpoint: "kd", Params: map[string]any{"id": "YT0000000000001", "phone": nil}, Now: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)}
			answer, err := s.Probe(t.Context(), call, func(a upstreams.AttemptReport) {
				for _, st := range a.Stages {
					if st.Name != upstreams.StageData { // clients get it
						shown = append(shown, st.Line(100_000))
					}
				}
			})
			shown = append(shown, fmt.Sprint(err))
			if answer.Data == nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		all := strings.Join(shown, "\n")
		for _, hidden := range append(up.sent, "geheim", "Z2VoZWlt") {
			if strings.Contains(all, hidden) {
				t.Errorf("%s: %s is shown: %s", name, hidden, all)
			}
		}
		if !strings.Contains(all, "***") {
			t.Errorf("%s: nothing is shown: %s", name, all)
		}
	}
}
