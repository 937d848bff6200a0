package simulation

// rule is a promise of the documents.
type rule struct {
	name    string
	promise string
	file    string // the document in deploy that makes it
	says    string // the words there that make it
	// compares means that the rule compares times which instances exchange: nothing is promised while clocks are set.
	compares bool
	response func(f *fleet, r *rule, q *request) // checks a response to a client; nil means none
	fleet    func(*fleet)                        // checks the run; nil means that failures are noted while it goes on
}

// rules returns the promises, those of responses first.
func rules() []rule {
	return append(responseRules(), fleetRules()...)
}

func responseRules() []rule {
	return []rule{
		{"C0", "a response is that of its target", "architecture.md", "nothing wrong served and nothing good lost", false, (*fleet).checkContent, nil},
		{"P1", "an instance that answered a purge, hard, soft or by an unsafe request, serves nothing older (as fresh), and after a purge neither when it is restarted", "admin-api.md", "in force at once where it was made", true, (*fleet).checkPurged, nil},
		{"P2", "nor do other instances, once they are in touch with Redis", "proxy.md", "A purge is about all that was asked for before it, on every instance of a fleet", true, (*fleet).checkPurgedElsewhere, nil},
		{"P3", "an instance that starts, or was cut off, reads nothing from Redis that was purged before", "adr/0004-settings-of-a-fleet.md", "does not use what Redis holds until it has read the settings", true, (*fleet).checkRead, nil},
		{"T1", "after the soft timeout no client gets an older copy than one that another client has had from the instance", "scaling.md", "No client gets an older response from an instance than another client has had from it", true, (*fleet).checkSoftTimeout, nil},
		{"M1", "no instance serves an older response than one that it has served", "scaling.md", "No client gets an older response from an instance than another client has had from it", true, (*fleet).checkOlder, nil},
		{"M2", "in a healthy fleet no instance serves an older response than one that any has served", "scaling.md", "no instance serves an older response than one that any instance served", true, (*fleet).checkOldest, nil},
		{"E1", "no error and no negative answer is served in place of a usable copy", "scaling.md", "Neither an error nor a negative answer takes the place of a copy that may be used", true, (*fleet).checkErrors, nil},
		{"B3", "in a healthy fleet a client waits no longer than the calls for its key take", "scaling.md", "waits no longer than the calls for it take", true, (*fleet).checkWaitForOthers, nil},
		{"B1", "a client waits the soft timeout at most where there is a copy, and else the time of a fill", "catalog.md", "How long a caller waits for a refresh before a stale answer is served instead.", false, (*fleet).checkWait, nil},
	}
}

func fleetRules() []rule {
	return []rule{
		{"C1", "while all is well, one call for a key of an endpoint is under way in the fleet", "scaling.md", "at most one call for a key of an endpoint is under way in the whole fleet", true, nil, (*fleet).checkOneCall},
		{"C2", "while all is well, no call is made for a key of an endpoint while a response is fresh", "scaling.md", "none is made while a response for it is fresh", true, nil, (*fleet).checkTTL},
		{"C3", "an instance makes one request at a time for a variant of an API", "proxy.md", "one request, whose answer streams to all", true, nil, (*fleet).checkOneRequest},
		{"Q1", "the rate of a source is kept by all instances together", "tuning.md", "Calls, retries and refreshes draw from the quota of a source (`rate`), over the whole fleet with Redis.", true, nil, (*fleet).checkRate},
		{"O1", "an operator's call succeeds, whatever happens to Redis", "admin-api.md", "What cannot be stored within about two seconds, for whatever reason, is *pending*", false, nil, nil},
		{"O2", "an operator's call returns in time", "admin-api.md", "What cannot be stored within about two seconds", false, nil, (*fleet).checkOperators},
		{"O3", "a change that a later one has overtaken is not undone", "admin-api.md", "409 if one of them concerns the same setting or hold", false, nil, nil},
		{"ST1", "at the end nothing is pending, and all instances are in sync", "admin-api.md", "stored as soon as it can be", false, nil, (*fleet).checkPending},
		{"ST2", "no change is lost, and the last one is in force", "architecture.md", "No stored change is lost, nor a pending one where a file can keep it.", true, nil, (*fleet).checkInForce},
		{"ST3", "instances that are in touch with Redis have the same settings", "admin-api.md", "The other instances apply it within three seconds.", false, nil, (*fleet).checkSame},
		{"R0", "an instance does not end by itself", "scaling.md", "An instance ends only when it is stopped", false, nil, nil},
		{"R1", "an instance stops in time", "scaling.md", "It stops within `drain_timeout`, whatever Redis does", false, nil, nil},
		{"R2", "nothing remains of an instance that has stopped", "scaling.md", "nothing of it runs on", false, nil, nil},
		{"R3", "Redis never goes back to an older response", "scaling.md", "Redis never goes back to an older response", true, nil, nil},
		{"R4", "whatever Redis holds of responses expires", "sizing.md", "all responses have a lifetime", false, nil, (*fleet).checkLifetimes},
		{"QU1", "at the end nothing waits to be written to Redis", "tuning.md", "All is whole again within 2 s after Redis is back.", false, nil, (*fleet).checkQueues},
		{"QU2", "queues, and what is kept of APIs in memory, stay within their bounds", "runbook.md", "the queue was full (32,768 entries, 64 MiB)", false, nil, (*fleet).checkBounds},
		{"PA", "nothing panics", "metrics.md", "Each is a mistake in the program", false, nil, (*fleet).checkPanics},
	}
}
