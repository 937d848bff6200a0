package far

import (
	"github.com/redis/go-redis/v9"
)

// What a write asks of the script.
const (
	opWrite   = "write"
	opIndex   = "write index"
	opMark    = "mark"
	opLasting = "lasting mark"
	opDelete  = "delete"
	opRelease = "release"
)

// markOfNothing is for how many milliseconds a mark lives where there was nothing: longer than a fill may take that began before it.
const markOfNothing = "600000"

// markSize is the length of a mark: its date, its checksum and one byte. No other value is as short.
const markSize = "33"

// writeScript carries out what replaces or removes something, because only Redis can
// compare and write at once. It is one script for all, so that one round trip more is enough
// for a Redis that does not know it.
//
//	write KEY value ttl channel name
//	write index, with the same       where no mark is known, everything from before is taken to be marked
//	mark, with the same              where nothing was there but a mark, it is forgotten sooner
//	lasting mark, with the same
//	delete KEY created               deletes an entry created then or before
//	release KEY token                deletes the lease if it has the token
//
// Each returns the time of Redis, and whether something was announced (1), could not be (2) or did not have to be (0). Times are in Unix
// milliseconds. A write may have the release of the key's lease along, with LEASE and token: then a third value of 3 says that it is still
// there. The fourth value of a write or a mark is the time of the last mark of the key; 0: none is known.
//
// Whoever writes in the place of a mark may not know of it, and have older values of the key.
// So the time of a mark stays in what takes its place, and comes into a newer value that was
// there before the mark: see head.go. An index is a value beside which there are others, under keys that it tells of. Where no mark
// is known, one may have been forgotten, but none that came later than a mark of nothing lives.
//
// An entry is written in the place of one created before it, a mark also in that of one created
// at the same time; a replaceable one never in the place of a lasting one, a lasting one always
// in that of a replaceable one. An entry from the future, by a clock that is ahead, is dated now,
// so that it keeps no newer one out: see head.go. A mark with a name is announced. That it may not publish does not stop it.
var writeScript = redis.NewScript(`
local key, op = KEYS[1], ARGV[1]
local t = redis.call("time")
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local function announce(channel, message)
	local reply = redis.pcall("publish", channel, message)
	if type(reply) == "table" and reply.err then return 2 end
	return 1
end
local function release(lease, token)
	if redis.pcall("get", lease) ~= token then return 0 end
	local reply = redis.pcall("del", lease)
	if type(reply) == "table" then return 3, reply end
	return 0
end
if op == "` + opRelease + `" then
	local _, refused = release(key, ARGV[2])
	return refused or {now, 0}
end
local latest = now + 1000
local head = redis.pcall("getrange", key, 0, 48)
local there, lasting, marked = -1, false, 0
if type(head) == "string" and string.match(string.sub(head, 1, 15), "^[=~]%d%d%d%d%d%d%d%d%d%d%d%d%d%d$") and tonumber(string.sub(head, 2, 15)) <= latest then
	there, lasting = tonumber(string.sub(head, 2, 15)), string.sub(head, 1, 1) == "="
	local second = string.sub(head, 16, 30)
	if #head == ` + markSize + ` or #head == ` + markSize + ` + 15 and string.sub(second, 1, 1) == "` + string(redated) + `" then
		marked = there
	elseif string.match(second, "^` + string(marked) + `%d%d%d%d%d%d%d%d%d%d%d%d%d%d$") then
		marked = tonumber(string.sub(second, 2))
		if marked >= there then marked = 0 end
	end
end
local function telling(value, at, rest)
	return string.sub(value, 1, 15) .. "` + string(marked) + `" .. string.format("%014.0f", at) .. string.sub(value, rest)
end
if op == "` + opDelete + `" then
	if there <= tonumber(ARGV[2]) then redis.call("del", key) end
	return {now, 0}
end
local value, kind, created = ARGV[2], string.sub(ARGV[2], 1, 1), tonumber(string.sub(ARGV[2], 2, 15))
if created > latest then
	created = now
	value = kind .. string.format("%014.0f", now) .. "` + string(redated) + `" .. string.sub(value, 2)
end
local result, mark = {now, 0, 0, 0}, op ~= "` + opWrite + `" and op ~= "` + opIndex + `"
local function tell()
	if not mark or ARGV[5] == "" then return 0 end
	return announce(ARGV[4], "` + announcedMark + `" .. string.format("%.0f", created) .. " " .. ARGV[5])
end
local older = created < there or created == there and not (mark and marked < there)
if lasting and kind ~= "=" or lasting == (kind == "=") and older then
	if mark and marked < created then
		local whole, ttl = redis.call("get", key), redis.call("pttl", key)
		redis.call("set", key, telling(whole, created, marked > 0 and 31 or 16), "px", ttl > 0 and ttl or ARGV[3])
		marked = created
		result[2] = tell()
	end
else
	local ttl = ARGV[3]
	if op == "` + opMark + `" and (there < 0 or redis.call("strlen", key) == #value) then
		ttl = math.max(` + markOfNothing + `, redis.call("pttl", key))
	end
	if op == "` + opIndex + `" and marked == 0 then marked = created - ` + markOfNothing + ` end
	if mark then marked = created elseif marked > 0 then value = telling(value, marked, 16) end
	redis.call("set", key, value, "px", ttl)
	result[2] = tell()
end
result[4] = marked
if KEYS[2] then result[3] = release(KEYS[2], ARGV[6]) end
return result`)

// What leaseScript says of a lease.
const (
	somethingThere = 0
	leaseTaken     = 1
)

// leaseSource takes the leases of keys that nothing is known about: of each KEYS has those of
// the entry, the failure and the lease, ARGV the token and the milliseconds.
// It says 2 where Redis refuses writes.
const leaseSource = `
local taken = {}
for i = 1, #KEYS / 3 do
	taken[i] = 0
	if redis.call("exists", KEYS[3 * i - 2], KEYS[3 * i - 1], KEYS[3 * i]) == 0 then
		local reply = redis.pcall("set", KEYS[3 * i], ARGV[2 * i - 1], "px", ARGV[2 * i])
		taken[i] = reply.err and 2 or 1
	end
end
return taken`

var leaseScript = redis.NewScript(leaseSource)
