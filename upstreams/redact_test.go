package upstreams

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"sundry/upstreams/redact"
)

// TestSecretsAreBlottedOut in every form in which they can be read, and nothing
// else is.
func TestSecretsAreBlottedOut(t *testing.T) {
	const secret = `S3cr/t k&y"ö+=`
	r := redact.New(redact.Forms(secret), []string{"0123456789ABCDEF0123456789ABCDEF", base64.StdEncoding.EncodeToString([]byte("9e107d9d372bb6826bd81d3542a419d6"))})
	quoted, err := json.Marshal(secret)
	if err != nil {
		t.Fatal(err)
	}
	for name, shown := range map[string]string{
		"as it is": secret, "in small letters": strings.ToLower(secret), "in capitals": strings.ToUpper(secret[:11]) + secret[11:],
		"in a query": url.QueryEscape(secret), "in a path": url.PathEscape(secret), "escaped in small letters": strings.ToLower(url.QueryEscape(secret)),
		"escaped twice": url.QueryEscape(url.QueryEscape(secret)), "every byte escaped": escapeAll(secret), "as JSON": string(quoted), "quoted by Go": fmt.Sprintf("%q", secret),
		"JSON in a query":          url.QueryEscape(string(quoted)),
		"for basic authentication": base64.StdEncoding.EncodeToString([]byte("user:" + secret + "@x")), "its base64": base64.URLEncoding.EncodeToString([]byte(secret)),
		"a signature": "0123456789ABCDEF0123456789ABCDEF", "a signature in small letters": "0123456789abcdef0123456789abcdef",
		"what a signature is the base64 of": "9e107d9d372bb6826bd81d3542a419d6", "that, escaped": url.QueryEscape(base64.StdEncoding.EncodeToString([]byte("9e107d9d372bb6826bd81d3542a419d6"))),
	} {
		got := r.Text("before " + shown + " after")
		if !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") || !strings.Contains(got, "***") || len(got) > len("before  after")+16 {
			t.Errorf("%s: %s became %s", name, shown, got)
		}
	}
	for _, harmless := range []string{"", "GET https://a.example/x?y=%E4%B8%AD&z=%", `{"a":"\u4e2d\\ %zz \x"}`, "***", "\xff\xfe", "s3cr"} {
		if got := r.Text(harmless); got != harmless {
			t.Errorf("%q became %q", harmless, got)
		}
	}
	var none *redact.Redactor
	if none.Text("x") != "x" || none.Value(1) != 1 || !errors.Is(none.Err(io.EOF), io.EOF) {
		t.Error("without secrets something changes")
	}
}

func escapeAll(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, "%%%02x", c)
	}
	return b.String()
}

func TestValuesAreBlottedOut(t *testing.T) {
	r := redact.New(redact.Forms("31415926"), nil)
	in := map[string]any{"31415926": []any{"x31415926y", 31415926, 3.5, nil, true}, "n": map[string]any{"deep": "31415926"}}
	got, err := json.Marshal(r.Value(in))
	if want := `{"***":["x***y","***",3.5,null,true],"n":{"deep":"***"}}`; err != nil || string(got) != want {
		t.Errorf("%s %v, want %s", got, err, want)
	}
	if in["n"].(map[string]any)["deep"] != "31415926" {
		t.Error("the value itself was changed")
	}
}

func TestErrorsAreBlottedOut(t *testing.T) {
	r := redact.New(redact.Forms("31415926"), nil)
	err := r.Err(&Error{Kind: Limited, Source: "one", Status: 429, Err: fmt.Errorf("token 31415926: %w", context.DeadlineExceeded)})
	if err.Error() != "one: limited (status 429): token ***: context deadline exceeded" || KindOf(err) != Limited || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	long := r.Err(errors.New(strings.Repeat("x", redact.ErrorTextMax-4) + "31415926"))
	if strings.Contains(long.Error(), "3141") {
		t.Errorf("half a secret: %s", long.Error()[redact.ErrorTextMax/2-20:])
	}
	if fine := errors.New("fine"); !errors.Is(r.Err(fine), fine) || r.Err(fine).Error() != "fine" {
		t.Error("an error without secrets is another")
	}
}

