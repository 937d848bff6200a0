package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"io/fs"
	stdlog "log"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"sundry/cache/far/redistest"
	"sundry/cmd/sundry/internal/config"
	"sundry/upstreams/lib/waittest"
)

// escaping is what a terminal would act on, in a text of somebody else.
const escaping = "\x1b]0;owned\x07\x9b31m\u009b2J\u202e\x7f"

// Secrets of the operator and of a client.
const (
	keyOfAPI     = `aP1-s3cr&t/k+y"=`
	passwordOf   = "b4s1c-passw0rd"
	keyOfSource  = `s0urce/k&y+"=x`
	tokenOf      = "adm1n-t0ken/of+the&tests"
	redisPass    = "r3dis-passw0rd"
	keyInFile    = "l1teral-key-of-the-file"
	sessionOf    = "c00kie-s3ssion"
	bearerOf     = "cl1ent-b3arer-token"
	clientKey    = "cl1ent-api-k3y"
	clientParam  = "qu3ry-t0ken-value"
	clientPosted = "p0sted-s3cret-body"
)

// ofOperator and ofClients are all of them.
var (
	ofOperator = []string{keyOfAPI, passwordOf, keyOfSource, tokenOf, redisPass, keyInFile}
	ofClients  = []string{sessionOf, bearerOf, clientKey, clientParam, clientPosted}
)

// formsOfSecret are the forms in which a secret can be read.
func formsOfSecret(secret string) []string {
	quoted, _ := json.Marshal(secret)
	return []string{
		secret, url.QueryEscape(secret), url.PathEscape(secret), strings.Trim(string(quoted), `"`), strings.Trim(fmt.Sprintf("%q", secret), `"`),
		base64.RawStdEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte(secret)),
		strings.TrimRight(base64.RawStdEncoding.EncodeToString([]byte("user:" + secret))[8:], "="), hex.EncodeToString([]byte(secret)),
		html.EscapeString(secret), strings.ReplaceAll(secret, "/", `\/`),
	}
}

// echoing is an origin that sends back all that it was sent, in the place that the path names, in several codings.
func echoing(t *testing.T) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go answerEchoing(conn)
		}
	}()
	return l.Addr().String()
}

// answerEchoing answers one request.
func answerEchoing(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	r, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		_, _ = io.WriteString(conn, "no HTTP") // it is TLS
		return
	}
	posted, _ := io.ReadAll(r.Body)
	sent := []string{r.RequestURI, string(posted)}
	for _, lines := range r.Header {
		sent = append(sent, lines...)
	}
	plain := strings.Join(sent, " ")
	all := strings.Join([]string{plain, url.QueryEscape(plain), fmt.Sprintf("%q", plain), base64.StdEncoding.EncodeToString([]byte(plain)), hex.EncodeToString([]byte(plain)), html.EscapeString(plain), strings.ReplaceAll(plain, "/", `\/`)}, " ")
	where := regexp.MustCompile(`/(body|field|malformed|status|reason|redirect|chunk|trailer|short|two|controls)\b`).FindStringSubmatch(r.URL.Path)
	if where == nil {
		where = []string{"", "body"}
	}
	_, _ = io.WriteString(conn, map[string]string{
		"body":      "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Type: text/plain\r\n\r\n" + inLines(base64.StdEncoding.EncodeToString([]byte(plain))) + all + escaping,
		"field":     "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nX-Echo: " + all + "\r\nContent-Length: 2\r\n\r\nok",
		"malformed": "HTTP/1.1 200 OK\r\n" + all + " without a colon " + escaping + "\r\n\r\n",
		"status":    "HTTP/1.1 " + all + escaping + "\r\n\r\n",
		"reason":    "HTTP/1.1 500 " + all + escaping + "\r\nContent-Length: 2\r\n\r\nok",
		"redirect":  "HTTP/1.1 302 Found\r\nCache-Control: max-age=60\r\nLocation: /next?" + url.QueryEscape(all) + "\r\nContent-Length: 0\r\n\r\n",
		"chunk":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + all + escaping + "\r\n",
		"trailer":   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nok\r\n0\r\n" + all + escaping + "\r\n\r\n",
		"short":     "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + all,
		"two":       "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nX-Echo: " + all + "\r\nContent-Length: 2\r\n\r\nok",
		"controls":  "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nX-Title: \u009b2J\u202e\r\nEtag: \"\u202e\"\r\nCache-Tag: a\u202eb\r\nContent-Type: text/plain\u202e\r\nContent-Length: 2\r\n\r\nok",
	}[where[1]])
}

