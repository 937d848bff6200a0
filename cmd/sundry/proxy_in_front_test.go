package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// untrusted is part of the line that warns of a proxy in front.
const untrusted = "looks like a proxy"

// TestAProxyInFrontThatIsNotTrusted is told in one line of the log, with the setting. A single client is no proxy, whatever it sends.
func TestAProxyInFrontThatIsNotTrusted(t *testing.T) {
	t.Parallel()
	many := func(format string) (fields []string) {
		for i := range 300 {
			fields = append(fields, fmt.Sprintf(format, i/256, i%256))
		}
		return fields
	}
	for name, row := range map[string]struct {
		settings string
		fields   []string // of a request each
		want     string   // in the line; "": there is none
	}{
		"clients":             {"", many("X-Forwarded-For: 203.0.%d.%d"), "trusted_proxies: [127.0.0.1]"},
		"Forwarded":           {"", many("Forwarded: for=203.0.%d.%d;proto=https"), "trusted_proxies: [127.0.0.1]"},
		"in a local network":  {"", many("X-Forwarded-For: 10.0.%d.%d"), "trusted_proxies: [127.0.0.1]"},
		"besides another":     {"trusted_proxies: [10.0.0.0/8]\n", many("X-Forwarded-For: 203.0.%d.%d"), "trusted_proxies: [10.0.0.0/8, 127.0.0.1]"},
		"trusted":             {"trusted_proxies: [127.0.0.1]\n", many("X-Forwarded-For: 203.0.%d.%d"), ""},
		"always the same":     {"", slices.Repeat([]string{"X-Forwarded-For: 203.0.113.7"}, 50), ""},
		"two":                 {"", slices.Repeat([]string{"X-Forwarded-For: 203.0.113.7", "Forwarded: for=203.0.113.8"}, 50), ""},
		"chains of a client":  {"", many("X-Forwarded-For: 203.0.%d.%d, 203.0.113.7"), ""},
		"one IPv6 network":    {"", many(`Forwarded: for="[2001:db8::%x:%x]"`), ""},
		"no addresses":        {"", many("X-Forwarded-For: unknown-%d-%d"), ""},
		"nothing":             {"", many("X-Other: 203.0.%d.%d"), ""},
		"its own address":     {"", many("X-Forwarded-For: 203.0.%d.%d, 127.0.0.1"), ""},
		"lists without items": {"", many("X-Forwarded-For: 203.0.%d.%d,,"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api, _ := counting(t)
			p := serve(t, "--to", api, "--config", write(t, t.TempDir(), "sundry.yaml", "limits: {rate: 0, queue_delay: 0s}\nlog_hits: 10\n"+row.settings))
			k := keep(t, p.public)
			for _, field := range row.fields {
				if status, _, body := k.send("GET /a HTTP/1.1\r\nHost: x\r\n" + field + "\r\n\r\n"); status != http.StatusOK {
					t.Fatalf("%d %s", status, body)
				}
			}
			_ = k.Close()
			p.end()
			log := p.stderr.String()
			if n := strings.Count(log, untrusted); row.want == "" && n != 0 || row.want != "" && n != 1 || !strings.Contains(log, row.want) {
				t.Errorf("%d lines, want %q: %s", n, row.want, log)
			}
		})
	}
}
