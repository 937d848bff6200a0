package simulation

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// change is what an operator asked an instance for.
type change struct {
	instance, start int
	event           Event
	sent, answered  time.Time
	status          int // 0 means that no response came
	pending         bool
	setting         string // that it sets; "" means none
	value           value
}

// operatorActions are those of operators.
func operatorActions() map[string]action {
	purge := func(weight int, draw func(r *rand.Rand) string) action {
		return action{weight: weight, draw: func(r *rand.Rand, e *Event) { e.Target = draw(r) }, run: func(f *fleet, e Event) {
			f.operate(e, http.MethodPost, "purge", purgeBody(e))
		}}
	}
	endpoint := func(*rand.Rand) string { return "own" }
	all := func(*rand.Rand) string { return "*" }
	page := func(r *rand.Rand) string { return "/p/" + pick(r, "1", "2", "3") }
	table := map[string]action{
		"purge key": {weight: 3, draw: func(r *rand.Rand, e *Event) { e.Target = fmt.Sprint(1 + r.IntN(4)) }, run: (*fleet).purgeKey},
	}
	for mode, weight := range map[string]int{"hard": 1, "soft": 1} {
		table["purge own "+mode] = purge(2*weight, endpoint)
		table["purge all "+mode] = purge(weight, all)
		table["purge url "+mode] = purge(2*weight, page)
		table["purge tag "+mode] = purge(weight, func(r *rand.Rand) string { return "t" + pick(r, "1", "2", "3") })
		table["purge prefix "+mode] = purge(weight, func(*rand.Rand) string { return "/p/" })
	}
	return table
}

// purgeKey purges the key of an id, as the list of entries names it. Without an entry there is nothing to purge.
func (f *fleet) purgeKey(e Event) {
	var held struct{ Entries []struct{ Key string } }
	f.ask(f.instances[e.On], "endpoints/own/entries", &held) // an instance that is not running holds nothing
	for _, entry := range held.Entries {
		if strings.HasSuffix(entry.Key, ":"+e.Target+"|") {
			f.operate(e, http.MethodPost, "purge", map[string]any{"endpoint": "own", "key": entry.Key})
		}
	}
}

// purgeInLoad purges hard, a number of milliseconds after a request for a target, what the target is of.
func (f *fleet) purgeInLoad(e Event) {
	f.pending.Go(func() { f.get(e.On, e.Target) })
	time.Sleep(time.Duration(e.N) * time.Millisecond)
	purge := Event{At: e.At, On: e.On, Do: "purge own hard", Target: "own"}
	if page, ok := strings.CutPrefix(e.Target, apiPath); ok {
		purge.Do, purge.Target = "purge url hard", "/p/"+page[:1]
	}
	f.operate(purge, http.MethodPost, "purge", purgeBody(purge))
}

// purgeBody is what the admin API takes for a purge.
func purgeBody(e Event) map[string]any {
	words := strings.Fields(e.Do) // purge, of what, and the mode
	body := map[string]any{"mode": words[2]}
	switch words[1] {
	case "own", "all":
		body["endpoint"] = e.Target
	default:
		body["endpoint"], body[words[1]] = "web", e.Target
	}
	return body
}

// hits reports whether a purge is one of a target of clients.
func (c *change) hits(target string) bool {
	words := strings.Fields(c.event.Do)
	path, _, _ := strings.Cut(target, " ")
	if c.unsafe() {
		return path == c.event.Target
	}
	if words[0] != "purge" {
		return false
	}
	page, isAPI := strings.CutPrefix(path, apiPath)
	switch words[1] {
	case "key":
		return target == endpointPath+c.event.Target
	case "own":
		return strings.HasPrefix(target, endpointPath)
	case "all":
		return true
	case "url":
		return isAPI && c.event.Target == "/p/"+page
	case "tag":
		return isAPI && c.event.Target == "t"+page
	}
	return isAPI // the prefix of all
}

// unsafe reports whether it is the invalidation by an unsafe request.
func (c *change) unsafe() bool { return c.event.Do == "unsafe" }

// isSoft reports whether a purge leaves stale responses.
func (c *change) isSoft() bool { return c.unsafe() || strings.HasSuffix(c.event.Do, " soft") }

// operate sends a request to the admin API of an instance, and notes the response.
func (f *fleet) operate(e Event, method, path string, body any) *change {
	i := f.instances[e.On]
	c := &change{instance: e.On, start: i.starts, event: e, sent: time.Now()}
	f.note(func() { f.changes = append(f.changes, c) })
	var text []byte
	if body != nil {
		text, _ = json.Marshal(body) // of maps and texts
	}
	got, err := i.admin.send(method, adminURL+path, http.Header{"Content-Type": {"application/json"}}, text)
	f.note(func() {
		if c.answered = time.Now(); err != nil {
			return
		}
		c.status, c.pending = got.status, got.status == http.StatusAccepted
		if got.status >= http.StatusBadRequest && got.status != http.StatusConflict {
			f.fail(c.answered, "O1", "%s: %d %s", e, got.status, got.body)
		}
	})
	return c
}

// adminURL is where the admin API of each instance is, in its network.
const adminURL = "http://127.0.0.1:9090/admin/api/"
