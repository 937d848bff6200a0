package kinds

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"sundry/upstreams"
	"sundry/upstreams/lib/redact"
)

// TestSourcesWithSecretsShowNames: of the requests of a source with secrets, only the names of parameters are shown, even if the
// upstream repeats all that it was sent, and a program puts that into its error.
func TestSourcesWithSecretsShowNames(t *testing.T) {
	up := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		echo := strings.Join([]string{r.RequestURI, r.URL.Path, string(body), r.Header.Get("X-Key"), r.Header.Get("Authorization")}, " ")
		w.Header().Set("Content-Type", "application/json; echo="+strconv.Quote(echo))
		if strings.HasPrefix(r.URL.Path, "/refused") {
			w.WriteHeader(http.StatusForbidden)
		}
		if strings.HasPrefix(r.URL.Path, "/broken") {
			_, _ = io.WriteString(w, "no JSON: "+echo)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"message": echo})
	})
	const key = "s3cr&t/k y"
	sum := func(text string) string { return redact.Hashes(text)[1] }
	number := 0
	for _, c := range key {
		number = (number*31 + int(c)) % 4294967296
	}
	const hash = `($secrets.key | explode | reduce .[] as $c (0; (. * 31 + $c) % 4294967296))`
	for name, row := range map[string]struct{ body, shown string }{
		"a signature":       {"vars: {sign: '$secrets.key + \"v\" | md5'}\nhttp: {url: 'UP/a', query: {sign: '{sign}', n: '{n}'}}", "GET UP/***?n=***&sign=***\nreply: 200 OK, "},
		"a raw query":       {"vars: {sign: '$secrets.key + \"v\" | md5'}\nhttp: {url: 'UP/a', raw_query: '{sign}'}", "GET UP/***?***\n"},
		"a number":          {"vars: {n2: '" + hash + "'}\nhttp: {url: 'UP/{n2}'}", "GET UP/***\n"},
		"a header":          {"vars: {basic: '\"user:\\($secrets.key)\" | @base64'}\nhttp: {url: 'UP/', headers: {X-Key: 'APPCODE {key}', Authorization: 'Basic {basic}'}}", "GET UP/***\n"},
		"a body":            {"http: {url: 'UP/', json: '{a: ($secrets.key + \"v\" | md5)}'}", "POST UP/***\n"},
		"parts":             {"http: {url: 'UP/{part}', parts: '[($secrets.key + \"v\" | md5)]'}", "GET UP/***\n"},
		"a log-in":          {"before: [{name: pass, http: {url: 'UP/login', query: {key: '{key}'}}, keep: '.message + $secrets.key | md5'}]\nhttp: {url: 'UP/{pass}'}", "GET UP/***?key=***\n"},
		"a failed log-in":   {"before: [{name: pass, optional: true, http: {url: 'UP/login'}, keep: 'error(.message + ($secrets.key + \"v\" | md5))'}]\nhttp: {url: 'UP/x'}", "failure of pass: malformed: the cause is not shown"},
		"a refusal":         {"vars: {sign: '$secrets.key + \"v\" | md5'}\nhttp: {url: 'UP/refused/{sign}'}", "one: unavailable (status 403): its message is not shown"},
		"a ruled refusal":   {"vars: {sign: '$secrets.key + \"v\" | md5'}\nhttp: {url: 'UP/refused/{sign}'}\njudge: [{status: [403], is: limited}]", "one: limited (status 403): judge[1], line "},
		"a variable's jq":   {"vars: {sign: '$secrets.key + \"v\" | md5 | error'}\nhttp: {url: 'UP/a'}", "one: malformed: the cause is not shown, because the source has secrets"},
		"a broken reply":    {"vars: {sign: '$secrets.key + \"v\" | md5'}\nhttp: {url: 'UP/broken/{sign}'}", "one: malformed (status 200): it cannot be decoded"},
		"a refused address": {"vars: {sign: '$secrets.key + \"v\" | md5'}\nhttp: {url: 'http://127.0.0.1:1/{sign}'}", "connection refused"},
	} {
		env := environment(t)
		env.Secret = func(name string) (string, bool) { return key, name == "TEST_KEY" }
		s := compile(t, env, "name: one\nsecrets: {key: TEST_KEY}\n"+strings.ReplaceAll(row.body, "UP", up)+"\nmap: 'if $params.n == \"1\" then error([.. | strings] | join(\" \")) else {} end'\n", "n")
		for _, n := range []string{"1", "2"} {
			all := shownOf(t, env, s, map[string]any{"n": n})
			for _, hidden := range []string{"s3cr", "k%20y", sum(key + "v"), strconv.Itoa(number), base64.StdEncoding.EncodeToString([]byte("user:" + key)), "APPCODE", "echo"} {
				if strings.Contains(all, hidden) {
					t.Errorf("%s: %s is shown: %s", name, hidden, all)
				}
			}
			if want := strings.ReplaceAll(row.shown, "UP", up); !strings.Contains(all, want) {
				t.Errorf("%s: not shown: %s: %s", name, want, all)
			}
		}
	}
}

