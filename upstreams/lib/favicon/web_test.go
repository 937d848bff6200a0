package favicon

import (
	"bytes"
	"image"
	"image/png"
	"io"
	"net/http"
	"strings"
	"testing"

	"sundry/upstreams/lib/webpage/webtest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newWeb starts a web with these pages. All other URLs are answered with 404, and
// an HTML body that is declared as an icon.
func newWeb(t *testing.T, pages webtest.Pages, closed ...string) *webtest.Web {
	t.Helper()
	return webtest.New(t, pages, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "image/x-icon")
		rw.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(rw, "<!DOCTYPE html><title>no such page</title>"+strings.Repeat(" ", 100))
	}, closed...)
}

func finderOf(w *webtest.Web) *Finder { return &Finder{Do: w.Client, Check: w.Check} }

// serves answers with bytes and a content type that is always wrong.
func serves(b []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write(b)
	}
}

func page(head string) http.HandlerFunc {
	return serves([]byte("<!DOCTYPE html><html><head><title>t</title>" + head + "</head><body><p>x</p></body></html>"))
}

const (
	icoMagic = "\x00\x00\x01\x00"
	pngMagic = "\x89PNG\r\n\x1a\n"
)

// picture is a small one: a PNG, or an icon file with it.
func picture(magic string) []byte {
	var b bytes.Buffer
	if magic == icoMagic {
		b.WriteString(icoMagic + "\x01\x00\x01\x01\x00\x00\x01\x00\x20\x00")
		b.Write([]byte{byte(len(picture(pngMagic))), 0, 0, 0, 22, 0, 0, 0})
	}
	_ = png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1)))
	return b.Bytes()
}

var svg = []byte(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path d="M0 0h1v1z"/></svg>`)
