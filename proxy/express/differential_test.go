//go:build linux

package express

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"sundry/upstreams/lib/longtest"
)

var date = regexp.MustCompile(`(?m)^Date: .*\r\n`)

// converse sends pieces, each when the server has read the one before, then nothing
// more, and returns everything that the server answers.
func converse(t testing.TB, s *site, pieces ...string) string {
	t.Helper()
	c := s.dial(t)
	defer c.Close()
	var there net.Conn
	sent := make(chan struct{})
	if len(pieces) > 1 {
		there = <-s.accepted
	}
	go func() {
		defer close(sent)
		for i, piece := range pieces {
			if i > 0 {
				awaitRead(there)
			}
			if _, err := io.WriteString(c, piece); err != nil {
				return // the server has closed the connection
			}
		}
		c.(interface{ CloseWrite() error }).CloseWrite()
	}()
	answer, err := io.ReadAll(c)
	c.Close()
	<-sent
	if err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("no end of the answers to %.200q: %v", strings.Join(pieces, "|"), err)
	}
	return date.ReplaceAllString(string(answer), "Date: …\r\n")
}

// twins are two servers for the same, with the lane and without.
type twins struct{ lane, plain *site }

func openTwins(t testing.TB, options ...siteOption) twins {
	return twins{openSite(t, options...), openPlainSite(t, options...)}
}

// compare sends the same to both.
func (w twins) compare(t testing.TB, pieces ...string) {
	t.Helper()
	for len(w.lane.accepted) > 0 {
		<-w.lane.accepted
	}
	for len(w.plain.accepted) > 0 {
		<-w.plain.accepted
	}
	got, want := converse(t, w.lane, pieces...), converse(t, w.plain, pieces...)
	if got != want {
		t.Errorf("sent %.300q\nwith the lane: %.600q\nwithout:       %.600q", strings.Join(pieces, "|"), got, want)
	}
}

const last = "GET /hit?last HTTP/1.1\r\nHost: a.example\r\n\r\n"

// TestDifference: nobody can tell whether the lane is there. Each request stands
// alone, and before others, which shows whether the connection stays open and where
// the next request begins.
func TestDifference(t *testing.T) {
	longtest.NotShort(t, "it takes a second")
	w := openTwins(t)
	compareCorpus(t, w, 1)
	if w.lane.answered.Load() < 500 || w.lane.handled.Load() < 500 {
		t.Errorf("the lane answered %d, net/http %d: hardly a comparison", w.lane.answered.Load(), w.lane.handled.Load())
	}
}

// compareCorpus compares one of so many requests of the corpus, alone and before another.
func compareCorpus(t *testing.T, w twins, every int) {
	t.Helper()
	for i, request := range corpus() {
		if i%every > 0 {
			continue
		}
		w.compare(t, request)
		w.compare(t, request+last)
	}
}

// TestPipelinesMakeNoDifference: requests of all kinds, several on a connection, cut
// anywhere.
func TestPipelinesMakeNoDifference(t *testing.T) {
	longtest.NotShort(t, "it takes seconds")
	comparePipelines(t, openTwins(t))
}

// comparePipelines compares requests of all kinds, several on a connection, cut anywhere.
func comparePipelines(t *testing.T, w twins) {
	t.Helper()
	all := corpus()
	random := rand.New(rand.NewPCG(1, 2))
	for range 400 / longtest.Every(4) {
		var text string
		for range 2 + random.IntN(6) {
			text += []string{hit, hit, get("/miss"), get("/medium"), all[random.IntN(len(all))]}[random.IntN(5)]
		}
		var pieces []string
		for range random.IntN(4) {
			cut := random.IntN(len(text))
			pieces, text = append(pieces, text[:cut]), text[cut:]
		}
		w.compare(t, append(pieces, text)...)
	}
	if least := int64(500 / longtest.Every(4)); w.lane.answered.Load() < least || w.lane.handled.Load() < least {
		t.Errorf("the lane answered %d, net/http %d: hardly a comparison", w.lane.answered.Load(), w.lane.handled.Load())
	}
}

// FuzzDifference: nobody can tell whether the lane is there, whatever is sent and in
// whatever pieces.
func FuzzDifference(f *testing.F) {
	longtest.NotShort(f, "it takes seconds, and TestDifference sends most of it")
	for _, s := range seeds() {
		f.Add([]byte(s+last), uint16(len(s)))
		f.Add([]byte(last+s+last), uint16(10))
	}
	w := openTwins(f)
	f.Fuzz(func(t *testing.T, b []byte, cut uint16) {
		text := string(b)
		if strings.Contains(text, "/wait") || strings.Contains(text, "/huge") {
			return
		}
		at := int(cut) % (len(text) + 1)
		w.compare(t, text[:at], text[at:])
	})
}