// TestSourcesWithoutSecretsShowAll of a call: nothing in it can be computed from a secret.
func TestSourcesWithoutSecretsShowAll(t *testing.T) {
	up := upstream(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"token": "t0ken"}`) })
	env := environment(t)
	env.Secret = func(string) (string, bool) { return "", false }
	s := compile(t, env, "name: one\noptions: {key: TEST_KEY}\nbefore: [{name: pass, http: {url: "+up+"/login}, keep: .token}]\nhttp: {url: '"+up+"/a', query: {t: '{pass}'}, headers: {X-Key: '{key}'}}\nmap: 'error(\"so: \\(.token)\")'\n")
	all := shownOf(t, env, s, nil)
	for _, want := range []string{"result of pass: t0ken", "/a?t=t0ken", "text/plain", "so: t0ken"} {
		if !strings.Contains(all, want) {
			t.Errorf("%s is not shown: %s", want, all)
		}
	}
}

// shownOf returns all that is shown of an attempt: its stages, its error, the journal.
func shownOf(t *testing.T, env *upstreams.Environment, s *upstreams.Source, params map[string]any) string {
	t.Helper()
	var shown []string
	_, err := s.Probe(t.Context(), &upstreams.Call{Endpoint: "test", Params: params, Now: time.Unix(1_795_219_200, 0)}, func(a upstreams.AttemptReport) {
		for _, st := range a.Stages {
			shown = append(shown, st.Name+": "+st.Line(10_000))
		}
		shown = append(shown, fmt.Sprint(a.Err))
	})
	shown = append(shown, fmt.Sprint(err))
	for _, note := range env.Journal.Failures() {
		shown = append(shown, note.Err)
	}
	return strings.Join(shown, "\n")
}

func TestSecretsEndWithTheRequest(t *testing.T) {
	env := environment(t)
	env.Secret = func(string) (string, bool) { return "s3cret", true }
	if _, problems := tryCompile(t, env, "name: one\nsecrets: {key: K}\ncomputed: {}\nmap: '{secrets: $secrets}'"); len(problems) == 0 {
		t.Error("a map that reads secrets is compiled")
	}
	s := compile(t, env, "name: one\ndefs: {everything: $secrets}\nsecrets: {key: K}\ncomputed: {}\nmap: '{secrets: everything}'") // which before may be there
	a, err := ask(t, env, s, nil)
	if err != nil || strings.Contains(fmt.Sprint(a.Data), "s3cret") {
		t.Errorf("%v %v", a.Data, err)
	}
}

// TestCutMessagesShowNoSecret: of a message, or the title of a page, the beginning is shown; a key may be where it is cut.
func TestCutMessagesShowNoSecret(t *testing.T) {
	const key = "0123456789abcdefXY"
	var reply string
	up := upstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, reply)
	})
	env := environment(t)
	env.Secret = func(string) (string, bool) { return key, true }
	s := compile(t, env, "name: one\nsecrets: {key: TEST_KEY}\nhttp: {url: "+up+"/, headers: {X-Key: '{key}'}}\nmap: .", "n")
	for before := range 2 * len(key) {
		text := strings.Repeat("x", 120-before) + key
		for _, reply = range []string{
			`{"message":"` + text + ` and more"}`, "<html><head><title>" + text + " and more</title>",
			"<html><head><title>" + strings.Repeat(" ", 64<<10-len("<html><head><title>")-before) + key + " and more</title>", // where the page is cut
		} {
			if all := shownOf(t, env, s, map[string]any{"n": "1"}); strings.Contains(all, key[:redact.SecretMin]) {
				t.Fatalf("%d bytes before the cut: %s", before, all)
			}
		}
	}
}
