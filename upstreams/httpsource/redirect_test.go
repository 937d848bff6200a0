package httpsource

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestDoIsAsTheClients compares do with the method of the client: what servers receive,
// and what comes back, with redirects and without.
func TestDoIsAsTheClients(t *testing.T) {
	var mu sync.Mutex
	var received []string
	other := httptest.NewServer(nil)
	defer other.Close()
	server := httptest.NewServer(nil)
	defer server.Close()
	serve := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var head strings.Builder
		_ = r.Header.Write(&head)
		mu.Lock()
		received = append(received, fmt.Sprint(r.Method, " ", r.Host == strings.TrimPrefix(other.URL, "http://"), r.RequestURI, "\n", head.String(), string(body)))
		mu.Unlock()
		var status int
		if _, err := fmt.Sscanf(r.URL.Path, "/%d", &status); err != nil {
			_, _ = w.Write([]byte("end"))
			return
		}
		if to := r.URL.Query().Get("to"); to != "" {
			w.Header().Set("Location", strings.ReplaceAll(to, "OTHER", other.URL))
		}
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		w.WriteHeader(status)
		_, _ = w.Write([]byte("moved"))
	})
	server.Config.Handler, other.Config.Handler = serve, serve
	run := func(send func(*http.Client, *http.Request) (*http.Response, error), client *http.Client, method, path, body string) (outcome string, sent []string) {
		received = nil
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		var sentBody []byte
		if body != "" {
			sentBody = []byte(body)
		}
		req, err := http.NewRequestWithContext(ctx, method, server.URL+path, bodyReader(sentBody))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"Authorization", "Cookie", "X-Key", "User-Agent"} {
			req.Header.Set(name, "v")
		}
		resp, err := send(client, req)
		if err != nil {
			return fmt.Sprint("error ", ClassifyError(err)), slices.Clone(received)
		}
		defer func() { _ = resp.Body.Close() }()
		b, err := io.ReadAll(resp.Body)
		return fmt.Sprint(resp.StatusCode, resp.Header["Location"], resp.Header["Set-Cookie"], string(b), err, resp.Request.URL), slices.Clone(received)
	}
	moves := 0
	for _, check := range []func(*http.Request, []*http.Request) error{nil, noRedirects, func(r *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return fmt.Errorf("refused %s", r.URL.Path)
		}
		return nil
	}} {
		client := &http.Client{Transport: &http.Transport{}, CheckRedirect: check}
		for _, status := range []int{200, 204, 300, 301, 302, 303, 304, 305, 307, 308, 404, 500} {
			for _, to := range []string{"", "/end", "OTHER/end", "/302?to=OTHER/307%3Fto=/end", "/302?to=/302%3Fto=/302%253Fto=/302%25253Fto=/302%2525253Fto=/end", "://", "ftp://a/"} {
				for _, body := range []string{"", "a=b"} {
					method, path := http.MethodGet, fmt.Sprintf("/%d?to=%s", status, strings.NewReplacer("%", "%25", "?", "%3F").Replace(to))
					if body != "" {
						method = http.MethodPost
					}
					want, wantSent := run((*http.Client).Do, client, method, path, body)
					got, sent := run(do, client, method, path, body)
					if got != want || !slices.Equal(sent, wantSent) {
						t.Errorf("%s %s: %s %q\nclient: %s %q", method, path, got, sent, want, wantSent)
					}
					moves += len(sent) - 1
				}
			}
		}
		client.CloseIdleConnections()
	}
	if moves < 100 {
		t.Errorf("%d redirects were followed", moves)
	}
}
