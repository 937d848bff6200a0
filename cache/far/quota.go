package far

import (
	"context"
	"fmt"
	"time"
)

// quotaScript counts a call, in a list of the times of the last calls, the newest
// first, if for each bound the oldest of as many calls as it allows is old enough; else
// it returns for how many microseconds one is not. Then it counts the calls within the
// last bound. The clock is that of Redis. A key of another type is deleted, and what is no time counts as none.
const quotaScript = `
local kind = redis.call("type", KEYS[1]).ok
if kind ~= "list" and kind ~= "none" then redis.call("del", KEYS[1]) end
local t = redis.call("time")
local now, wait, most, longest = t[1] * 1000000 + t[2], 0, 0, 0
local function age(n)
	local at = tonumber(redis.call("lindex", KEYS[1], n) or nil)
	return at and now - at
end
for i = 1, #ARGV, 2 do
	most, longest = tonumber(ARGV[i]), tonumber(ARGV[i + 1])
	local oldest = age(most - 1)
	if oldest and oldest >= 0 and oldest < longest then wait = math.max(wait, longest - oldest) end
end
if wait == 0 then
	redis.call("lpush", KEYS[1], string.format("%.0f", now))
	redis.call("ltrim", KEYS[1], 0, most - 1)
	redis.call("pexpire", KEYS[1], math.ceil(longest / 1000))
end
local within, beyond = 0, redis.call("llen", KEYS[1])
while within < beyond do
	local middle = math.floor((within + beyond) / 2)
	if (age(middle) or longest) < longest then within = middle + 1 else beyond = middle end
end
return {wait, within}`

// TakeQuota counts a call of the quota of that name, if all instances together keep
// within all bounds; else it returns how long until they would. The last bound has the
// most calls and the longest time: made is how many calls there are within that one,
// with this one. It takes one round trip, and no longer than a read may.
func (t *Tier) TakeQuota(caller context.Context, name string, bounds []struct {
	Calls int
	Per   time.Duration
}) (wait time.Duration, made int, err error) {
	args := make([]any, 0, 2*len(bounds))
	for _, b := range bounds {
		args = append(args, b.Calls, b.Per.Microseconds())
	}
	var reply []int64
	err = t.writes.call(func() error {
		ctx, cancel := context.WithTimeout(caller, t.cfg.Timeout)
		defer cancel()
		var err error
		reply, err = t.client.Eval(ctx, quotaScript, []string{t.name(quotaPrefix, name)}, args...).Int64Slice()
		return markCanceled(caller, err)
	})
	if err == nil && len(reply) != 2 {
		err = fmt.Errorf("expected two numbers, got %d", len(reply))
	}
	if err != nil {
		return 0, 0, fmt.Errorf("quota of the fleet: %w", err)
	}
	return time.Duration(reply[0]) * time.Microsecond, int(reply[1]), nil
}

const quotaPrefix = "quota:"
