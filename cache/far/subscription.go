package far

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"sundry/cache/jitter"
	"sundry/metrics/panics"
)

const (
	// watchPingAfter: a connection that was lost without being closed, as when a node
	// or a firewall in between goes down, is noticed after this and sharedValueTime, or
	// when a read of a shared value fails.
	watchPingAfter = 10 * time.Second
	// firstReconnect and lastReconnect are the pauses before an instance that was cut off
	// tries again, which grow from one to the other: so it learns within a fraction of a
	// second that it is back.
	firstReconnect = 50 * time.Millisecond
	lastReconnect  = 250 * time.Millisecond
	// steady is how long a connection lasts that is not one of many which fail.
	steady = time.Second
)

// subscription listens to a channel of Redis on a connection of its own, and
// subscribes again after every outage. Messages that were sent meanwhile are lost.
type subscription struct {
	tier    *Tier
	channel string
	// pingAfter is how long it receives nothing before it pings, to find out whether
	// its connection is still alive.
	pingAfter time.Duration
	// subscribed is called whenever Redis has confirmed the subscription, ended when
	// one that was confirmed is over, and received for each message. None of them may
	// block: messages that come meanwhile wait in Redis, which closes the connection
	// when they are too many.
	subscribed, ended func()
	received          func(payload string)
}

// run returns when ctx ends.
func (s *subscription) run(ctx context.Context) {
	pause := firstReconnect
	for ctx.Err() == nil {
		lasted, err := s.listen(ctx)
		switch {
		case isReply(err) && !notYet(err): // it is up, and refuses what the user of the URL may not do
			pause = s.tier.cfg.OpenFor
		case lasted > steady:
			pause = firstReconnect
		default:
			pause = min(2*pause, lastReconnect)
		}
		_ = jitter.Pause(ctx, pause, spread) // the loop asks ctx
	}
}

// listen is one connection, until it ends. It returns for how long it was subscribed.
func (s *subscription) listen(ctx context.Context) (lasted time.Duration, err error) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	ctx, cut := withCut(ctx)
	connecting, cancel := context.WithTimeout(ctx, s.tier.writeTime)
	defer cancel()
	sub := s.tier.sharedValues.Subscribe(connecting, s.channel)
	defer func() { _ = sub.Close() }() // the error is of no use
	// ReceiveTimeout does not end with ctx, and Close waits for it while it connects.
	defer context.AfterFunc(ctx, s.tier.cfg.Panics.Func(panics.FarListen, cut.all))()
	if _, err := sub.ReceiveTimeout(connecting, s.tier.writeTime); err != nil {
		return 0, err
	}
	defer s.tier.subscriptions.add(end)()
	begin := time.Now()
	defer s.ended()
	s.subscribed()
	err = s.receive(ctx, sub)
	return time.Since(begin), err
}

// receive returns when the connection ends, or is silent when it is pinged.
func (s *subscription) receive(ctx context.Context, sub *redis.PubSub) error {
	for wait := s.pingAfter; ; {
		message, err := sub.ReceiveTimeout(ctx, wait)
		switch {
		case err == nil:
			wait = s.pingAfter
		case resultOf(err) != "timeout" || wait == sharedValueTime:
			return err
		default:
			wait = sharedValueTime // for the reply
			if err := sub.Ping(ctx); err != nil {
				return err
			}
			continue
		}
		switch m := message.(type) {
		case *redis.Subscription:
			s.subscribed()
		case *redis.Message:
			s.received(m.Payload)
		}
	}
}

// subscriptions are those of a tier that Redis has confirmed. The zero value is ready.
type subscriptions struct {
	mu  sync.Mutex
	end map[*func()]struct{}
}

func (s *subscriptions) add(end func()) (remove func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end == nil {
		s.end = map[*func()]struct{}{}
	}
	s.end[&end] = struct{}{}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.end, &end)
	}
}

// renew ends all connections, so that they are made anew: another one has failed, and
// these may be lost without having been closed.
func (s *subscriptions) renew() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for end := range s.end {
		(*end)()
	}
}
