package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sundry/upstreams/fixtures"
)

// presence is a catalog of three endpoints. The sources of status answer whether
// somebody is there: one knows, one says the same of everybody. Of spare, one of
// two sources works; of gone, none.
func presence(t *testing.T) (dir string) {
	t.Helper()
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		uid := r.URL.Query().Get("uid")
		fmt.Fprintf(w, `{"uid":%q,"online":%v}`, uid, r.URL.Path == "/parrot" || uid == "12345")
	}))
	t.Cleanup(up.Close)
	down := httptest.NewServer(nil)
	down.Close()
	dir = t.TempDir()
	head := func(name string) string {
		return "version: 1\nname: " + name + `
group: text
summary: {en: A test., zh: 测试}
params:
  - {name: uid, type: digits, min_len: 5, max_len: 11, required: true, summary: {en: Who., zh: 谁}, example: "12345"}
cache: {class: shared, ttl: 1h}
forms: [{name: json, json: .}]
sources:
`
	}
	source := func(name, url, more string) string {
		return "  - {name: " + name + ", canary: {uid: \"10000000000\"}, http: {url: \"" + url + "/" + name + "\", query: {uid: \"{uid}\"}}" + more + "}\n"
	}
	write(t, dir, "status.yaml", head("status")+source("knows", up.URL, "")+source("parrot", up.URL, "")+source("knows-2", up.URL, "")+source("other", up.URL, `, when: $params.uid != "12345"`))
	write(t, dir, "spare.yaml", head("spare")+source("works", up.URL, "")+source("down", down.URL, ""))
	write(t, dir, "gone.yaml", head("gone")+source("down", down.URL, ""))
	return dir
}

