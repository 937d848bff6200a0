package kinds

import (
	"cmp"
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

// TestAttemptsShowNoSecret: not even if the upstream repeats all that it was sent, and
// the mapping puts that into its error.
func TestAttemptsShowNoSecret(t *testing.T) {
	up := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_ = json.NewEncoder(w).Encode(map[string]any{"echo": []string{r.RequestURI, r.URL.Path, string(body), r.Header.Get("X-Key"), r.Header.Get("Authorization")}})
	})
	const key = "s3cr&t/k y"
	env := environment(t)
	env.Secret = func(name string) (string, bool) { return key, name == "TEST_KEY" }
	s := compile(t, env, `
name: one
secrets: {key: TEST_KEY}
before:
  - name: token
    http: {url: `+up+`/login, query: {key: "{key}"}}
    keep: '"token-of-\(.echo[0] | length)"'
vars: {sign: '$secrets.key + $params.n | md5 | @base64', basic: '"user:\($secrets.key)" | @base64', plain: '"not-secret-\($params.n)"'}
http:
  url: `+up+`/a/{key}/{sign}/b
  query: {sign: "{sign}", token: "{token}", plain: "{plain}"}
  headers: {X-Key: "APPCODE {key}", Authorization: "Basic {basic}"}
  json: '{text: "hello", deep: [{signature: ($secrets.key + "body" | md5)}]}'
map: 'if $params.n == "1" then error(.echo | join(" ")) else . end'
`, "n")
	for _, n := range []string{"1", "2"} {
		all := shownOf(t, env, s, map[string]any{"n": n})
		if failed := strings.Contains(all, "malformed"); failed != (n == "1") {
			t.Fatal(all)
		}
		hidden := []string{"s3cr", "k%20y", "token-of-", "YmFz", base64.StdEncoding.EncodeToString([]byte("user:" + key))}
		for _, text := range []string{key + n, key + "body"} {
			sum := redact.Hashes(text)[1]
			hidden = append(hidden, sum, strings.ToUpper(sum), base64.StdEncoding.EncodeToString([]byte(sum))[:12])
		}
		for _, h := range hidden {
			if strings.Contains(all, h) {
				t.Errorf("%s is shown: %s", h, all)
			}
		}
		if !strings.Contains(all, "not-secret-"+n) || !strings.Contains(all, "/a/***/***/b") || !strings.Contains(all, "hello") {
			t.Errorf("more than secrets is hidden: %s", all)
		}
	}
}

// TestComputedSecretsAreRedacted: what the programs of parts and of steps compute from
// a secret is redacted, and so is what is computed from that.
func TestComputedSecretsAreRedacted(t *testing.T) {
	up := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"nonce": "n0", "echo": r.URL.Path})
	})
	const key = "s3cr&t/k y"
	sum := func(text string) string { return redact.Hashes(text)[1] }
	parts, keep := `http: {url: "UP/{part}", parts: '["fine", (PROGRAM | md5)]'}`, `before: [{name: pass, http: {url: "UP/harmless"}, keep: 'PROGRAM'}]`
	defs := `defs: {mine: $secrets.key, sealed: 'mine + "v" | md5'}` + "\n"
	vars := `vars: {sign: '$secrets.key + "v" | md5'}` + "\n"
	for name, row := range map[string]struct{ body, program, secret string }{
		"parts":          {parts, `$secrets.key + "p"`, sum(key + "p")},
		"parts of vars":  {vars + parts, `$vars.sign + "p"`, sum(sum(key+"v") + "p")},
		"all vars":       {vars + parts, `([$vars[]] | add) + "p"`, sum(sum(key+"v") + "p")},
		"parts of a def": {defs + parts, `mine + "p"`, sum(key + "p")},
		"vars of a def":  {defs + "vars: {sign: sealed}\n" + parts, `$vars.sign + "p"`, sum(sum(key+"v") + "p")},
		"kept by a def":  {defs + keep + "\nhttp: {url: 'UP/{pass}'}", `.nonce + mine | md5`, sum("n0" + key)},
		"kept":           {keep + "\nhttp: {url: 'UP/{pass}'}", `.nonce + $secrets.key | md5`, sum("n0" + key)},
		"kept deep":      {keep + "\nvars: {sign: $vars.pass.s}\nhttp: {url: 'UP/{sign}'}", `{n: "harmless", s: (.nonce + $secrets.key | md5)}`, sum("n0" + key)},
		"of the kept":    {keep + "\nvars: {sign: '$vars.pass + \"v\" | md5'}\nhttp: {url: 'UP/{sign}'}", `.nonce + $secrets.key | md5`, sum(sum("n0"+key) + "v")},
	} {
		env := environment(t)
		env.Secret = func(name string) (string, bool) { return key, name == "TEST_KEY" }
		s := compile(t, env, "\nname: one\nsecrets: {key: TEST_KEY}\n"+strings.NewReplacer("UP", up, "PROGRAM", row.program).Replace(row.body)+"\nmap: 'if $params.n == \"1\" then error([.. | strings] | join(\" \")) else . end'\n", "n")
		for _, n := range []string{"1", "2"} {
			all := shownOf(t, env, s, map[string]any{"n": n})
			if strings.Contains(all, row.secret) || !strings.Contains(all, "/***") || !strings.Contains(all, "/harmless") && !strings.Contains(all, "/fine") {
				t.Errorf("%s: want %s to be hidden, and it alone: %s", name, row.secret, all)
			}
		}
	}
}

