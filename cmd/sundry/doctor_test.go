package main

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sundry/upstreams/fixtures"
)

// clinicHead begins the file of an endpoint, up to what tests differ in.
const clinicHead = `version: 1
name: clinic
group: text
summary: {en: A test., zh: 测试}
cache: {class: shared, ttl: 1h}
`

// copyCase puts one of our recorded exchanges into a catalog directory.
func copyCase(t *testing.T, dir, of string) string {
	t.Helper()
	to := filepath.Join(dir, "testdata", of)
	if err := os.CopyFS(to, os.DirFS(filepath.Join("../../upstreams/fixtures/testdata", of))); err != nil {
		t.Fatal(err)
	}
	return to
}

func TestDoctorFindsReplayWell(t *testing.T) {
	t.Parallel()
	out, _, err := call(t, nil, "doctor", "--replay")
	if err != nil {
		t.Fatal(err)
	}
	table, summary, _ := strings.Cut(out, "\n\n")
	lines := strings.Split(table, "\n")
	if len(lines) < 60 || strings.Contains(summary, "no source works") {
		t.Errorf("%d lines", len(lines))
	}
	for _, line := range lines[1:] {
		if !strings.Contains(line, " works ") {
			t.Errorf("not well: %s", line)
		}
	}
}

// TestDoctorNamesWhatChanged alters what an upstream answers, then what was
// recorded as its meaning: both are found, by source and field.
func TestDoctorNamesWhatChanged(t *testing.T) {
	t.Parallel()
	for field, alter := range map[string]func(dir string) error{
		"haokan: malformed: ": func(dir string) error {
			return edit(filepath.Join(dir, "reply.json"), `"play_url"`, `"play_link"`)
		},
		"data.list[].headline: is missing": func(dir string) error {
			return edit(filepath.Join(dir, "want.json"), `"title"`, `"headline"`)
		},
	} {
		dir := t.TempDir()
		if err := alter(copyCase(t, dir, "sjsp/haokan/good")); err != nil {
			t.Fatal(err)
		}
		out, _, err := call(t, onlyIn(t, "sjsp"), "doctor", "--replay", "--catalog", dir, "--json", "sjsp")
		if err != nil {
			t.Errorf("%s: other sources still work, but: %v", field, err)
		}
		for _, f := range findingsIn(t, out) {
			if changed := f.Health == fixtures.Changed; changed != (f.Source == "haokan") {
				t.Errorf("%s: %+v", field, f)
			} else if changed && !strings.Contains(strings.Join(f.Notes, "; "), field) {
				t.Errorf("%s is not named: %q", field, f.Notes)
			}
		}
	}
}

// findingsIn are those that the doctor has printed as JSON.
// printed is a finding as JSON has it.
type printed struct {
	fixtures.Finding
	Notes []string
}

func findingsIn(t *testing.T, out string) (all []printed) {
	t.Helper()
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return all
}

func edit(file, from, to string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if !strings.Contains(string(b), from) {
		return fmt.Errorf("%s holds no %s", file, from)
	}
	return os.WriteFile(file, []byte(strings.ReplaceAll(string(b), from, to)), 0o600)
}

