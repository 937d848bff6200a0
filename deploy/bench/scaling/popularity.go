//go:build linux

package main

import (
	"math/rand/v2"
	"sort"

	"sundry/deploy/bench/harness"
)

// nearHits measures hits of keys that are in the near tier of all instances, once they have
// been asked for in the same order for as long.
func (b *bench) nearHits(fleet []*harness.Sundry, ids []int) (cost, error) {
	ask := func() (offered, error) {
		return b.offer(fleet, lookups, func(int) []int { return ids }, b.span)
	}
	if _, err := ask(); err != nil {
		return cost{}, err
	}
	return b.cost(fleet, nearHit, ask)
}

// evenly has each key once, in an order that is that of no memory, always the same.
func evenly(ids []int) []int {
	shuffled := make([]int, len(ids))
	for i, j := range newRandom().Perm(len(ids)) {
		shuffled[i] = ids[j]
	}
	return shuffled
}

// zipfRequests is how many requests are drawn, before the same come again.
const zipfRequests = 1 << 16

// popular draws keys of which the k-th is asked for in proportion to 1/k, always the
// same ones.
func popular(ids []int) []int {
	cumulated, sum := make([]float64, len(ids)), 0.0
	for i := range cumulated {
		sum += 1 / float64(i+1)
		cumulated[i] = sum
	}
	random := newRandom()
	out := make([]int, zipfRequests)
	for i := range out {
		out[i] = ids[sort.SearchFloat64s(cumulated, random.Float64()*sum)]
	}
	return out
}

func newRandom() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
