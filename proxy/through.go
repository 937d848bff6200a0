package proxy

import (
	"fmt"

	"sundry/cache"
)

// picks is how many candidates are tried for a picture that comes.
const picks = 3

// through picks a link from the pool and brings the picture that it leads to.
// One that does not come is passed over for another.
func (s *Server) through(x *exchange) (cache.Hit, error) {
	key := x.in.Key()
	want := cache.Want{Form: x.in.Form.FormIndex()}
	var failed error
	for range picks {
		hit, err := s.look(x, x.route.space, key, want, loader{x})
		if err != nil || hit.Meta.Negative || hit.Missing || hit.Rep.Location == "" {
			return hit, err
		}
		p := x.in.Picture(hit.Rep.Location)
		found, err := s.look(x, x.route.pictures, p.Key(), cache.Want{Form: p.FormIndex()}, p)
		if err == nil {
			found.Meta.Source, found.Meta.LastResort = hit.Meta.Source, hit.Meta.LastResort
			found.Random, found.Rep.ETag = true, ""
			return found, nil
		}
		if failed = err; (waiting{x}).Err() != nil {
			break
		}
	}
	return cache.Hit{}, fmt.Errorf("picture of a link: %w", failed)
}