// inLines is a text in lines of 20 characters.
func inLines(text string) string {
	var b strings.Builder
	for ; len(text) > 20; text = text[20:] {
		b.WriteString(text[:20] + "\r\n")
	}
	return b.String() + text + "\r\n"
}

// leaky is a catalog whose APIs and endpoint are at the echoing origin.
func leaky(t *testing.T, origin string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	secrets := "  secrets: {key: SUNDRY_TEST_API_KEY, basic: SUNDRY_TEST_API_BASIC}\n  request: {set: {X-Api-Key: 'k $secrets.key', Authorization: 'Basic $secrets.basic', X-Other-Token: " + keyInFile + "}}\n"
	write(t, dir, "keyed.yaml", "version: 1\nname: keyed\nproxy:\n  to: http://"+origin+"\n"+secrets)
	write(t, dir, "secure.yaml", "version: 1\nname: secure\nproxy:\n  to: https://"+origin+"\n"+secrets)
	write(t, dir, "open.yaml", "version: 1\nname: open\nproxy: {to: 'http://"+origin+"'}\n")
	source := `  - {name: %s, timeout: 3s, secrets: {k: SUNDRY_TEST_SOURCE_KEY}, http: {url: "http://` + origin + `/%[1]s/{k}", query: {key: "{k}"}, headers: {Authorization: "Bearer {k}"}}}` + "\n"
	sources := ""
	for _, where := range []string{"malformed", "status", "reason", "redirect", "chunk", "trailer", "short", "body"} {
		sources += fmt.Sprintf(source, where)
	}
	write(t, dir, "leaky.yaml", "version: 1\nname: leaky\ngroup: text\nsummary: {en: A test., zh: 测试}\ncache: {class: shared, ttl: 1h}\nforms: [{name: json, json: .}]\nsources:\n"+sources)
	return dir
}

// secretive is the environment of a process with all secrets.
func secretive(t *testing.T, more ...string) func(string) (string, bool) {
	t.Helper()
	getenv, err := config.Secrets(append(more, "SUNDRY_DRAIN_DELAY=0s", "SUNDRY_ADMIN_TOKEN="+tokenOf, "SUNDRY_TEST_SOURCE_KEY="+keyOfSource,
		"SUNDRY_TEST_API_KEY_FILE="+write(t, t.TempDir(), "key", keyOfAPI+"\n"), "SUNDRY_TEST_API_BASIC="+base64.StdEncoding.EncodeToString([]byte("user:"+passwordOf))))
	if err != nil {
		t.Fatal(err)
	}
	return getenv
}

// provoke requests everything of an instance with the credentials of a client.
func provoke(t *testing.T, p *instance) {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	for _, api := range []string{"keyed", "secure", "open", "leaky"} {
		for _, where := range []string{"body", "field", "malformed", "status", "reason", "redirect", "chunk", "trailer", "short", "two", "controls"} {
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				r, err := http.NewRequestWithContext(t.Context(), method, p.public+"/api/"+api+"/"+where, strings.NewReader(""))
				if err != nil {
					t.Fatal(err)
				}
				r.URL.RawQuery = "token=" + clientParam + "&api_key=" + clientParam
				if method == http.MethodPost {
					r.Body, r.ContentLength = io.NopCloser(strings.NewReader(clientPosted)), int64(len(clientPosted))
				}
				if api == "leaky" {
					r.URL.Path = "/api/leaky"
				}
				r.Header.Set("User-Agent", "agent\u009b2J\u202e")
				switch where {
				case "field", "redirect": // what a response echoes is stored with it, and is its content
					r.URL.RawQuery = ""
				case "controls": // is stored
				default:
					r.Header.Set("Cookie", "session="+sessionOf)
					r.Header.Set("Authorization", "Bearer "+bearerOf)
					r.Header.Set("X-Api-Key", clientKey)
				}
				resp, err := client.Do(r)
				if err != nil {
					continue // it is cut off
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				hides(t, "fields for clients", fmt.Sprint(resp.Header), ofOperator...)
			}
		}
	}
}

