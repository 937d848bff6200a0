package simulation

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// loadInValue finds the load that the body of a stored response names.
var loadInValue = regexp.MustCompile(`"load":(\d+)`)

// wrote notes the load whose response a key has from now on, and reports whether it takes the place of another one.
func (r *redisServer) wrote(key, value string, options []string) {
	found := loadInValue.FindStringSubmatch(value)
	if found == nil {
		r.forget(key)
		return
	}
	number, _ := strconv.Atoi(found[1]) // digits
	r.mu.Lock()
	before, replaces := r.held[key]
	r.held[key] = heldLoad{number, time.Now().Add(lifetime(options))}
	r.mu.Unlock()
	if replaces && time.Now().Before(before.until) {
		r.replaced(key, before.number, number)
	}
}

// lifetime returns how long a value is stored, by the options of its SET; without one, a day.
func lifetime(options []string) time.Duration {
	for n, option := range options[:max(0, len(options)-1)] {
		if strings.EqualFold(option, "px") {
			ms, _ := strconv.Atoi(options[n+1])
			return time.Duration(ms) * time.Millisecond
		}
	}
	return 24 * time.Hour
}

// forget notes that keys have no response any more.
func (r *redisServer) forget(keys ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, key := range keys {
		delete(r.held, key)
	}
}

// forgetAll notes that Redis is emptied.
func (r *redisServer) forgetAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held = map[string]heldLoad{}
}
