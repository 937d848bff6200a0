package main

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"testing"

	"sundry/cache/far/redistest"
	"sundry/upstreams/lib/waittest"
)

// documentedUser returns the rights of a user of Redis that deploy/scaling.md names.
func documentedUser(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../deploy/scaling.md")
	if err != nil {
		t.Fatal(err)
	}
	rights := regexp.MustCompile("`(~sundry:[^`]+)`").FindSubmatch(text)
	if rights == nil {
		t.Fatal("scaling.md names no rights")
	}
	return string(rights[1])
}

// TestTheDocumentedUser of Redis has the rights for all that instances do there: entries and responses, leases, purges, limits, settings and
// their repair, gauges. Redis logs each command, key and channel that it refuses to somebody.
func TestTheDocumentedUser(t *testing.T) {
	t.Parallel()
	rights := documentedUser(t)
	for name, start := range map[string]func(t *testing.T) (all []*redistest.Server, url string){
		"server": func(t *testing.T) ([]*redistest.Server, string) {
			s := redistest.Start(t)
			return []*redistest.Server{s}, s.URL()
		},
		"sentinel": func(t *testing.T) ([]*redistest.Server, string) {
			s := redistest.Start(t)
			return []*redistest.Server{s}, "redis://" + redistest.StartSentinel(t, s).Addr + "?master_name=main"
		},
		"cluster": func(t *testing.T) ([]*redistest.Server, string) {
			c := redistest.StartCluster(t, 2)
			return c, c.URL()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all, address := start(t)
			for _, s := range all {
				s.Must("ACL SETUSER sundry on >secret " + rights)
			}
			doAllInRedis(t, all, withUser(t, address, "sundry", "secret"))
			for _, s := range all {
				if log := s.Must("ACL LOG 5"); log != "*0\r\n" {
					t.Errorf("refused: %s", log)
				}
			}
		})
	}
}

// withUser returns the URL of Redis for a user.
func withUser(t *testing.T, address, user, password string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	if query.Has("master_name") {
		query.Set("username", user)
		query.Set("password", password)
	} else {
		u.User = url.UserPassword(user, password)
	}
	query.Set("read_timeout", "2s")
	query.Set("pool_timeout", "2s")
	u.RawQuery = query.Encode()
	return u.String()
}

// doAllInRedis has two instances do what they do in Redis.
func doAllInRedis(t *testing.T, all []*redistest.Server, address string) {
	t.Helper()
	up := newEditions(t)
	dir := t.TempDir()
	writeEndpoint(t, dir, "own", up.URL, "ttl: 1h")
	write(t, dir, "api.yaml", "version: 1\nname: api\nproxy: {to: '"+echo(t)+"', rate: 1000/1d}\n")
	one := serve(t, "--catalog", dir, "--redis", address)
	two := serve(t, "--catalog", dir, "--redis", address)
	for i := range 3 {
		for _, p := range []*instance{one, two} {
			mustGet(t, fmt.Sprint(p.public, "/api/own/index.php?id=", i+1))
			mustGet(t, fmt.Sprint(p.public, "/api/api/", i))
		}
	}
	one.mustAsk(http.MethodPut, "endpoints/own/cache", `{"set":{"ttl":"90s"}}`)
	one.order("purge", purgeOwn)
	one.order("purge", `{"endpoint":"api","url":"/1","mode":"hard"}`)
	for _, s := range all { // the settings are on one of them
		_, _ = s.Do("SET sundry:settings garbage")
	}
	two.order("purge", purgeOwn)
	waittest.Until(t, "the settings to be repaired", func() bool {
		return one.metric("sundry_settings_repairs_total")+two.metric("sundry_settings_repairs_total") >= 1
	})
	waittest.Until(t, "all to be stored", func() bool { return two.mustAsk(http.MethodGet, "overview", "")["pending"] == 0.0 })
	if one.metric("sundry_far_memory_bytes") == 0 {
		t.Error("the memory of Redis is not read")
	}
}
