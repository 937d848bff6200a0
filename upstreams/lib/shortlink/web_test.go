package shortlink

import (
	"io"
	"net/http"
	"testing"

	"sundry/upstreams/lib/webpage/webtest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pages are those of a web for tests.
type pages = webtest.Pages

// newWeb starts a web whose closed hosts accept no connections.
func newWeb(t *testing.T, p pages, closed ...string) *webtest.Web {
	t.Helper()
	var origins []string
	for _, host := range closed {
		origins = append(origins, "http://"+host, "https://"+host)
	}
	return webtest.New(t, p, webtest.Status(http.StatusNotFound), origins...)
}

func resolverOf(w *webtest.Web) *Resolver { return &Resolver{Do: w.Client, Check: w.Check} }

func page(body string) http.HandlerFunc { return typed("text/html; charset=gbk", body) }

func typed(kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = []string{kind}
		_, _ = io.WriteString(w, body)
	}
}
