package catalog

import (
	"net/http"
	"strings"
	"testing"

	"sundry/upstreams/lib/longtest"
)

// TestARestBelongsToTheLink: what follows an unescaped link is its own, where
// it is none of our values.
func TestARestBelongsToTheLink(t *testing.T) {
	c := mustLoad(t, nil)
	for _, r := range []struct{ endpoint, query, want, form string }{
		{"dwzrec", "url=http://a.example/p?a=1&b=2", "http://a.example/p?a=1&b=2", "json"},
		{"dwzrec", "url=http://a.example/p?a=1&type=normal&b=2", "http://a.example/p?a=1&type=normal&b=2", "json"},
		{"dwzrec", "url=http://a.example/p?a=1&type=text", "http://a.example/p?a=1", "text"},
		{"dwzrec", "url=http://a.example/p?a=1&t%79pe=%74ext&b=2", "http://a.example/p?a=1&b=2", "text"},
		{"dwzrec", "url=http://a.example/p?a=1&type=normal&b=2&type=text", "http://a.example/p?a=1&type=normal&b=2", "text"},
		{"dwzrec", "type=text&url=http://a.example/p?type=normal&b=2", "http://a.example/p?type=normal&b=2", "text"},
		{"dwzrec", "url=http://a.example/p?a=1&type=&b=2", "http://a.example/p?a=1&type=&b=2", "json"},
		{"dwzrec", "url=http://a.example/p?a=1&url=http%3A%2F%2Fb.example%2F&b=2", "http://a.example/p?a=1&url=http://b.example/&b=2", "json"},
		{"dwzrec", "url=http://a.example/p?a=1&&b", "http://a.example/p?a=1&&b", "json"},
		{"dwzrec", "url=http://a.example/p&b=2&type=text", "http://a.example/p", "text"},
		{"dwzrec", "url=http%3A%2F%2Fa.example%2Fp%3Fa%3D1&b=2", "http://a.example/p?a=1", "json"},
		{"dwzrec", "url=http://a.example/p&url=http://b.example/?x=1&y=2", "http://a.example/p", "json"},
		{"favicon", "url=http://a.example/p?type=normal&b=2", "a.example", "image"},
		{"vidparse", "url=https://www.xiaohongshu.com/explore/68e8e3fa00000000030342ec?type=normal&xsec_token=CBabc", "", "json"},
	} {
		e, _ := c.Get(r.endpoint)
		in, bad := e.Parse(r.query, Caller{Addr: caller})
		if bad != nil {
			t.Errorf("%s?%s: %v", r.endpoint, r.query, bad)
			continue
		}
		if got := in.values[e.param("url")]; r.want != "" && got != r.want || in.Form.Name != r.form {
			t.Errorf("%s?%s: %v as %s, want %s as %s", r.endpoint, r.query, got, in.Form.Name, r.want, r.form)
		}
	}
}

// TestLongQueries: the work grows with the length alone, and a query of nothing
// but separators is refused.
func TestLongQueries(t *testing.T) {
	longtest.NotShort(t, "it takes a second")
	c := mustLoad(t, nil)
	for _, name := range []string{"dwzrec", "vidparse", "favicon", "60s"} {
		e, _ := c.Get(name)
		for _, query := range []string{strings.Repeat("&", 64<<10), "url=http://a.example/?" + strings.Repeat("&a", 32<<10)} {
			if _, bad := e.Parse(query, Caller{Addr: caller}); bad == nil || !strings.Contains(bad.EN(), "at most 256") {
				t.Errorf("%s: %d separators: %v", name, strings.Count(query, "&"), bad)
			}
			if m := e.ErrorFormat(query + "&type=text"); !m.Text {
				t.Errorf("%s: the error would not be in text", name)
			}
		}
		if _, bad := e.Parse(strings.Repeat("&x=1", maxPairs-1), Caller{Addr: caller}); bad != nil && strings.Contains(bad.EN(), "at most") {
			t.Errorf("%s: %v", name, bad)
		}
	}
	e, _ := c.Get("dwzrec")
	query := "url=http://a.example/?" + strings.Repeat("&"+strings.Repeat("x", 200), maxPairs-1)
	result := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			e.joinRest(query)
		}
	})
	// A builder doubles: some three times the length in all. Joined anew for
	// every pair it was a hundred times.
	if most := int64(8 * len(query)); result.AllocedBytesPerOp() > most {
		t.Errorf("%d bytes allocated for a query of %d", result.AllocedBytesPerOp(), len(query))
	}
}

