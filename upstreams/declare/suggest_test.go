package declare

import "testing"

func TestNearest(t *testing.T) {
	for pair, want := range map[[2]string]int{{"", ""}: 0, {"a", ""}: 1, {"kitten", "sitting"}: 3, {"listne", "listen"}: 2, {"abc", "abc"}: 0} {
		if got := distance(pair[0], pair[1]); got != want {
			t.Errorf("%q: %d, want %d", pair, got, want)
		}
	}
	if got := Nearest("nothing-like-it", []string{"ip", "kd"}); got != "" {
		t.Errorf("nearest: %s", got)
	}
}
