package catalog

import (
	"net/http"
	"testing"
)

// TestFormerKeysOfAnAPIAreHidden in the fields of its responses: after a reload, an origin may still echo what it was sent before. The keys of
// others stay as they are.
func TestFormerKeysOfAnAPIAreHidden(t *testing.T) {
	env := testEnvironment(t, nil)
	var received http.Header
	for _, key := range []string{"f1rst-key-of-it", "s3cond-key-of-it"} {
		values := map[string]string{"SUNDRY_TEST_KEY": key}
		env.Secret = func(name string) (string, bool) { v, ok := values[name]; return v, ok }
		c, err := Load(Options{Dir: writeCatalog(t, map[string]string{
			"keyed.yaml": "version: 1\nname: keyed\nproxy: {to: 'http://127.0.0.1:9', secrets: {key: SUNDRY_TEST_KEY}, request: {set: {X-Key: $secrets.key, X-Token: t0ken-" + key + "}}}\n",
			"other.yaml": "version: 1\nname: other\nproxy: {to: 'http://127.0.0.1:9', request: {set: {X-Token: 0ther-token}}}\n",
		})}, env)
		if err != nil {
			t.Fatal(err)
		}
		api, _ := c.API("keyed")
		received = http.Header{"Location": {"/f1rst-key-of-it/s3cond-key-of-it/t0ken-f1rst-key-of-it/0ther-token"}}
		api.Received(received)
	}
	if got := received.Get("Location"); got != "/***/***/***/0ther-token" {
		t.Error(got)
	}
}

func TestSentTo(t *testing.T) {
	for _, row := range []struct{ to, host, want string }{
		{"https://api.example.org", "", "api.example.org"},
		{"https://api.example.org:8443", "origin", "api.example.org:8443"},
		{"https://api.example.org", "caller", ""},
		{"https://api.example.org", "weather.internal", "weather.internal"},
		{"http://127.0.0.1:3000", "", ""},
		{"http://127.0.0.1:3000", "origin", "127.0.0.1:3000"},
		{"http://127.9.9.9", "", ""},
		{"http://[::1]:3000", "", ""},
		{"http://[::ffff:10.0.0.1]", "", ""},
		{"http://[fd00::1]", "", ""},
		{"http://[fe80::1]", "", ""},
		{"http://[2001:db8::1]", "", "[2001:db8::1]"},
		{"http://10.0.0.1", "", ""},
		{"http://172.31.0.1", "", ""},
		{"http://172.32.0.1", "", "172.32.0.1"},
		{"http://192.168.1.1", "", ""},
		{"http://203.0.113.1", "", "203.0.113.1"},
		{"http://localhost:3000", "", ""},
		{"http://app:3000", "", ""},
		{"http://App.LOCALHOST", "", ""},
		{"http://app.internal", "", "app.internal"},
		{"unix:/run/app.sock", "", ""},
		{"unix:/run/app.sock:/v1", "origin", "localhost"},
		{"unix:/run/app.sock", "app.internal", "app.internal"},
	} {
		u, err := ParseAddress(row.to)
		if err != nil {
			t.Fatal(err)
		}
		if got := sentTo(&Target{URL: u}, row.host); got != row.want {
			t.Errorf("%s, host %q: %q, want %q", row.to, row.host, got, row.want)
		}
	}
}

// TestNamed: the API with the name itself comes first, then that with the longest domain, as the server chooses; in any order of the files.
func TestNamed(t *testing.T) {
	all := []*API{{Name: "all", Hosts: []string{"example.org", "*.example.org"}}, {Name: "one", Hosts: []string{"one.example.org"}}, {Name: "below", Hosts: []string{"*.two.example.org"}}}
	for range all {
		all = append(all[1:], all[0])
		c := &Catalog{APIs: all}
		for name, want := range map[string]string{
			"example.org": "all", "a.example.org": "all", "b.a.example.org": "all", "badexample.org": "", "example.org.evil.test": "", "": "",
			"one.example.org": "one", "a.one.example.org": "all", "two.example.org": "all", "a.two.example.org": "below", "b.a.two.example.org": "below",
		} {
			got := ""
			if a := c.Named(name); a != nil {
				got = a.Name
			}
			if got != want {
				t.Errorf("%q: %q, want %q", name, got, want)
			}
		}
	}
}
