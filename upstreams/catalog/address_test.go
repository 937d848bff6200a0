package catalog

import (
	"errors"
	"strings"
	"testing"
)

// TestAddresses as files have them, and as they are told.
func TestAddresses(t *testing.T) {
	for text, want := range map[string]struct {
		host, path, at string
		err            error
	}{
		"http://127.0.0.1:3000":                     {"127.0.0.1:3000", "", "http://127.0.0.1:3000/x", nil},
		"https://api.example.org/v1":                {"api.example.org", "/v1", "https://api.example.org/v1/x", nil},
		"unix:/run/app.sock":                        {"unix:/run/app.sock", "", "unix:/run/app.sock:/x", nil},
		"unix:/run//app.sock:/v1/":                  {"unix:/run/app.sock", "/v1/", "unix:/run/app.sock:/v1/x", nil},
		"h2c://127.0.0.1:50051/a":                   {"127.0.0.1:50051", "/a", "h2c://127.0.0.1:50051/a/x", nil},
		"unix:app.sock":                             {err: ErrSocket},
		"unix:":                                     {err: ErrSocket},
		"unix:///run/app.sock:v1":                   {err: ErrSocket},
		"unix:/run/app.sock:/v1?a":                  {err: ErrSocket},
		"unix:/run/app.sock:/v1#a":                  {err: ErrSocket},
		"unix:/a]b":                                 {err: ErrSocket},
		"unix:/" + strings.Repeat("a", maxSocket-1): {"unix:/" + strings.Repeat("a", maxSocket-1), "", "unix:/" + strings.Repeat("a", maxSocket-1) + ":/x", nil},
		"unix:/" + strings.Repeat("a", maxSocket):   {err: ErrSocket},
		"ftp://x":                                   {err: ErrAddress},
	} {
		u, err := ParseAddress(text)
		if !errors.Is(err, want.err) {
			t.Errorf("%s: %v", text, err)
		}
		if err != nil {
			continue
		}
		target := &Target{URL: u}
		if u.Host != want.host || u.Path != want.path || target.At("/x") != want.at || target.IsLocal() != strings.HasPrefix(text, "unix:") {
			t.Errorf("%s: %+v at %s", text, u, target.At("/x"))
		}
		if again, err := ParseAddress(target.Address()); err != nil || *again != *u {
			t.Errorf("%s: %s is %v, %v", text, target.Address(), again, err)
		}
	}
}
