package cache

import "sync"

// Bounds of what waits to be packed for Redis.
const (
	behindJobs  = 1024
	behindBytes = 32 << 20
)

// behind carries out, one after another, what is to be done in Redis once the
// callers have been answered: entries are packed there, and what is about the
// same key keeps its order. No goroutine is kept for it while nothing waits.
// The zero value is ready.
type behind struct {
	mu      sync.Mutex
	jobs    []behindJob
	bytes   int
	working chan struct{} // closed when all is done; nil while nothing waits
}

type behindJob struct {
	do    func()
	bytes int
}

// add never blocks. It refuses a job of many bytes when too much waits; those
// of none are few, and must not be lost.
func (b *behind) add(bytes int, do func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if bytes > 0 && (b.bytes+bytes > behindBytes || len(b.jobs) >= behindJobs) {
		return false
	}
	b.jobs = append(b.jobs, behindJob{do, bytes})
	b.bytes += bytes
	if b.working == nil {
		b.working = make(chan struct{})
		go b.work()
	}
	return true
}

func (b *behind) work() {
	for {
		j, ok := b.next()
		if !ok {
			return
		}
		j.do()
		b.mu.Lock()
		b.bytes -= j.bytes
		b.mu.Unlock()
	}
}

func (b *behind) next() (behindJob, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.jobs) == 0 {
		close(b.working)
		b.jobs, b.working = nil, nil
		return behindJob{}, false
	}
	j := b.jobs[0]
	b.jobs[0] = behindJob{} // or its entry would live as long as the queue
	b.jobs = b.jobs[1:]
	return j, true
}

// wait returns when all that was added is done.
func (b *behind) wait() {
	b.mu.Lock()
	working := b.working
	b.mu.Unlock()
	if working != nil {
		<-working
	}
}
