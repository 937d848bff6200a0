package simulation

import "time"

// Known returns schedules that broke a promise once, which are run again always.
func Known() []Schedule {
	const ms = time.Millisecond
	return append(ofStarts(), []Schedule{
		// P1: what an instance stored before it knew the clock of Redis was dated when it arrived there, after a purge.
		{Seed: 96, Instances: 3, Clock: -53 * time.Second, Events: []Event{
			{At: 24350 * ms, Do: "redis loads", For: 11931 * ms},
			{At: 29228 * ms, Do: "restart", On: 1},
			{At: 31365 * ms, Do: "stall", On: 1, For: 6743 * ms},
			{At: 35643 * ms, Do: "burst", Target: apiPath + "3 de"},
			{At: 38184 * ms, Do: "purge prefix hard", On: 1, Target: "/p/"},
			{At: 39689 * ms, Do: "burst", Target: apiPath + "3 de"},
		}},
		// P1: an instance that read a purge before the clock of Redis dated it in the future, and ignored the next one for the APIs.
		{Seed: 48, Instances: 3, Clock: 133 * time.Second, Events: []Event{
			{At: 24885 * ms, Do: "purge all hard", On: 0, Target: "*"},
			{At: 50064 * ms, Do: "pause", On: 0, For: 7255 * ms},
			{At: 50860 * ms, Do: "restart", On: 0},
			{At: 67831 * ms, Do: "burst", Target: apiPath + "2 en"},
			{At: 69054 * ms, Do: "purge all hard", On: 0, Target: "*"},
			{At: 72634 * ms, Do: "get", On: 0, Target: apiPath + "2 en"},
		}},
		// E1: of instances that fetched a variant at once, each lost another variant that it had.
		{Seed: 0, Instances: 3, Clock: -176 * time.Second, Events: []Event{
			{At: 622 * ms, Do: "burst", Target: apiPath + "1 en"},
			{At: 2308 * ms, Do: "burst", Target: apiPath + "1 de"},
			{At: 4373 * ms, Do: "get", On: 1, Target: apiPath + "1 en"},
		}},
		// O2: an operator's change took as long as each call of a Redis that hangs.
		{Seed: 1, Instances: 3, Events: []Event{
			{At: 4000 * ms, Do: "stall", On: 0, For: 9000 * ms},
			{At: 5000 * ms, Do: "set ttl", On: 0, N: 9},
		}},
		// R2: a stop waited for a mutex that a client of Redis held while it connected, or a write of the status.
		{Seed: 2, Instances: 3, Events: []Event{
			{At: 4000 * ms, Do: "stall", On: 1, For: 9000 * ms},
			{At: 6000 * ms, Do: "restart", On: 1},
			{At: 7000 * ms, Do: "stall", On: 2, For: 9000 * ms},
			{At: 8000 * ms, Do: "kill", On: 2},
		}},
		// M2: Redis had refused what one instance had loaded, so that another one loaded it, and told nobody.
		{Seed: 3, Instances: 3, Events: []Event{
			{At: 0, Do: "redis full", For: 2000 * ms},
			{At: 1000 * ms, Do: "get", On: 0, Target: endpointPath + "1"},
			{At: 12000 * ms, Do: "get", On: 1, Target: endpointPath + "1"},
			{At: 18000 * ms, Do: "get", On: 0, Target: endpointPath + "1"},
			{At: 19500 * ms, Do: "get", On: 0, Target: endpointPath + "1"},
		}},
		// M2: Redis was emptied after two instances had loaded different responses, of which it had the newer one.
		{Seed: 4, Instances: 3, Events: []Event{
			{At: 0, Do: "get", On: 0, Target: endpointPath + "1"},
			{At: 1000 * ms, Do: "redis emptied"},
			{At: 2000 * ms, Do: "get", On: 1, Target: endpointPath + "1"},
			{At: 10000 * ms, Do: "get", On: 1, Target: endpointPath + "1"},
			{At: 16000 * ms, Do: "get", On: 0, Target: endpointPath + "1"},
			{At: 17500 * ms, Do: "get", On: 0, Target: endpointPath + "1"},
		}},
		// B1: a fill began its time anew when its key was purged meanwhile.
		{Seed: 120, Instances: 3, Events: []Event{
			{At: 14824 * ms, Do: "get", On: 2, Target: endpointPath + "3"},
			{At: 15539 * ms, Do: "purge own hard", On: 1, Target: "own"},
			{At: 16044 * ms, Do: "get", On: 2, Target: endpointPath + "3"},
			{At: 16546 * ms, Do: "purge all hard", On: 1, Target: "*"},
			{At: 18517 * ms, Do: "get", On: 2, Target: endpointPath + "3"},
			{At: 28187 * ms, Do: "set ttl", On: 0, N: 2},
			{At: 33004 * ms, Do: "get", On: 0, Target: endpointPath + "3"},
			{At: 38707 * ms, Do: "get", On: 1, Target: endpointPath + "3"},
			{At: 38924 * ms, Do: "purge own hard", On: 1, Target: "own"},
		}},
		// E1: of instances that fetched variants at once after a purge, one lost its variant when it heard of another one's.
		{Seed: 192, Instances: 3, Clock: -24 * time.Second, Events: []Event{
			{At: 2836 * ms, Do: "start alone", On: 2, For: 6279 * ms},
			{At: 7986 * ms, Do: "get", On: 1, Target: apiPath + "1 en"},
			{At: 32753 * ms, Do: "get", On: 1, Target: apiPath + "1 en"},
			{At: 38168 * ms, Do: "get", On: 0, Target: apiPath + "1 en"},
			{At: 48382 * ms, Do: "get", On: 2, Target: apiPath + "1 en"},
			{At: 52735 * ms, Do: "purge prefix hard", On: 2, Target: "/p/"},
			{At: 54013 * ms, Do: "get", On: 1, Target: apiPath + "1 en"},
			{At: 56946 * ms, Do: "burst", Target: apiPath + "1 en"},
			{At: 61065 * ms, Do: "get", On: 1, Target: apiPath + "1 de"},
			{At: 66833 * ms, Do: "burst", Target: apiPath + "1 en"},
		}},
		// P2: an instance that read a purge before the clock of Redis dated it minutes too early.
		{Seed: 1209, Instances: 4, Clock: -145 * time.Second, Events: []Event{
			{At: 43356 * ms, Do: "unsafe alone", On: 1, Target: apiPath + "1", For: 3003 * ms},
			{At: 52437 * ms, Do: "purge prefix hard", On: 1, Target: "/p/"},
			{At: 53154 * ms, Do: "kill", On: 0},
			{At: 53389 * ms, Do: "stall", On: 0, For: 3958 * ms},
			{At: 61823 * ms, Do: "burst", Target: apiPath + "1 en"},
		}},
		// M2: variants of a URI that instances had stored after they had begun at once did not find one another in Redis.
		{Seed: 341, Instances: 3, Events: []Event{
			{At: 10611 * ms, Do: "get", On: 0, Target: apiPath + "2 en"},
			{At: 12807 * ms, Do: "start alone", On: 1, For: 6035 * ms},
			{At: 17831 * ms, Do: "get", On: 2, Target: apiPath + "2 de"},
			{At: 23284 * ms, Do: "get", On: 0, Target: apiPath + "2 en"},
			{At: 26325 * ms, Do: "get", On: 0, Target: apiPath + "2 de"},
			{At: 28221 * ms, Do: "get", On: 2, Target: apiPath + "2 en"},
		}},
		// M2: an instance that had started without Redis found no variants of others in it for 10 s more.
		{Seed: 1245, Instances: 3, Clock: -23 * time.Second, Events: []Event{
			{At: 2082 * ms, Do: "redis restarts", For: 1859 * ms},
			{At: 2894 * ms, Do: "get", On: 0, Target: apiPath + "1 en"},
			{At: 3114 * ms, Do: "get", On: 2, Target: apiPath + "1 en"},
			{At: 8980 * ms, Do: "get", On: 2, Target: apiPath + "1 en"},
			{At: 10932 * ms, Do: "start alone", On: 2, For: 8544 * ms},
			{At: 14856 * ms, Do: "get", On: 0, Target: apiPath + "1 en"},
			{At: 15067 * ms, Do: "start alone", On: 0, For: 7433 * ms},
			{At: 15878 * ms, Do: "get", On: 0, Target: apiPath + "1 en"},
			{At: 22319 * ms, Do: "get", On: 1, Target: apiPath + "1 en"},
			{At: 29339 * ms, Do: "burst", Target: apiPath + "1 en"},
		}},
	}...)
}

