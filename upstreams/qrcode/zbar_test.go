package qrcode

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A second reader, which shares no code with the one of the other tests.
func TestIndependentReader(t *testing.T) {
	if _, err := exec.LookPath("zbarimg"); err != nil {
		if slices.Contains(strings.Split(os.Getenv("SUNDRY_TEST_REQUIRE"), ","), "zbar") {
			t.Fatal("zbarimg is required, and not on the PATH")
		}
		t.Skip("zbarimg is not on the PATH")
	}
	cases := texts()
	cases["longest"] = strings.Repeat("a", 2953)
	cases["longest chinese"] = strings.Repeat("中", 984)
	dir := t.TempDir()
	for name, text := range cases {
		for _, size := range []int{300, 640} {
			c := encoded(t, text)
			if size < 2*(c.Modules()+2*quiet) {
				continue // one pixel per module is too fine for it
			}
			b, err := c.PNG(size)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, name+".png")
			if err := os.WriteFile(file, b, 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("zbarimg", "--quiet", "--raw", "-Sdisable", "-Sqrcode.enable", file).Output()
			if err != nil || strings.TrimSuffix(string(out), "\n") != text {
				t.Errorf("%s at %d: read %q: %v", name, size, out, err)
			}
		}
	}
}