// clinic is a catalog of one endpoint with sources in every state of health.
func clinic(t *testing.T) (dir string, requests *atomic.Int64) {
	t.Helper()
	requests = &atomic.Int64{}
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		switch r.URL.Path {
		case "/refuses":
			w.WriteHeader(http.StatusForbidden)
		case "/changed":
			fmt.Fprint(w, `{"text":7}`)
		case "/keyed":
			fmt.Fprint(w, `{"text":"from `+r.URL.Query().Get("k")+`"}`)
		default:
			fmt.Fprint(w, `{"text":"hello","by":"somebody"}`)
		}
	}))
	t.Cleanup(up.Close)
	gone := httptest.NewServer(nil)
	gone.Close()
	dir = t.TempDir()
	file := clinicHead + `forms: [{name: json, json: .}]
sources:
  - {name: well, http: {url: "` + up.URL + `/well"}}
  - {name: changed, http: {url: "` + up.URL + `/changed"}}
  - {name: refuses, http: {url: "` + up.URL + `/refuses"}}
  - {name: gone, http: {url: "` + gone.URL + `/gone"}}
  - {name: keyed, secrets: {k: CLINIC_KEY}, http: {url: "` + up.URL + `/keyed", query: {k: "{k}"}}}
  - {name: keyless, secrets: {k: CLINIC_OTHER}, http: {url: "` + up.URL + `/keyless", query: {k: "{k}"}}}
`
	if err := os.WriteFile(filepath.Join(dir, "clinic.yaml"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, source := range []string{"well", "changed"} {
		at := filepath.Join(dir, "testdata", "clinic", source, "good")
		if err := os.MkdirAll(at, 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, at, "exchange.yaml", "origin: composed\nnow: 2026-11-21T09:00:00+08:00\nwant: success\nsteps: [{url: \"http://x/\", body: reply.json}]\n")
		write(t, at, "reply.json", `{"text":"composed"}`)
		write(t, at, "want.json", `{"text":"composed"}`)
	}
	return dir, requests
}

func TestDoctorOfLiveSources(t *testing.T) {
	t.Parallel()
	dir, requests := clinic(t)
	env := map[string]string{"CLINIC_KEY": "s3cret"}
	out, _, err := call(t, env, "doctor", "--catalog", dir, "--json", "--record", "clinic")
	if err != nil {
		t.Fatal(err)
	}
	var got []struct {
		Source string
		Health fixtures.Health
		Notes  []string
		MS     *int64
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := map[string]fixtures.Health{
		"well": fixtures.Works, "changed": fixtures.Changed, "refuses": fixtures.Refused, "gone": fixtures.Unreachable,
		"keyed": fixtures.Works, "keyless": fixtures.KeyMissing,
	}
	for _, f := range got {
		if f.Health != want[f.Source] || f.MS == nil {
			t.Errorf("%+v, want %s", f, want[f.Source])
		}
		if f.Source == "changed" && !strings.Contains(strings.Join(f.Notes, " "), "data.text: is number, was one of string") {
			t.Errorf("names no field: %v", f.Notes)
		}
	}
	if len(got) != len(want) || requests.Load() != 4 {
		t.Errorf("%d findings, %d requests", len(got), requests.Load())
	}
	if strings.Contains(out, "s3cret") {
		t.Error("a key is shown")
	}
	if !strings.Contains(out, "then record it with --force") {
		t.Error("nothing is said of what was not recorded")
	}
	if _, _, err := call(t, env, "doctor", "--catalog", dir, "--record", "--force", "clinic"); err != nil {
		t.Fatal(err)
	}
	recordedWell(t, dir)
}

// TestDoctorSaysWhatItSaw: each way in which services fail, by a service that plays them.
func TestDoctorSaysWhatItSaw(t *testing.T) {
	t.Parallel()
	page := func(title string) string {
		return "<!DOCTYPE html><html><head><title>" + title + "</title></head><body>x</body></html>"
	}
	rows := map[string]struct {
		status int
		body   string
		health fixtures.Health
		says   string
	}{
		"well":        {200, `{"code":0,"data":{"text":"a","by":"b","tags":["x","y"]}}`, fixtures.Works, ""},
		"optional":    {200, `{"code":0,"data":{"text":"a","by":null,"tags":["x","y"]}}`, fixtures.Works, "data.by: is null"},
		"late":        {-2, `{"code":0,"data":{"text":"a","by":"b","tags":["x","y"]}}`, fixtures.Works, "slow: "},
		"shorter":     {200, `{"code":0,"data":{"text":"a","by":"b","tags":["x"]}}`, fixtures.Works, "data.tags: a list of 1, the shortest recorded is of 2"},
		"emptied":     {200, `{"code":0,"data":{"text":"a","by":"b","tags":[]}}`, fixtures.Changed, "tags: expected a list of at least 1, got a list of 0"},
		"hollow":      {200, `{"code":0,"data":{"text":"","by":"b","tags":["x"]}}`, fixtures.Changed, `text: expected a value, got ""`},
		"nothing":     {200, `{}`, fixtures.Changed, "reply: code is missing"},
		"error-body":  {200, `{"code":1004,"msg":"invalid api key"}`, fixtures.Declined, `judge[2], line 24: "invalid api key"`},
		"error":       {200, `{"code":1,"message":"busy"}`, fixtures.Declined, `judge[1], line 24: "busy"`},
		"gone":        {404, `{"error":"no such route"}`, fixtures.Declined, "no such route"},
		"broken":      {500, `{"error":"null pointer"}`, fixtures.Fails, "null pointer"},
		"gateway":     {502, page("502 Bad Gateway"), fixtures.Fails, "502 Bad Gateway"},
		"cloudflare":  {503, page("Just a moment..."), fixtures.Refused, `a page titled "Just a moment..."`},
		"login":       {200, page("请登录"), fixtures.Refused, `a page titled "请登录"`},
		"page":        {200, page("Welcome"), fixtures.Changed, `a page titled "Welcome"`},
		"key":         {401, `{"message":"no key"}`, fixtures.Refused, "no key"},
		"money":       {402, `{"message":"quota used up"}`, fixtures.Refused, "quota used up"},
		"forbidden":   {403, ``, fixtures.Refused, "status 403"},
		"too-many":    {429, `{"message":"slow down"}`, fixtures.Refused, "slow down"},
		"unreachable": {0, ``, fixtures.Unreachable, ""},
		"slow":        {-1, ``, fixtures.Unreachable, "timeout"},
	}
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		row := rows[strings.TrimPrefix(r.URL.Path, "/")]
		switch row.status {
		case 0:
			panic(http.ErrAbortHandler)
		case -1:
			<-r.Context().Done()
		case -2:
			time.Sleep(1100 * time.Millisecond) // more than half of its timeout
			fmt.Fprint(w, row.body)
		default:
			w.WriteHeader(row.status)
			fmt.Fprint(w, row.body)
		}
	}))
	t.Cleanup(up.Close)
	dir := t.TempDir()
	file := clinicHead + `fields:
  text: {must: true}
  by: {}
  tags: {at_least: 1}
forms: [{name: json, json: .}]
sources:
`
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		timeout := "5s"
		switch rows[name].status {
		case -1:
			timeout = "100ms"
		case -2:
			timeout = "2s"
		}
		file += fmt.Sprintf("  - name: %s\n    timeout: %s\n    http: {url: %q}\n    judge:\n      - {if: .code == 1, is: unavailable}\n      - {if: .code != 0, is: unavailable}\n    map: .data\n", name, timeout, up.URL+"/"+name)
		at := filepath.Join(dir, "testdata", "clinic", name, "good")
		if err := os.MkdirAll(at, 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, at, "exchange.yaml", "origin: composed\nnow: 2026-11-21T09:00:00+08:00\nwant: success\nsteps: [{url: \"http://x/\", body: reply.json}]\n")
		write(t, at, "reply.json", rows["well"].body)
		write(t, at, "want.json", `{"text":"a","by":"b","tags":["x","y"]}`)
	}
	write(t, dir, "clinic.yaml", file)
	out, _, err := call(t, onlyIn(t), "doctor", "--catalog", dir, "--json", "clinic")
	if err != nil {
		t.Fatal(err)
	}
	got := findingsIn(t, out)
	for _, f := range got {
		want := rows[f.Source]
		says := strings.ReplaceAll(want.says, "line 24", "line "+lineOfRule(t, file, f.Source, want.says))
		if notes := strings.Join(f.Notes, "; "); f.Health != want.health || !strings.Contains(notes, says) || (says == "") != (f.Source == "well" && notes == "" || f.Source == "unreachable") {
			t.Errorf("%s: %q, %q; want %q, %q", f.Source, f.Health, notes, want.health, says)
		}
	}
	if len(got) != len(rows) {
		t.Errorf("%d findings", len(got))
	}
}

