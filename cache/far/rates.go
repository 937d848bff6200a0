package far

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"
)

const (
	// rateSecretLife is how long the secret of a fleet outlives it.
	rateSecretLife = 24 * time.Hour
	// silentAfter is how long an instance counts that is no longer heard of.
	silentAfter = 5 * time.Second
	// maxRates bounds the clients that an instance is told of: those that have used most.
	maxRates = 512
)

// Rates is what the clients of a fleet have used of their rate limits, at all instances
// together: of each the time at which that is restored, by the clock of Redis. It is one
// sorted set, and so on one node of a Cluster; what is restored is gone.
type Rates struct {
	tier *Tier
	keys []string
	self string
}

// Used is how long it takes until what a client has used is restored.
type Used struct {
	Client string
	Time   time.Duration
}

// Report is what an instance tells.
type Report struct {
	// Secret is to be that of the fleet, if it has none.
	Secret []byte
	// Used is what clients have used at this instance and was not told yet.
	Used []Used
	// Lag is how long ago that may have been. Most bounds what a client may have used.
	Lag, Most time.Duration
}

// Fleet is what the instances of a fleet have told.
type Fleet struct {
	Secret    []byte
	Instances int    // that told something a moment ago, this one included
	Used      []Used // what is not restored, at all instances together; the most first
}

// Rates opens the rates of that name. It does not call Redis.
func (t *Tier) Rates(name string) *Rates {
	return &Rates{t, []string{t.name("secret:", name), t.name("instances:", name), t.name("rates:", name)}, rand.Text()}
}

// ratesScript is the generic cell rate algorithm for what was admitted already. Times are in
// microseconds. Instances of the future, and what it finds beyond the most, are of a clock that was set back. Keys of another type are deleted, and a secret of
// another size is replaced.
const ratesScript = `
local t = redis.call("time")
local now, lag, most = t[1] * 1000000 + t[2], tonumber(ARGV[3]), tonumber(ARGV[4])
for i, kind in ipairs({"string", "zset", "zset"}) do
	local found = redis.call("type", KEYS[i]).ok
	if found ~= kind and found ~= "none" then redis.call("del", KEYS[i]) end
end
if redis.call("strlen", KEYS[1]) ~= #ARGV[2] then redis.call("set", KEYS[1], ARGV[2]) end
redis.call("zadd", KEYS[2], now, ARGV[1])
redis.call("zremrangebyscore", KEYS[2], "-inf", now - ARGV[5])
redis.call("zremrangebyscore", KEYS[2], now + 1, "+inf")
redis.call("zremrangebyscore", KEYS[3], "-inf", now - lag)
redis.call("zremrangebyscore", KEYS[3], now + most + 1, "+inf")
for i = 8, #ARGV, 2 do
	local before = redis.call("zscore", KEYS[3], ARGV[i]) or 0
	redis.call("zadd", KEYS[3], math.min(math.max(now - lag, before) + ARGV[i + 1], now + most), ARGV[i])
end
redis.call("pexpire", KEYS[1], ARGV[6])
redis.call("pexpire", KEYS[2], math.ceil(ARGV[5] / 1000))
redis.call("pexpire", KEYS[3], math.ceil(most / 1000))
local reply = {redis.call("get", KEYS[1]), redis.call("zcard", KEYS[2])}
local used = redis.call("zrevrangebyscore", KEYS[3], "+inf", now, "withscores", "limit", 0, ARGV[7])
for i = 1, #used, 2 do
	reply[i + 2], reply[i + 3] = used[i], used[i + 1] - now
end
return reply`

// Exchange adds a report, and returns what all instances have told, in one round trip. It
// takes no longer than a write may, and goes round the breakers: one call now and then is a
// probe itself. After an error the report may have arrived or not.
func (r *Rates) Exchange(ctx context.Context, told Report) (Fleet, error) {
	fleet, err := r.exchange(ctx, told)
	result := "done"
	if err != nil {
		result = resultOf(err)
		err = fmt.Errorf("rates of the fleet: %w", err)
	}
	r.tier.metrics.gossip.WithLabelValues(result).Inc()
	return fleet, err
}

func (r *Rates) exchange(caller context.Context, told Report) (Fleet, error) {
	ctx, cancel := context.WithTimeout(caller, r.tier.writeTime)
	defer cancel()
	args := []any{r.self, told.Secret, told.Lag.Microseconds(), told.Most.Microseconds(),
		silentAfter.Microseconds(), rateSecretLife.Milliseconds(), maxRates}
	for _, u := range told.Used {
		args = append(args, u.Client, u.Time.Microseconds())
	}
	reply, err := r.tier.client.Eval(ctx, ratesScript, r.keys, args...).Slice()
	if err != nil {
		return Fleet{}, markCanceled(caller, err)
	}
	return readFleet(reply)
}

// readFleet reads what the script returns.
func readFleet(reply []any) (f Fleet, err error) {
	if len(reply) < 2 {
		return f, errors.New("redis: unexpected reply about rates")
	}
	secret, _ := reply[0].(string)
	instances, _ := reply[1].(int64)
	f.Secret, f.Instances = []byte(secret), int(instances)
	for i := 2; i+1 < len(reply); i += 2 {
		client, _ := reply[i].(string)
		left, _ := reply[i+1].(int64)
		f.Used = append(f.Used, Used{client, time.Duration(left) * time.Microsecond})
	}
	return f, nil
}
