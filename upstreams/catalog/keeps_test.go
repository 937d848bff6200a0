package catalog

import (
	"strings"
	"testing"

	"sundry/upstreams/replay"
)

// TestKeeps: what may be in a file are the answers of this catalog, but those that the
// catalog's files want to stay in the process, and results of steps.
func TestKeeps(t *testing.T) {
	c := mustLoad(t, replay.New(nil))
	for request, want := range map[string]bool{
		"60s?": true, "60s?type=image": true, "yiyan?": true, "wpcat?n=3": true, "ip?": true, "favicon?url=example.org": true,
		"kd?id=YT1234567890123": false, "kd?id=SF1234567890123&phone=1234": false,
		"sfz?card=11010519491231002X": false, "ipinfo?": false, "qrcode?text=a": false,
	} {
		name, query, _ := strings.Cut(request, "?")
		e, ok := c.Get(name)
		if !ok {
			t.Fatalf("no endpoint %s", name)
		}
		in, bad := e.Parse(query, Caller{Addr: caller})
		if bad != nil {
			t.Fatalf("%s: %v", request, bad)
		}
		key := in.Key()
		if got := c.Keeps(key); got != want {
			t.Errorf("%s: %v, want %v for the key %s", request, got, want, key)
		}
		space, rest, _ := strings.Cut(key, ":")
		version, rest, _ := strings.Cut(rest, ":")
		for _, other := range []string{
			space + ":00000000:" + rest, space + "x:" + version + ":" + rest, space + ":" + version, space, "", ":", "nope:" + version + ":" + rest,
			space + "/token:" + version + ":#00", strings.TrimSuffix(key, ":"+rest[strings.Index(rest, ":")+1:]) + "x:",
		} {
			if c.Keeps(other) {
				t.Errorf("%s: the key %q is kept", request, other)
			}
		}
	}
}

// TestKeepsPictures that answers link to.
func TestKeepsPictures(t *testing.T) {
	c := mustLoad(t, replay.New(nil))
	for _, e := range c.Endpoints {
		for _, f := range e.Forms {
			if f.PictureProxy == nil {
				continue
			}
			in := &Input{Form: f, Endpoint: e}
			if key := in.PictureFetch("https://example.org/a.jpg").Key(); !c.Keeps(key) {
				t.Errorf("%s: the key %s is not kept", e.Name, key)
			}
			return
		}
	}
	t.Error("no endpoint delivers pictures")
}
