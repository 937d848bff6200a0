package far

import (
	"bytes"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"sundry/upstreams/lib/waittest"
)

// pieces is a connection on which bytes arrive one by one.
type pieces struct {
	net.Conn
	io.Reader
}

func (p pieces) Read(b []byte) (int, error) { return p.Reader.Read(b) }

// TestRepliesAreBounded, whatever pieces they arrive in.
func TestRepliesAreBounded(t *testing.T) {
	large := strings.Repeat("$99999999999\r\n", 100)
	for reply, valid := range map[string]bool{
		"+OK\r\n:1\r\n-ERR $9\r\n_\r\n#t\r\n,1.5\r\n(99999999999\r\n":                 true,
		"$-1\r\n*-1\r\n$0\r\n\r\n":                                                    true,
		"*2\r\n$1400\r\n" + large + "\r\n=8\r\ntxt:$99\n\r\n%1\r\n+a\r\n>1\r\n~0\r\n": true,
		"$34603008\r\n":                            true,
		"$34603009\r\n":                            false,
		"*1\r\n$536870912\r\n":                     false,
		"$5\r\nhello\r\n$99999999999999999999\r\n": false,
		"*1000000000\r\n":                          false,
		"%99999999\r\n":                            false,
		"$1x\r\n":                                  false,
		"-" + strings.Repeat("x", 2<<20):           false,
		"!99999999\r\n":                            false,
	} {
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(reply), "one by one": iotest.OneByteReader(strings.NewReader(reply)), "halved": iotest.HalfReader(strings.NewReader(reply))} {
			got, err := io.ReadAll(&boundedConn{Conn: pieces{Reader: r}})
			if (err == nil) != valid || valid && string(got) != reply {
				t.Errorf("%.40q, %s: %d bytes, %v", reply, name, len(got), err)
			}
		}
	}
}

// TestAHugeValueIsAMiss for which no memory is taken, and keeps nobody from reading another.
func TestAHugeValueIsAMiss(t *testing.T) {
	const size = "80000000"
	server, tier := started(t, patient)
	server.Must("SET sundry:other " + sealed("other", "value"))
	for _, key := range []string{"sundry:k", "sundry:failed:k", "sundry:lease:k"} {
		server.Must("FLUSHDB")
		server.Must("SET sundry:other " + sealed("other", "value"))
		server.Must("SETRANGE " + key + " " + size + " x")
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 2 * refusalsBeforePause {
			if f := tier.Look(t.Context(), "k", 0); f.Value != nil || !f.Broken || !f.Answered {
				t.Errorf("%s: %d bytes, broken %v, answered %v", key, len(f.Value), f.Broken, f.Answered)
			}
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 32<<20 {
			t.Errorf("%s: %d bytes were allocated", key, n)
		}
		if f := tier.Look(t.Context(), "other", 0); string(f.Value) != "value" {
			t.Errorf("%s: another value is not read: %+v", key, f)
		}
	}
	if n := testutil.ToFloat64(tier.metrics.reads.WithLabelValues("broken")); n != 6*refusalsBeforePause {
		t.Errorf("%v are counted", n)
	}
	const largest = 32 << 20 // of what instances write
	server.Must("FLUSHDB")
	tier.set("k", bytes.Repeat([]byte("x"), largest), time.Minute)
	waittest.Until(t, "the write", empty(tier))
	if f := tier.Look(t.Context(), "k", 0); len(f.Value) != largest {
		t.Errorf("%d bytes of %d are read", len(f.Value), largest)
	}
}
