package far

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// reportLife is for how long a report can be read. It is kept a little longer,
	// because Redis trims streams by whole nodes.
	reportLife = 10 * time.Second
	// streamLife is how long the reports of a fleet outlive it.
	streamLife = time.Minute
	// secretLife is how long its secret does.
	secretLife = 24 * time.Hour
	// maxReports bounds the reports that one round reads.
	maxReports = 1000
)

// Gossip is where the instances of a fleet tell each other what they do: each
// posts a report now and then, and reads those of the others, in one round trip,
// however many they are. Reports may be lost, and live for seconds. They are the
// entries of one stream, and so on one node of a Cluster. It needs Redis 6.2.
//
// It is not for concurrent use.
type Gossip struct {
	tier           *Tier
	stream, secret string // keys
	self           string
	last           entryID // the newest report that was read
}

// Report is what another instance posted.
type Report struct {
	From string        // names the instance, as long as it lives
	Age  time.Duration // by the clock of Redis
	Body []byte
}

// Gossip opens the gossip of that name. It does not call Redis.
func (t *Tier) Gossip(name string) *Gossip {
	return &Gossip{tier: t, stream: t.name(gossipPrefix, name), secret: t.name(secretPrefix, name), self: rand.Text()}
}

// Prefixes of the keys of a gossip. Its name is the hash tag of both.
const (
	gossipPrefix = "gossip:"
	secretPrefix = "secret:"
)

// Round posts a report, and returns those that others posted since the last round,
// the oldest first; in the first round, those that there are. It also returns the
// secret of the fleet, which is the offered one where there was none. It takes no
// longer than a write may, and goes round the breakers: one call now and then is a
// probe itself. After an error the report may have been posted or not.
func (e *Gossip) Round(ctx context.Context, offered, body []byte) (secret []byte, reports []Report, err error) {
	secret, reports, err = e.round(ctx, offered, body)
	result := "done"
	if err != nil {
		result = resultOf(err)
		err = fmt.Errorf("gossip with the other instances: %w", err)
	}
	e.tier.metrics.gossip.WithLabelValues(result).Inc()
	return secret, reports, err
}

func (e *Gossip) round(caller context.Context, offered, body []byte) ([]byte, []Report, error) {
	ctx, cancel := context.WithTimeout(caller, e.tier.writeTime)
	defer cancel()
	p := e.tier.client.Pipeline()
	offer := p.SetArgs(ctx, e.secret, offered, redis.SetArgs{Mode: "NX", TTL: secretLife})
	secret := p.GetEx(ctx, e.secret, secretLife)
	posted := p.XAdd(ctx, &redis.XAddArgs{Stream: e.stream, MinID: e.last.before(reportLife), Approx: true, Values: []any{"from", e.self, "body", body}})
	p.PExpire(ctx, e.stream, streamLife)
	found := p.XRead(ctx, &redis.XReadArgs{Streams: []string{e.stream, e.last.String()}, Count: maxReports, Block: -1})
	_, _ = p.Exec(ctx) // each call has its own error
	for _, call := range []error{ignoreMissing(offer.Err()), secret.Err(), posted.Err(), ignoreMissing(found.Err())} {
		if call != nil {
			return nil, nil, markCanceled(caller, call)
		}
	}
	own, ok := parseEntryID(posted.Val())
	if !ok {
		return nil, nil, fmt.Errorf("the ID of an entry is %.40q", posted.Val())
	}
	return bytesOf(secret.Val()), e.read(found.Val(), own), nil
}

// read returns the reports of others, and remembers how far it has read. The own
// report is the newest unless others came in between.
func (e *Gossip) read(streams []redis.XStream, own entryID) []Report {
	var reports []Report
	e.last = own // also where Redis was restarted with an earlier clock
	for _, stream := range streams {
		for _, m := range stream.Messages {
			id, ok := parseEntryID(m.ID)
			if !ok {
				continue
			}
			e.last = id
			from, _ := m.Values["from"].(string)
			body, _ := m.Values["body"].(string)
			if age := own.since(id); from != e.self && age <= reportLife {
				reports = append(reports, Report{From: from, Age: age, Body: bytesOf(body)})
			}
		}
	}
	return reports
}

// entryID is the ID of an entry in a stream: milliseconds of the clock of Redis, and
// a number among those of the same millisecond.
type entryID struct{ ms, seq uint64 }

func parseEntryID(text string) (entryID, bool) {
	ms, seq, ok := strings.Cut(text, "-")
	var id entryID
	var err1, err2 error
	id.ms, err1 = strconv.ParseUint(ms, 10, 64)
	id.seq, err2 = strconv.ParseUint(seq, 10, 64)
	return id, ok && err1 == nil && err2 == nil
}

// String is the ID as Redis writes it. That of the zero value precedes all entries.
func (id entryID) String() string {
	return strconv.FormatUint(id.ms, 10) + "-" + strconv.FormatUint(id.seq, 10)
}

// since is how much earlier another entry was made; 0 for a later one.
func (id entryID) since(other entryID) time.Duration {
	if id.ms < other.ms {
		return 0
	}
	return time.Duration(min(id.ms-other.ms, uint64(time.Hour/time.Millisecond))) * time.Millisecond
}

// before is the ID of entries made so much earlier; "" for the zero value.
func (id entryID) before(d time.Duration) string {
	ms := uint64(d / time.Millisecond)
	if id.ms <= ms {
		return ""
	}
	return entryID{ms: id.ms - ms}.String()
}
