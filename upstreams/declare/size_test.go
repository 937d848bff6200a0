package declare

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

func TestSize(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Size{"1": 1, "65536": 64 << 10, "64KiB": 64 << 10, "100MiB": 100 << 20, "1.5GiB": 3 << 29} {
		var got Size
		if err := yaml.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"0", "-1", "0.5", "100MB", "much", "NaN", "Inf", "9223372036854775808", "1e30GiB", "''"} {
		var got Size
		if err := yaml.Unmarshal([]byte(text), &got); err == nil || !strings.Contains(err.Error(), "such as 100MiB") {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
}
