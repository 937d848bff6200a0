package minecraft

import (
	"context"
	"errors"
	"net"
	"testing"
)

func TestLocate(t *testing.T) {
	record := func(host string, port uint16) SRVResolver {
		return func(context.Context, string) (string, uint16, error) { return host, port, nil }
	}
	none := func(context.Context, string) (string, uint16, error) { return "", 0, errors.New("no such record") }
	rows := map[string]struct {
		target string
		srv    SRVResolver
		want   string
		viaSRV bool
	}{
		"record":               {"example.org", record("node1.example.net.", 25577), "node1.example.net:25577", true},
		"default port typed":   {"example.org:25565", record("node1.example.net", 25577), "node1.example.net:25577", true},
		"other port typed":     {"example.org:25570", record("node1.example.net", 25577), "example.org:25570", false},
		"no record":            {"example.org", none, "example.org:25565", false},
		"no resolver":          {"example.org", nil, "example.org:25565", false},
		"IPv4 has no records":  {"203.0.113.5", record("node1.example.net", 25577), "203.0.113.5:25565", false},
		"IPv6 has no records":  {"[2001:db8::1]", record("node1.example.net", 25577), "[2001:db8::1]:25565", false},
		"record to an address": {"example.org", record("2001:db8::1", 25577), "[2001:db8::1]:25577", true},
	}
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			target, err := ParseTarget(r.target)
			if err != nil {
				t.Fatal(err)
			}
			got, viaSRV, err := (&Pinger{SRV: r.srv}).locate(t.Context(), target)
			if err != nil || got != r.want || viaSRV != r.viaSRV {
				t.Errorf("got %q %v %v, want %q %v", got, viaSRV, err, r.want, r.viaSRV)
			}
		})
	}
}

func TestUnavailableServiceIsNotDialled(t *testing.T) {
	p := &Pinger{
		SRV: func(context.Context, string) (string, uint16, error) { return ".", 0, nil },
		Dial: func(_ context.Context, _, addr string) (net.Conn, error) {
			t.Errorf("dialled %s", addr)
			return nil, errors.New("no")
		},
	}
	_, err := p.Ping(t.Context(), Target{Host: "mc.example.org", Port: DefaultPort})
	var kind *PingError
	var dns *net.DNSError
	if !errors.As(err, &kind) || kind.Kind != "dns" || !errors.As(err, &dns) || !dns.IsNotFound {
		t.Errorf("got %v, want a name that is not found", err)
	}
}

func TestPortIsCheckedBeforeDialling(t *testing.T) {
	dialled := func(_ context.Context, _, addr string) (net.Conn, error) {
		t.Errorf("dialled %s", addr)
		return nil, errors.New("no")
	}
	for _, port := range []uint16{0, 22, 1433, 1521, 2049, 2375, 2376, 3306, 3389, 5432, 5900, 6379, 8086, 9200, 11211, 27017} {
		p := &Pinger{Dial: dialled, SRV: func(context.Context, string) (string, uint16, error) { return "127.0.0.1", port, nil }}
		if _, err := p.Ping(t.Context(), Target{Host: "mc.example.org", Port: DefaultPort}); !errors.Is(err, ErrPort) {
			t.Errorf("SRV to port %d: %v", port, err)
		}
		if _, err := p.Ping(t.Context(), Target{Host: "mc.example.org", Port: port, Explicit: true}); !errors.Is(err, ErrPort) {
			t.Errorf("port %d: %v", port, err)
		}
	}
}

func TestKindsOfDialErrors(t *testing.T) {
	for want, cause := range map[string]error{
		"dns":     &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", IsNotFound: true}},
		"timeout": &net.OpError{Op: "dial", Err: context.DeadlineExceeded},
	} {
		p := &Pinger{Dial: func(context.Context, string, string) (net.Conn, error) { return nil, cause }}
		_, err := p.Ping(t.Context(), Target{Host: "mc.example.org", Port: DefaultPort})
		var kind *PingError
		if !errors.As(err, &kind) || kind.Kind != want || !errors.Is(err, cause) {
			t.Errorf("got %v, want kind %s", err, want)
		}
	}
}