// ofStarts returns those of instances that start while Redis is away, slow or has lost something.
func ofStarts() []Schedule {
	return []Schedule{slowClock(), unreadClock(), unreadStore(), unknownCopy(), missedUnsafe(), lostMark(), rolledBackCopy(), lostTwice(), staleCopy(), writtenBack(), pausedAtAnError(), refusedResponse(),
		endsInTime(), usedTooEarly()}
}

// slowClock broke E1: the first reading of the clock of Redis waited for a connection and was too slow, so that purges were dated in the
// future.
func slowClock() Schedule {
	const ms = time.Millisecond
	return Schedule{Seed: 11579, Instances: 4, Clock: 18 * time.Second, Events: []Event{
		{At: 51953 * ms, Do: "purge in a load", On: 2, Target: endpointPath + "1", N: 40},
		{At: 57302 * ms, Do: "start alone", On: 1, For: 8431 * ms},
		{At: 62196 * ms, Do: "set ttl", On: 2, N: 8},
		{At: 67065 * ms, Do: "redis emptied"},
		{At: 68727 * ms, Do: "purge in a load", On: 0, Target: endpointPath + "1", N: 52},
		{At: 71631 * ms, Do: "get", On: 1, Target: endpointPath + "1"},
		{At: 76204 * ms, Do: "pause", On: 1, For: 4924 * ms},
		{At: 76912 * ms, Do: "start alone", On: 3, For: 6906 * ms},
		{At: 79240 * ms, Do: "burst", Target: endpointPath + "1"},
		{At: 80394 * ms, Do: "slow", On: 3, For: 6975 * ms, N: 131},
		{At: 82683 * ms, Do: "set ttl", On: 2, N: 2},
		{At: 83250 * ms, Do: "get", On: 1, Target: endpointPath + "1"},
	}}
}

