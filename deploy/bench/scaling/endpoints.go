//go:build linux

package main

import "fmt"

// endpointRow is what a key of a built-in endpoint takes in Redis.
type endpointRow struct {
	endpoint string
	bytes    int64 // as Redis says (MEMORY USAGE)
}

// measureEndpoints asks for one answer of each endpoint whose recorded exchanges are of the
// size that is usual.
func (b *bench) measureEndpoints(f *figures) error {
	fleet, err := b.fleet(1, ordinaryMemory, b.address)
	if err != nil {
		return err
	}
	defer end(fleet)
	for _, c := range [][2]string{{"ip", "?ip=8.8.8.8"}, {"dailywp", "?type=json"}, {"lishi", ""}, {"60s", ""}, {"dailynews", ""}, {"yiyan", ""}} {
		answer, err := b.Get("http://"+fleet[0].Address+"/api/"+c[0]+"/index.php"+c[1], nil)
		if err != nil {
			return err
		}
		if answer.Status != 200 {
			return fmt.Errorf("%s: status %d", c[0], answer.Status)
		}
		row := endpointRow{endpoint: c[0]}
		if err := b.Until("writing "+c[0], func() bool {
			keys, err := b.redis.Keys(b.Context, storedPrefix+c[0]+":*").Result()
			if err != nil || len(keys) == 0 {
				return false
			}
			row.bytes, err = b.redis.MemoryUsage(b.Context, keys[0]).Result()
			return err == nil
		}, b.server); err != nil {
			return err
		}
		f.endpoints = append(f.endpoints, row)
	}
	return nil
}