// TestMistakesDoNotHideTheForm: whichever parameter is at fault.
func TestMistakesDoNotHideTheForm(t *testing.T) {
	c := mustLoad(t, nil)
	for endpoint, query := range map[string]string{"sfz": "type=text", "kd": "type=text&id=!", "onlinestatus": "uid=x&type=text", "dwzrec": "type=text"} {
		e, _ := c.Get(endpoint)
		if in, bad := e.Parse(query, Caller{Addr: caller}); bad == nil || in.Form.Name != "text" {
			t.Errorf("%s?%s: %v, form %s", endpoint, query, bad, in.Form.Name)
		}
	}
}

// TestWhatSoftwareDecidesIsPrivate: an answer that fits the caller's device.
func TestWhatSoftwareDecidesIsPrivate(t *testing.T) {
	c := mustLoad(t, nil)
	e, _ := c.Get("sjbz")
	for query, want := range map[string]bool{"method=zsy&lx=dongman": true, "method=pc&lx=dongman": false, "lx=dongman": false} {
		in, bad := e.Parse(query, Caller{Addr: caller, Header: http.Header{"Sec-Ch-Ua-Mobile": {"?1"}}})
		if bad != nil || in.Private != want {
			t.Errorf("%s: private %v, %v", query, in.Private, bad)
		}
	}
}

func FuzzInput(f *testing.F) {
	for _, s := range []string{"n=1&p=2&type=text", "ip=8.8.8.8&callback=a.b", "text=%E4%B8%AD&size=50", "host=[::1]:25565", "uid=10001", "%6e=3&&&=&n", "n=%", "text=\xff",
		"url=http://a.example/?a=1&type=normal&url=x&type=text", "type=%74ext&&url=a?", strings.Repeat("&", maxPairs)} {
		f.Add(s)
	}
	c := mustLoad(f, nil)
	f.Fuzz(func(t *testing.T, query string) {
		for _, e := range c.Endpoints {
			in, bad := e.Parse(query, Caller{Addr: caller})
			if in.Form == nil {
				t.Fatal("no form")
			}
			format := e.ErrorFormat(query)
			if format.Callback != "" && !callbackPath.MatchString(format.Callback) {
				t.Fatalf("callback %q", format.Callback)
			}
			if bad != nil {
				if bad.Parameter == "" && strings.Count(query, "&") < maxPairs || bad.EN() == "" {
					t.Fatalf("%+v", bad)
				}
				continue
			}
			if chosen := e.ChosenForm(query); chosen != in.Form && (chosen != nil || in.Form != e.Forms[0]) {
				t.Fatalf("form %s for an answer, %v for an error", in.Form.Name, chosen)
			}
			if in.Callback != format.Callback {
				t.Fatalf("callback %q for an answer, %q for an error", in.Callback, format.Callback)
			}
			soundKey(t, e, query, in.Key())
		}
	})
}

// soundKey checks that a key is plain, and the same for a query that says the
// same.
func soundKey(t *testing.T, e *Endpoint, query, key string) {
	t.Helper()
	for i := range len(key) {
		if key[i] <= ' ' || key[i] >= 0x7f {
			t.Fatalf("key %q", key)
		}
	}
	for _, p := range e.Params {
		if p.substitute != nil || p.derive != nil {
			return // drawn, or of the moment
		}
	}
	if again, bad := e.Parse("unknown=1&"+query, Caller{Addr: caller}); strings.Count(query, "&")+2 <= maxPairs && (bad != nil || again.Key() != key) {
		t.Fatalf("with an unknown parameter before it: %v, key %q, want %q", bad, again.Key(), key)
	}
}