// lineOfRule is the line of the judge rule that a note names.
func lineOfRule(t *testing.T, file, source, says string) string {
	t.Helper()
	for i, line := range strings.Split(file, "\n") {
		if line == "  - name: "+source {
			return strconv.Itoa(i + 1 + 3 + len(strings.SplitN(says, "judge[2]", 2)))
		}
	}
	t.Fatal("no source", source)
	return ""
}

// TestTwoGoodShapesAreBothKnown: a service that answers now with a field and now without
// it works, once both were recorded.
func TestTwoGoodShapesAreBothKnown(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1)%2 == 0 {
			fmt.Fprint(w, `{"text":"a"}`)
		} else {
			fmt.Fprint(w, `{"text":"a","by":"b","at":3}`)
		}
	}))
	t.Cleanup(up.Close)
	dir := t.TempDir()
	write(t, dir, "clinic.yaml", clinicHead+`forms: [{name: json, json: .}]
sources: [{name: turns, http: {url: "`+up.URL+`/"}}]
`)
	for range 2 {
		if _, _, err := call(t, onlyIn(t), "doctor", "--catalog", dir, "--record", "clinic"); err != nil && statusOf(err) != statusUnserved {
			t.Fatal(err)
		}
	}
	for range 4 {
		out, _, err := call(t, onlyIn(t), "doctor", "--catalog", dir, "--record", "clinic")
		if err != nil || !strings.Contains(out, " works ") || strings.Contains(out, "changed") {
			t.Errorf("%v: %s", err, out)
		}
	}
	names, err := os.ReadDir(filepath.Join(dir, "testdata/clinic/turns"))
	if err != nil || len(names) > 3 {
		t.Errorf("%d exchanges are kept, %v", len(names), err)
	}
}

