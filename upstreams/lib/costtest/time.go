// Package costtest is for tests: what work costs. On strangers' bytes it takes time in
// proportion to them, whatever they are; PeakHeap measures memory.
package costtest

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"sundry/upstreams/lib/longtest"
)

const (
	shorter = 16 << 10 // bytes of the shorter text
	factor  = 16       // by which the other one is longer
	most    = 96       // by which it may take longer: what is quadratic takes 256 times as long
	unclear = 4 * time.Millisecond
	enough  = 3 * time.Second // for all tries, of which the fastest counts: the machine may be busy
	much    = 128 << 20       // bytes on the heap
)

// hostile is a text of any length, with a piece that is repeated.
type hostile struct{ head, piece, tail string }

// texts are what readers of JSON, of HTML, of scripts and of plain text may stumble over.
func texts() []hostile {
	all := []hostile{
		{`"`, `\n`, `"`}, {`"`, `\\`, ``}, {`{"a":"`, `\"`, `"}`}, {`["`, `","`, `"]`}, {`{"`, `\u0041`, `":1}`}, {`[`, `[],`, `[]]`}, {`{`, `"a":1,`, `"b":2}`},
		{`{"a":[`, `{"b":"c"},`, `1]}`}, {`["`, `\ud800`, `"]`}, {`[`, `1,`, `1]`}, {`{"extra":[`, `{"text":"a"},`, `"b"]}`}, {`[`, `0`, `]`},
		{`<script>`, `<`, ``}, {`<script>`, `</scrip`, ``}, {`<script>`, `<!--<script>`, ``}, {`<title>`, `&amp`, `</title>`}, {`<textarea>`, `</`, ``},
		{`<a `, `b=c `, `>`}, {`<a b="`, `&lt;`, `">`}, {`<!--`, `--!`, ``}, {`<a href='`, `"`, ``}, {`<svg `, `a='b' `, `>`},
		{`<script>`, `location="a";`, strings.Repeat(" ", shorter)}, {`<script>var `, `location='`, ``}, {`<script>x=`, `"`, ``},
		{`window.S=`, `{"a":`, ``}, {``, `window.S= `, `{}`}, {`window.S={"a":`, `undefined `, `}`}, {`<script id="S">`, `<script `, ``},
		{`data:image/png;base64,`, `A=`, ``}, {`data:,`, `%`, ``}, {`<link rel=icon href=a sizes="`, `16x16 `, `">`},
	}
	for _, piece := range []string{
		" ", "\n", "a", "a ", "<", ">", "&", "%", `\`, `"`, `'`, "[", "{", "(", "=", "\x00", "\xff", "é", "中", "§", "0", "13800138000 ", "138-0013-8000", "１", "1 ",
		"<!--", "<![CDATA[", "<!", "<?", "</", "<a>", "</a>", "<p>", "<b>", "<br>", "<li>", "<td>", "<a b>", "<a a=", "<base href=x>", "<script>", "<script ", "<link rel=icon href=a>",
		"<meta http-equiv=refresh content=1>", "<div class=desc>http", "&#1;", "&amp", "%25", "%5c%75", `\u0025`, `\n`, "https://", "callback(", "location=", "2026-01-02 ", "undefined ",
	} {
		all = append(all, hostile{"", piece, ""})
	}
	return all
}

// Texts returns such texts, of about that many bytes.
func Texts(size int) []string {
	var out []string
	for _, h := range texts() {
		out = append(out, h.text(size))
	}
	return out
}

func (h hostile) text(size int) string {
	return h.head + strings.Repeat(h.piece, size/len(h.piece)) + strings.Repeat(h.tail, size/shorter)
}

// Linear fails the test where the work on a text of any kind grows faster than the text.
func Linear(t *testing.T, work func(text string)) {
	t.Helper()
	longtest.NotShort(t, "it takes seconds")
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for _, h := range texts() {
		if one, other, grows := grows(h, work); grows {
			t.Errorf("%.40q…: %v for %d KiB, %v for %d KiB", h.text(shorter), one, shorter>>10, other, shorter*factor>>10)
		}
	}
}

// LinearInLength is Linear for work that depends on a length alone.
func LinearInLength(t *testing.T, work func(length int)) {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	if one, other, grows := grows(hostile{"", "a", ""}, func(text string) { work(len(text)) }); grows {
		t.Errorf("%v for %d Ki, %v for %d Ki", one, shorter>>10, other, shorter*factor>>10)
	}
}

// grows reports whether the time grows faster than the text.
func grows(h hostile, work func(string)) (one, other time.Duration, yes bool) {
	short, long := h.text(shorter), h.text(shorter*factor)
	one, other = duration(short, work), duration(long, work)
	start := time.Now()
	for try := 0; other >= max(unclear, most*one); try++ {
		if try > 1 && time.Since(start) > enough {
			return one, other, true
		}
		one, other = min(one, duration(short, work)), min(other, duration(long, work))
	}
	return one, other, false
}

// duration is how long the work takes a processor, without that of the garbage collector,
// whose share depends on what else is on the heap: it is off meanwhile, and runs in between
// where there is much to collect, for it takes longer than most of the work.
func duration(text string, work func(string)) time.Duration {
	if allocated() > much {
		runtime.GC()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := threadTime()
	work(text)
	return threadTime() - start
}
