package proxy

import (
	"sundry/cache"
	"sundry/cache/policy"
)

// outcome is how a request was answered: one word for log and metrics.
type outcome uint8

const (
	outcomeHit outcome = iota
	outcomeStale
	outcomeStaleError
	outcomeMiss
	outcomeCoalesced
	outcomeNegative
	outcomeBypass
	outcomeNotModified
	outcomeInvalid
	outcomeError
	outcomeLimited
	outcomeShed
	outcomeDisconnected
	outcomes
)

// String is the outcome's label.
func (o outcome) String() string {
	return [...]string{"hit", "stale", "stale_error", "miss", "coalesced", "negative", "bypass", "not_modified",
		"invalid", "error", "limited", "shed", "left", "unknown"}[min(o, outcomes)]
}

// hasExemplar reports whether the request id becomes an exemplar of the duration:
// where upstreams were asked, or the request failed. For hits it would cost too
// much.
func (o outcome) hasExemplar() bool {
	switch o {
	case outcomeMiss, outcomeCoalesced, outcomeBypass, outcomeStaleError, outcomeError:
		return true
	}
	return false
}

// classes returns the status classes that an outcome can have.
func (o outcome) classes() []int {
	switch o {
	case outcomeHit, outcomeStale, outcomeStaleError, outcomeMiss, outcomeCoalesced, outcomeBypass:
		return []int{2, 3, 4} // 4: not available in that form
	case outcomeNotModified:
		return []int{3}
	case outcomeError, outcomeShed:
		return []int{4, 5}
	}
	return []int{4}
}

func outcomeOf(h *cache.Answer) outcome {
	switch {
	case h.State == policy.Absent:
		return outcomeBypass
	case h.Failed != nil:
		return outcomeStaleError
	case h.Tier == cache.Upstream && h.Coalesced:
		return outcomeCoalesced
	case h.Tier == cache.Upstream:
		return outcomeMiss
	case h.State >= policy.Grace:
		return outcomeStale
	}
	return outcomeHit
}

// outcome of a failure.
func (f *failure) outcome() outcome {
	switch f.errorType {
	case typeLimited:
		return outcomeLimited
	case typeOverloaded:
		return outcomeShed
	case typeNotFound:
		return outcomeNegative
	case typeMethod, typeInvalid, typeMissing, typeForbidden:
		return outcomeInvalid
	}
	if f.status == statusClientClosed {
		return outcomeDisconnected
	}
	return outcomeError
}
