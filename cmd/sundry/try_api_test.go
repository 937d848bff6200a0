package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// weatherAt is a catalog with an API that has a secret, at the address of a test.
func weatherAt(t *testing.T, address, more string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	write(t, dir, "weather.yaml", "version: 1\nname: weather\nsummary: {en: Weather., zh: 天气}\nproxy:\n  to: "+address+"\n  host: inner.example\n"+
		"  secrets: {key: SUNDRY_TEST_WEATHER}\n  request: {set: {X-Api-Key: 'k-$secrets.key'}}\n  response: {remove: [Server]}\n"+more)
	return dir
}

// Addresses at which nobody listens.
const (
	nobody   = "http://127.0.0.1:9"
	noneElse = "http://127.0.0.1:7"
)

// TestTryOfAnAPI shows what the origin was asked, without secrets, what came back, and what becomes of it in the cache.
func TestTryOfAnAPI(t *testing.T) {
	t.Parallel()
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Server", "inner")
		switch r.URL.Path {
		case "/v1/kept":
			w.Header().Set("Cache-Control", "max-age=60")
			w.Header().Set("Etag", `"a"`)
		case "/v1/trailed":
			w.Header().Set("Cache-Control", "max-age=60")
			w.Header().Set("Trailer", "X-Sum")
			defer w.Header().Set("X-Sum", "1")
		case "/v1/secret":
			w.Header().Set("Cache-Control", "no-store")
		case "/v1/large":
			w.Header().Set("Cache-Control", "max-age=60")
			fmt.Fprint(w, strings.Repeat("x", 100))
			w.(http.Flusher).Flush()
		case "/v1/broken":
			w.Header().Set("Content-Length", "1000")
		case "/v1/picture":
			_, _ = w.Write([]byte{0x89, 'P', 'N', 'G', 0xff})
			return
		case "/v1/echo": // as many keys as are read, and half of one
			_, _ = w.Write([]byte(strings.Repeat(r.Header.Get("X-Api-Key")[2:], 2*shownBody/len("s3cret-of-weather"))))
			return
		case "/v1/wrong":
			w.WriteHeader(http.StatusTeapot)
		}
		fmt.Fprintf(w, "%s %s", r.URL, r.Header.Get("X-Api-Key"))
	}))
	t.Cleanup(api.Close)
	env := onlyIn(t)
	env["SUNDRY_TEST_WEATHER"] = "s3cret-of-weather"
	origin := strings.TrimPrefix(api.URL, "http://")
	for _, row := range []struct {
		more, path string
		want       []string
		gone, err  string
	}{
		{"", "/kept?x=1", []string{
			"origin GET http://" + origin + "/v1/kept?x=1\n  sent             Host: inner.example\n", "X-Api-Key: k-***\n", "answer 200 OK in ",
			"Cache-Status: sundry; fwd=uri-miss; stored\n", "  caching          fresh for a minute because max-age=60\n                   then revalidated by ETag\n", "    /v1/kept?x=1 k-***\n",
		}, "Server:", ""},
		{"  cache: {drop: [x], sort: true}\n", "/kept?x=1&b=2&a=1", []string{"/v1/kept?a=1&b=2\n"}, "x=1", ""},
		{"", "/trailed", []string{"  caching          fresh for a minute because max-age=60\n"}, "", ""},
		{"", "/secret", []string{"  caching          not stored because of no-store\n"}, "", ""},
		{"", "", []string{"/v1/\n", "not stored because nothing says for how long"}, "", ""},
		{"", "/wrong", []string{"answer 418 I'm a teapot in "}, "", ""},
		{"", "/echo", []string{" bytes\n    ***…\n"}, "", ""},
		{"", "/picture", []string{"  body             5 bytes\n"}, "PNG", ""},
		{"  cache: {body: 10}\n", "/large", []string{"  caching          not stored because the body has more than 10 bytes (cache: body)\n"}, "fresh for", ""},
		{"", "/broken", []string{"answer 200 OK in "}, "", "weather: "},
	} {
		params := []string{"try", "--catalog", weatherAt(t, api.URL+"/v1", row.more), "weather"}
		if row.path != "" {
			params = append(params, row.path)
		}
		out, errs, err := call(t, env, params...)
		if (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
			t.Errorf("%s: %v %s", row.path, err, errs)
		}
		for _, part := range row.want {
			if !strings.Contains(out, part) {
				t.Errorf("%s: no %q in\n%s", row.path, part, out)
			}
		}
		if row.gone != "" && strings.Contains(out, row.gone) || strings.Contains(out+errs, "s3cret") {
			t.Errorf("%s: %s", row.path, out)
		}
	}
}

// TestTryOfAnAPIThatFails: each address that was asked is shown with why it did not answer, and mistakes say what is allowed.
func TestTryOfAnAPIThatFails(t *testing.T) {
	t.Parallel()
	dir := weatherAt(t, "["+nobody+", "+noneElse+"]", "  hosts: [weather.example.org]\n")
	out, _, err := call(t, onlyIn(t), "try", "--catalog", dir, "weather", "/x")
	if err == nil || statusOf(err) != statusFailed || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("%v", err)
	}
	for _, part := range []string{"origin GET " + nobody + "/x\n  error            dial tcp", "origin GET " + noneElse + "/x\n  error ", "answer 502 Bad Gateway"} {
		if !strings.Contains(out, part) {
			t.Errorf("no %q in\n%s", part, out)
		}
	}
	few := onlyIn(t)
	for args, want := range map[string]string{
		"weather x=1":         `weather is an API as it is: expected one path, with its query, such as '/a?x=1', got "x=1"`,
		"weather /a /b":       `got "/a /b"`,
		"weather http://x/":   `got "http://x/"`,
		"weathr /a":           "did you mean weather?",
		"--replay weather /a": "there is no network in replay",
	} {
		if _, _, err := call(t, few, append([]string{"try", "--catalog", dir}, strings.Fields(args)...)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}

// TestAPIsOfOtherCommands: they are counted and reached.
func TestAPIsOfOtherCommands(t *testing.T) {
	t.Parallel()
	origin, _ := counting(t)
	dir, env := weatherAt(t, "["+origin+"/v1, "+nobody+"]", ""), onlyIn(t)
	env["SUNDRY_TEST_WEATHER"] = "s3cret-of-weather"
	lost := weatherAt(t, nobody, "")
	for _, row := range []struct {
		args, want string
		status     int
	}{
		{"check --catalog " + dir, "ok: 0 endpoints, 1 API, 0 sources\n", statusOK},
		{"doctor --catalog " + dir + " weather", "reachable: answers 200 OK to GET " + origin + "/v1/\n", statusOK},
		{"doctor --catalog " + dir + " weather", "unreachable", statusOK},
		{"doctor --catalog " + lost + " weather", "connection refused", statusUnserved},
		{"doctor --json --catalog " + dir + " weather", `"endpoint": "weather"`, statusOK},
		{"doctor --replay --catalog " + dir + " weather", "", statusMisused},
		{"doctor --catalog " + dir + " weather x=1", "", statusMisused},
	} {
		out, errs, err := call(t, env, strings.Fields(row.args)...)
		if statusOf(err) != row.status || !strings.Contains(out, row.want) || strings.Contains(out+errs, "s3cret") {
			t.Errorf("%s: %v\n%s%s", row.args, err, out, errs)
		}
	}
	if _, _, err := call(t, env, "doctor", "--catalog", lost, "weather"); err == nil || !strings.Contains(err.Error(), "no working source: weather") {
		t.Errorf("%v", err)
	}
}
