package qrcode

import (
	"errors"
	"image/color"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/lib/peertest"
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
			sizes := []int{50, 64, 99, 128, 200, 256, 300, 333, 512, 640, 801, 1024, 1500, 2000}
			for i := 0; i < len(sizes); i += longtest.Every(4) {
				size := sizes[i]
				if size < 2*(c.Modules()+2*narrowZone) {
					continue // refused
				}
				readBack(t, c, size, Plain(), text, filepath.Join(dir, name+".png"))
			}
		})
	}
}

// Colours, margins and levels leave a code readable, down to the least size.
func TestIndependentReaderOfStyles(t *testing.T) {
	peertest.Program(t, "zbar", "zbar-tools", "zbarimg")
	dir := t.TempDir()
	blue, red, cream := color.NRGBA{0x1e, 0x40, 0xaf, 255}, color.NRGBA{0xc0, 0, 0, 255}, color.NRGBA{0xff, 0xf8, 0xe7, 255}
	for name, r := range map[string]struct {
		style Style
		level string
		least int
	}{
		"blue":        {Style{blue, cream, AutoMargin}, "H", 58},
		"red":         {Style{red, color.NRGBA{255, 255, 255, 255}, 2}, "Q", 58},
		"transparent": {Style{color.NRGBA{A: 255}, color.NRGBA{255, 255, 255, 0}, 4}, "M", 58},
		"wide":        {Style{blue, cream, 10}, "L", 82},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := "https://example.org/" + name
			c, err := Encode(text, r.level)
			if err != nil || r.style.Check() != nil {
				t.Fatal(err, r.style.Check())
			}
			small, ok := errors.AsType[*TooSmallError](func() error { _, err := new(Painter).PNG(c, 1, r.style); return err }())
			if !ok || small.Min < r.least {
				t.Fatalf("least size %+v", small)
			}
			for _, size := range []int{small.Min, 300} {
				readBack(t, c, size, r.style, text, filepath.Join(dir, name+".png"))
			}
		})
	}
}

// readBack draws a code and compares what the other reader reads.
func readBack(t *testing.T, c *Code, size int, s Style, text, file string) {
	t.Helper()
	b, err := new(Painter).PNG(c, size, s)
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
