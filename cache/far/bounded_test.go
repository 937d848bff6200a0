package far

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"sundry/cache/far/redistest"
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
		"$34603008\r\n":                                           true,
		"$34603009\r\n":                                           false,
		"*1\r\n$536870912\r\n":                                    false,
		"$5\r\nhello\r\n$99999999999999999999\r\n":                false,
		"*1000000000\r\n":                                         false,
		"%99999999\r\n":                                           false,
		"$1x\r\n":                                                 false,
		"-" + strings.Repeat("x", 2<<20):                          false,
		"!99999999\r\n":                                           false,
		strings.Repeat("*1\r\n", 8) + ":1\r\n":                    true, // as deep as the reply to COMMAND
		strings.Repeat("*1\r\n", 100):                             false,
		strings.Repeat("~1\r\n", 100):                             false,
		strings.Repeat(">1\r\n", 100):                             false,
		strings.Repeat("%1\r\n+k\r\n", 100):                       false,
		strings.Repeat("|0\r\n", 100):                             false, // go-redis reads what follows an attribute by recursion
		strings.Repeat("|1\r\n+k\r\n", 100):                       false,
		strings.Repeat("|1\r\n+k\r\n+v\r\n", 100):                 false,
		strings.Repeat("|1\r\n+k\r\n+v\r\n:1\r\n", 100):           true,
		strings.Repeat("*2\r\n*-1\r\n%0\r\n", 100):                true,
		strings.Repeat("*2\r\n%1\r\n+k\r\n$1\r\nv\r\n_\r\n", 100): true,
		"*16384\r\n":                                              true, // as long as the longest reply to CLUSTER SLOTS
		"*16385\r\n":                                              false,
		"~16385\r\n":                                              false,
		">16385\r\n":                                              false,
		"%8193\r\n":                                               false,
		"|8193\r\n":                                               false,
		"*?\r\n":                                                  false,
		"%?\r\n":                                                  false,
		"$?\r\n":                                                  false,
		"*-2\r\n":                                                 false,
		"%-5\r\n":                                                 false,
		"$-9223372036854775808\r\n":                               false,
		"*1000\r\n" + strings.Repeat("*16000\r\n"+strings.Repeat(":1\r\n", 16000), 100): false,
		"(" + strings.Repeat("9", 900000) + "\r\n":                                      false, // which go-redis converts in quadratic time
	} {
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(reply), "one by one": iotest.OneByteReader(strings.NewReader(reply)), "halved": iotest.HalfReader(strings.NewReader(reply))} {
			got, err := io.ReadAll(&boundedConn{Conn: pieces{Reader: r}})
			if (err == nil) != valid || valid && string(got) != reply {
				t.Errorf("%.40q, %s: %d bytes, %v", reply, name, len(got), err)
			}
		}
	}
}

// TestATotalIsBounded: of one reply, not of all on a connection.
func TestATotalIsBounded(t *testing.T) {
	text := "$" + strconv.Itoa(maxValue) + "\r\n" + strings.Repeat("x", maxValue) + "\r\n"
	for _, c := range []struct {
		valid bool
		reply []string
	}{
		{true, []string{text, text, text}},
		{true, []string{"*3\r\n", text, "$-1\r\n$-1\r\n"}}, // of a lookup
		{false, []string{"*1000\r\n", text, text, text}},
		{false, []string{"*3\r\n*1\r\n", text, "*1\r\n", text, "*1\r\n", text}},
	} {
		var all []io.Reader
		for _, part := range c.reply {
			all = append(all, strings.NewReader(part))
		}
		if _, err := io.Copy(io.Discard, &boundedConn{Conn: pieces{Reader: io.MultiReader(all...)}}); (err == nil) != c.valid {
			t.Errorf("%.20q…: %v", c.reply, err)
		}
	}
}

