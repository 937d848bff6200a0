package upstreams

import (
	"context"

	"go.yaml.in/yaml/v4"

	"sundry/upstreams/geoip"
)

// GeoIPSpec looks the parameter ip up without a network.
type GeoIPSpec struct {
	// Use is scope (answers private and reserved addresses, leaves the others
	// to the next source), file (the operator's database; the source is left
	// out without one) or country (the embedded table).
	Use string `yaml:"use"`
}

type scopeFinder struct{}

type placeFinder struct {
	db     geoip.DB
	always bool // an unknown address is an answer, too
}

func compileGeoIP(c *Compiler, section *yaml.Node) Compiled {
	var spec GeoIPSpec
	c.Decode(section, &spec)
	switch spec.Use {
	case "scope":
		return Compiled{Fetcher: scopeFinder{}}
	case "file":
		if c.Env.GeoFile == nil {
			return Compiled{}
		}
		return Compiled{Fetcher: placeFinder{db: c.Env.GeoFile}}
	case "country":
		return Compiled{Fetcher: placeFinder{db: geoip.Country(), always: true}}
	}
	c.Add("geoip: use: %q: want scope, file or country", spec.Use)
	return Compiled{}
}

// Fetch implements Fetcher.
func (scopeFinder) Fetch(_ context.Context, in *input) (*reply, error) {
	ip, _ := in.call.Params["ip"].(string)
	addr, err := geoip.ParseAddr(ip)
	if err != nil {
		return nil, &Error{Kind: Invalid, Parameter: "ip", Message: err.Error(), Err: err}
	}
	scope := geoip.Scope(addr)
	if scope == "" {
		return nil, &Error{Kind: Skipped}
	}
	return &reply{body: map[string]any{"scope": scope}}, nil
}

// Fetch implements Fetcher.
func (f placeFinder) Fetch(_ context.Context, in *input) (*reply, error) {
	ip, _ := in.call.Params["ip"].(string)
	addr, err := geoip.ParseAddr(ip)
	if err != nil {
		return nil, &Error{Kind: Invalid, Parameter: "ip", Message: err.Error(), Err: err}
	}
	place, found, err := f.db.Lookup(addr)
	if err != nil {
		return nil, fail(Unavailable, "look up: %w", err)
	}
	if !found && !f.always {
		return nil, &Error{Kind: Negative}
	}
	return &reply{body: place.Data()}, nil
}
