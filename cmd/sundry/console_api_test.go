package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sundry/upstreams/lib/waittest"
)

// TestTheAdminListenerLeadsToTheConsole, without the token too: the console asks for it.
func TestTheAdminListenerLeadsToTheConsole(t *testing.T) {
	t.Parallel()
	p := serveWith(t, map[string]string{"SUNDRY_ADMIN_TOKEN": "0123456789abcdef"}, "--replay")
	for _, path := range []string{"/", "/admin", "/admin/"} {
		if _, body := mustGet(t, p.admin+path); !strings.Contains(body, `<script type="module" src="console.js">`) {
			t.Errorf("%s: %s", path, body)
		}
	}
	for _, path := range []string{"/admin/api/overview", "/admin/%61pi/overview", "/admin/x%2F..%2Fapi/overview", "/admin//api/overview", "/admin/./api/audit", "/metrics", "/admin/../metrics"} {
		status, _, body, err := get(p.admin + path)
		leadsUp := strings.Contains(path, "..") && status == http.StatusBadRequest
		if err != nil || status != http.StatusUnauthorized && status != http.StatusNotFound && !leadsUp || strings.Contains(body, "uptime") {
			t.Errorf("%s: %d %s %v", path, status, body, err)
		}
	}
}

// TestTheAuditNamesOperators, wherever they change something.
func TestTheAuditNamesOperators(t *testing.T) {
	t.Parallel()
	p := serveWith(t, onlyIn(t, "ip"), "--replay")
	change := func(name string) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, p.admin+"/admin/api/endpoints/ip/cache", strings.NewReader(`{"set":{"ttl":"2h"}}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		if name != "" {
			r.Header.Set("X-Sundry-Operator", name)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		return resp
	}
	change(url.PathEscape("王五"))
	change("")
	if resp := change("autopilot"); resp.StatusCode != http.StatusBadRequest {
		t.Errorf("in the name of the autopilot: %s", resp.Status)
	} else if body, _ := io.ReadAll(resp.Body); !bytes.Contains(body, []byte(`"field":"operator"`)) {
		t.Errorf("%s", body)
	}
	audit := p.mustAsk(http.MethodGet, "audit", "")["audit"].([]any)
	for i, want := range []string{"王五", "unnamed, from 127.0.0.1"} {
		if by := audit[i].(map[string]any)["by"]; by != want {
			t.Errorf("by %v, want %q", by, want)
		}
	}
}

// TestErrorsOfTheAdminAPINameTheirField.
func TestErrorsOfTheAdminAPINameTheirField(t *testing.T) {
	t.Parallel()
	p := serveWith(t, onlyIn(t, "ip"), "--replay")
	for _, row := range []struct{ method, path, body, field string }{
		{http.MethodPut, "endpoints/ip/cache", `{"set":{"ttl":"2h","grace":"soon"}}`, "grace"},
		{http.MethodPut, "endpoints/ip/cache", `{"set":{"ttl":"2h"},"for":"a while"}`, "for"},
		{http.MethodPost, "upstreams/api.ip.sb", `{"do":"trip"}`, "do"},
		{http.MethodPost, "purge", `{"endpoint":"ip"}`, "mode"},
	} {
		if status, doc := p.ask(row.method, row.path, row.body); status != http.StatusBadRequest || doc["field"] != row.field {
			t.Errorf("%s %s: %d %v", row.path, row.body, status, doc)
		}
	}
}

// TestTheOverviewCountsTheBreakersThatUpstreamsShows: those that are half-open as well.
func TestTheOverviewCountsTheBreakersThatUpstreamsShows(t *testing.T) {
	t.Parallel()
	p := withHistory(t, nil, hostileCatalog(t))
	waittest.Until(t, "both name the same breakers", func() bool {
		overview := p.mustAsk(http.MethodGet, "overview", "")
		named := map[string]bool{}
		for _, list := range []string{"breakers_open", "breakers_half_open"} {
			for _, name := range overview[list].([]any) {
				named[name.(string)] = true
			}
		}
		for _, v := range p.mustAsk(http.MethodGet, "upstreams", "")["hosts"].([]any) {
			if h := v.(map[string]any); (h["state"] != "closed") != named[h["name"].(string)] {
				return false // it may have changed between the calls
			}
		}
		return len(named) == 1
	})
}

// TestSourcesNameTheHostsOfTheirSteps: those of kd call nothing else.
func TestSourcesNameTheHostsOfTheirSteps(t *testing.T) {
	t.Parallel()
	p := serveWith(t, onlyIn(t, "kd"), "--replay")
	for _, v := range p.mustAsk(http.MethodGet, "upstreams", "")["sources"].([]any) {
		if s := v.(map[string]any); s["source"] == "kuaidi100" && fmt.Sprint(s["hosts"]) != "[www.kuaidi100.com poll.kuaidi100.com]" {
			t.Errorf("kuaidi100 calls %v", s["hosts"])
		}
	}
}

// TestOperatorsTryEndpoints: as callers of the public listener would.
func TestOperatorsTryEndpoints(t *testing.T) {
	t.Parallel()
	p := serveWith(t, onlyIn(t, "ip", "qrcode", "wpcat"), "--replay")
	form := p.mustAsk(http.MethodGet, "endpoints/wpcat/form", "")
	if n := len(form["params"].([]any)); n == 0 {
		t.Error("wpcat takes parameters")
	}
	header := func(doc map[string]any, name string) string {
		return doc["headers"].(map[string]any)[name].([]any)[0].(string)
	}
	p.mustAsk(http.MethodPost, "endpoints/ip/try", `{"params":{"ip":"8.8.8.8"}}`)
	again := p.mustAsk(http.MethodPost, "endpoints/ip/try", `{"params":{"ip":"8.8.8.8"}}`)
	if again["status"] != 200.0 || again["url"] != "/api/ip?ip=8.8.8.8" || !strings.Contains(header(again, "Cache-Status"), "hit") || !strings.Contains(again["preview"].(string), "\n  \"") {
		t.Errorf("%v", again)
	}
	if wrong := p.mustAsk(http.MethodPost, "endpoints/ip/try", `{"params":{"ip":"nowhere"}}`); wrong["status"] != 400.0 {
		t.Errorf("%v", wrong)
	}
	picture := p.mustAsk(http.MethodPost, "endpoints/qrcode/try", `{"params":{"text":"hello"}}`)
	if b, err := base64.StdEncoding.DecodeString(picture["picture"].(string)); err != nil || !bytes.HasPrefix(b, []byte("\x89PNG")) {
		t.Errorf("%.100v", picture)
	}
	if status, _ := p.ask(http.MethodPost, "endpoints/nope/try", `{}`); status != http.StatusNotFound {
		t.Errorf("an endpoint that there is not: %d", status)
	}
}

// TestTheAdminAPIShowsDeclarationsAndForms: the file of an endpoint, and its entries' bodies
// by the names of their forms.
func TestTheAdminAPIShowsDeclarationsAndForms(t *testing.T) {
	t.Parallel()
	p := serveWith(t, onlyIn(t, "60s"), "--replay")
	header, yaml := mustGet(t, p.admin+"/admin/api/endpoints/60s/declaration")
	if !strings.HasPrefix(header.Get("Content-Type"), "text/plain") || !strings.Contains(yaml, "name: 60s") {
		t.Errorf("%v %.100s", header, yaml)
	}
	if status, _, _, _ := get(p.admin + "/admin/api/endpoints/nope/declaration"); status != http.StatusNotFound {
		t.Errorf("an endpoint that there is not: %d", status)
	}
	mustGet(t, p.public+"/api/60s")
	entries := p.mustAsk(http.MethodGet, "endpoints/60s/entries", "")["entries"].([]any)
	key := entries[0].(map[string]any)["key"].(string)
	bodies := p.mustAsk(http.MethodGet, "endpoints/60s/entry?key="+url.QueryEscape(key), "")["bodies"].([]any)
	for _, v := range bodies {
		if body := v.(map[string]any); body["form"] == nil || body["form"] == "json" && !strings.Contains(body["preview"].(string), "\n  \"") {
			t.Errorf("%.300v", body)
		}
	}
}

// TestConsoleAsksForTheToken, together with a name, and again where it was wrong.
func TestConsoleAsksForTheToken(t *testing.T) {
	t.Parallel()
	chromium(t)
	const token = "0123456789abcdef"
	p := serveWith(t, map[string]string{"SUNDRY_ADMIN_TOKEN": token}, "--replay")
	b := newBrowser(t, p.admin)
	for _, sent := range []string{"wrong", token} {
		b.until(`document.getElementById("login").open && document.querySelector("#login [name=token]").value === ""`)
		if sent == "wrong" {
			b.AxeInEveryLook(t)
		}
		b.run(chromedp.Evaluate[chromedp.Void](`document.querySelector("#login [name=operator]").select()`))
		b.keys("alice", kb.Tab, sent, kb.Enter)
		if sent == "wrong" {
			b.text("#login-token", "The token was refused")
		}
	}
	b.until(`document.querySelectorAll(".tile").length === 4 && !document.getElementById("login").open`)
	b.forgive("status of 401")
	b.press("#reload")
	b.press("#dialog button[type=submit]")
	b.outcome("were reloaded")
	b.sound()
	if log := p.stderr.String(); !strings.Contains(log, "by=alice") {
		t.Error(log)
	}
}
