package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestAnAPIOfHTTP2WithoutTLS is asked by HTTP/2, also by try, and its references lead here.
func TestAnAPIOfHTTP2WithoutTLS(t *testing.T) {
	t.Parallel()
	var origin *httptest.Server
	origin = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", origin.URL+"/v1/next")
		fmt.Fprint(w, r.Proto, " ", r.URL.Path)
	}))
	origin.Config.Protocols = new(http.Protocols)
	origin.Config.Protocols.SetUnencryptedHTTP2(true)
	origin.Start()
	t.Cleanup(origin.Close)
	to := strings.Replace(origin.URL, "http:", "h2c:", 1) + "/v1"
	p := serve(t, "--to", to)
	if header, body := mustGet(t, p.public+"/a"); body != "HTTP/2.0 /v1/a" || header.Get("Location") != "/next" {
		t.Errorf("%q %v", body, header)
	}
	if out, errs, err := call(t, onlyIn(t), "try", "--to", to, "/a"); err != nil || !strings.Contains(out, to+"/a") {
		t.Errorf("%s %s %v", out, errs, err)
	}
}
