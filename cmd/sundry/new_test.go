package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"sundry/upstreams/catalog"
	"sundry/upstreams/lib/longtest"
)

// pixel is a PNG of one pixel.
const pixel = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\rIDATx\xdac``\xf8\xff\x1f\x00\x03\x02\x01\xff9)\x19\xbe\x00\x00\x00\x00IEND\xaeB`\x82"

// draftServer answers each path with a reply of a kind.
func draftServer(t *testing.T) string {
	t.Helper()
	replies := map[string][2]string{
		"/object":        {"application/json", `{"id": 7, "Title": "Seven", "createdAt": 1795219200, "link": "https://www.example.org/7", "author": {"name": "Ada", "homePage": null}, "tags": ["a", "b"], "数": 1, "end": true}`},
		"/list":          {"application/json", `[{"id": 1, "name": "one", "published": "2026-01-02T03:04:05Z"}, {"id": 2, "name": "two"}]`},
		"/envelope":      {"application/json; charset=utf-8", `{"code": 200, "msg": "success", "data": {"list": [{"title": "A", "hot-value": 12, "nested": {"deep": {"deeper": 1}}}], "total": 90}}`},
		"/success":       {"text/plain", `{"success": true, "result": {"city": "杭州", "ip": "203.0.113.7"}, "error": null}`},
		"/texts":         {"application/json", `{"status": "ok", "data": ["x", "y"]}`},
		"/jsonp":         {"application/javascript", `show({"a": 1, "b": "2"});`},
		"/page":          {"text/html", `<!doctype html><title>A page</title><meta property="og:image" content="/cover.png"><h1>Heading</h1>`},
		"/text":          {"text/plain", "  just a line\n"},
		"/gbk":           {"text/plain; charset=gbk", "\xc4\xe3\xba\xc3"},
		"/picture":       {"image/png", pixel},
		"/keyed":         {"application/json", `{"code": 0, "data": {"word": "echo s3cret-key", "n": 1}}`},
		"/v1/7/x":        {"application/json", `{"id": 7, "type": "x"}`},
		"/graphql-error": {"application/json", `{"data": null, "errors": [{"message": "no field a"}]}`},
		"/failed":        {"application/json", `{"code": 404, "msg": "no such thing"}`},
		"/broken":        {"application/json", `{"code": `},
		"/empty":         {"application/json", ``},
		"/untitled":      {"application/json", `<html><title> </title><h2>One</h2></html>`},
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/object", http.StatusFound)
			return
		}
		reply, ok := replies[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", reply[0])
		_, _ = w.Write([]byte(reply[1]))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestNewDraftsEndpointsThatWork: one command, then check, try and serve.
func TestNewDraftsEndpointsThatWork(t *testing.T) {
	longtest.NotShort(t, "it takes seconds")
	t.Parallel()
	base, dir, few, files := draftServer(t), t.TempDir(), onlyIn(t), validator(t, catalog.Schema())
	rows := map[string]struct {
		args []string
		want string // what the answer contains
	}{
		"object":   {[]string{base + "/object?id=7"}, `{"id":7,"title":"Seven","created_at":"2026-11-21T08:00:00+08:00","link":"https://www.example.org/7","author":{"name":"Ada"},"tags":["a","b"],"field":1,"end_of":true}`},
		"list":     {[]string{base + "/list"}, `{"count":2,"items":[{"id":1,"name":"one","published":"2026-01-02T03:04:05Z"},{"id":2,"name":"two","published":null}]}`},
		"envelope": {[]string{base + "/envelope?page=1"}, `{"list":[{"title":"A","hot_value":12,"nested":{"deep":{"deeper":1}}}],"total":90}`},
		"success":  {[]string{base + "/success?ip=203.0.113.7"}, `{"city":"杭州","ip":"203.0.113.7"}`},
		"texts":    {[]string{base + "/texts"}, `{"count":2,"items":["x","y"]}`},
		"jsonp":    {[]string{base + "/jsonp?callback=show"}, `{"a":1,"b":"2"}`},
		"page":     {[]string{base + "/page"}, `{"title":"A page","heading":"Heading","cover":"` + base + `/cover.png"}`},
		"text":     {[]string{base + "/text?q=a+b&type=c"}, `{"text":"just a line"}`},
		"gbk":      {[]string{base + "/gbk"}, `{"text":"你好"}`},
		"picture":  {[]string{base + "/picture?size=1"}, pixel},
		"keyed":    {[]string{base + "/keyed?app_key=s3cret-key&n=1"}, `{"word":"echo ***","n":1}`},
		"path":     {[]string{base + "/v1/{id}/{word}", "--param", "id=7", "--param", "word=x"}, `{"id":7,"type":"x"}`},
		"moved":    {[]string{base + "/moved", "--param", "id=7"}, `"title":"Seven"`},
	}
	for name, row := range rows {
		if out, errs, err := call(t, few, append([]string{"new", name, "--out", dir, "--url"}, row.args...)...); err != nil {
			t.Errorf("%s: %s %s %v", name, out, errs, err)
			continue
		}
		if text := readFile(t, filepath.Join(dir, name+".yaml")); valid(t, files, text) != nil {
			t.Errorf("%s: %v\n%s", name, valid(t, files, text), text)
		}
		if out, _, err := call(t, few, "try", name, "--replay", "--catalog", dir); err != nil || !strings.Contains(out, "answer from") {
			t.Errorf("%s: %s %v", name, out, err)
		}
	}
	if _, errs, err := call(t, nil, "check", "--catalog", dir); err != nil || errs != "" {
		t.Fatal(errs, err)
	}
	checkNoSecret(t, dir, "s3cret-key")
	p := serve(t, "--replay", "--catalog", dir)
	for name, row := range rows {
		if _, body := mustGet(t, p.public+"/api/"+name); !strings.Contains(body, row.want) {
			t.Errorf("%s: %s, want %s", name, body, row.want)
		}
	}
	if _, body := mustGet(t, p.public+"/api/object?type=text"); !strings.Contains(body, "标题：Seven\n") {
		t.Errorf("text: %s", body)
	}
	if _, body := mustGet(t, p.public+"/api/list?type=text"); body != "条数：2\none\ntwo\n" {
		t.Errorf("text: %q", body)
	}
	if _, body := mustGet(t, p.public+"/api/picture"); body != pixel {
		t.Errorf("picture: %q", body)
	}
	if _, body := mustGet(t, p.public+"/openapi.json"); !strings.Contains(body, "/api/envelope") {
		t.Error("the draft is not in the API's description")
	}
}

// checkNoSecret looks for a secret in all files.
func checkNoSecret(t *testing.T, dir, secret string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.Contains(readFile(t, path), secret) {
			t.Errorf("%s contains the secret", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestNewRefuses what it cannot draft, and leaves nothing behind.
func TestNewRefuses(t *testing.T) {
	t.Parallel()
	base, dir := draftServer(t), t.TempDir()
	for _, row := range []struct {
		args []string
		want string
	}{
		{[]string{"new", "failed", "--url", base + "/failed"}, "seems to be an error (code: 404)"},
		{[]string{"new", "gone", "--url", base + "/gone"}, "the address answered 404 Not Found"},
		{[]string{"new", "broken", "--url", base + "/broken"}, "begins like JSON, but is not"},
		{[]string{"new", "empty", "--url", base + "/empty"}, "the reply is empty"},
		{[]string{"new", "untitled", "--url", base + "/untitled"}, "a web page without a title"},
		{[]string{"new", "a", "--url", "http://127.0.0.1:1/?key=s3cret-key"}, "calling the address: "},
		{[]string{"new", "a", "--url", base + "/graphql-error", "--json", `{"query": "{ a }"}`}, "the reply seems to be an error (errors: "},
	} {
		_, _, err := call(t, nil, append(row.args, "--out", dir)...)
		if err == nil || !strings.Contains(err.Error(), row.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%v: %v, want %s", row.args, err, row.want)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Error(files, err)
	}
}

// TestNewChecksBeforeItCalls: a mistake in the command line costs no call, and what there is stays.
func TestNewChecksBeforeItCalls(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		fmt.Fprint(w, `{"a": 1}`)
	}))
	t.Cleanup(s.Close)
	dir := t.TempDir()
	taken := write(t, dir, "taken.yaml", "mine")
	for want, args := range map[string][]string{
		"taken.yaml exists already":                                {"taken"},
		"ip is a built-in endpoint":                                {"ip"},
		`name "Big": expected lower-case letters`:                  {"Big"},
		`name "bad name": expected lower-case letters`:             {"bad name"},
		"expected an http or https address":                        {"a", "--url", "ftp://x/"},
		"{id} has no value; expected one, for example --param id=": {"a", "--url", s.URL + "/v1/{id}/x"},
		"expected name=value":                                      {"a", "--param", "x"},
		"--reply: ":                                                {"a", "--reply", "/does/not/exist"},
		"expected a directory, or a name for one that is made":     {"a", "--out", taken},
		"--json: expected a JSON object or list, for example":      {"a", "--json", "{"},
	} {
		_, _, err := call(t, nil, append([]string{"new", "--url", s.URL, "--out", dir}, args...)...)
		if statusOf(err) != statusMisused || !strings.Contains(err.Error(), want) || calls.Load() > 0 {
			t.Errorf("%v: %v (%d), want %s; %d calls", args, err, statusOf(err), want, calls.Swap(0))
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 || readFile(t, taken) != "mine" {
		t.Error(files, err)
	}
}

// TestNewReadsASavedReply, and describes the key of the address beside those that are
// described.
func TestNewReadsASavedReply(t *testing.T) {
	t.Parallel()
	dir, env := t.TempDir(), onlyIn(t)
	reply := write(t, t.TempDir(), "saved.json", `{"joke": "Knock, knock."}`)
	for _, name := range []string{"joke", "other"} {
		out, errs, err := call(t, env, "new", name, "--url", "https://api.example.org/joke?id=3&token=geheim", "--reply", reply, "--out", dir)
		if err != nil || !strings.Contains(out, "next: sundry try "+name) {
			t.Fatal(out, errs, err)
		}
	}
	checkNoSecret(t, dir, "geheim")
	text := readFile(t, filepath.Join(dir, "data/variables.yaml"))
	if !strings.Contains(text, "SUNDRY_JOKE_TOKEN:") || !strings.Contains(text, "SUNDRY_OTHER_TOKEN:") {
		t.Error(text)
	}
	var want map[string]any
	if err := json.Unmarshal([]byte(readFile(t, filepath.Join(dir, "testdata/joke/example/good/want.json"))), &want); err != nil || want["joke"] != "Knock, knock." {
		t.Error(want, err)
	}
	env["SUNDRY_JOKE_TOKEN"] = "x"
	out, errs, err := call(t, env, "check", "--catalog", dir)
	if err != nil || !strings.HasPrefix(out, "ok: ") {
		t.Error(out, errs, err)
	}
}

// TestEightShapesNeedNoEdit: what services answer with, drafted into a directory that does not
// exist, is clean and is served, and says what its answers must hold.
func TestEightShapesNeedNoEdit(t *testing.T) {
	t.Parallel()
	rows := map[string]struct {
		reply string
		args  []string
		want  string   // what the answer contains
		holds []string // what the file does
	}{
		"list": {`[{"Id": 1, "name": "one", "note": null}, {"Id": 2, "name": "two", "note": "n"}]`, nil,
			`{"count":2,"items":[{"id":1,"name":"one","note":null},{"id":2,"name":"two","note":"n"}]}`, []string{"at_least: 1", "name: {must: true", "count: {counts: items"}},
		"envelope": {`{"Code": "OK", "Msg": "", "Data": {"currencyCode": "USD", "name": "Dollar"}}`, nil,
			`{"currency_code":"USD","name":"Dollar"}`, []string{`.Code != "OK"`, "name: {must: true"}},
		"dates": {`{"title": "t", "a": "2026-01-02T03:04:05Z", "b": "2026-01-02 03:04:05", "c": "2026/1/2 03:04", "day": "2026年1月2日", "rfc": "Fri, 02 Jan 2026 03:04:05 GMT",
			"pub_time": 1795219200, "updated_at": "1795219200000", "birth_date": "20260102"}`, nil,
			`"a":"2026-01-02T03:04:05Z","b":"2026-01-02T03:04:05+08:00","c":"2026-01-02T03:04:00+08:00","day":"2026-01-02","rfc":"2026-01-02T11:04:05+08:00",` +
				`"pub_time":"2026-11-21T08:00:00+08:00","updated_at":"2026-11-21T08:00:00+08:00","birth_date":"2026-01-02"`, []string{"day: {is: date", "b: {is: time", "title: {must: true"}},
		"prices": {`{"status": 1, "data": [{"name": "gold", "price": 12.50, "change": "-0.30%", "label": "¥1,299.00", "stock": 0}]}`, nil,
			`{"name":"gold","price":12.5`, []string{"at_least: 1", ".status != 1"}},
		"graphql": {`{"data": {"country": {"name": "Andorra", "capital": "Andorra la Vella", "states": []}}}`,
			[]string{"--json", `{"query": "query($code: ID!) { country(code: $code) { name capital } }", "variables": {"code": "{code}", "apiKey": "s3cret-key"}}`, "--param", "code=AD"},
			`{"name":"Andorra","capital":"Andorra la Vella","states":[]}`, []string{`"code": $params.code`, `"apiKey": $secrets.api_key`, ".errors != null", "default: \"AD\""}},
		"rss": {`<?xml version="1.0"?><rss version="2.0"><channel><title>News</title><link>https://n.example.org/</link>` +
			`<item><title>One</title><link>https://n.example.org/1</link><pubDate>Fri, 02 Jan 2026 03:04:05 GMT</pubDate><description>&lt;p&gt;First&lt;/p&gt;</description></item></channel></rss>`, nil,
			`{"title":"News","items":[{"title":"One","url":"https://n.example.org/1","summary":"First","date":"2026-01-02T03:04:05Z"}]}`, []string{"decode: feed", "at_least: 1"}},
		"text":  {"Knock, knock.\n", nil, `{"text":"Knock, knock."}`, []string{"text: {must: true"}},
		"empty": {`{}`, nil, `"data":{}`, nil},
	}
	dir, few := filepath.Join(t.TempDir(), "not", "there"), onlyIn(t)
	for name, row := range rows {
		reply := write(t, t.TempDir(), "reply", row.reply)
		args := append([]string{"new", name, "--url", "https://api.example.org/v1/9f8e7d6c5b4a39281706f5e4d3c2b1a0/" + name, "--reply", reply, "--out", dir}, row.args...)
		if out, errs, err := call(t, few, args...); err != nil {
			t.Errorf("%s: %s %s %v", name, out, errs, err)
			continue
		}
		file := readFile(t, filepath.Join(dir, name+".yaml"))
		for _, want := range row.holds {
			if !strings.Contains(file, want) {
				t.Errorf("%s: no %s in\n%s", name, want, file)
			}
		}
	}
	out, errs, err := call(t, few, "check", "--catalog", dir)
	if err != nil || errs != "" {
		t.Fatal(out, errs, err)
	}
	checkNoSecret(t, dir, "s3cret-key")
	checkNoSecret(t, dir, "9f8e7d6c5b4a39281706f5e4d3c2b1a0")
	p := serveWith(t, few, "--replay", "--catalog", dir)
	for name, row := range rows {
		if _, body := mustGet(t, p.public+"/api/"+name); !strings.Contains(body, row.want) {
			t.Errorf("%s: %s, want %s", name, body, row.want)
		}
		mustGet(t, p.public+"/api/"+name+"?type=text")
	}
}

// TestNewPosts: what is sent is what the draft sends.
func TestNewPosts(t *testing.T) {
	t.Parallel()
	var got []string
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got = append(got, r.Method+" "+r.Header.Get("Content-Type")+" "+string(b))
		_, _ = w.Write([]byte(`{"data": {"word": {"text": "a", "n": 1}}}`))
	}))
	t.Cleanup(up.Close)
	dir := t.TempDir()
	if out, errs, err := call(t, onlyIn(t), "new", "word", "--url", up.URL, "--json", `{"query": "{ word }", "variables": {"n": "{n}"}}`, "--param", "n=7", "--out", dir); err != nil {
		t.Fatal(out, errs, err)
	}
	if out, errs, err := call(t, onlyIn(t), "try", "word", "--catalog", dir, "n=7"); err != nil || !strings.Contains(out, `"text":"a"`) {
		t.Fatal(out, errs, err)
	}
	if len(got) != 2 || got[0] != got[1] || got[0] != `POST application/json {"query":"{ word }","variables":{"n":7}}` {
		t.Errorf("%q", got)
	}
}
