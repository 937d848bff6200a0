package qrcode

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sundry/upstreams/peertest"
)

// A second reader, which shares no code with that of the other tests.
func TestIndependentReader(t *testing.T) {
	peertest.Program(t, "zbar", "zbar-tools", "zbarimg")
	cases := texts()
	cases["longest"] = strings.Repeat("a", 2953)
	cases["longest chinese"] = strings.Repeat("中", 984)
	dir := t.TempDir()
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := encoded(t, text)
			for _, size := range []int{50, 64, 99, 128, 200, 256, 300, 333, 512, 640, 801, 1024, 1500, 2000} {
				if size < 2*(c.Modules()+2*quietZone) {
					continue // the reader needs more than one pixel per module
				}
				readBack(t, c, size, text, filepath.Join(dir, name+".png"))
			}
		})
	}
}

// readBack draws a code and compares what the other reader reads.
func readBack(t *testing.T, c *Code, size int, text, file string) {
	t.Helper()
	b, err := new(Painter).PNG(c, size)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("zbarimg", "--quiet", "--raw", "-Sdisable", "-Sqrcode.enable", file).Output()
	if err != nil || strings.TrimSuffix(string(out), "\n") != text {
		t.Errorf("at %d: read %q: %v", size, out, err)
	}
}
