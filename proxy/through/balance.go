package through

import (
	"cmp"
	"slices"
)

// Balance is the order in which the addresses of an origin are asked.
type Balance string

// The ways to balance. "" is First.
const (
	First      Balance = "first"       // in the order of the file
	RoundRobin Balance = "round_robin" // in turn
	Least      Balance = "least"       // first the one with the fewest requests that are not complete
)

// load is the state of an address.
type load struct {
	out         bool // by its health checks or its breaker
	outstanding int64
}

// order returns the indexes of the addresses in the order in which a request is sent to them. turn is the number of the request. Addresses
// that are out come last. If all are, the checks are more likely wrong than all addresses.
func (b Balance) order(turn uint64, addresses []load) []int {
	order := make([]int, 0, len(addresses))
	for _, out := range [...]bool{false, true} {
		begin := len(order)
		for i, a := range addresses {
			if a.out == out {
				order = append(order, i)
			}
		}
		if group := order[begin:]; b != First && b != "" && len(group) > 0 {
			rotate(group, int(turn%uint64(len(group))))
			if b == Least {
				slices.SortStableFunc(group, func(x, y int) int { return cmp.Compare(addresses[x].outstanding, addresses[y].outstanding) })
			}
		}
	}
	return order
}

// rotate moves the first n elements to the end.
func rotate(all []int, n int) {
	copy(all, append(slices.Clone(all[n:]), all[:n]...))
}

// inOrder returns the addresses in the order in which a request is sent to them.
func (o *Origin) inOrder() []Target {
	if len(o.targets) == 1 || !o.isBalanced {
		return o.targets
	}
	loads := make([]load, len(o.targets))
	for i := range o.targets {
		t := &o.targets[i]
		loads[i].out = t.isOut()
		if t.outstanding != nil {
			loads[i].outstanding = t.outstanding.Load()
		}
	}
	ordered := make([]Target, 0, len(loads))
	for _, i := range o.balance.order(o.turn.Add(1), loads) {
		ordered = append(ordered, o.targets[i])
	}
	return ordered
}

// isOut reports whether the address is asked only after others.
func (t *Target) isOut() bool { return t.Check.Out() || t.Host != nil && t.Host.State() == "open" }

// count adds n to the outstanding requests: 1 when a request begins, and -1 when it has ended.
func (t *Target) count(n int64) {
	if t.outstanding != nil {
		t.outstanding.Add(n)
	}
}
