package recorded

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"sundry/upstreams/replay"
)

// Known has the replies of recorded successes, for comparison with live ones. They are
// read when they are asked for. It implements upstreams.KnownReplies.
type Known struct {
	// Dir is the operator's directory; "" for none.
	Dir string
}

// Replies are those of the operator's exchanges, or else of the built-in ones. The
// built-in ones do not count for an endpoint that the operator has a file of: its
// sources may be others.
func (k Known) Replies(endpoint, source, step string) [][][]byte {
	if k.Dir != "" {
		own := repliesIn(os.DirFS(k.Dir), endpoint, source, step)
		if len(own) > 0 || k.declared(endpoint) {
			return own
		}
	}
	return repliesIn(builtin, endpoint, source, step)
}

// declared reports whether the operator has a file or a folder of the endpoint.
func (k Known) declared(endpoint string) bool {
	for _, name := range []string{endpoint + ".yaml", endpoint} {
		if _, err := os.Stat(filepath.Join(k.Dir, name)); err == nil {
			return true
		}
	}
	return false
}

// repliesIn reads the exchanges of one source. Mistakes in them are for others to
// report.
func repliesIn(fsys fs.FS, endpoint, source, step string) [][][]byte {
	files, _ := fs.Glob(fsys, path.Join("testdata", endpoint, source, "*", "exchange.yaml"))
	var all [][][]byte
	for _, file := range files {
		c, mistakes := readCase(fsys, path.Dir(file), "")
		if len(mistakes) > 0 || c.Want != "success" {
			continue
		}
		if bodies := c.replies(step); len(bodies) > 0 {
			all = append(all, bodies)
		}
	}
	return all
}

// replies are the bodies of the replies to a step.
func (c *Case) replies(step string) [][]byte {
	var bodies [][]byte
	for _, r := range c.RoundTrips {
		if r.Step == step && len(r.Body) > 0 {
			bodies = append(bodies, replay.ExpandDates(r.Body, c.Now))
		}
	}
	return bodies
}
