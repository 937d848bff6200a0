// Package panics catches the panics of goroutines, each of which would end the process.
// A panic is logged with its stack and counted, in one place, and what goes on beside
// requests goes on. It knows nothing of what it runs.
package panics

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"sundry/metrics"
)

// Task is what panicked, as the label of the metric.
type Task string

// All tasks.
const (
	Request   Task = "request"   // what answers a request, on either listener
	Wait      Task = "wait"      // what ends the wait of a client that has left
	Listener  Task = "listener"  // what accepts connections
	Fill      Task = "fill"      // a fill, be it a refresh
	Dial      Task = "dial"      // what connects to an upstream
	HotTable  Task = "hot_table" // what compresses and joins entries
	FarWrite  Task = "far_write" // what prepares values for Redis and writes them
	FarListen Task = "far_listen"
	Lease     Task = "lease"
	Snapshot  Task = "snapshot"
	Settings  Task = "settings" // the settings of the fleet
	Autopilot Task = "autopilot"
	Advice    Task = "advice"
	History   Task = "history"
	WarmUp    Task = "warm_up"
	Reload    Task = "reload" // the watch of files, and the reload itself
	Scrape    Task = "scrape" // what collects metrics
	Stop      Task = "stop"   // the drain and what is closed after it
)

func tasks() []Task {
	return []Task{
		Request, Wait, Listener, Fill, Dial, HotTable, FarWrite, FarListen, Lease, Snapshot, Settings,
		Autopilot, Advice, History, WarmUp, Reload, Scrape, Stop,
	}
}

// Catcher catches panics. It is safe for concurrent use. A nil one turns panics into
// errors where a function returns one, and catches no others: a test is to see them.
type Catcher struct {
	log   *slog.Logger
	count *prometheus.CounterVec
}

// New makes one. log takes the panics with their stacks.
func New(reg prometheus.Registerer, log *slog.Logger) *Catcher {
	c := &Catcher{log: log, count: promauto.With(reg).NewCounterVec(prometheus.CounterOpts{Namespace: metrics.Namespace, Name: "panics_total",
		Help: "Panics that were caught, by what panicked. Each is a mistake in the program, and logged with its stack."}, []string{"task"})}
	for _, t := range tasks() {
		c.count.WithLabelValues(string(t))
	}
	return c
}

// Caught logs and counts a panic that a caller has recovered from, and returns it as an
// error. Only that of a nil Catcher holds the stack, which is not logged then.
func (c *Catcher) Caught(t Task, value any) error {
	stack := debug.Stack()
	if c == nil {
		return fmt.Errorf("%s panicked: %v\n%s", t, value, stack)
	}
	c.count.WithLabelValues(string(t)).Inc()
	c.log.Error("a panic was caught", "task", t, "panic", fmt.Sprint(value), "stack", string(stack))
	return fmt.Errorf("%s panicked: %v", t, value)
}

// Catch is to be deferred. It turns a panic into the error of the function that returns.
func (c *Catcher) Catch(t Task, err *error) {
	if value := recover(); value != nil {
		*err = c.Caught(t, value)
	}
}

// Go runs do in a goroutine of its own.
func (c *Catcher) Go(t Task, do func()) { go c.Func(t, do)() }

// Func is do, which is called once in a goroutine of its own. A panic ends it as a return
// would: what it holds is to be released by its deferred calls.
func (c *Catcher) Func(t Task, do func()) func() {
	if c == nil {
		return do
	}
	return func() { _ = c.call(t, do) }
}

// FuncErr is do, whose error a panic becomes.
func (c *Catcher) FuncErr(t Task, do func() error) func() error {
	return func() (err error) {
		defer c.Catch(t, &err)
		return do()
	}
}

// call calls do once. An error is its panic.
func (c *Catcher) call(t Task, do func()) (err error) {
	defer c.Catch(t, &err)
	do()
	return nil
}

// Pauses of a loop that panicked: they grow from the first to the last while it does so
// again within the last.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 10 * time.Second
)

// Loop is a function that calls run, in the goroutine that it is called in, and again
// after each panic and a pause. It ends when run returns, and after a panic when ctx has
// ended.
func (c *Catcher) Loop(ctx context.Context, t Task, run func(context.Context)) func() {
	if c == nil {
		return func() { run(ctx) }
	}
	return func() {
		for pause := firstPause; ; pause = min(2*pause, lastPause) {
			began := time.Now()
			if c.call(t, func() { run(ctx) }) == nil {
				return
			}
			if time.Since(began) > lastPause {
				pause = firstPause
			}
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return
			}
		}
	}
}
