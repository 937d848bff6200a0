//go:build linux

package main

import (
	"bufio"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"sundry/cache/far/redistest"
)

// TestAPipelineIsOneRoundTrip: as are its commands one by one that many.
func TestAPipelineIsOneRoundTrip(t *testing.T) {
	server := redistest.Start(t)
	r, err := newRelay(server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	client := redis.NewClient(&redis.Options{Addr: r.address(), PoolSize: 1, PipelinePoolSize: -1})
	defer func() { _ = client.Close() }()
	ctx := t.Context()
	if err := client.Ping(ctx).Err(); err != nil { // connects
		t.Fatal(err)
	}
	r.reset()
	for range 3 {
		if err := client.Set(ctx, "sundry:entry", strings.Repeat("x", 100_000), 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	p := client.Pipeline()
	for range 5 {
		p.Get(ctx, "sundry:entry")
	}
	if _, err := p.Exec(ctx); err != nil {
		t.Fatal(err)
	}
	if got := r.seen(); got.by[store] != 3 || got.by[look] != 1 || got.requests() != 4 || got.commands != 8 {
		t.Errorf("%+v", got)
	}
	if err := client.Ping(ctx).Err(); err != nil {
		t.Fatal(err)
	}
	if got := r.seen(); got.requests() != 4 || got.by[others] != 1 {
		t.Errorf("with a ping: %+v", got)
	}
	r.reset()
	if got := r.seen(); got.requests() != 0 || got.commands != 0 {
		t.Errorf("after a reset: %+v", got)
	}
	r.delay.Store(int64(30 * time.Millisecond))
	begin := time.Now()
	if err := client.Ping(ctx).Err(); err != nil || time.Since(begin) < 30*time.Millisecond {
		t.Errorf("%v after %v, though it is delayed", err, time.Since(begin))
	}
}

func TestWhatCommandsAreFor(t *testing.T) {
	for command, want := range map[string]step{
		"MGET sundry:60s:1|": look, "get sundry:60s:1|": look, "exists sundry:lease:60s:1|": look, "set sundry:lease:60s:1| token": lease,
		"set sundry:60s:1| entry": store, "del sundry:60s:1|": store, "evalsha sum 1 sundry:60s:1| write entry 1000 channel name 1": store, "eval text 1 sundry:60s:1| delete 1": store,
		"eval text 1 sundry:lease:60s:1| ! 1000": denied, "evalsha sum 1 sundry:lease:60s:1| token 900": renewal,
		"evalsha sum 1 sundry:lease:60s:1| release token channel text": release, "eval text 1 sundry:quota:host 1 1000": quota,
		"eval text 1 sundry:settings old new": settings, "get sundry:settings": settings, "eval text 3 sundry:secret:{clients} sundry:instances:{clients} sundry:rates:{clients} self": rates, "ping": others, "hello 3": others, "hkeys sundry:advisor": others, "eval text 1 sundry:advisor name": others,
		"subscribe sundry:announcements:0": others,
	} {
		if got := stepOf(strings.Fields(command)); got != want {
			t.Errorf("%s: %s, expected %s", command, got, want)
		}
	}
}

func TestReadCommand(t *testing.T) {
	const two = "*2\r\n$3\r\nGET\r\n$1\r\na\r\n"
	from := bufio.NewReader(strings.NewReader(two + two))
	for range 2 {
		args, raw, err := readCommand(from)
		if err != nil || strings.Join(args, " ") != "GET a" || string(raw) != two {
			t.Errorf("%q %q %v", args, raw, err)
		}
	}
	for _, text := range []string{"PING\r\n", "*1\r\n:1\r\n", "*-1\r\n", "*1\r\n$9999999999\r\n"} {
		if _, _, err := readCommand(bufio.NewReader(strings.NewReader(text))); !errors.Is(err, errNoCommand) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
