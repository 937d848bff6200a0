package kinds

import (
	"strings"
	"testing"

	"sundry/upstreams"
)

func TestJournalKeepsNoPersonalData(t *testing.T) {
	env := environment(t)
	s := compile(t, env, "name: one\ncomputed: {}\nmap: error(\"中文 \" * 200)", "card")
	for _, private := range []bool{true, false} {
		call := &upstreams.Call{Endpoint: "test", Params: map[string]any{"card": "secret"}, Private: private}
		if _, err := s.Probe(t.Context(), call, nil); err == nil {
			t.Fatal("no failure")
		}
		notes := env.Journal.Failures()
		n := notes[len(notes)-1]
		if n.Private != private || (n.Params == nil) != private || n.Result != upstreams.Malformed.String() {
			t.Errorf("%+v", n)
		}
		if len(n.Err) > 304 || !strings.HasSuffix(n.Err, "…") || strings.ContainsRune(n.Err, '\uFFFD') {
			t.Errorf("%d bytes: %s", len(n.Err), n.Err)
		}
	}
}

// TestJournalShortensLinks: the path and query of a link may contain a token.
func TestJournalShortensLinks(t *testing.T) {
	env := environment(t)
	s := compile(t, env, "name: one\ncomputed: {}\nmap: error(\"no\")", "url", "n")
	for link, want := range map[string]string{
		"https://share.example.org/s/token?key=secret":   "https://share.example.org/…",
		"http://share.example.org:8080?key=secret":       "http://share.example.org:8080/…",
		"https://name:word@share.example.org/?secret":    "https://share.example.org/…",
		"https://share.example.org/#secret":              "https://share.example.org/…",
		"look: https://share.example.org/secret so nice": "…",
		"https://share.example.org/":                     "https://share.example.org/",
		"https://share.example.org":                      "https://share.example.org",
		"share.example.org:25565":                        "share.example.org:25565",
		"text, short":                                    "text, short",
	} {
		params := map[string]any{"url": link, "n": 7, "none": nil}
		if _, err := s.Probe(t.Context(), &upstreams.Call{Endpoint: "test", Params: params}, nil); err == nil {
			t.Fatal("no failure")
		}
		notes := env.Journal.Failures()
		n := notes[len(notes)-1]
		if n.Params["url"] != want || n.Params["n"] != 7 || n.Cut != (want != link) || params["url"] != link {
			t.Errorf("%s: %+v, want %s", link, n, want)
		}
	}
}
