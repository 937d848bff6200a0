package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// TestAnswersBelongToTheirRequests: many callers at once, pipelines among them, while
// the catalog is loaded again: each gets the answer to its own query, with its own
// id, at its own address.
func TestAnswersBelongToTheirRequests(t *testing.T) {
	w := newTwoWays(t, nil, replaying("ip"), trusting("127.0.0.0/8"))
	plain := dial(t, w.plain)
	request := func(target, id, address string) string {
		return "GET " + target + " HTTP/1.1\r\nHost: a.example\r\nX-Request-Id: " + id + "\r\nX-Forwarded-For: " + address + "\r\n\r\n"
	}
	const callers = 8
	address := func(caller int) string { return fmt.Sprintf("8.8.8.%d", 100+caller) }
	calling := func(caller int) string { return fmt.Sprintf("/api/ip?ip=8.8.8.8&callback=app.f%d", caller) }
	for caller := range callers {
		for range 3 {
			plain.ask(t, request("/api/ip?type=text", "warm", address(caller)))
			plain.ask(t, request(calling(caller), "warm", address(caller)))
		}
	}
	var all sync.WaitGroup
	for caller := range callers {
		lane := dial(t, w.lane)
		all.Go(func() {
			for i := range 60 {
				ids := []string{fmt.Sprintf("first.%d.%d", caller, i), fmt.Sprintf("second.%d.%d", caller, i)}
				if _, err := io.WriteString(lane, request("/api/ip?type=text", ids[0], address(caller))+request(calling(caller), ids[1], address(99))); err != nil {
					t.Error(err)
					return
				}
				for n, part := range []string{address(caller), fmt.Sprintf("/**/app.f%d(", caller)} {
					if id, body := receive(t, lane.r); id != ids[n] || !strings.Contains(body, part) {
						t.Errorf("%s with %q: %s with %.200q", ids[n], part, id, body)
					}
				}
			}
		})
	}
	for range 5 {
		if err := w.server.Swap(w.server.Catalog()); err != nil {
			t.Error(err)
		}
	}
	all.Wait()
	if answered := w.counted(t, "sundry_express_requests_total")[`result="answered"`]; answered < callers*60/4 {
		t.Errorf("the lane answered %v", answered)
	}
}

// receive reads the next answer of a pipeline.
func receive(t *testing.T, r *bufio.Reader) (id, body string) {
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Error(err)
		return "", ""
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return resp.Header.Get("X-Request-Id"), string(text)
}