// hides checks that a text has none of these secrets.
func hides(t *testing.T, what, shown string, secrets ...string) {
	t.Helper()
	lower := strings.ToLower(shown)
	lower += " " + strings.NewReplacer("\r\n", "", "\n", "", `\r\n`, "", `\n`, "", " ", "").Replace(lower) // base64 may be in lines
	for _, secret := range secrets {
		for _, form := range formsOfSecret(secret) {
			if i := strings.Index(lower, strings.ToLower(form)); i >= 0 {
				t.Errorf("%s: %s is shown as %s: …%q…", what, secret, form, lower[max(0, i-80):min(len(lower), i+80)])
				break
			}
		}
	}
}

// showsNothing checks that a text has no secret, and nothing that controls a terminal.
func showsNothing(t *testing.T, what, shown string) {
	t.Helper()
	hides(t, what, shown, slices.Concat(ofOperator, ofClients)...)
	for _, control := range []string{"\x1b", "\u009b", "\u202e", "\x7f", "\x07"} {
		if i := strings.Index(shown, control); i >= 0 {
			t.Errorf("%s: %q is shown: …%q…", what, control, shown[max(0, i-80):min(len(shown), i+80)])
		}
	}
}

// adminPages are the paths of the admin listener that can be read.
func adminPages() []string {
	return []string{
		"/metrics", "/readyz", "/admin/", "/admin/api/overview", "/admin/api/history", "/admin/api/upstreams", "/admin/api/endpoints", "/admin/api/endpoints/leaky/entries",
		"/admin/api/endpoints/leaky/entry", "/admin/api/endpoints/leaky/advice", "/admin/api/endpoints/leaky/form", "/admin/api/apis", "/admin/api/apis/open/entries", "/admin/api/apis/keyed/entries",
		"/admin/api/failures", "/admin/api/audit", "/admin/api/endpoints/keyed/declaration", "/admin/api/endpoints/leaky/declaration", "/debug/pprof/goroutine?debug=2", "/nothing",
	}
}

// ofAdmin is what the admin listener answers.
func ofAdmin(t *testing.T, p *instance, method, path, body string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, p.admin+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+tokenOf)
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, _ := io.ReadAll(resp.Body)
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") && !json.Valid(answer) {
		t.Errorf("%s: no JSON: %s", path, answer)
	}
	return fmt.Sprint(resp.Header, string(answer))
}

// readAdmin reads all that can be read there, and retries what has failed.
func readAdmin(t *testing.T, p *instance) {
	t.Helper()
	for _, path := range adminPages() {
		showsNothing(t, path, ofAdmin(t, p, http.MethodGet, path, ""))
	}
	for _, api := range []string{"/api/keyed/malformed?token=" + clientParam, "/api/open/field", "/api/leaky"} {
		_, body, _ := strings.Cut(ofAdmin(t, p, http.MethodPost, "/admin/api/explain", fmt.Sprintf(`{"url":%q}`, api)), "]")
		showsNothing(t, "explain "+api, strings.ReplaceAll(body, clientParam, "")) // whoever asks has typed it
	}
	var doc struct{ Failures []struct{ ID uint64 } }
	_, failures, _ := strings.Cut(ofAdmin(t, p, http.MethodGet, "/admin/api/failures", ""), "]{")
	if err := json.Unmarshal([]byte("{"+failures), &doc); err != nil || len(doc.Failures) == 0 {
		t.Fatalf("no failures: %v %s", err, failures)
	}
	for _, f := range doc.Failures {
		path := fmt.Sprintf("/admin/api/failures/%d/retry", f.ID)
		showsNothing(t, path, ofAdmin(t, p, http.MethodPost, path, ""))
	}
	showsNothing(t, "try", ofAdmin(t, p, http.MethodPost, "/admin/api/endpoints/leaky/try", `{"params":{}}`))
}