// unreadClock broke E1: settings were read while the clock of Redis could not be read, so that purges were dated in the future.
func unreadClock() Schedule {
	const ms = time.Millisecond
	return Schedule{Seed: 21477, Instances: 3, Clock: 95 * time.Second, Events: []Event{
		{At: 4388 * ms, Do: "purge own hard", On: 0, Target: "own"},
		{At: 20922 * ms, Do: "get", On: 2, Target: endpointPath + "1"},
		{At: 29093 * ms, Do: "stall", On: 1, For: 2667 * ms},
		{At: 29698 * ms, Do: "start alone", On: 0, For: 4501 * ms},
		{At: 31284 * ms, Do: "get", On: 1, Target: endpointPath + "1"},
		{At: 32135 * ms, Do: "slow", On: 0, For: 7609 * ms, N: 198},
		{At: 33733 * ms, Do: "cut", On: 0},
		{At: 34673 * ms, Do: "get", On: 0, Target: endpointPath + "1"},
	}}
}

// unreadStore broke P1: an instance that could not read the settings at its start served what it had purged before.
func unreadStore() Schedule {
	const ms = time.Millisecond
	return Schedule{Seed: 20873, Instances: 3, Events: []Event{
		{At: 871 * ms, Do: "get", On: 1, Target: apiPath + "2 de"},
		{At: 916 * ms, Do: "purge prefix hard", On: 1, Target: "/p/"},
		{At: 2024 * ms, Do: "restart", On: 1},
		{At: 2217 * ms, Do: "stall", On: 1, For: 2779 * ms},
		{At: 7208 * ms, Do: "burst", Target: apiPath + "2 de"},
	}}
}

