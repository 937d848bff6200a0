package kinds

import (
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"sundry/upstreams"
	"sundry/upstreams/lib/guard"
)

// What counts a server as offline in the end gives the reason that the ping found.
func TestReasonOfAnOfflineServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "220 mail.example.net ESMTP\r\n")
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	env := environment(t)
	env.Guard = guard.New(guard.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	direct := compile(t, env, "name: direct\nminecraft: {}\n", "host")
	service := compile(t, env, "name: service\ncomputed: {}\nmap: '{online: false, error: $cause}'\n", "host")
	last := compile(t, env, "name: last\nminecraft: {assume_offline: true}\nlast_resort: true\n", "host")
	call := &upstreams.Call{Endpoint: "test", Params: map[string]any{"host": l.Addr().String()}, Now: time.Now()}
	for want, sources := range map[string][]*upstreams.Source{"protocol service": {direct, service}, "protocol last": {direct, last}, "timeout last": {last}} {
		reason, by, _ := strings.Cut(want, " ")
		a, err := upstreams.NewChain("test", sources, true, env).Do(t.Context(), call, false, nil)
		data, _ := a.Data.(map[string]any)
		if err != nil || a.Source != by || data["error"] != reason {
			t.Errorf("%s: %+v %v", want, a, err)
		}
	}
}
