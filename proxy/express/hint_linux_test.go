package express

import "testing"

func TestHintsOfOldKernelsAreNotBelieved(t *testing.T) {
	for release, want := range map[string]bool{
		"6.18.44-fc": true, "5.1.0": true, "5.10.0-30-amd64": true, "5.4": true, "10.0-rc1+": true,
		"5.0.21": false, "4.18.0-553.el8_10.x86_64": false, "4.4.0": false, "": false, "5": false, "linux": false,
	} {
		if got := tellsTheEnd(release); got != want {
			t.Errorf("%q: %v", release, got)
		}
	}
}