// TestNothingSecretIsShown: neither the operator's secrets nor those of clients, whatever origins do with them, in the log, in all that the admin
// listener answers, in Redis, and in the files.
func TestNothingSecretIsShown(t *testing.T) {
	t.Parallel()
	origin := echoing(t)
	for name, store := range map[string]func(t *testing.T, dir string) (setting, redis string){
		"files": func(_ *testing.T, dir string) (string, string) {
			return "data: " + dir + "\ncache: {warm: false}\n", ""
		},
		"redis": func(t *testing.T, _ string) (string, string) {
			server := redistest.Start(t, "--requirepass", redisPass)
			return "cache: {warm: false}\n", "redis://:" + redisPass + "@" + server.Addr + "/0"
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			settings, address := store(t, dir)
			file := write(t, t.TempDir(), "sundry.yaml", settings+"log_level: debug\nlimits: {rate: 0, queue_delay: 0s}\n"+only())
			var variables []string
			if address != "" {
				variables = []string{"SUNDRY_REDIS=" + address + "?read_timeout=2s&pool_timeout=2s"}
			}
			p := launch(t, &process{getenv: secretive(t, variables...)}, "--config", file, "--catalog", leaky(t, origin))
			provoke(t, p)
			for _, body := range []string{`{"endpoint":"open","url":"/field?token=` + clientParam + `"}`, `{"endpoint":"leaky","mode":"hard"}`} {
				showsNothing(t, "purge", ofAdmin(t, p, http.MethodPost, "/admin/api/purge", body))
			}
			readAdmin(t, p)
			if address != "" {
				hides(t, "Redis", strings.ReplaceAll(dump(t, address), "url /field?token="+clientParam, ""), slices.Concat(ofOperator, ofClients)...) // all instances need what an operator purges
			}
			p.end()
			showsNothing(t, "the log", p.stderr.String())
			if log := p.stderr.String(); !strings.Contains(log, "malformed MIME header") || !strings.Contains(log, "endpoint=keyed") {
				t.Errorf("the failures are not logged: %s", log)
			}
			for path, text := range filesOf(t, dir) {
				hides(t, path, strings.ReplaceAll(text, "url /field?token="+clientParam, ""), slices.Concat(ofOperator, ofClients)...)
			}
		})
	}
}

// dump is all that is in Redis.
func dump(t *testing.T, address string) string {
	t.Helper()
	options, err := redis.ParseURL(address)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }()
	waittest.Until(t, "responses are in Redis", func() bool { n, err := client.DBSize(t.Context()).Result(); return err == nil && n > 3 })
	keys, err := client.Keys(t.Context(), "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, key := range keys {
		all = append(all, key)
		for _, read := range []*redis.Cmd{
			client.Do(t.Context(), "get", key), client.Do(t.Context(), "hgetall", key), client.Do(t.Context(), "zrange", key, 0, -1), client.Do(t.Context(), "smembers", key), client.Do(t.Context(), "lrange", key, 0, -1),
		} {
			if read.Err() == nil {
				all = append(all, fmt.Sprint(read.Val()))
			}
		}
	}
	return strings.Join(all, "\n")
}

