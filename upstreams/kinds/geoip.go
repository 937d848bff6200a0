package kinds

import (
	"context"
	"net/netip"

	"go.yaml.in/yaml/v4"

	"sundry/metrics/words"
	"sundry/upstreams"
	"sundry/upstreams/lib/geoip"
)

// GeoIPSpec declares a source that looks up the parameter ip locally.
type GeoIPSpec struct {
	// Use is scope (private and reserved addresses only; it skips all others), file
	// (the operator's databases; without any the source is left out) or country (the
	// embedded table).
	Use string `yaml:"use" required:"true" enum:"scope,file,country"`
}

func compileGeoIP(c *upstreams.Compiler, section *yaml.Node) upstreams.Compiled {
	var spec GeoIPSpec
	c.Decode(section, &spec)
	switch spec.Use {
	case "scope":
		return upstreams.Compiled{Fetch: findScope, Selective: true}
	case "file":
		if c.Env.GeoFile == nil {
			return upstreams.Compiled{}
		}
		return upstreams.Compiled{Fetch: placeFinder{db: c.Env.GeoFile}.find}
	case "country":
		return upstreams.Compiled{Fetch: placeFinder{db: geoip.Country(), always: true}.find}
	}
	if spec.Use == "" {
		c.Add("geoip: use: expected scope, file or country")
	}
	return upstreams.Compiled{}
}

// addressOf reads the parameter ip.
func addressOf(a *upstreams.Attempt) (netip.Addr, error) {
	ip, _ := a.Call.Params["ip"].(string)
	addr, err := geoip.ParseAddr(ip)
	if err != nil {
		return addr, upstreams.Mistaken("ip", err, words.Say("the value is not an IP address", "所给的值不是 IP 地址"))
	}
	return addr, nil
}

func findScope(_ context.Context, a *upstreams.Attempt) (*upstreams.Reply, error) {
	addr, err := addressOf(a)
	if err != nil {
		return nil, err
	}
	scope := geoip.Scope(addr)
	if scope == "" {
		return nil, &upstreams.Error{Kind: upstreams.Skipped}
	}
	return &upstreams.Reply{Body: map[string]any{"scope": scope}}, nil
}

// placeFinder looks an address up in a database.
type placeFinder struct {
	db     geoip.DB
	always bool // an address that is not in db has an answer, too
}

func (f placeFinder) find(_ context.Context, a *upstreams.Attempt) (*upstreams.Reply, error) {
	addr, err := addressOf(a)
	if err != nil {
		return nil, err
	}
	place, found, err := f.db.Lookup(addr)
	if err != nil {
		return nil, upstreams.Errorf(upstreams.Unavailable, "look up the address: %w", err)
	}
	if (!found || place.Country == "") && !f.always { // of files that have networks only, another source knows more
		return nil, &upstreams.Error{Kind: upstreams.Negative}
	}
	return &upstreams.Reply{Body: place.Data()}, nil
}
