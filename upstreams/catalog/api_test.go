package catalog

import (
	"net/http"
	"testing"
)

// TestFormerKeysOfAnAPIAreHidden in the fields of its responses: after a reload, an origin may still echo what it was sent before. The keys of
// others stay as they are.
func TestFormerKeysOfAnAPIAreHidden(t *testing.T) {
	env := testEnvironment(t, nil)
	var received http.Header
	for _, key := range []string{"f1rst-key-of-it", "s3cond-key-of-it"} {
		values := map[string]string{"SUNDRY_TEST_KEY": key}
		env.Secret = func(name string) (string, bool) { v, ok := values[name]; return v, ok }
		c, err := Load(Options{Dir: writeCatalog(t, map[string]string{
			"keyed.yaml": "version: 1\nname: keyed\nproxy: {to: 'http://127.0.0.1:9', secrets: {key: SUNDRY_TEST_KEY}, request: {set: {X-Key: $secrets.key, X-Token: t0ken-" + key + "}}}\n",
			"other.yaml": "version: 1\nname: other\nproxy: {to: 'http://127.0.0.1:9', request: {set: {X-Token: 0ther-token}}}\n",
		})}, env)
		if err != nil {
			t.Fatal(err)
		}
		api, _ := c.API("keyed")
		received = http.Header{"Location": {"/f1rst-key-of-it/s3cond-key-of-it/t0ken-f1rst-key-of-it/0ther-token"}}
		api.Received(received)
	}
	if got := received.Get("Location"); got != "/***/***/***/0ther-token" {
		t.Error(got)
	}
}