// filesOf are the files below a directory.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestCommandsShowNothingSecret at a terminal or elsewhere: try, doctor, check, explain and their errors.
func TestCommandsShowNothingSecret(t *testing.T) {
	t.Parallel()
	origin := echoing(t)
	few, dir := onlyIn(t)["SUNDRY_CONFIG"], leaky(t, origin)
	commands := [][]string{{"check"}, {"doctor"}, {"doctor", "--json"}, {"explain", "/api/keyed/malformed"}, {"explain", "--json", "/api/open/x"}, {"try", "leaky"}, {"try", "secure", "/body"}, {"check", "--config", "/\u202enone\x1b"}, {"try", "no\x1bne"}}
	for _, where := range []string{"body", "field", "malformed", "status", "reason", "redirect", "chunk", "trailer", "short", "two", "controls"} {
		commands = append(commands, []string{"try", "keyed", "/" + where}, []string{"try", "open", "/" + where})
	}
	for _, terminal := range []bool{true, false} {
		for _, args := range commands {
			w := &process{getenv: secretive(t, "NO_COLOR=1"), ctx: t.Context(), urgent: t.Context(), terminal: func(io.Writer) bool { return terminal }}
			var out, errs output
			w.stdout, w.stderr = &out, &errs
			if args[0] != "check" || len(args) == 1 {
				args = append(args, "--config", few)
			}
			screens := w.onScreens()
			if err := execute(screens, append(args, "--catalog", dir)); err != nil {
				report(screens.stderr, "sundry", w.language(), err)
			}
			showsNothing(t, fmt.Sprint(args), strings.ReplaceAll(out.String()+errs.String(), "\r\x1b[K", ""))
			if out.String()+errs.String() == "" {
				t.Errorf("%v: nothing is shown", args)
			}
		}
	}
}

// TestMistakesShowNoCredentials of addresses that should have none, neither at the terminal nor in the log of a reload.
func TestMistakesShowNoCredentials(t *testing.T) {
	t.Parallel()
	few := onlyIn(t)["SUNDRY_CONFIG"]
	bad := "http://user:" + passwordOf + "@127.0.0.1:99999?api_key=" + clientKey
	api, endpoint := t.TempDir(), leaky(t, "127.0.0.1:9")
	write(t, api, "bad.yaml", "version: 1\nname: bad\nproxy: {to: '"+bad+"'}\n")
	text, err := os.ReadFile(filepath.Join(endpoint, "leaky.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, endpoint, "leaky.yaml", strings.ReplaceAll(string(text), "http://127.0.0.1:9", bad))
	for _, args := range [][]string{
		{"serve", "--to", bad}, {"check", "--catalog", api}, {"check", "--catalog", endpoint}, {"explain", "--admin", bad, "/api/x"}, {"check", "--config", write(t, t.TempDir(), "bad.yaml", "public_url: "+bad+"\ngrafana_url: "+bad+"\n")},
	} {
		w := processOf(t, map[string]string{"SUNDRY_CONFIG": few})
		var out output
		w.stdout, w.stderr = &out, &out
		err := execute(w, args)
		if err == nil {
			t.Fatalf("%v: it works", args)
		}
		report(w.stderr, "sundry", w.language(), err)
		showsNothing(t, fmt.Sprint(args[0]), out.String())
		if !strings.Contains(out.String(), "user:***@127.0.0.1:99999") {
			t.Errorf("%v: %s", args, out.String())
		}
	}
}

// TestShortSecretsAreToldOf by check: they are not hidden.
func TestShortSecretsAreToldOf(t *testing.T) {
	t.Parallel()
	dir := weatherAt(t, nobody, "")
	for value, warned := range map[string]bool{"abc": true, "abcd": false} {
		_, errs, err := call(t, map[string]string{"SUNDRY_TEST_WEATHER": value, "SUNDRY_CONFIG": onlyIn(t)["SUNDRY_CONFIG"]}, "check", "--catalog", dir)
		if err != nil || strings.Contains(errs, "SUNDRY_TEST_WEATHER: it is not hidden in what is shown: expected at least 4 characters") != warned {
			t.Errorf("%s: %v %s", value, err, errs)
		}
	}
}

// TestLinesOfLibrariesQuoteNothing: net/http logs what comes on a connection that no request uses, which may be for any client.
func TestLinesOfLibrariesQuoteNothing(t *testing.T) {
	var lines bytes.Buffer
	to := libraryLog{slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	stdlog.New(to, "", 0).Printf("Unsolicited response received on idle HTTP channel starting with %q; err=%v", `"HTTP/1.1 200 OK X-Echo: "`+sessionOf, io.EOF)
	if got := lines.String(); strings.Contains(got, sessionOf) || !strings.Contains(got, "Unsolicited response received") || !strings.Contains(got, "err=EOF") {
		t.Error(got)
	}
}
