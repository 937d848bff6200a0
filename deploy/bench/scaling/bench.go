//go:build linux

package main

import (
	"embed"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"sundry/deploy/bench/harness"
	"sundry/deploy/bench/openloop"
)

// bench is one run.
type bench struct {
	*harness.Bench
	*options
	serverCore, loadCore int
	server               *harness.Process // Redis
	address              string           // of Redis
	redis                *redis.Client
	prefix               map[string]string // of entries in Redis, by endpoint
	started              int               // instances, for the names of their logs
	next                 int               // key that was never asked for
}

// figures are what was measured.
type figures struct {
	trips  []tripRow
	idle   []idleRow
	fleets []fleetRow
	growth []growthRow

	endpoints []endpointRow
}

// measure starts Redis, and measures one thing after the other, each with instances of
// its own.
func (b *bench) measure() (*figures, error) {
	if err := b.prepare(); err != nil {
		return nil, err
	}
	defer func() { _ = b.redis.Close() }() // nothing is outstanding
	f := &figures{}
	for _, part := range []struct {
		what    string
		measure func(*figures) error
	}{
		{"round trips", b.measureTrips}, {"instances", b.measureFleets}, {"keys", b.measureGrowth}, {"endpoints", b.measureEndpoints},
	} {
		if err := b.redis.FlushAll(b.Context).Err(); err != nil {
			return nil, fmt.Errorf("%s: %w", part.what, err)
		}
		if err := part.measure(f); err != nil {
			return nil, fmt.Errorf("%s: %w", part.what, err)
		}
	}
	return f, nil
}

// prepare makes what all measurements need: instances and Redis have a core each, and
// the load shares that of Redis.
func (b *bench) prepare() (err error) {
	if b.serverCore, b.loadCore, err = harness.Cores(); err != nil {
		return err
	}
	if err := b.BuildSundry(); err != nil {
		return err
	}
	if err := b.writeCatalog(); err != nil {
		return err
	}
	if err := b.startRedis(); err != nil {
		return err
	}
	return harness.Pin(b.loadCore)
}

// Endpoints of the bench. All have the same source, which is replayed.
const (
	lookups = "benchlookup"
	slow    = "benchslow"  // its source takes slowness
	stales  = "benchstale" // is purged, softly
)

const slowness = time.Second

// catalogFiles are one endpoint with its recorded exchange.
//
//go:embed catalog
var catalogFiles embed.FS

func (b *bench) writeCatalog() error {
	for _, name := range []string{lookups, slow, stales} {
		for from, to := range map[string]string{
			"lookup.yaml": name + ".yaml", "exchange.yaml": "testdata/" + name + "/bench/good/exchange.yaml",
			"reply.json": "testdata/" + name + "/bench/good/reply.json", "want.json": "testdata/" + name + "/bench/good/want.json",
		} {
			text, err := catalogFiles.ReadFile("catalog/" + from)
			if err != nil {
				return err
			}
			filled := strings.ReplaceAll(string(text), "NAME", name)
			if err := harness.WriteFile(b.File("catalog/"+to), filled); err != nil {
				return err
			}
		}
	}
	return nil
}

// redisPatience has a busy machine wait for Redis. A read that takes longer than its
// usual time becomes a miss, which is not what is measured.
const redisPatience = "?read_timeout=2s&pool_timeout=2s"

// env has the rate limit do its work without refusing anybody: all of the load has one
// address.
func env(memory int64) []string {
	return []string{"SUNDRY_CACHE_WARM=false", fmt.Sprintf("SUNDRY_CACHE_MEMORY=%d", memory), "SUNDRY_LIMITS_RATE=1000000", "SUNDRY_LIMITS_BURST=1000000"}
}

// fleet starts so many instances on one core, with a near tier of so many bytes, that
// reach Redis at an address.
func (b *bench) fleet(n int, memory int64, address string) ([]*harness.Sundry, error) {
	var all []*harness.Sundry
	for range n {
		b.started++
		s, err := b.StartSundry(fmt.Sprintf("sundry-%d", b.started), b.serverCore, env(memory),
			"--replay", "--replay-fault", slow+"=latency:"+slowness.String(), "--catalog", "catalog", "--redis", "redis://"+address+"/0"+redisPatience)
		if err != nil {
			return nil, fmt.Errorf("starting instance %d of %d: %w", len(all)+1, n, err)
		}
		all = append(all, s)
	}
	return all, nil
}

// end ends all instances at the same time.
func end(fleet []*harness.Sundry) {
	var ending sync.WaitGroup
	for _, s := range fleet {
		ending.Go(s.Stop)
	}
	ending.Wait()
}

// fresh are keys that nobody has asked for.
func (b *bench) fresh(n int) []int {
	ids := make([]int, n)
	for i := range ids {
		b.next++
		ids[i] = b.next
	}
	return ids
}

func pathOf(endpoint string, id int) string {
	return "/api/" + endpoint + "/index.php?id=" + strconv.Itoa(id)
}

// connections of the load, of all instances together.
const connections = 64

// offered is what came of a load.
type offered struct {
	answers int
	bytes   int64
	span    time.Duration
}

// offer has each instance asked for its keys, all at the same time: each key once, or
// over and over for a span.
func (b *bench) offer(fleet []*harness.Sundry, endpoint string, ids func(instance int) []int, span time.Duration) (offered, error) {
	results, errs := make([]*openloop.Result, len(fleet)), make([]error, len(fleet))
	var loads sync.WaitGroup
	for i, s := range fleet {
		l := &openloop.Load{Address: s.Address, Connections: max(1, connections/len(fleet))}
		for _, id := range ids(i) {
			l.Requests = append(l.Requests, []byte("GET "+pathOf(endpoint, id)+" HTTP/1.1\r\nHost: "+s.Address+"\r\n\r\n"))
		}
		due := openloop.Times(len(l.Requests))
		if span > 0 {
			due = openloop.AtOnce(span)
		}
		loads.Go(func() { results[i], errs[i] = l.Offer(due) })
	}
	loads.Wait()
	var all offered
	for i, result := range results {
		if errs[i] != nil {
			return all, errs[i]
		}
		if good := result.Statuses[http.StatusOK]; good < result.Answers() {
			return all, fmt.Errorf("%d of %d requests failed", result.Answers()-good, result.Answers())
		}
		all.answers += result.Answers()
		all.bytes += result.Bytes
		all.span = max(all.span, result.Span)
	}
	return all, nil
}

// fillBatch is how many keys an instance fills before their writes are waited for: fewer
// than it lets wait.
const fillBatch = 500

// fill has each instance fill a share of the keys, none faster than they are written to
// Redis.
func (b *bench) fill(fleet []*harness.Sundry, ids []int) (offered, error) {
	var all offered
	for len(ids) > 0 {
		batch := ids[:min(len(ids), fillBatch*len(fleet))]
		ids = ids[len(batch):]
		before, err := b.calls(releases)
		if err != nil {
			return all, err
		}
		done, err := b.offer(fleet, lookups, func(i int) []int { return batch[i*len(batch)/len(fleet) : (i+1)*len(batch)/len(fleet)] }, 0)
		if err != nil {
			return all, err
		}
		all.answers += done.answers
		all.bytes += done.bytes
		all.span += done.span
		if err := b.called(releases, len(batch), before); err != nil {
			return all, err
		}
	}
	return all, nil
}
