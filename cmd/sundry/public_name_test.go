package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sundry/upstreams/lib/waittest"
)

// getAs is a GET by which a client reaches a server under a name. It returns Cache-Status and the body.
func getAs(t *testing.T, name, url string, fields ...string) (status, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = name
	for _, field := range fields {
		key, value, _ := strings.Cut(field, ": ")
		r.Header.Set(key, value)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.Header.Get("Cache-Status"), string(b)
}

func isHit(status string) bool { return strings.HasPrefix(status, "sundry; hit") }

// named is an API that says what it is told of the address at which clients reach it.
func named(t *testing.T) (url string) {
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		h := r.Header
		fmt.Fprint(w, r.Host, " ", h["X-Forwarded-Host"], h["X-Forwarded-Proto"], h["X-Forwarded-Prefix"], h["Forwarded"])
	}))
	t.Cleanup(api.Close)
	return api.URL
}

// TestThePublicName reaches an application on this machine. No client gets a response for another name, from the express lane neither.
func TestThePublicName(t *testing.T) {
	t.Parallel()
	p := serve(t, "--to", named(t))
	waittest.Until(t, "the line on the API", func() bool { return strings.Contains(p.stderr.String(), "host=caller") })
	for _, name := range []string{"shop.example.org", "evil.example.net", "shop.example.org:8443"} {
		want := fmt.Sprintf(`%s [%[1]s] [http] [] [for=127.0.0.1;host="%[1]s";proto=http]`, name)
		for i := range 3 {
			status, body := getAs(t, name, p.public+"/a", "X-Forwarded-Host: forged.test", "X-Forwarded-Proto: https", "X-Forwarded-Prefix: /forged", "Forwarded: host=forged.test")
			if i > 0 {
				status, body = getAs(t, name, p.public+"/a")
			}
			if body != want || isHit(status) != (i > 0) {
				t.Errorf("%s, request %d: %s %s, want %s", name, i, status, body, want)
			}
		}
	}
	r, _ := http.NewRequestWithContext(t.Context(), "PURGE", p.admin+"/a", http.NoBody)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if status, _ := getAs(t, "shop.example.org", p.public+"/a"); isHit(status) || resp.StatusCode != http.StatusOK {
		t.Errorf("after a purge (%d): %s", resp.StatusCode, status)
	}
}

// TestNamesOfAPIs: an API has all names below a domain, the longer of two domains wins, and an API below a prefix is told its prefix.
func TestNamesOfAPIs(t *testing.T) {
	t.Parallel()
	origin := named(t)
	dir := t.TempDir()
	for name, keys := range map[string]string{
		"all": "hosts: ['*.example.org']", "one": "hosts: [one.example.org, example.org]", "below": "hosts: ['*.two.example.org'], host: below.internal", "plain": "host: origin",
	} {
		write(t, dir, name+".yaml", "version: 1\nname: "+name+"\nproxy: {to: '"+origin+"/"+name+"', "+keys+", response: {set: {X-Api: "+name+"}}}\n")
	}
	p := serve(t, "--catalog", dir)
	authority := strings.TrimPrefix(origin, "http://")
	for _, row := range []struct{ name, path, fields, want string }{
		{"a.example.org", "/x", "", "a.example.org [a.example.org]"},
		{"b.a.EXAMPLE.org.", "/x", "", "b.a.EXAMPLE.org. [b.a.EXAMPLE.org.]"},
		{"one.example.org", "/x", "", "one.example.org [one.example.org]"},
		{"a.two.example.org:81", "/x", "", "below.internal [a.two.example.org:81]"},
		{"other.test", "/api/plain/x", "", authority + " [other.test]"},
	} {
		_, body := getAs(t, row.name, p.public+row.path)
		if !strings.HasPrefix(body, row.want) {
			t.Errorf("%s%s: %s, want %s", row.name, row.path, body, row.want)
		}
	}
	if _, body := getAs(t, "other.test", p.public+"/api/plain/x"); !strings.Contains(body, "[/api/plain]") {
		t.Errorf("below a prefix: %s", body)
	}
	for name, want := range map[string]int{"example.net": http.StatusNotFound, "badexample.org": http.StatusNotFound} {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, p.public+"/x", http.NoBody)
		r.Host = name
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s: %d, want %d", name, resp.StatusCode, want)
		}
	}
}
