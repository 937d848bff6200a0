package far

import (
	"strings"
	"testing"
)

// TestShortKey: no two keys have the same name in Redis, none is long, and none has a query.
func TestShortKey(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", 60_000)
	seen := map[string]string{}
	for _, key := range []string{"", "a", long[:maxKey], long[:maxKey+1], long[:shownKey], long, long[1:] + "a", shortKey(long)[:maxKey], "/a?token=secret", "/a?token=secret2", "/a?", "/" + long + "?token=secret", shortKey("/a?token=secret")} {
		name := shortKey(key)
		if other, ok := seen[name]; ok || len(name) > maxKey+10 || len(key) <= maxKey && !strings.Contains(key, "?") && name != key || strings.Contains(name, "secret") {
			t.Errorf("%d bytes: %q, as %d bytes", len(key), name, len(other))
		}
		seen[name] = key
	}
}