// TestNothingShownOfAnAttemptHoldsItsSecrets: the upstream says in its answer
// all that it was sent, and the mapping puts that into its error.
func TestNothingShownOfAnAttemptHoldsItsSecrets(t *testing.T) {
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
		var shown []string
		call := &Call{Endpoint: "test", Params: map[string]any{"n": n}, Now: time.Now()}
		answer, err := s.do(t.Context(), call, func(a Attempt) {
			for _, st := range a.Stages {
				shown = append(shown, st.Line(10_000))
			}
			shown = append(shown, fmt.Sprint(a.Err))
		})
		if (err != nil) != (n == "1") {
			t.Fatalf("%v %v", answer, err)
		}
		shown = append(shown, fmt.Sprint(err))
		for _, note := range env.Journal.Failures() {
			shown = append(shown, note.Err)
		}
		all := strings.Join(shown, "\n")
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

// TestSecretsComputedAsideAreBlottedOut: what the program of parts, or that of what a
// step keeps, makes of a secret is one, and so is what is made of that in turn.
func TestSecretsComputedAsideAreBlottedOut(t *testing.T) {
	up := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"nonce": "n0", "echo": r.URL.Path})
	})
	const key = "s3cr&t/k y"
	sum := func(text string) string { return redact.Hashes(text)[1] }
	parts, keep := `http: {url: "UP/{part}", parts: '["fine", (PROGRAM | md5)]'}`, `before: [{name: pass, http: {url: "UP/harmless"}, keep: 'PROGRAM'}]`
	vars := `vars: {sign: '$secrets.key + "v" | md5'}` + "\n"
	for name, row := range map[string]struct{ body, program, secret string }{
		"parts":         {parts, `$secrets.key + "p"`, sum(key + "p")},
		"parts of vars": {vars + parts, `$vars.sign + "p"`, sum(sum(key+"v") + "p")},
		"all vars":      {vars + parts, `([$vars[]] | add) + "p"`, sum(sum(key+"v") + "p")},
		"kept":          {keep + "\nhttp: {url: 'UP/{pass}'}", `.nonce + $secrets.key | md5`, sum("n0" + key)},
		"kept deep":     {keep + "\nvars: {sign: $vars.pass.s}\nhttp: {url: 'UP/{sign}'}", `{n: "harmless", s: (.nonce + $secrets.key | md5)}`, sum("n0" + key)},
		"of the kept":   {keep + "\nvars: {sign: '$vars.pass + \"v\" | md5'}\nhttp: {url: 'UP/{sign}'}", `.nonce + $secrets.key | md5`, sum(sum("n0"+key) + "v")},
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

// shownOf is all that an attempt shows: its stages, its error, the journal.
func shownOf(t *testing.T, env *Environment, s *Source, params map[string]any) string {
	t.Helper()
	var shown []string
	_, err := s.do(t.Context(), &Call{Endpoint: "test", Params: params, Now: time.Now()}, func(a Attempt) {
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

// TestRedactionIsBounded: a text that is large and full of escapes, or of the
// secret, takes as long as its size says.
func TestRedactionIsBounded(t *testing.T) {
	r := redact.New(redact.Forms("31415926"), []string{"signature"})
	for name, piece := range map[string]string{"escapes": `%5c%75`, "the secret": "31415926", "nothing": "abcdefgh"} {
		start := time.Now()
		if r.Text(strings.Repeat(piece, (1<<20)/len(piece))); time.Since(start) > 5*time.Second {
			t.Errorf("%s: %v for a megabyte", name, time.Since(start))
		}
	}
}

// FuzzRedactor: whatever the text, what comes out holds no secret, and a text that
// holds none comes out as it was.
func FuzzRedactor(f *testing.F) {
	for _, s := range []string{"31415926", "%33%314%2531", `\u0033\u00311415926`, "%", `\`, `\u00`, "%zz", "\xff%ff", "3141592631415926"} {
		f.Add(s)
	}
	r := redact.New(redact.Forms("31415926"), nil)
	f.Fuzz(func(t *testing.T, s string) {
		got := r.Text(s)
		if strings.Contains(got, "31415926") {
			t.Errorf("%q became %q", s, got)
		}
		if got != s && !strings.Contains(got, "***") {
			t.Errorf("%q became %q", s, got)
		}
		if again := r.Text(got); strings.Count(again, "***") < strings.Count(got, "***") {
			t.Errorf("%q became %q, then %q", s, got, again)
		}
	})
}