// unknownCopy broke P1: an instance that had purged everything, and was the only one to know it when Redis was rolled back, was killed; when
// it started again, the others had stored more than it knew, and its copy of the settings was not read.
func unknownCopy() Schedule {
	const ms = time.Millisecond
	return Schedule{Seed: 43019, Instances: 4, Events: []Event{
		{At: 20425 * ms, Do: "get", On: 2, Target: apiPath + "2 de"},
		{At: 39589 * ms, Do: "unsafe alone", On: 1, Target: apiPath + "1", For: 1530 * ms},
		{At: 39994 * ms, Do: "get", On: 3, Target: apiPath + "2 de"},
		{At: 40633 * ms, Do: "purge all hard", On: 1, Target: "*"},
		{At: 40634 * ms, Do: "redis loads", For: 8458 * ms},
		{At: 45371 * ms, Do: "purge own soft", On: 3, Target: "own"},
		{At: 45836 * ms, Do: "redis rolled back"},
		{At: 46610 * ms, Do: "kill", On: 1},
		{At: 52049 * ms, Do: "burst", Target: apiPath + "2 de"},
	}}
}

// missedUnsafe breaks P2 where an instance does not look up what it may have missed while it did not hear from Redis.
func missedUnsafe() Schedule {
	const ms = time.Millisecond
	return Schedule{Seed: 9, Instances: 3, Events: []Event{
		{At: 1000 * ms, Do: "burst", Target: apiPath + "3 en"},
		{At: 1500 * ms, Do: "get", On: 1, Target: apiPath + "3 en"},
		{At: 2000 * ms, Do: "refuse", On: 1, For: 1500 * ms},
		{At: 2010 * ms, Do: "cut", On: 1},
		{At: 3000 * ms, Do: "unsafe", On: 0, Target: apiPath + "3"},
		{At: 12000 * ms, Do: "get", On: 1, Target: apiPath + "3 en"},
	}}
}

// lostMark was taken for a break of P2: the notice of an unsafe request was lost on a connection that lived on. The instance serves its
// copy once, and the burst's other requests with it; the confirmation behind it finds the mark, so that the last request must not get it.
func lostMark() Schedule {
	const ms = time.Millisecond
	return Schedule{Seed: 80390, Instances: 3, Events: []Event{
		{At: 29215 * ms, Do: "start alone", On: 2, For: 4223 * ms},
		{At: 31704 * ms, Do: "restart", On: 2},
		{At: 34537 * ms, Do: "lose notices", On: 2, N: 3},
		{At: 35361 * ms, Do: "unsafe", On: 1, Target: apiPath + "3"},
		{At: 77528 * ms, Do: "burst", Target: apiPath + "3 en"},
		{At: 79000 * ms, Do: "get", On: 2, Target: apiPath + "3 en"},
	}}
}

// lostTwice was taken for a break of P2: the notice of an unsafe request was lost, and Redis was emptied before the copy was used again.
// Then nobody tells the instance that its copy is invalid.
func lostTwice() Schedule {
	const ms = time.Millisecond
	return Schedule{Seed: 123421, Instances: 3, Events: []Event{
		{At: 55297 * ms, Do: "lose notices", On: 1, N: 3},
		{At: 55447 * ms, Do: "burst", Target: apiPath + "2 en"},
		{At: 55551 * ms, Do: "unsafe", On: 0, Target: apiPath + "2"},
		{At: 64340 * ms, Do: "redis emptied"},
		{At: 65492 * ms, Do: "get", On: 1, Target: apiPath + "2 en"},
		{At: 72078 * ms, Do: "get", On: 1, Target: apiPath + "2 en"},
	}}
}

