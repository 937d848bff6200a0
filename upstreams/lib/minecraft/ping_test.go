package minecraft

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"sundry/upstreams/lib/longtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const good = `{"version":{"name":"§aPaper 1.21.4","protocol":769},"players":{"max":100,"online":3,"sample":[{"name":"Alex","id":"x"},{"name":"§r§l","id":""}]},
"description":{"text":"","extra":[{"text":"Hello ","color":"gold","bold":true},"world"]},"enforcesSecureChat":true}`

// server runs a script on every connection and returns its port.
func server(t *testing.T, script func(n int, c net.Conn)) uint16 {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			script(n, c)
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return uint16(l.Addr().(*net.TCPAddr).Port)
}

func dial(ctx context.Context, network, addr string) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, network, addr)
}

func ping(t *testing.T, port uint16, timeout time.Duration) (Status, error) {
	t.Helper()
	p := &Pinger{Dial: dial, Timeout: timeout}
	return p.Ping(t.Context(), Target{Host: "127.0.0.1", Port: port, Explicit: true})
}

// readRequest reads the two packets of a modern client, and returns the host in
// them.
func readRequest(c net.Conn) string {
	r := bufio.NewReader(c)
	p, err := readFrame(r)
	if err != nil || len(p) < 8 {
		return ""
	}
	_, _ = readFrame(r)
	n := int(p[6]) // id, five bytes of -1, length
	return string(p[7 : 7+n])
}

func reply(c net.Conn, status string) {
	_, _ = c.Write(frame(appendString([]byte{0}, status)))
}

func TestModernServer(t *testing.T) {
	port := server(t, func(_ int, c net.Conn) { ServeStatus(c, []byte(good)) })
	s, err := ping(t, port, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if s.Version != "Paper 1.21.4" || *s.Protocol != 769 || *s.Online != 3 || *s.Max != 100 || s.MOTD != "Hello world" || s.MOTDRaw != "§6§lHello §rworld" || !s.SecureChat {
		t.Errorf("%+v", s)
	}
	if len(s.Sample) != 1 || s.Sample[0].Name != "Alex" {
		t.Errorf("sample %q", s.Sample)
	}
	if s.Latency == nil || s.Port != port || !strings.HasPrefix(s.Address, "127.0.0.1:") {
		t.Errorf("latency %v port %d address %s", s.Latency, s.Port, s.Address)
	}
	d := s.Data()
	if d["online"] != true || d["players"].(map[string]any)["online"] != 3 || d["icon"] != nil {
		t.Errorf("%v", d)
	}
}

func TestServerWithoutPong(t *testing.T) {
	port := server(t, func(_ int, c net.Conn) { readRequest(c); reply(c, good) })
	s, err := ping(t, port, time.Second)
	if err != nil || s.Latency != nil || s.Data()["latency_ms"] != nil {
		t.Errorf("%+v %v", s, err)
	}
}

func TestMisbehavingServers(t *testing.T) {
	longtest.NotShort(t, "it takes a second")
	rows := map[string]struct {
		kind   string
		script func(n int, c net.Conn)
	}{
		"closes at once":  {"protocol", func(int, net.Conn) {}},
		"huge frame":      {"protocol", func(_ int, c net.Conn) { readRequest(c); _, _ = c.Write([]byte{0xff, 0xff, 0xff, 0x7f}) }},
		"negative VarInt": {"protocol", func(_ int, c net.Conn) { readRequest(c); _, _ = c.Write([]byte{0xff, 0xff, 0xff, 0xff, 0x0f}) }},
		"overlong VarInt": {"protocol", func(_ int, c net.Conn) { readRequest(c); _, _ = c.Write([]byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x01}) }},
		"empty frame":     {"protocol", func(_ int, c net.Conn) { readRequest(c); _, _ = c.Write([]byte{0}) }},
		"oversized text": {"protocol", func(_ int, c net.Conn) {
			readRequest(c)
			reply(c, `{"description":"`+strings.Repeat("x", maxStatus)+`"}`)
		}},
		"half a frame":     {"protocol", func(_ int, c net.Conn) { readRequest(c); _, _ = c.Write([]byte{9, 0, 7}) }},
		"text too long":    {"protocol", func(_ int, c net.Conn) { readRequest(c); _, _ = c.Write(frame(appendVarInt([]byte{0}, 1<<20))) }},
		"another protocol": {"protocol", func(_ int, c net.Conn) { _, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9.2\r\n") }},
		"a greeting, then silence": {"protocol", func(_ int, c net.Conn) {
			_, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9.2\r\n")
			_, _ = io.Copy(io.Discard, c)
		}},
		"one byte, then silence": {"protocol", func(n int, c net.Conn) { _, _ = io.WriteString(c, "\x02\x53"); _, _ = io.Copy(io.Discard, c) }},
		"a web server": {"protocol", func(_ int, c net.Conn) {
			readRequest(c)
			_, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n")
			_, _ = io.Copy(io.Discard, c)
		}},
		"another JSON protocol": {"protocol", func(_ int, c net.Conn) {
			readRequest(c)
			_, _ = c.Write([]byte("\x7f\x00\x7c\"SSH"))
			_, _ = io.Copy(io.Discard, c)
		}},
		"a status that stops": {"timeout", func(_ int, c net.Conn) {
			readRequest(c)
			_, _ = c.Write([]byte("\x7f\x00\x7c{\"a"))
			_, _ = io.Copy(io.Discard, c)
		}},
		"not JSON":      {"protocol", func(_ int, c net.Conn) { readRequest(c); reply(c, "SSH") }},
		"not an object": {"protocol", func(_ int, c net.Conn) { readRequest(c); reply(c, `"SSH"`) }},
		"silent":        {"timeout", func(_ int, c net.Conn) { _, _ = io.Copy(io.Discard, c) }},
	}
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			_, err := ping(t, server(t, r.script), 300*time.Millisecond)
			var p *PingError
			if !errors.As(err, &p) || p.Kind != r.kind {
				t.Fatalf("got %v, want kind %s", err, r.kind)
			}
			if strings.Contains(err.Error(), "SSH") {
				t.Errorf("the error contains the server's bytes: %v", err)
			}
		})
	}
}

func kick(text string) []byte {
	units := utf16.Encode([]rune(text))
	b := binary.BigEndian.AppendUint16([]byte{0xff}, uint16(len(units)))
	for _, u := range units {
		b = binary.BigEndian.AppendUint16(b, u)
	}
	return b
}

func TestOldServers(t *testing.T) {
	for text, want := range map[string]Status{
		"§1\x0047\x001.4.2\x00A §aMinecraft Server\x003\x0020": {Version: "1.4.2", Protocol: new(47), MOTD: "A Minecraft Server", Online: new(3), Max: new(20)},
		"A §aMinecraft Server§5§30":                            {MOTD: "A Minecraft Server", Online: new(5), Max: new(30)},
	} {
		port := server(t, func(n int, c net.Conn) {
			if n == 0 {
				return // does not speak the current protocol
			}
			_, _ = io.ReadFull(c, make([]byte, 2))
			_, _ = c.Write(kick(text))
		})
		s, err := ping(t, port, time.Second)
		if err != nil || s.Version != want.Version || s.MOTD != want.MOTD || !cmp.Equal([]*int{want.Protocol, want.Online, want.Max}, []*int{s.Protocol, s.Online, s.Max}) {
			t.Errorf("%q: %+v %v", text, s, err)
		}
	}
	for _, bad := range []string{"", "§1\x0047", "no separators", "a§b§c"} {
		if _, err := parseKick(bad); err == nil {
			t.Errorf("kick %q was accepted", bad)
		}
	}
}

func TestSRVTargetIsDialledWithTheHostAsTyped(t *testing.T) {
	received := make(chan string, 1)
	port := server(t, func(_ int, c net.Conn) { received <- readRequest(c); reply(c, good) })
	p := &Pinger{Dial: dial, Timeout: time.Second, SRV: func(context.Context, string) (string, uint16, error) { return "127.0.0.1", port, nil }}
	s, err := p.Ping(t.Context(), Target{Host: "mc.example.org", Port: DefaultPort})
	if err != nil || !s.SRV || s.Port != DefaultPort {
		t.Errorf("%+v %v", s, err)
	}
	if host := <-received; host != "mc.example.org" {
		t.Errorf("the server received %q", host)
	}
	p.SRV = func(context.Context, string) (string, uint16, error) { return "127.0.0.1", 22, nil }
	if _, err := p.Ping(t.Context(), Target{Host: "mc.example.org", Port: DefaultPort}); !errors.Is(err, ErrPort) {
		t.Errorf("an SRV record with port 22: %v", err)
	}
}

func TestErrorsOfTheDialerAreReturned(t *testing.T) {
	mine := errors.New("forbidden")
	p := &Pinger{Dial: func(context.Context, string, string) (net.Conn, error) { return nil, mine }}
	if _, err := p.Ping(t.Context(), Target{Host: "x", Port: DefaultPort}); !errors.Is(err, mine) {
		t.Error(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := uint16(l.Addr().(*net.TCPAddr).Port)
	_ = l.Close()
	var pe *PingError
	if _, err := ping(t, port, time.Second); !errors.As(err, &pe) || pe.Kind != "refused" {
		t.Errorf("a closed port: %v", err)
	}
}