// TestEachChainIsRecorded: a source of two chains has an exchange of each, however often it is recorded, and check has nothing
// to say of them.
func TestEachChainIsRecorded(t *testing.T) {
	t.Parallel()
	var up *httptest.Server
	up = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moon.png" {
			w.Header().Set("Content-Type", "image/png")
			_ = png.Encode(w, image.NewGray(image.Rect(0, 0, 1, 1)))
			return
		}
		fmt.Fprint(w, `{"text":"a","picture":"`+up.URL+`/moon.png"}`)
	}))
	t.Cleanup(up.Close)
	dir := t.TempDir()
	write(t, dir, "clinic.yaml", clinicHead+`params: [{name: type, role: form, example: json, summary: {en: Format., zh: 格式}}]
fields: {text: {is: text, must: true, en: Text., zh: 文字}, picture: {is: link, must: true, en: Picture., zh: 图片}}
forms: [{name: json, json: .}, {name: picture, chain: pictures, picture: source}]
sources: [{name: one, http: {url: "`+up.URL+`/"}}]
chains: {pictures: {like: main, picture: {url: .picture, hosts: ["`+up.Listener.Addr().String()+`"]}}}
`)
	for range 2 {
		if out, _, err := call(t, onlyIn(t), "doctor", "--catalog", dir, "--record", "clinic"); err != nil || strings.Count(out, " recorded") != 2 {
			t.Fatalf("%v\n%s", err, out)
		}
		kept, err := filepath.Glob(filepath.Join(dir, "testdata/clinic/one/*/exchange.yaml"))
		if err != nil || len(kept) != 2 || strings.Contains(readFile(t, kept[0]), "chain:") || !strings.Contains(readFile(t, kept[1]), "chain: pictures") {
			t.Errorf("kept %v, %v", kept, err)
		}
	}
	if _, errs, err := call(t, onlyIn(t), "check", "--catalog", dir); err != nil || errs != "" {
		t.Errorf("%v\n%s", err, errs)
	}
}

// recordedWell checks what was recorded: a second look finds it well in replay.
func recordedWell(t *testing.T, dir string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "testdata/clinic/well/good/want.json"))
	if err != nil || !strings.Contains(string(b), "somebody") {
		t.Errorf("%s %v", b, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "testdata/clinic/keyed")); err == nil {
		t.Error("an exchange with a key was recorded")
	}
	if _, err := os.Stat(filepath.Join(dir, "testdata/clinic/well/good/reply.json")); err == nil {
		t.Error("a file of the composed exchange is left")
	}
	out, _, err := call(t, onlyIn(t), "doctor", "--replay", "--catalog", dir, "clinic")
	if err != nil {
		t.Error(err)
	}
	for line := range strings.SplitSeq(out, "\n") {
		for _, source := range []string{"well", "changed"} {
			if strings.Contains(line, "clinic    "+source+" ") && !strings.Contains(line, " works ") {
				t.Errorf("recorded, but: %s", line)
			}
		}
	}
}

// TestWhatDoesNotServeAnInputIsNotAtFault: the doctor skips it, as the service does.
func TestWhatDoesNotServeAnInputIsNotAtFault(t *testing.T) {
	t.Parallel()
	out, _, err := call(t, onlyIn(t, "kd"), "doctor", "--replay", "--json", "kd", "id=YT0000000000001")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findingsIn(t, out) {
		if want := map[bool]fixtures.Health{true: fixtures.Skipped, false: fixtures.Works}[f.Source == "cainiao"]; f.Health != want {
			t.Errorf("%s: %s %v, want %s", f.Source, f.Health, f.Notes, want)
		}
	}
}

func TestDoctorFailsWithoutAWorkingSource(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gone := httptest.NewServer(nil)
	gone.Close()
	write(t, dir, "ill.yaml", `version: 1
name: ill
group: text
summary: {en: A test., zh: 测试}
cache: {class: shared, ttl: 1h}
forms: [{name: json, json: .}]
sources: [{name: gone, http: {url: "`+gone.URL+`/"}}]
`)
	out, _, err := call(t, onlyIn(t), "doctor", "--catalog", dir, "ill")
	if err == nil || !strings.Contains(err.Error(), "no working source: ill") || !strings.Contains(out, "unreachable") {
		t.Errorf("%v: %s", err, out)
	}
	few := onlyIn(t, "60s", "ip")
	for _, args := range [][]string{{"nothing"}, {"a=b"}, {"--record", "--replay"}, {"60s", "ip", "a=b"}} {
		if _, _, err := call(t, few, append([]string{"doctor", "--replay"}, args...)...); err == nil {
			t.Errorf("%v: accepted", args)
		}
	}
}

