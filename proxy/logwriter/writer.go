package logwriter

import (
	"bytes"
	"io"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/metrics"
)

// Bounds of the lines that wait to be written.
const (
	burstSpan  = 10 * time.Millisecond
	burstBytes = 32 << 10
	// maxWaiting bounds them in bytes: two seconds of ten thousand lines each.
	maxWaiting = 4 << 20
	// promptTime is how long whoever wants its line written waits for that.
	promptTime = 100 * time.Millisecond
	// failedPause is the time between two tries to write where it fails.
	failedPause = time.Second
	// flushTime bounds the writing of what waits when the process ends.
	flushTime = 2 * time.Second
)

// Writer writes lines behind those who log them: what cannot be written in time, or
// at all, is lost, counted, and told of by a line of its own in their place once writing
// works. It writes a line at once, and what follows it within burstSpan together: at ten
// thousand requests a second, a system call for each line would cost as much as a hit. A
// process that is killed loses what waits, which is the lines of the last burstSpan
// unless writing is slow. While nothing waits it has no goroutine.
type Writer struct {
	out     io.Writer
	tell    func(lost uint64) []byte // the line that says how many were lost
	counter prometheus.Counter       // of lost lines
	hurry   chan struct{}            // ends a pause between two writes

	mu      sync.Mutex
	waiting [][]byte      // blocks of whole lines, the oldest first
	spare   []byte        // of a block that was written
	bytes   int           // of waiting, and of the block that is being written
	lost    uint64        // since the last line that tells of it: until there is one, all are
	torn    bool          // what was written last is part of a line
	began   time.Time     // when the write under way did; zero: none is
	written chan struct{} // closed when nothing waits any more; nil: nothing does
	working chan struct{} // closed when the goroutine ends; nil: there is none
	ended   bool
}

func newWriter(out io.Writer, tell func(lost uint64) []byte) *Writer {
	return &Writer{out: out, tell: tell, hurry: make(chan struct{}, 1), counter: prometheus.NewCounter(prometheus.CounterOpts{
		Namespace: metrics.Namespace, Name: "log_lines_lost_total",
		Help: "Lines of the log that were lost, because it could not be written, or not as fast as there were lines.",
	})}
}

// Lost counts the lines that were lost, for the metrics.
func (w *Writer) Lost() prometheus.Collector { return w.counter }

// Write implements io.Writer. It blocks for no longer than promptTime, and that after end
// alone, and returns no error.
func (w *Writer) Write(line []byte) (int, error) {
	if ended := w.add(line); ended {
		w.flush()
	}
	return len(line), nil
}

func (w *Writer) add(line []byte) (ended bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lost > 0 || w.bytes+len(line) > maxWaiting {
		w.lose(1)
	} else {
		w.keep(line)
	}
	if w.working == nil {
		w.working = make(chan struct{})
		go w.work(w.working)
	}
	return w.ended
}

// keep puts a line behind those that wait. The lock is held, as it is for lose.
func (w *Writer) keep(line []byte) {
	w.bytes += len(line)
	if w.written == nil {
		w.written = make(chan struct{})
	}
	last := len(w.waiting) - 1
	if last >= 0 && len(w.waiting[last])+len(line) <= burstBytes {
		w.waiting[last] = append(w.waiting[last], line...)
	} else {
		w.waiting = append(w.waiting, append(w.spare[:0], line...))
		w.spare = nil
	}
	if w.full() {
		w.rush()
	}
}

// full reports whether enough waits for a write.
func (w *Writer) full() bool {
	return len(w.waiting) > 1 || len(w.waiting) == 1 && len(w.waiting[0]) >= burstBytes
}

func (w *Writer) lose(lines int) {
	w.lost += uint64(lines)
	w.counter.Add(float64(lines))
}

func (w *Writer) rush() {
	select {
	case w.hurry <- struct{}{}:
	default:
	}
}

// flush waits until what waits is written: for promptTime at most, and not at all for a
// write that has taken longer already.
func (w *Writer) flush() {
	w.mu.Lock()
	written := w.written
	stuck := written == nil || w.lost > 0 || !w.began.IsZero() && time.Since(w.began) > promptTime
	if !stuck {
		w.rush()
	}
	w.mu.Unlock()
	if !stuck {
		await(written, promptTime)
	}
}

// End writes what waits, for two seconds at most. From then on no line waits for others.
func (w *Writer) End() {
	w.mu.Lock()
	working := w.working
	w.ended = true
	w.mu.Unlock()
	if working != nil {
		w.rush()
		await(working, flushTime)
	}
}

// await waits until a channel is closed, but no longer than d.
func await(closed <-chan struct{}, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-closed:
	case <-timer.C:
	}
}

// work writes until nothing waits, or until it fails after the end.
func (w *Writer) work(done chan<- struct{}) {
	defer close(done)
	for {
		block, told := w.next()
		if block == nil {
			return
		}
		n, err := w.out.Write(block)
		pause := w.wrote(block, n, told, err)
		if pause < 0 {
			return
		}
		w.pause(pause)
	}
}

func (w *Writer) pause(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.hurry:
	}
}

// next takes what is to be written next: a block, or the line about so many lost ones. nil:
// there is nothing, and the goroutine ends.
func (w *Writer) next() (block []byte, told uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.hurry: // of what is written now
	default:
	}
	switch {
	case len(w.waiting) > 0:
		block = w.waiting[0]
		w.waiting[0] = nil // or it would stay in memory
		w.waiting = w.waiting[1:]
	case w.lost > 0:
		block, told, w.lost = w.tell(w.lost), w.lost, 0 // what comes from now on is behind it
		if w.torn {
			block = append([]byte("\n"), block...)
		}
	default:
		w.working, w.waiting = nil, nil
		return nil, 0
	}
	w.began = time.Now()
	return block, told
}

// wrote ends a write of n bytes of a block. It returns how long to pause before the next.
func (w *Writer) wrote(block []byte, n int, told uint64, err error) (pause time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.began = time.Time{}
	if told == 0 {
		w.bytes -= len(block)
		if cap(block) <= 2*burstBytes {
			w.spare = block
		}
	}
	if n > 0 {
		w.torn = block[n-1] != '\n'
	}
	if err != nil {
		w.loseAll(block[n:], told)
	}
	if len(w.waiting) == 0 && w.written != nil {
		close(w.written)
		w.written = nil
	}
	switch {
	case err != nil && w.ended:
		w.working = nil
		return -1
	case err != nil:
		return failedPause
	case w.ended || w.full():
		return 0
	}
	return burstSpan
}

// loseAll loses what a write that failed has left, unless that was the line about lost
// ones, and what waits behind it: so there is one place where lines are missing.
func (w *Writer) loseAll(left []byte, told uint64) {
	if w.lost += told; told == 0 {
		w.lose(bytes.Count(left, []byte("\n")))
	}
	for _, block := range w.waiting {
		w.bytes -= len(block)
		w.lose(bytes.Count(block, []byte("\n")))
	}
	w.waiting = nil
}