// shownOf returns all that is shown of an attempt: its stages, its error, the journal.
func shownOf(t *testing.T, env *upstreams.Environment, s *upstreams.Source, params map[string]any) string {
	t.Helper()
	var shown []string
	_, err := s.Probe(t.Context(), &upstreams.Call{Endpoint: "test", Params: params, Now: time.Unix(1_795_219_200, 0)}, func(a upstreams.AttemptReport) {
		for _, st := range a.Stages {
			shown = append(shown, st.Line(10_000))
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

// TestComputedNumbersAreRedacted: a number that was computed from a secret is one, however
// it is written; one that the program was given is not, nor the time, nor a short one.
func TestComputedNumbersAreRedacted(t *testing.T) {
	up := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, `{"path": %q, "sent": %s}`, r.RequestURI, cmp.Or(string(body), "null"))
	})
	const key = "s3cr&t/k y"
	hash := 0
	for _, c := range key {
		hash = (hash*31 + int(c)) % 4294967296
	}
	const program = `($secrets.key | explode | reduce .[] as $c (0; (. * 31 + $c) % 4294967296))`
	number := strconv.Itoa(hash)
	for name, row := range map[string]struct{ body, hidden, shown string }{
		"a variable":     {`vars: {n: 'PROGRAM'}` + "\n" + `http: {url: "UP/{n}"}`, number, "/***"},
		"negative":       {`vars: {n: '-PROGRAM'}` + "\n" + `http: {url: "UP/{n}"}`, number, "/-***"},
		"with decimals":  {`vars: {n: 'PROGRAM / 8 + 0.1'}` + "\n" + `http: {url: "UP/{n}"}`, strconv.Itoa(hash / 8), "/***"},
		"of an object":   {`vars: {o: '{n: PROGRAM}', n: '1'}` + "\n" + `http: {url: "UP", json: $vars.o}`, number, "***"},
		"of JSON":        {`http: {url: "UP/a", json: '{n: [PROGRAM], limit: 12345}'}`, number, "12345"},
		"of parts":       {`http: {url: "UP/{part}", parts: '[PROGRAM]'}`, number, "/***"},
		"kept":           {`before: [{name: a, http: {url: "UP/a"}, keep: '{n: PROGRAM}'}]` + "\nvars: {n: $vars.a.n}\n" + `http: {url: "UP/{n}"}`, number, "/***"},
		"of a log-in":    {`before: [{name: a, http: {url: "UP/314159265", headers: {K: "{key}"}}, keep: '.path | ltrimstr("/") | tonumber'}]` + "\nvars: {n: $vars.a}\n" + `http: {url: "UP/a{n}"}`, "a314159265", "/a***"},
		"the time":       {`vars: {o: '{now: $now, ms: ($now * 1000), until: ($now + 600), n: PROGRAM}'}` + "\n" + `http: {url: "UP/a", json: $vars.o}`, number, "1795219200 1795219800"},
		"a parameter":    {`vars: {o: '{id: ($params.id | tonumber), n: PROGRAM}'}` + "\n" + `http: {url: "UP/a", json: $vars.o}`, number, "13800138000"},
		"a variable's":   {`vars: {page: '{deep: [271828182]}'}` + "\n" + `http: {url: "UP/a", json: '{p: $vars.page.deep[0], n: PROGRAM}'}`, number, "271828182"},
		"short":          {`vars: {n: 'PROGRAM % 90000 + 10000'}` + "\n" + `http: {url: "UP/{n}"}`, "\x00", strconv.Itoa(hash%90000 + 10000)},
		"nothing is set": {`vars: {n: '3141592653'}` + "\n" + `http: {url: "UP/{n}"}`, "\x00", "3141592653"},
	} {
		for _, fails := range []string{"yes", "no"} {
			env := environment(t)
			env.Secret = func(name string) (string, bool) { return key, name == "TEST_KEY" }
			s := compile(t, env, "name: one\nsecrets: {key: TEST_KEY}\n"+strings.NewReplacer("UP", up, "PROGRAM", program).Replace(row.body)+
				"\nmap: 'if $params.fails == \"yes\" then error([.. | scalars | tostring] | join(\" \")) else [.. | scalars] end'\n", "id", "fails")
			all := shownOf(t, env, s, map[string]any{"id": "13800138000", "fails": fails})
			if fails == "no" {
				row.shown = strings.Fields(row.shown)[0]
			}
			if strings.Contains(all, row.hidden) || !strings.Contains(all, row.shown) {
				t.Errorf("%s, fails: %s: %s is shown, or %s is not: %s", name, fails, row.hidden, row.shown, all)
			}
		}
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