// vaultKey is a key that stands in the path of a request.
const vaultKey = "s3cr&t/key"

// vault is a catalog with an endpoint whose sources put their key into the path, and
// sign with it. The first makes an error of all that it sent, the other an answer of the
// key that it sent.
func vault(t *testing.T) (dir string) {
	t.Helper()
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, bad := r.Header.Get("Authorization"), strings.HasPrefix(r.URL.Path, "/bad")
		if bad {
			text += " " + r.RequestURI
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"text": text, "bad": bad})
	}))
	t.Cleanup(up.Close)
	source := `, secrets: {k: VAULT_KEY}, vars: {sign: '$secrets.k + "x" | md5 | ascii_upcase'}, http: {url: "` + up.URL + `/%s/{k}/{sign}", headers: {Authorization: "APPCODE {k}"}}, map: 'if .bad then error(.text) else {text} end'}` + "\n"
	dir = t.TempDir()
	write(t, dir, "vault.yaml", `version: 1
name: vault
group: text
summary: {en: A test., zh: 测试}
cache: {class: shared, ttl: 1h}
forms: [{name: json, json: .}]
sources:
  - {name: fails`+fmt.Sprintf(source, "bad")+"  - {name: works"+fmt.Sprintf(source, "good"))
	return dir
}

// showsNoSecret checks a text of which the key and the signature were blotted out.
func showsNoSecret(t *testing.T, what, shown string) {
	t.Helper()
	sum := md5.Sum([]byte(vaultKey + "x"))
	for _, hidden := range []string{"s3cr", strings.ToUpper(hex.EncodeToString(sum[:])), hex.EncodeToString(sum[:])} {
		if strings.Contains(shown, hidden) {
			t.Errorf("%s: %s is shown: %s", what, hidden, shown)
		}
	}
	if !strings.Contains(shown, "the cause is not shown") {
		t.Errorf("%s: the failure is not shown: %s", what, shown)
	}
}

// TestCommandsShowNoSecret, neither of the path nor what was computed of it,
// though the error is made of that. In an answer, which clients get, the key is hidden.
func TestCommandsShowNoSecret(t *testing.T) {
	t.Parallel()
	dir, few := vault(t), onlyIn(t)["SUNDRY_CONFIG"]
	for _, args := range [][]string{{"try", "vault"}, {"doctor", "vault"}, {"doctor", "vault", "--json"}} {
		out, errs, err := call(t, map[string]string{"VAULT_KEY": vaultKey, "SUNDRY_CONFIG": few}, append(args, "--catalog", dir)...)
		showsNoSecret(t, fmt.Sprint(args), fmt.Sprint(out, errs, err))
	}
}

// TestTheConsoleShowsNoSecret: failures, what became of upstreams, a second try
// with its stages and data, and the log.
func TestTheConsoleShowsNoSecret(t *testing.T) {
	t.Parallel()
	p := serveWith(t, map[string]string{"VAULT_KEY": vaultKey}, "--catalog", vault(t), "--log-level", "debug")
	mustGet(t, p.public+"/api/vault")
	failures := p.mustAsk(http.MethodGet, "failures", "")
	showsNoSecret(t, "failures", fmt.Sprint(failures))
	showsNoSecret(t, "upstreams", fmt.Sprint(p.mustAsk(http.MethodGet, "upstreams", "")))
	id := failures["failures"].([]any)[0].(map[string]any)["id"]
	showsNoSecret(t, "a second try", fmt.Sprint(p.mustAsk(http.MethodPost, fmt.Sprintf("failures/%v/retry", id), "")))
	if log := p.stderr.String(); strings.Contains(log, "s3cr") {
		t.Error(log)
	}
}

// TestNoBreakerStopsTheDoctor: many sources of a host that is away are unreachable, each
// by its own call.
func TestNoBreakerStopsTheDoctor(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(nil)
	gone.Close()
	dir, file := t.TempDir(), `version: 1
name: away
group: text
summary: {en: A test., zh: 测试}
cache: {class: shared, ttl: 1h}
forms: [{name: json, json: .}]
sources:
`
	const sources = 18
	for i := range sources {
		file += fmt.Sprintf("  - {name: s%d, http: {url: %q}}\n", i, gone.URL)
	}
	write(t, dir, "away.yaml", file)
	out, _, err := call(t, onlyIn(t), "doctor", "--catalog", dir, "away")
	if statusOf(err) != statusUnserved || strings.Count(out, " unreachable ") != sources || strings.Contains(out, "breaker") {
		t.Errorf("%v:\n%s", err, out)
	}
}
