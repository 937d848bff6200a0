package far

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// outcome of a write.
type outcome struct {
	err error
	// marked is the time of the key's mark, by this machine's clock; zero means none.
	marked time.Time
	// leased: the lease that was to be released along is still there.
	leased bool
}

// errReply: Redis replied something else than the script returns.
var errReply = errors.New("redis: unexpected reply to a write")

// carryOut carries out writes in one round trip, in a Cluster in one for each node. Each
// fails alone. Values are not sent while Redis refuses them; deletions are, because it
// may accept those.
func (t *Tier) carryOut(jobs []*job) []outcome {
	outcomes := make([]outcome, len(jobs))
	var sent []int
	paused := t.writes.refusals.pausing(time.Now())
	for i, j := range jobs {
		if paused && !j.deletion() {
			outcomes[i].err = errPaused
			continue
		}
		sent = append(sent, i)
	}
	if len(sent) > 0 {
		err := t.writes.callAlways(func() error { return t.pipeline(jobs, sent, outcomes) })
		for _, i := range sent {
			if rejected(err) {
				outcomes[i].err = err
			}
		}
	}
	t.count(jobs, outcomes)
	return outcomes
}

// count counts how the writes went, and notes whether Redis refuses values.
func (t *Tier) count(jobs []*job, outcomes []outcome) {
	for i, j := range jobs {
		err := outcomes[i].err
		t.metrics.wrote(err)
		if j.release != nil {
			t.metrics.wrote(err)
		}
		if err != nil {
			t.log.Debug("redis write failed", "error", err)
		}
		if !j.deletion() && (err == nil || isReply(err) && !notYet(err)) {
			t.writes.refusals.note(err != nil, time.Now())
		}
		if len(jobs) == 1 && err != nil && !rejected(err) && !isReply(err) {
			j.failures++
		}
	}
}

// pipeline sends the writes with these numbers and reads their outcomes. It fails if Redis
// replied to none of them. A Redis that does not know the script is sent it.
func (t *Tier) pipeline(jobs []*job, sent []int, outcomes []outcome) error {
	ctx, cancel := context.WithTimeout(context.Background(), t.writeTime)
	defer cancel()
	if unknown := t.exchange(ctx, jobs, sent, outcomes, false); len(unknown) > 0 {
		t.exchange(ctx, jobs, unknown, outcomes, true)
	}
	var err error
	for _, i := range sent {
		if err = outcomes[i].err; err == nil || isReply(err) {
			return nil
		}
	}
	return err
}

// exchange is one round trip. It returns the numbers of the writes from the first one on
// for which Redis does not know the script.
func (t *Tier) exchange(ctx context.Context, jobs []*job, numbers []int, outcomes []outcome, whole bool) (unknown []int) {
	p := t.client.Pipeline()
	replies := make([]redis.Cmder, len(numbers))
	for n, i := range numbers {
		replies[n] = t.command(ctx, p, jobs[i], whole)
	}
	begun := time.Now()
	_, _ = p.Exec(ctx) // each reply has its error
	ended := time.Now()
	for n, i := range numbers {
		outcomes[i] = t.outcomeOf(replies[n], begun, ended)
	}
	return fromUnknown(numbers, outcomes)
}

// fromUnknown returns the numbers from the first write on for which Redis does not know the
// script: another instance may have loaded it before the later ones, and these keep their
// order by being made twice.
func fromUnknown(numbers []int, outcomes []outcome) []int {
	for n, i := range numbers {
		if redis.HasErrorPrefix(outcomes[i].err, "NOSCRIPT") {
			return numbers[n:]
		}
	}
	return nil
}

// command adds the command of a write to a pipeline, with the whole script or its digest.
// What could not be sent before has it along: that Redis does not know it may be what the
// error of another node of a Cluster hides.
func (t *Tier) command(ctx context.Context, p redis.Pipeliner, j *job, whole bool) redis.Cmder {
	keys, eval := []string{j.key}, writeScript.EvalSha
	if whole || j.tried {
		eval = writeScript.Eval
	}
	switch j.kind {
	case failing:
		return p.Set(ctx, j.key, j.value, j.ttl)
	case deleting:
		return eval(ctx, p, keys, opDelete, t.clock.ofFleet(j.created).UnixMilli())
	case releasing:
		return eval(ctx, p, keys, opRelease, j.token)
	}
	name := ""
	if j.kind == marking && announceable(j.cacheKey) {
		name = j.cacheKey
	}
	op := opWrite
	switch {
	case j.purged != nil:
		op = opIndex
	case j.kind == marking && j.lasting:
		op = opLasting
	case j.kind == marking:
		op = opMark
	}
	args := []any{op, j.value, j.ttl.Milliseconds(), t.announcements(), name}
	if r := j.release; r != nil {
		keys, args = append(keys, r.key), append(args, r.token)
	}
	return eval(ctx, p, keys, args...)
}

// outcomeOf reads the reply to a write. A reply counts whatever its error: where one node
// of a Cluster is away, go-redis sets that error for the commands of all.
func (t *Tier) outcomeOf(reply redis.Cmder, begun, ended time.Time) outcome {
	switch r := reply.(type) {
	case *redis.StatusCmd:
		if r.Val() == "OK" {
			return outcome{}
		}
	case *redis.Cmd:
		if numbers, ok := r.Val().([]any); ok {
			return t.scriptOutcome(numbers, begun, ended)
		}
	}
	return outcome{err: cmp.Or(reply.Err(), errReply)}
}

// scriptOutcome reads what the script has returned.
func (t *Tier) scriptOutcome(reply []any, begun, ended time.Time) outcome {
	if len(reply) < 2 {
		return outcome{err: errReply}
	}
	now, _ := reply[0].(int64)
	t.clock.learn(time.UnixMilli(now), begun, ended)
	o := outcome{}
	for _, announced := range reply[1:min(len(reply), 3)] {
		switch announced {
		case int64(1):
			t.metrics.announced("sent")
		case int64(2):
			t.metrics.announced("failed")
		case int64(3):
			o.leased = true
		}
	}
	if len(reply) > 3 {
		if at, _ := reply[3].(int64); at > 0 {
			o.marked = t.clock.local(time.UnixMilli(at))
		}
	}
	return o
}

// learnClock reads the clock of Redis, before the first date is translated. An error means that Redis cannot be asked now. Where users
// of it may not read its clock, the first write tells it.
func (t *Tier) learnClock() error {
	if t.clock.known.Load() {
		return nil
	}
	err := t.writes.callAlways(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), t.cfg.Timeout)
		defer cancel()
		begun := time.Now()
		redis, err := t.client.Time(ctx).Result()
		t.clock.learn(redis, begun, time.Now())
		return err
	})
	if err != nil {
		t.log.Debug("clock of redis not read", "error", err)
	}
	if isReply(err) && !notYet(err) {
		return nil
	}
	return err
}
