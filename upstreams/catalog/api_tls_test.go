package catalog

import "testing"

// TestOriginsByTLS: responses from another verified server, or for another client certificate, are not this API's.
func TestOriginsByTLS(t *testing.T) {
	origins := map[string]string{}
	for _, tls := range []string{"", "tls: {server_name: a.test}", "tls: {server_name: b.test}", "tls: {verify: false}"} {
		c, err := Load(Options{Dir: writeCatalog(t, map[string]string{
			"secure.yaml": "version: 1\nname: secure\nproxy:\n  to: https://127.0.0.1:9\n  " + tls + "\n",
		})}, testEnvironment(t, nil))
		if err != nil {
			t.Fatal(err)
		}
		a, _ := c.API("secure")
		if other, ok := origins[a.Rules.Origin]; ok {
			t.Errorf("%q has the origin of %q", tls, other)
		}
		origins[a.Rules.Origin] = tls
	}
}
