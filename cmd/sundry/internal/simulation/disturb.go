package simulation

import (
	"os"
	"slices"
	"strings"
	"time"
)

// setDown makes all calls fail, or none but those that fail by themselves.
func (o *origin) setDown(down bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.down = down
}

// linkFault disturbs the way of an instance to Redis for some time.
func (f *fleet) linkFault(e Event, with faults) {
	f.fault(e.On, e.For)
	way := f.instances[e.On].network.toRedis
	way.set(with)
	time.AfterFunc(e.For, func() { way.set(faults{}) })
}

// healLinks ends the faults of all ways.
func (f *fleet) healLinks() {
	for _, i := range f.instances {
		i.network.set(faults{})
	}
}

// cutAll loses the connections of all instances to Redis.
func (f *fleet) cutAll() {
	f.brief(everyone)
	for _, i := range f.instances {
		i.network.toRedis.cut()
	}
}

// Times of a restart: how long an instance may take to stop, and how long it is away.
const (
	stopTime = 15 * time.Second
	// drainTime is for how long an instance waits for the requests that it has (drain_timeout).
	drainTime = 10 * time.Second
	awayTime  = 300 * time.Millisecond
	// startTime is how long an instance waits for what operators changed before it serves.
	startTime = 3 * time.Second
)

// again ends the program of an instance, and starts it again a moment later, unless that is under way already.
func (f *fleet) again(n int, end func(*instance)) {
	i := f.instances[n]
	busy := true
	f.note(func() { busy, i.leaving = i.leaving, true })
	if busy {
		return
	}
	from := time.Now()
	f.trouble(n, stopTime+startTime, "start")
	end(i)
	time.Sleep(awayTime)
	f.start(i)
	f.note(func() {
		i.leaving = false
		for at := range f.troubles {
			if t := &f.troubles[at]; t.instance == n && t.what == "start" && t.from.Equal(from) {
				t.to = time.Now().Add(startTime)
			}
		}
	})
}

// restart stops an instance in order, and starts it again.
func (f *fleet) restart(n int) {
	f.again(n, func(i *instance) {
		i.stop()
		f.awaitEnd(i, false)
	})
}

// startAlone restarts an instance while it cannot reach Redis. When it can again, clients request all.
func (f *fleet) startAlone(e Event) {
	healed := time.Now().Add(e.For)
	f.linkFault(e, faults{refused: true})
	f.restart(e.On)
	time.Sleep(time.Until(healed))
	for _, target := range targets() {
		f.pending.Go(func() { f.get(e.On, target) })
	}
}

// unsafeAlone sends an unsafe request to the only instance that can reach Redis. The others, of which each is cut off for a longer time
// than the one before, are asked for the variants meanwhile, and all are when they are back.
func (f *fleet) unsafeAlone(e Event) {
	for n := range f.instances {
		if n != e.On {
			f.linkFault(Event{On: n, For: e.For + time.Duration(n)*time.Second}, faults{refused: true})
		}
	}
	f.unsafe(Event{At: e.At, On: e.On, Do: "unsafe", Target: e.Target})
	f.burst(Event{Target: e.Target + " de"})
	time.Sleep(e.For + inTouchTime + time.Second)
	f.burst(Event{Target: e.Target + " en"})
}

// awaitEnd waits until the program of an instance has ended.
func (f *fleet) awaitEnd(i *instance, killed bool) {
	select {
	case err := <-i.done:
		i.done <- err
		if err != nil && !killed && !f.cutOff(i, err) {
			f.broken("R0", "an instance ended: %s", err)
		}
	case <-time.After(stopTime):
		f.broken("R1", "an instance does not stop")
	}
}

// cutOff reports whether an instance ended as it does when requests take longer than it drains, as those of a paused one do, and
// those for which the origin takes long.
func (f *fleet) cutOff(i *instance, err error) (yes bool) {
	now := time.Now()
	f.note(func() {
		paused := func(t trouble) bool {
			return t.instance == i.number && t.what == "pause" && t.to.After(now.Add(-drainTime))
		}
		yes = strings.Contains(err.Error(), "drain_timeout exceeded") && (slices.ContainsFunc(f.troubles, paused) || f.origin.cutOff(i.network.address, now))
	})
	return yes
}

// broken notes, while the run goes on, that a promise was broken.
func (f *fleet) broken(rule, format string, args ...any) {
	f.note(func() { f.fail(time.Now(), rule, format, args...) })
}

// kill ends an instance as the kernel does, and starts it again: its connections are lost first, and what it would still have written
// to files is not there.
func (f *fleet) kill(n int) {
	f.again(n, func(i *instance) {
		i.network.set(faults{refused: true})
		kept := i.dir + ".kept"
		_ = os.CopyFS(kept, os.DirFS(i.dir)) // a file that is being replaced may be missing, as after a crash
		i.kill()
		f.awaitEnd(i, true)
		_ = os.RemoveAll(i.dir)
		_ = os.Rename(kept, i.dir)
		i.network.set(faults{})
	})
}

// pause stalls all that an instance sends and gets.
func (f *fleet) pause(e Event) {
	f.trouble(e.On, e.For, "pause")
	n := f.instances[e.On].network
	n.set(faults{stalled: true})
	time.AfterFunc(e.For, func() { n.set(faults{}) })
}