// TestOrdinaryRepliesCostNoMemory, also where the end of a line is still to come.
func TestOrdinaryRepliesCostNoMemory(t *testing.T) {
	reply := []byte("*3\r\n$5\r\nvalue\r\n$-1\r\n$-1\r\n*2\r\n:1\r\n:2\r\n")
	c := &boundedConn{}
	if n := testing.AllocsPerRun(100, func() {
		for at := range reply {
			c.follow(reply[at : at+1])
		}
		c.follow(reply)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestRepliesOfRedisArePermitted: of the commands with the largest, in both versions of the protocol.
func TestRepliesOfRedisArePermitted(t *testing.T) {
	server := redistest.Start(t)
	for _, protocol := range []int{2, 3} {
		o, err := parseURL(server.URL())
		if err != nil {
			t.Fatal(err)
		}
		o.universal.Protocol = protocol
		client := o.client(sharedValueTimes())
		for _, command := range []string{"COMMAND", "INFO", "CONFIG GET *", "COMMAND DOCS GET", "CLIENT LIST", "ACL LIST"} {
			var args []any
			for word := range strings.FieldsSeq(command) {
				args = append(args, word)
			}
			if err := client.Do(t.Context(), args...).Err(); err != nil {
				t.Errorf("protocol %d: %s: %v", protocol, command, err)
			}
		}
		_ = client.Close()
	}
}

// TestAFalseRedisCostsLittle: whatever it replies to whichever command, the connection is closed.
func TestAFalseRedisCostsLittle(t *testing.T) {
	for _, command := range []string{"hello", "mget", "subscribe"} {
		for name, reply := range map[string]string{
			"deep":     strings.Repeat("*1\r\n", 1<<17),
			"wide":     strings.Repeat("*34000000\r\n", 3),
			"wide map": "%17000000\r\n",
		} {
			t.Run(command+" "+name, func(t *testing.T) {
				url, closed := falseRedis(t, command, reply)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				tier := open(t, url, patient)
				ctx, cancel := context.WithCancel(t.Context())
				var watching sync.WaitGroup
				watching.Go(func() { tier.SharedValue("value").Watch(ctx, func() {}, func() {}) })
				tier.Look(t.Context(), "k", 0)
				select {
				case <-closed:
				case <-time.After(10 * time.Second):
					t.Error("the connection is still open")
				}
				cancel()
				watching.Wait()
				runtime.ReadMemStats(&after)
				if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20 {
					t.Errorf("%d bytes were allocated", n)
				}
			})
		}
	}
}

// falseRedis listens, confirms what it is sent, and replies to one command with something else. closed gets something when the
// other side has closed a connection after that.
func falseRedis(t *testing.T, command, reply string) (url string, closed <-chan struct{}) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{}, 1)
	var running sync.WaitGroup
	serve := func(c net.Conn) {
		defer func() { _ = c.Close() }()
		if serveFalsely(c, command, reply) {
			select {
			case ended <- struct{}{}:
			default:
			}
		}
	}
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { serve(c) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); running.Wait() })
	return "redis://" + l.Addr().String(), ended
}

// serveFalsely replies on a connection until the other side closes it, and reports whether that was after the false reply.
func serveFalsely(conn net.Conn, command, reply string) (replied bool) {
	for r := bufio.NewReader(conn); ; {
		words, err := readCommand(r)
		if err != nil {
			return replied
		}
		answer := "+OK\r\n"
		switch name := strings.ToLower(words[0]); {
		case name == "hello" && command != "hello":
			answer = "-ERR unknown command\r\n"
		case name == "subscribe":
			answer = fmt.Sprintf("*3\r\n$9\r\nsubscribe\r\n$%d\r\n%s\r\n:1\r\n", len(words[1]), words[1])
		}
		if strings.EqualFold(words[0], command) {
			replied = true
			if command != "subscribe" {
				answer = ""
			}
			answer += reply
		}
		if _, err := io.WriteString(conn, answer); err != nil {
			return replied
		}
	}
}

// readCommand reads the words of a command.
func readCommand(r *bufio.Reader) (words []string, err error) {
	var n, size int
	if _, err = fmt.Fscanf(r, "*%d\r\n", &n); err != nil {
		return nil, err
	}
	for range n {
		if _, err = fmt.Fscanf(r, "$%d\r\n", &size); err != nil {
			return nil, err
		}
		word := make([]byte, size+len("\r\n"))
		if _, err = io.ReadFull(r, word); err != nil {
			return nil, err
		}
		words = append(words, string(word[:size]))
	}
	return words, nil
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
