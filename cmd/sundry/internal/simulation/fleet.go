package simulation

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Process is what a program runs in.
type Process struct {
	Stop   context.Context //nolint:containedctx // ends when the program is to stop in order
	Kill   context.Context //nolint:containedctx // ends when it is to stop at once
	Config string          // the file with its settings
	Net    *Network
	Log    io.Writer
}

// Program runs an instance until it is told to stop.
type Program func(Process) error

// instance is one of a fleet, over its starts.
type instance struct {
	number  int
	dir     string // for what it keeps
	network *Network
	admin   *client
	clients *client
	starts  int
	started []time.Time // of each start
	leaving bool        // it is being stopped, to be started again
	log     *text

	stop, kill context.CancelFunc
	done       chan error // has the error when the program has ended
}

// fleet is a run of a schedule.
type fleet struct {
	schedule  Schedule
	program   Program
	dir       string
	began     time.Time
	redis     *redisServer
	origin    *origin
	server    *http.Server
	instances []*instance
	pending   sync.WaitGroup // events that go on

	mu       sync.Mutex // guards what follows, and is never held while something waits
	requests []*request
	changes  []*change
	troubles []trouble
	failures []Failure
	states   []*state
	ended    time.Time // when the last state was looked at
}

// note changes what is known of the run.
func (f *fleet) note(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
}

// everyone stands for all instances.
const everyone = -1

// trouble is a time at which an instance was not in touch with Redis, or not well in another way.
type trouble struct {
	from, to time.Time
	instance int
	what     string
}

// within reports whether a trouble has touched a period.
func (t trouble) within(from, to time.Time) bool { return !t.from.After(to) && !t.to.Before(from) }

// fault notes a trouble that lasts from now on for some time.
func (f *fleet) fault(instance int, lasts time.Duration) { f.trouble(instance, lasts, "fault") }

func (f *fleet) trouble(instance int, lasts time.Duration, what string) {
	f.note(func() {
		f.troubles = append(f.troubles, trouble{time.Now(), time.Now().Add(lasts), instance, what})
	})
}

// brief notes a trouble of an instant.
func (f *fleet) brief(instance int) { f.trouble(instance, 0, "fault") }

// noteLostNotice notes that an instance may not hear of what others have written.
func (f *fleet) noteLostNotice(instance int) { f.trouble(instance, 0, "notice") }

// droppedWrites notes that what instances write may be given up.
func (f *fleet) droppedWrites() { f.trouble(everyone, 0, "dropped") }

// emptied notes that Redis has lost what it had.
func (f *fleet) emptied() { f.trouble(everyone, 0, "emptied") }

// settings of an instance.
const settings = `builtin: false
catalog: %s
redis: redis://` + redisAddress + `
data: %s
listen: 127.0.0.1:8080
admin: 127.0.0.1:9090
express: false
log_level: warn
drain_delay: 0s
drain_timeout: %s
cache: {warm: false, memory: 8MiB}
limits: {rate: 0, queue_delay: 0s}
`

// newerSettings is what the settings of the last instance have beside it, as during an upgrade.
const newerSettings = `endpoints:
  own: {cache: {grace: 20s, stale_if_error: 2m}}
`

// endpointFile is the file of an endpoint: its name, the path of its source, and what more the source has.
const endpointFile = `version: 1
name: %s
group: lookups
summary: {en: One., zh: 一个接口。}
params: [{name: id, type: int, min: 1, max: 9, default: "1", example: "1"}]
cache: {class: keyed, ttl: ` + firstTTL + `, grace: 10s, stale_if_error: 1m, negative: 2s, soft_timeout: 300ms, fill_timeout: 5s}
forms: [{name: json, json: .}]
rules: [{name: gone, status: [404], is: negative}]
sources: [{name: up, timeout: 3s, judge: [gone], http: {url: "http://` + originAddress + `%s", query: {id: "{id}"}}, map: "if .load then {id, load} else error end"%s}]
`

// rate is that of the endpoint whose source has one.
const (
	rateCalls = 4
	ratePer   = 5 * time.Second
)

// catalogFiles are those of the endpoints and of the API.
func catalogFiles() map[string]string {
	return map[string]string{
		"own.yaml":   fmt.Sprintf(endpointFile, "own", "/", ""),
		"rated.yaml": fmt.Sprintf(endpointFile, "rated", "/rated", fmt.Sprintf(", rate: %d/%s", rateCalls, ratePer)),
		"web.yaml":   "version: 1\nname: web\nproxy: {to: 'http://" + originAddress + "'}\n",
	}
}

// newFleet prepares a run; its files are in a directory.
func newFleet(s Schedule, p Program, dir string) (*fleet, error) {
	f := &fleet{schedule: s, program: p, dir: dir, redis: newRedis(), origin: &origin{seed: s.Seed, counts: map[string]int{}}}
	f.redis.setClock(s.Clock)
	f.redis.replaced = f.checkReplacement
	if err := os.Mkdir(filepath.Join(dir, "catalog"), 0o700); err != nil {
		return nil, err
	}
	for name, text := range catalogFiles() {
		if err := os.WriteFile(filepath.Join(dir, "catalog", name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	at := newListener(originAddress)
	f.server = &http.Server{Handler: f.origin, ReadHeaderTimeout: time.Minute}
	go func() { _ = f.server.Serve(at) }()
	servers := map[string]*listener{redisAddress: f.redis.listener, originAddress: at}
	for n := range s.Instances {
		i, err := f.newInstance(n, servers)
		if err != nil {
			return nil, err
		}
		f.instances = append(f.instances, i)
	}
	return f, nil
}

func (f *fleet) newInstance(n int, servers map[string]*listener) (*instance, error) {
	i := &instance{number: n, dir: filepath.Join(f.dir, fmt.Sprint(n)), log: &text{}}
	i.network = &Network{address: fmt.Sprintf("10.0.1.%d:40000", n+1), own: map[string]*listener{}, toRedis: newLink(), toWorld: newLink(), servers: servers}
	i.network.toRedis.lost = func(notification bool) {
		if notification {
			f.noteLostNotice(n)
		} else {
			f.brief(n)
		}
	}
	i.clients, i.admin = newClient(i.network, "127.0.0.1:8080"), newClient(i.network, "127.0.0.1:9090")
	if err := os.Mkdir(i.dir, 0o700); err != nil {
		return nil, err
	}
	text := fmt.Sprintf(settings, filepath.Join(f.dir, "catalog"), i.dir, drainTime)
	if n == f.schedule.Instances-1 {
		text += newerSettings
	}
	return i, os.WriteFile(filepath.Join(i.dir, "sundry.yaml"), []byte(text), 0o600)
}

// start starts the program of an instance.
func (f *fleet) start(i *instance) {
	stopping, stop := context.WithCancel(context.Background())
	killing, kill := context.WithCancel(context.Background())
	i.stop, i.kill, i.done = stop, func() { kill(); stop() }, make(chan error, 1)
	i.starts++
	i.started = append(i.started, time.Now())
	p := Process{Stop: stopping, Kill: killing, Config: filepath.Join(i.dir, "sundry.yaml"), Net: i.network, Log: i.log}
	go func() {
		defer kill()
		i.done <- f.program(p)
	}()
}

// text collects what programs write.
type text struct {
	mu sync.Mutex
	b  strings.Builder
}

// Write implements io.Writer.
func (t *text) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.Write(p)
}

// String returns all that was written.
func (t *text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.String()
}