// rolledBackCopy broke P1: settings that were rolled back in a Redis that takes no writes took the place of the copy in the data directory, so
// that an instance that was killed did not know its own purge when it started again.
func rolledBackCopy() Schedule {
	const ms = time.Millisecond
	return Schedule{Seed: 91121, Instances: 3, Events: []Event{
		{At: 43710 * ms, Do: "get", On: 2, Target: endpointPath + "3"},
		{At: 50355 * ms, Do: "purge all soft", On: 1, Target: "*"},
		{At: 51845 * ms, Do: "redis saved"},
		{At: 66818 * ms, Do: "purge own hard", On: 2, Target: "own"},
		{At: 68874 * ms, Do: "redis read-only", For: 4429 * ms},
		{At: 69804 * ms, Do: "redis rolled back"},
		{At: 73116 * ms, Do: "kill", On: 2},
		{At: 73261 * ms, Do: "get", On: 1, Target: apiPath + "3 de"},
		{At: 73955 * ms, Do: "get", On: 0, Target: endpointPath + "2"},
		{At: 74975 * ms, Do: "burst", Target: endpointPath + "3"},
	}}
}

// pausedAtAnError was taken for a second request of C3: an instance that was paused noticed six seconds later that a response could not be
// shared, and so remembered it for longer.
func pausedAtAnError() Schedule {
	const ms = time.Millisecond
	return Schedule{Seed: 63740, Instances: 4, Clock: -131 * time.Second, Events: []Event{
		{At: 25395 * ms, Do: "burst", Target: apiPath + "2 en"},
		{At: 29351 * ms, Do: "purge url hard", On: 2, Target: "/p/2"},
		{At: 31667 * ms, Do: "origin down", For: 2455 * ms},
		{At: 31880 * ms, Do: "burst", Target: apiPath + "2 en"},
		{At: 33511 * ms, Do: "get", On: 2, Target: apiPath + "2 en"},
		{At: 33532 * ms, Do: "pause", On: 2, For: 5896 * ms},
		{At: 45743 * ms, Do: "burst", Target: apiPath + "2 de"},
	}}
}

// refusedResponse breaks M2 where responses of APIs are not confirmed: Redis had refused what one instance had loaded, so that another one
// loaded it.
func refusedResponse() Schedule {
	const ms = time.Millisecond
	return Schedule{Seed: 7, Instances: 3, Events: []Event{
		{At: 0, Do: "redis full", For: 2000 * ms},
		{At: 1000 * ms, Do: "get", On: 0, Target: apiPath + "3 en"},
		{At: 12000 * ms, Do: "get", On: 1, Target: apiPath + "3 en"},
		{At: 18000 * ms, Do: "get", On: 0, Target: apiPath + "3 en"},
		{At: 19500 * ms, Do: "get", On: 0, Target: apiPath + "3 en"},
	}}
}

// staleCopy broke M2: an instance served a response that Redis lacked when it was stale, its refresh failed, and a longer TTL made it fresh
// again, and also the older one of another instance.
func staleCopy() Schedule {
	const ms = time.Millisecond
	return Schedule{Seed: 113946, Instances: 3, Events: []Event{
		{At: 1000 * ms, Do: "set ttl", On: 0, N: 15},
		{At: 3000 * ms, Do: "get", On: 0, Target: endpointPath + "2"},
		{At: 5000 * ms, Do: "start alone", On: 2, For: 8000 * ms},
		{At: 11000 * ms, Do: "redis full", For: 4000 * ms},
		{At: 26000 * ms, Do: "hold breaker", On: 0, Target: "open", For: 20000 * ms},
		{At: 28000 * ms, Do: "get", On: 2, Target: endpointPath + "2"},
		{At: 34500 * ms, Do: "get", On: 0, Target: endpointPath + "2"},
		{At: 36000 * ms, Do: "set ttl", On: 0, N: 59},
		{At: 40000 * ms, Do: "get", On: 0, Target: endpointPath + "2"},
	}}
}

