package simulation

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"time"
)

// action is a kind of event.
type action struct {
	weight int                      // among all
	fleet  bool                     // it concerns no single instance
	draw   func(*rand.Rand, *Event) // chooses the rest of an event; nil means that there is nothing to choose
	run    func(*fleet, Event)
}

// actions returns all kinds of events, by their names.
func actions() map[string]action {
	return joined(callers(), linkFaults(), redisFaults(), instanceFaults())
}

// callers returns those of clients and operators.
func callers() map[string]action { return joined(clientActions(), operatorActions(), settingActions()) }

func joined(parts ...map[string]action) map[string]action {
	all := map[string]action{}
	for _, part := range parts {
		maps.Copy(all, part)
	}
	return all
}

func drawTarget(r *rand.Rand, e *Event) { e.Target = pick(r, targets()...) }

// clientActions are those of clients.
func clientActions() map[string]action {
	return map[string]action{
		"get":   {weight: 60, draw: drawTarget, run: func(f *fleet, e Event) { f.get(e.On, e.Target) }},
		"burst": {weight: 12, fleet: true, draw: drawTarget, run: (*fleet).burst},
		"get rated": {weight: 12, draw: func(r *rand.Rand, e *Event) { e.Target = fmt.Sprintf("%s%d", ratedPath, 1+r.IntN(9)) },
			run: func(f *fleet, e Event) { f.get(e.On, e.Target) }},
		"purge in a load": {weight: 3, draw: func(r *rand.Rand, e *Event) { drawTarget(r, e); e.N = 1 + r.IntN(60) }, run: (*fleet).purgeInLoad},
		"unsafe": {weight: 4, draw: func(r *rand.Rand, e *Event) { e.Target = apiPath + pick(r, "1", "2", "3") },
			run: (*fleet).unsafe},
	}
}

// linkFaults are those of the way of an instance to Redis.
func linkFaults() map[string]action {
	return map[string]action{
		"refuse": {weight: 2, draw: drawFault, run: func(f *fleet, e Event) { f.linkFault(e, faults{refused: true}) }},
		"stall":  {weight: 2, draw: drawFault, run: func(f *fleet, e Event) { f.linkFault(e, faults{stalled: true}) }},
		"slow": {weight: 2, draw: func(r *rand.Rand, e *Event) { drawFault(r, e); e.N = 1 + r.IntN(200) },
			run: func(f *fleet, e Event) {
				ms := time.Duration(e.N) * time.Millisecond
				f.linkFault(e, faults{there: ms / 3, back: ms})
			}},
		"cut": {weight: 2, run: func(f *fleet, e Event) { f.brief(e.On); f.instances[e.On].network.toRedis.cut() }},
		"lose replies": {weight: 2, draw: drawCount, run: func(f *fleet, e Event) {
			f.instances[e.On].network.toRedis.change(func(l *link) { l.loses += e.N })
		}},
		"lose notices": {weight: 2, draw: drawCount, run: func(f *fleet, e Event) {
			f.instances[e.On].network.toRedis.change(func(l *link) { l.drops += e.N })
		}},
		"repeat notices": {weight: 1, draw: drawCount, run: func(f *fleet, e Event) {
			f.instances[e.On].network.toRedis.change(func(l *link) { l.twice += e.N })
		}},
	}
}

func drawFault(r *rand.Rand, e *Event) { e.For = seconds(r, 12) }
func drawCount(r *rand.Rand, e *Event) { e.N = 1 + r.IntN(3) }

// clockAction is the name of the action that sets the clock of Redis.
const clockAction = "redis clock"

// redisFaults are those of Redis.
func redisFaults() map[string]action {
	refuses := func(text string, commands ...string) func(f *fleet, e Event) {
		return func(f *fleet, e Event) {
			f.fault(everyone, e.For)
			f.droppedWrites()
			f.redis.refuses(text, commands...)
			time.AfterFunc(e.For, func() { f.redis.refuses("") })
		}
	}
	return map[string]action{
		"redis full":      {weight: 1, fleet: true, draw: drawFault, run: refuses("OOM command not allowed when used memory > 'maxmemory'.", "SET", "APPEND", "LPUSH")},
		"redis read-only": {weight: 1, fleet: true, draw: drawFault, run: refuses("READONLY You can't write against a read only replica.", "SET", "APPEND", "LPUSH", "LTRIM", "DEL", "PEXPIRE")},
		"redis loads":     {weight: 1, fleet: true, draw: drawFault, run: refuses("LOADING Redis is loading the dataset in memory")},
		clockAction: {weight: 6, fleet: true, draw: func(r *rand.Rand, e *Event) { e.N = r.IntN(360) - 180 }, run: func(f *fleet, e Event) {
			f.redis.setClock(time.Duration(e.N) * time.Second)
		}},
		"redis emptied": {weight: 1, fleet: true, run: func(f *fleet, _ Event) { f.emptied(); f.redis.empty() }},
		"redis saved":   {weight: 1, fleet: true, run: func(f *fleet, _ Event) { f.redis.save() }},
		"redis rolled back": {weight: 1, fleet: true, run: func(f *fleet, _ Event) {
			f.emptied()
			f.cutAll()
			f.redis.rollBack()
		}},
		"redis restarts": {weight: 1, fleet: true, draw: func(r *rand.Rand, e *Event) { e.For = seconds(r, 5) }, run: func(f *fleet, e Event) {
			f.emptied()
			f.fault(everyone, e.For)
			for _, i := range f.instances {
				i.network.toRedis.set(faults{refused: true})
			}
			f.redis.empty()
			time.AfterFunc(e.For, f.healLinks)
		}},
	}
}

// instanceFaults are those of instances, and of the origin.
func instanceFaults() map[string]action {
	return map[string]action{
		"unsafe alone": {weight: 2, draw: func(r *rand.Rand, e *Event) { e.Target, e.For = apiPath+pick(r, "1", "2", "3"), seconds(r, 6) }, run: (*fleet).unsafeAlone},
		"start alone":  {weight: 2, draw: func(r *rand.Rand, e *Event) { e.For = startTime + seconds(r, 6) }, run: (*fleet).startAlone},
		"restart":      {weight: 2, run: func(f *fleet, e Event) { f.restart(e.On) }},
		"kill":         {weight: 2, run: func(f *fleet, e Event) { f.kill(e.On) }},
		"pause":        {weight: 1, draw: func(r *rand.Rand, e *Event) { e.For = seconds(r, 8) }, run: (*fleet).pause},
		"origin down": {weight: 1, fleet: true, draw: drawFault, run: func(f *fleet, e Event) {
			f.origin.setDown(true)
			time.AfterFunc(e.For, func() { f.origin.setDown(false) })
		}},
	}
}
