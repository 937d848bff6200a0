package declare

import "testing"

func TestNearest(t *testing.T) {
	for pair, want := range map[[2]string]int{{"", ""}: 0, {"a", ""}: 1, {"kitten", "sitting"}: 3, {"listne", "listen"}: 1, {"abc", "abc"}: 0} {
		if got := distance(pair[0], pair[1]); got != want {
			t.Errorf("%q: %d, want %d", pair, got, want)
		}
	}
	for name, want := range map[string]string{"": "", "x": "", "xx": "", "ip": "ip", "op": "ip", "kdd": "kd"} {
		if got := Nearest(name, []string{"ip", "kd"}); got != want {
			t.Errorf("nearest to %q: %q, want %q", name, got, want)
		}
	}
	for name, candidate := range map[string]string{"nope": "joke", "SUNDRY_FOO": "SUNDRY_MCP", "SUNDRY_BAR": "SUNDRY_FAR_X", "lists": "limits", "metrics": "matrix"} {
		if got := Nearest(name, []string{candidate}); got != "" {
			t.Errorf("%s is no typing error of %s", name, candidate)
		}
	}
	for name, candidate := range map[string]string{"SUNDRY_LISTNE": "SUNDRY_LISTEN", "onlinstatsu": "onlinestatus", "qrcoed": "qrcode"} {
		if got := Nearest(name, []string{candidate}); got != candidate {
			t.Errorf("%s is a typing error of %s", name, candidate)
		}
	}
	if got := Nearest("nothing-like-it", []string{"ip", "kd"}); got != "" {
		t.Errorf("nearest: %s", got)
	}
}
