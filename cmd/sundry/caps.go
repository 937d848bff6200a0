package main

import (
	"fmt"
	"slices"

	"sundry/cache"
	"sundry/upstreams/catalog"
)

// unkept says of which endpoints the near tier cannot keep the largest pictures
// that their sources may bring: each of those is asked for again every time.
func unkept(set *catalog.Catalog, memory size) []string {
	most := cache.LargestEntry(int64(memory))
	var out []string
	for _, e := range set.Endpoints {
		largest, source := largestPicture(e)
		if e.Policy.Stores() && largest > most {
			out = append(out, fmt.Sprintf("%s: source %s: its pictures may have %d KiB (max_kib); of more than %d KiB none is kept with cache.memory: %s; want %s",
				e.Name, source, largest>>10, most>>10, memory, enough(largest)))
		}
	}
	return out
}

// largestPicture of an endpoint, and the source that may bring it.
func largestPicture(e *catalog.Endpoint) (most int64, source string) {
	for _, c := range e.Chains {
		for _, s := range slices.Concat(c.Sources, c.LeftOut) {
			if n := s.LargestPicture(); n > most {
				most, source = n, s.Name
			}
		}
	}
	return most, source
}

// enough is the least memory, in steps of 8 MiB, that keeps a picture of so many
// bytes.
func enough(picture int64) size {
	for memory := int64(cache.MinMemory); memory < maxMemory; memory += 8 << 20 {
		if cache.LargestEntry(memory) >= picture {
			return size(memory)
		}
	}
	return maxMemory
}
