package main

import (
	"sundry/cache/near"
	"sundry/cmd/sundry/internal/config"
	"sundry/metrics/words"
	"sundry/upstreams/catalog"
)

// uncacheablePictures warns of endpoints whose largest pictures do not fit into
// the near tier: those are fetched again for every request.
func uncacheablePictures(set *catalog.Catalog, memory config.Size) []error {
	most := near.LargestEntry(int64(memory))
	var out []error
	for _, e := range set.Endpoints {
		largest, source := largestPicture(e)
		if e.Policy.Stores() && largest > most {
			out = append(out, words.Errorf("%s: source %s: its pictures may have up to %d KiB (max_kib), but with cache.memory: %s pictures of more than %d KiB are not cached; set cache.memory to %s or more",
				"%s: 数据源 %s 的图片最大可达 %d KiB（max_kib），而 cache.memory 为 %s 时，大于 %d KiB 的图片不缓存；请把 cache.memory 设为 %s 或更大",
				e.Name, source, largest>>10, memory, most>>10, memoryFor(largest)))
		}
	}
	return out
}

// largestPicture returns the most bytes that a picture of the endpoint may have, and
// the source that may deliver it.
func largestPicture(e *catalog.Endpoint) (most int64, source string) {
	for _, c := range e.Chains {
		for _, s := range c.Declared {
			if n := s.LargestPicture(); n > most {
				most, source = n, s.Name
			}
		}
	}
	return most, source
}

// memoryFor returns the least cache.memory, in steps of 8 MiB, with which a picture of
// so many bytes is cached.
func memoryFor(picture int64) config.Size {
	memory := int64(near.MinMemory)
	for near.LargestEntry(memory) < picture {
		memory += 8 << 20
	}
	return config.Size(memory)
}
