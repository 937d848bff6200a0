package simulation

import (
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// redisAddress is where instances find Redis.
const redisAddress = "10.0.0.1:6379"

// redisServer is the Redis of a fleet.
type redisServer struct {
	*miniredis.Miniredis
	listener *listener
	served   chan struct{} // is closed once no more connections are accepted

	mu     sync.Mutex
	refuse string        // the error of commands; "" means none
	only   []string      // the commands that are refused; nil means all
	off    time.Duration // of its clock
	saved  []saved       // the state that it can be rolled back to
	held   map[string]heldLoad
	// replaced is called where the response of one load takes the place of that of another one.
	replaced func(key string, before, now int)
}

// heldLoad is the load whose response a key has, until it expires.
type heldLoad struct {
	number int
	until  time.Time
}

// saved is a key with its value, as it was.
type saved struct {
	key, value string
	ttl        time.Duration // 0 means none
}

func newRedis() *redisServer {
	r := &redisServer{Miniredis: miniredis.NewMiniRedis(), held: map[string]heldLoad{}}
	r.ClockTTL(true)
	first, err := r.Dial() // starts it without a listener
	if err != nil {
		panic(err)
	}
	_ = first.Close()
	r.Server().SetPreHook(r.before)
	r.listener, r.served = newListener(redisAddress), make(chan struct{})
	go r.serve()
	return r
}

func (r *redisServer) serve() {
	defer close(r.served)
	for {
		c, err := r.listener.Accept()
		if err != nil {
			return
		}
		r.Server().ServeConn(c)
	}
}

// stop ends Redis with all connections.
func (r *redisServer) stop() {
	_ = r.listener.Close()
	<-r.served
	r.Close()
}

// before is called before each command, also before those in scripts. It returns true where it has replied.
func (r *redisServer) before(c *server.Peer, command string, args ...string) bool {
	r.mu.Lock()
	refuse, only, off := r.refuse, r.only, r.off
	r.mu.Unlock()
	switch {
	case refuse != "" && (only == nil || slices.Contains(only, command)):
		c.WriteError(refuse)
		return true
	case command == "TIME" && off != 0:
		now := time.Now().Add(off)
		c.WriteLen(2)
		c.WriteBulk(strconv.FormatInt(now.Unix(), 10))
		c.WriteBulk(strconv.Itoa(now.Nanosecond() / 1000))
		return true
	case command == "SET" && len(args) > 1:
		r.wrote(args[0], args[1], args[2:])
	case command == "DEL":
		r.forget(args...)
	}
	return false
}

// refuses makes commands fail with an error; "" means that none fails. Without commands, all fail.
func (r *redisServer) refuses(text string, commands ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refuse, r.only = text, commands
}

// setClock sets by how much its clock differs from that of the instances.
func (r *redisServer) setClock(off time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.off = off
}

// save notes the state for rollBack.
func (r *redisServer) save() {
	var all []saved
	for _, key := range r.Keys() {
		if value, err := r.Get(key); err == nil {
			all = append(all, saved{key, value, r.TTL(key)})
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.saved = all
}

// empty removes all keys.
func (r *redisServer) empty() {
	r.FlushAll()
	r.forgetAll()
}

// rollBack returns to the state at the last save, as after a failover to a replica that lagged behind. Before any save that is an
// empty Redis.
func (r *redisServer) rollBack() {
	r.mu.Lock()
	all := r.saved
	r.mu.Unlock()
	r.empty()
	for _, s := range all {
		_ = r.Set(s.key, s.value) // it was a text
		if s.ttl > 0 {
			r.SetTTL(s.key, s.ttl)
		}
	}
}
