//go:build linux

package main

import "strings"

// step is what a command to Redis is for.
type step string

// Steps of requests, in their order, and what instances do by being there.
const (
	look    step = "look"    // for the entry, a failure record and the lease
	lease   step = "lease"   // taken, or denied
	denied  step = "want"    // a denied lease, so that its release is announced
	quota   step = "quota"   // of a source
	renewal step = "renewal" // of the lease
	store   step = "store"   // the entry, or the record of a failure
	release step = "release" // of the lease

	rates    step = "rates"
	settings step = "settings" // what operators change while it runs
	others   step = "others"   // connections, what the advisor knows
)

// requestSteps are those of requests, in their order.
func requestSteps() []step { return []step{look, lease, denied, quota, renewal, store, release} }

func (s step) ofRequests() bool { return s != rates && s != settings && s != others }

// stepOf tells what a command is for, by its name and its key.
func stepOf(args []string) step {
	if len(args) < 2 {
		return others
	}
	name, key := strings.ToLower(args[0]), args[1]
	if strings.HasPrefix(name, "eval") && len(args) > 3 {
		return stepOfScript(args[3], args[4:])
	}
	switch {
	case strings.HasSuffix(key, ":settings"):
		return settings
	case name == "mget", name == "get", name == "exists":
		return look
	case name == "set" && strings.Contains(key, ":lease:"):
		return lease
	case name == "set", name == "del":
		return store
	}
	return others
}

// stepOfScript tells it of a script, by its key and its further arguments.
func stepOfScript(key string, args []string) step {
	switch {
	case strings.Contains(key, ":secret:"):
		return rates
	case strings.HasSuffix(key, ":settings"):
		return settings
	case strings.Contains(key, ":quota:"):
		return quota
	case len(args) > 0 && (args[0] == "write" || args[0] == "delete"):
		return store
	case !strings.Contains(key, ":lease:"):
		return others
	case len(args) == 2 && args[0] == "!":
		return denied // the mark, and how long a lease lasts
	case len(args) == 2:
		return renewal // token and time
	}
	return release // token, channel and message
}
