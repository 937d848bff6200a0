package requestlog

import (
	"fmt"
	"testing"
)

func TestParseOwn(t *testing.T) {
	const at = "2026-03-01T00:00:00.5+08:00"
	for line, want := range map[string]string{
		`time=` + at + ` level=INFO msg=request endpoint=ip outcome=hit weight=100 key=00ff`:                       "request ip hit 00ff 100 0s",
		`time=` + at + ` msg=fill cause="a \"b\" = c" endpoint=ip outcome=changed age=1h2m3.5s`:                    "fill ip changed  1 1h2m3.5s",
		`{"time":"` + at + `","level":"INFO","msg":"request","endpoint":"ip","outcome":"miss","key":"00ff"}`:       "request ip miss 00ff 1 0s",
		`{"time":"` + at + `","msg":"fill","cause":"a \"b\", {c}","endpoint":"ip","outcome":"changed","age":3600}`: "fill ip changed  1 3.6µs",
		`{"time":"` + at + `","msg":"request","last_resort":true,"endpoint":"ip","outcome":"miss","weight":7}`:     "request ip miss  7 0s",
		`time=` + at + ` level=WARN msg="redis is away" took=many =`:                                               "redis is away    1 0s",
		`{"time":"` + at + `","msg":"serving","some":{"nested":[1]}}`:                                              "serving    1 0s",
		`{`: "", `{}`: "", `time=`: "", `time=x msg=request`: "", `time=` + at: "", `time=` + at + ` msg=`: "",
		`time=` + at + ` msg=request endpoint=ip`: "", `time=` + at + ` msg=request endpoint=ip outcome=hit weight=0`: "", `time=` + at + ` msg=fill endpoint=ip outcome=changed age=old`: "", `time=` + at + ` msg=request endpoint="ip outcome=hit`: "",
		`{"time":"` + at + `","msg":"request","endpoint":"ip","outcome":"hit"`: "", `{"msg":"request","endpoint":"ip","outcome":"hit"}`: "",
		`{"time":"` + at + `","msg":"request","endpoint":"ip","outcome":"hit"} `: "", `{"time":5,"msg":"request"}`: "", `{"time":"` + at + `" "msg":"fill"}`: "",
	} {
		l, err := parseOwn([]byte(line))
		if want == "" {
			if err == nil {
				t.Errorf("%q was read: %+v", line, l)
			}
			continue
		}
		if got := fmt.Sprintf("%s %s %s %s %d %s", l.message, l.endpoint, l.outcome, l.key, l.weight, l.age); err != nil || !isOwn([]byte(line)) || got != want || l.time.UnixMilli() != 1772294400500 {
			t.Errorf("%s: %q %v, expected %q", line, got, err, want)
		}
	}
}

func TestParseCombined(t *testing.T) {
	const head = `192.0.2.1 - - [02/Jan/2026:15:04:05 +0000] `
	for line, want := range map[string]string{
		head + `"GET /api/ip/index.php?ip=8.8.8.8 HTTP/1.1" 200 312 "-" "curl/8.0"`:   "192.0.2.1 GET /api/ip/index.php?ip=8.8.8.8 200 curl/8.0",
		head + `"HEAD /a b HTTP/1.1" 404 0 "http://example.org/\x22" "a \"b\" c" "x"`: `192.0.2.1 HEAD /a b 404 a "b" c`,
		`2001:db8::1 - a [b] [x] [02/Jan/2026:15:04:05 +0000] "GET / HTTP/2.0" 304 0`: "2001:db8::1 GET / 304 ",
		head + `"\x16\x03\x01" 400 157 "-" "-"`:                                       "192.0.2.1   400 ",
		head + `"-" 408 0 "-" "-"`:                                                    "192.0.2.1   408 ",
		head + `"GET / HTTP/1.1" 200 - "-"`:                                           "192.0.2.1 GET / 200 ",
		`localhost - - [02/Jan/2026:15:04:05 +0000] "GET / HTTP/1.1" 200 1 "-" ""`:    "localhost GET / 200 ",
		``: "", `x`: "", head: "", head + `"GET / HTTP/1.1"`: "", head + `"GET / HTTP/1.1" 20 1`: "", head + `"GET / HTTP/1.1" abc 1`: "", head + `"GET /`: "",
		`192.0.2.1 - - [02/Jan/2026] "GET / HTTP/1.1" 200 1`: "", ` - - [02/Jan/2026:15:04:05 +0000] "GET / HTTP/1.1" 200 1`: "", head + `"GET / HTTP/1.1" 2000 1`: "",
	} {
		l, err := parseCombined([]byte(line))
		if want == "" {
			if err == nil {
				t.Errorf("%q was read: %+v", line, l)
			}
			continue
		}
		if got := fmt.Sprintf("%s %s %s %d %s", l.addr, l.method, l.target, l.status, l.agent); err != nil || got != want || l.time.Unix() != 1767366245 {
			t.Errorf("%s: %q %v, expected %q", line, got, err, want)
		}
	}
}

func TestUnescape(t *testing.T) {
	for in, want := range map[string]string{`a`: "a", `\x22\x5C\xe4\xBD\xa0`: `"\你`, `\"\\`: `"\`, `\x2`: `\x2`, `\xzz`: `\xzz`, `a\`: `a\`} {
		if got := unescape([]byte(in)); got != want {
			t.Errorf("%s: %q, expected %q", in, got, want)
		}
	}
}

func FuzzCombined(f *testing.F) {
	f.Add([]byte(`192.0.2.1 - - [02/Jan/2026:15:04:05 +0000] "GET /api/ip?ip=8.8.8.8 HTTP/1.1" 200 312 "-" "curl/8.0"`))
	f.Add([]byte(`192.0.2.1 - [ [02/Jan/2026:15:04:05 +0000] "\x16\"" 400 0 "" "\`))
	f.Fuzz(func(t *testing.T, line []byte) {
		l, err := parseCombined(line)
		if err != nil {
			return
		}
		if l.time.IsZero() || len(l.addr) == 0 || l.status < 100 || l.status > 999 || len(l.method) > 0 && len(l.target) == 0 {
			t.Errorf("%q: %+v", line, l)
		}
	})
}

func FuzzOwnLog(f *testing.F) {
	f.Add([]byte(`{"time":"2026-03-01T00:00:00.5Z","msg":"request","endpoint":"ip","outcome":"hit","took":1000}`))
	f.Add([]byte(`time=2026-03-01T00:00:00Z level=INFO msg=request endpoint=ip outcome=miss took=1ms cause="a \"b\""`))
	f.Add([]byte(`time=x msg=`))
	f.Add([]byte(`time=2026-03-01T00:00:00Z endpoint=0 outcome=0`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if !isOwn(line) {
			return
		}
		l, err := parseOwn(line)
		if err == nil && (len(l.message) == 0 || (l.isRequest() || l.isFill()) && (l.time.IsZero() || len(l.endpoint) == 0 || len(l.outcome) == 0)) {
			t.Errorf("%q: %+v", line, l)
		}
	})
}
