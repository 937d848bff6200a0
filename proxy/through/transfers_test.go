package through

import (
	"bufio"
	"fmt"
	"net/http"
	"testing"

	"sundry/cache/clients"
	"sundry/upstreams/lib/waittest"
)

// TestTransfersOfOneClient: a client whose responses do not end gets no more than its share of requests at origins, until one of
// them has ended. Whatever becomes of a request, it counts no longer.
func TestTransfersOfOneClient(t *testing.T) {
	transfers := clients.NewLimit(40)
	client := clients.ID(1)
	s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		switch r.URL.Path {
		case "/endless":
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		case "/broken":
			panic(http.ErrAbortHandler)
		case "/304":
			w.WriteHeader(http.StatusNotModified)
		default:
			fmt.Fprint(w, "whole")
		}
	}, func(s *Settings) {
		s.Transfers, s.Client = transfers, func(*http.Request) (clients.ID, bool) { return client, false }
	})
	open := func() (end func(), status int) {
		c, err := s.front.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(c, "GET /endless HTTP/1.1\r\nHost: x\r\n\r\n")
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		return func() { _ = c.Close() }, resp.StatusCode
	}
	var ends []func()
	for range 10 {
		end, status := open()
		if ends = append(ends, end); status != http.StatusOK {
			t.Fatalf("response %d has status %d", len(ends), status)
		}
	}
	if end, status := open(); status != http.StatusServiceUnavailable {
		t.Errorf("one more has status %d", status)
	} else {
		end()
	}
	client = 2
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
		for _, path := range []string{"/a", "/broken", "/304"} {
			s.ask(method, path, "")
		}
	}
	if a := s.get("/a"); a.status != http.StatusOK {
		t.Errorf("another client gets %d", a.status)
	}
	for _, end := range ends {
		end()
	}
	waittest.Until(t, "all to have ended", func() bool { return transfers.Used() == 0 })
}

// TestAClientLeavesWithACompleteResponse: it has not given up, even if the end of the body is not yet there.
func TestAClientLeavesWithACompleteResponse(t *testing.T) {
	for _, body := range []string{"", "whole"} {
		results := make(chan Result, 1)
		s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(body)))
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, body)
		})
		front := &http.Server{ErrorLog: silent, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer func() { _ = recover() }()
			s.h.Serve(w, r, "", func(res *Result) { results <- *res })
		})}
		back := newMemory()
		serveOrigin(t, back, front)
		for i := range 200 {
			c, err := back.dial(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(c, "PUT /%d HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx", i)
			in := bufio.NewReader(c)
			for line := ""; line != "\r\n"; {
				if line, err = in.ReadString('\n'); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := in.Discard(len(body)); err != nil {
				t.Fatal(err)
			}
			_ = c.Close()
			if r := <-results; r.Err != nil {
				t.Fatalf("%q, request %d: %v", body, i, r.Err)
			}
		}
	}
}
