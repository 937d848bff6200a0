package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Paths that rows ask for.
const (
	digestPath   = "/api/60s/index.php"
	cardPath     = "/api/ipinfo/index.php"
	parcelPath   = "/api/kd/index.php?id=YT0000000000001"
	picturePath  = "/api/sjbz/index.php"
	poolPath     = "/api/benchpool/index.php?type="
	keyPath      = "/api/benchkey/index.php?id="
	itemPath     = "/api/benchitem/index.php?id="
	upstreamPath = "/item?id="
	keptPath     = "/kept?id=" // the same, and may be kept
	largePath    = "/large/"   // and how many bytes
	drawPath     = "/api/qrcode/index.php?size=1000&text="
	zipfKeys     = 10_000
	zipfRequests = 1 << 16
	redisKeys    = 100_000 // more than a near tier of the usual size holds
)

func always(path string) func(*bench, *server) []string {
	return func(*bench, *server) []string { return []string{path} }
}

// oneKey is a list as long as that of zipf, so that the load works as hard.
func oneKey(*bench, *server) []string { return slices.Repeat([]string{keyPath + "1"}, zipfRequests) }

// zipf draws keys of which the k-th is asked for in proportion to 1/k, always the same
// ones.
func zipf(*bench, *server) []string {
	const almostOne = 1.0001 // the exponent must be above 1
	keys := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), almostOne, 1, zipfKeys-1)
	out := make([]string, zipfRequests)
	for i := range out {
		out[i] = keyPath + fmt.Sprint(1+keys.Uint64())
	}
	return out
}

func numbered(prefix string, first, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = prefix + fmt.Sprint(first+i)
	}
	return out
}

// freshItems are paths that were never asked for.
func freshItems(b *bench, s *server) []string {
	if s.name == sundryFetches || s.name == sundryStores {
		return b.fresh(itemPath)
	}
	return b.fresh(upstreamPath)
}

func freshKept(b *bench, _ *server) []string { return b.fresh(keptPath) }

// fresh are more than can be answered.
func (b *bench) fresh(prefix string) []string {
	const perSecond = 60_000
	return b.items(prefix, perSecond*b.seconds)
}

func storedKeys(*bench, *server) []string { return numbered(keyPath, 1, redisKeys) }

// items are so many paths that were never asked for.
func (b *bench) items(prefix string, n int) []string {
	first := b.item + 1
	b.item += n
	return numbered(prefix, first, n)
}