// TestTheDoctorSummarizes what works, what depends on one source, and who answers the
// same to everything; and tells of its progress.
func TestTheDoctorSummarizes(t *testing.T) {
	t.Parallel()
	dir := presence(t)
	out, errs, err := call(t, onlyIn(t, "sfz"), "doctor", "--catalog", dir, "--progress", "status", "spare", "gone")
	if err == nil || err.Error() != "no working source: gone" {
		t.Error(err)
	}
	_, summary, _ := strings.Cut(out, "\n\n")
	want := []string{"ENDPOINT WORKING IF A SOURCE FAILS", "gone 0 of 1 no source works now", "spare 1 of 2 nobody else answers what is answered by works",
		"status 2 of 4 another source answers", "", "3 endpoints: 1 without a working source, 1 with answers that only one source has"}
	var got []string
	for line := range strings.SplitSeq(strings.TrimSpace(summary), "\n") {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if row := regexp.MustCompile(`(?m)^status +parrot +answers the same to everything .* its answer to uid=10000000000, which cannot exist, is the same$`); !row.MatchString(out) {
		t.Error(out)
	}
	lines := strings.Split(strings.TrimSpace(errs), "\n")
	if last := lines[len(lines)-1]; len(lines) != 7 || !strings.HasPrefix(last, "[7/7] ") || !strings.Contains(errs, "] status/knows: works in ") {
		t.Errorf("progress:\n%s", errs)
	}
	if _, errs, _ = call(t, onlyIn(t, "sfz"), "doctor", "--catalog", dir, "spare"); errs != "" {
		t.Errorf("nobody watches, but: %s", errs)
	}
}

// TestTheDoctorSummarizesInChinese: the summary, and what the command ends with.
func TestTheDoctorSummarizesInChinese(t *testing.T) {
	t.Parallel()
	few := onlyIn(t, "sfz")
	few["SUNDRY_LANGUAGE"] = "zh"
	out, _, err := call(t, few, "doctor", "--catalog", presence(t), "status", "spare", "gone")
	if err == nil || err.Error() != "没有可用的数据源：gone" {
		t.Error(err)
	}
	_, summary, _ := strings.Cut(out, "\n\n")
	if want := `接口    可用  某个数据源失败时
gone    0/1   目前没有可用的数据源
spare   1/2   没有其他数据源能代替 works
status  2/4   由其他数据源作答

3 个接口：1 个没有可用的数据源，1 个有只靠一个数据源的结果
`; summary != want {
		t.Errorf("%s\nwant\n%s", summary, want)
	}
}

// TestTheDoctorsFindingsAsJSON stay a list of findings, with what was added.
func TestTheDoctorsFindingsAsJSON(t *testing.T) {
	t.Parallel()
	out, _, err := call(t, onlyIn(t, "sfz"), "doctor", "--catalog", presence(t), "--json", "status")
	if err != nil {
		t.Fatal(err)
	}
	var got []fixtures.Finding
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	alternatives := map[string][]string{}
	for _, f := range got {
		alternatives[f.Source] = f.Alternatives
	}
	if len(got) != 4 || !slices.Equal(alternatives["knows"], []string{"knows-2"}) || !slices.Equal(alternatives["knows-2"], []string{"knows"}) ||
		got[1].Health != fixtures.Indifferent || got[1].Source != "parrot" {
		t.Errorf("%+v", got)
	}
}

// TestACanaryHasParametersOfItsEndpoint, or is a mistake.
func TestACanaryHasParametersOfItsEndpoint(t *testing.T) {
	t.Parallel()
	dir := presence(t)
	if err := edit(dir+"/spare.yaml", "canary: {uid:", "canary: {user:"); err != nil {
		t.Fatal(err)
	}
	if _, errs, err := call(t, onlyIn(t, "sfz"), "check", "--catalog", dir); err == nil || !strings.Contains(errs, "spare.yaml:10: canary: user: expected a parameter of the endpoint, one of uid") {
		t.Errorf("%v %s", err, errs)
	}
}

// TestTheDoctorDoesNotRecordParrots: a source that answers the same to everything.
func TestTheDoctorDoesNotRecordParrots(t *testing.T) {
	t.Parallel()
	dir := presence(t)
	if _, _, err := call(t, onlyIn(t, "sfz"), "doctor", "--catalog", dir, "--record", "status"); err != nil {
		t.Fatal(err)
	}
	for source, want := range map[string]bool{"knows": true, "parrot": false} {
		if _, err := os.Stat(filepath.Join(dir, "testdata/status", source)); (err == nil) != want {
			t.Errorf("%s: %v", source, err)
		}
	}
}

// TestTheDoctorKeepsToRates: sources of one service that allows one call at a time are
// asked one after the other.
func TestTheDoctorKeepsToRates(t *testing.T) {
	t.Parallel()
	dir := presence(t)
	for _, file := range []string{"status.yaml", "spare.yaml"} {
		if err := edit(dir+"/"+file, ", http: {", ", rate: 1/30ms, http: {"); err != nil {
			t.Fatal(err)
		}
	}
	out, _, err := call(t, onlyIn(t, "sfz"), "doctor", "--catalog", dir, "status", "spare")
	if err != nil || strings.Contains(out, "rate") || !strings.Contains(out, "\nstatus    2 of 4") {
		t.Errorf("%v %s", err, out)
	}
}

// TestTheSummaryTellsOthersFromOurOwn: what this service answers by itself is no working
// source of an endpoint that others are there for, unless it answers the same calls.
func TestTheSummaryTellsOthersFromOurOwn(t *testing.T) {
	t.Parallel()
	dir := presence(t)
	const own = "    computed: {}\n    map: '{n: 1}'\n"
	with := func(file, more string) {
		if err := edit(filepath.Join(dir, file), "\nsources:\n", "\nsources:\n"+more); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"gone.yaml", "spare.yaml"} {
		b, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		write(t, dir, file, string(b)+"  - name: last\n    last_resort: true\n"+own)
	}
	with("gone.yaml", "  - name: few\n    when: $params.uid == \"54321\"\n"+own)
	few := filepath.Join(dir, "testdata/gone/few/good")
	if err := os.MkdirAll(few, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, few, "exchange.yaml", "origin: composed\nnow: 2026-11-21T09:00:00+08:00\nparams: {uid: \"54321\"}\nwant: success\n")
	write(t, few, "want.json", `{"n":1}`)
	write(t, dir, "copied.yaml", strings.ReplaceAll(readFile(t, filepath.Join(dir, "gone.yaml")), "name: gone", "name: copied"))
	with("copied.yaml", "  - name: all\n"+own)
	out, _, err := call(t, onlyIn(t, "sfz"), "doctor", "--catalog", dir, "spare", "gone", "copied", "sfz")
	if statusOf(err) != statusUnserved || err.Error() != "no working source: gone" {
		t.Error(err)
	}
	_, summary, _ := strings.Cut(out, "\n\n")
	got := strings.Join(strings.Fields(summary), " ")
	for _, want := range []string{
		"gone 0 of 1 no source works now; what is left: few, last",
		"copied 0 of 1 answered by this service itself: all",
		"spare 1 of 2 only a last resort (last) answers what is answered by works",
		"sfz 1 of 1 computes its answers",
		"4 endpoints: 1 without a working source, 1 with answers that only one source has",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, summary)
		}
	}
}