// writtenBack broke M1 when refreshes that failed wrote their copies back: in an emptied Redis, an instance that waited for another one's load
// found the older copy of that one, and served it in the place of its own.
func writtenBack() Schedule {
	const ms = time.Millisecond
	return Schedule{Seed: 121361, Instances: 4, Events: []Event{
		{At: 8404 * ms, Do: "get", On: 0, Target: endpointPath + "3"},
		{At: 11144 * ms, Do: "purge in a load", On: 0, Target: endpointPath + "1", N: 40},
		{At: 28600 * ms, Do: "get", On: 2, Target: endpointPath + "3"},
		{At: 38819 * ms, Do: "start alone", On: 1, For: 8080 * ms},
		{At: 44246 * ms, Do: "get", On: 1, Target: endpointPath + "3"},
		{At: 49713 * ms, Do: "set ttl", On: 0, N: 4},
		{At: 53313 * ms, Do: "redis restarts", For: 3245 * ms},
		{At: 58928 * ms, Do: "burst", Target: endpointPath + "3"},
	}}
}

// endsInTime broke R0: the last request of an instance that stops ended just before drain_timeout, and net/http had not looked at its
// connections since.
func endsInTime() Schedule {
	const ms = time.Millisecond
	return Schedule{Seed: 143026, Instances: 4, Events: []Event{
		{At: 3473 * ms, Do: "get", On: 2, Target: apiPath + "1 de"},
		{At: 9190 * ms, Do: "burst", Target: apiPath + "1 de"},
		{At: 9346 * ms, Do: "start alone", On: 0, For: 6320 * ms},
		{At: 9873 * ms, Do: "get", On: 1, Target: apiPath + "1 en"},
		{At: 12270 * ms, Do: "unsafe alone", On: 3, Target: apiPath + "1", For: 3116 * ms},
		{At: 18314 * ms, Do: "restart", On: 0},
		{At: 18680 * ms, Do: "get", On: 2, Target: apiPath + "1 en"},
		{At: 19410 * ms, Do: "get", On: 3, Target: apiPath + "1 en"},
	}}
}

// usedTooEarly was taken for a breach of M2: an instance served its copy just after its slow link had become fast again, when it did not
// yet read from Redis.
func usedTooEarly() Schedule {
	const ms = time.Millisecond
	return Schedule{Seed: 143360, Instances: 4, Events: []Event{
		{At: 1334 * ms, Do: "get rated", On: 3, Target: ratedPath + "2"},
		{At: 8151 * ms, Do: "redis emptied"},
		{At: 9891 * ms, Do: "slow", On: 3, For: 11838 * ms, N: 95},
		{At: 15607 * ms, Do: "get", On: 3, Target: apiPath + "3 en"},
		{At: 16379 * ms, Do: "get rated", On: 0, Target: ratedPath + "2"},
		{At: 20244 * ms, Do: "get", On: 3, Target: apiPath + "1 de"},
		{At: 20417 * ms, Do: "get rated", On: 3, Target: ratedPath + "8"},
		{At: 20888 * ms, Do: "get", On: 3, Target: apiPath + "3 de"},
		{At: 21250 * ms, Do: "get", On: 3, Target: apiPath + "3 en"},
		{At: 22452 * ms, Do: "get rated", On: 3, Target: ratedPath + "2"},
		{At: 27547 * ms, Do: "get rated", On: 3, Target: ratedPath + "2"},
	}}
}
