package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sundry/upstreams/lib/waittest"
)

// kept is a connection that a client keeps after its requests were answered.
type kept struct {
	net.Conn
	answers *bufio.Reader
}

// keep opens a connection.
func keep(t *testing.T, public string) kept {
	t.Helper()
	return dialFrom(t, "127.0.0.1", public)
}

// ask makes a request, and returns the status; 0 where the connection was closed.
func (k kept) ask(path string) int {
	status, _, _ := k.send("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n")
	return status
}

// send sends the bytes of a request, and returns the response; status 0 where the connection was closed.
func (k kept) send(request string) (status int, header http.Header, body string) {
	_ = k.SetDeadline(time.Now().Add(5 * time.Second))
	_, _ = io.WriteString(k, request)
	method, _, _ := strings.Cut(strings.TrimSpace(request), " ")
	resp, err := http.ReadResponse(k.answers, &http.Request{Method: method})
	if err != nil {
		return 0, nil, ""
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, string(b)
}

// oneOf is the address of one of many clients.
func oneOf(i int) string { return fmt.Sprint("127.0.2.", i%250+1) }

// descriptors are those that an instance of these tests may have open.
const descriptors = 256

// TestKeptConnectionsLeaveDescriptors: however many connections clients keep, new ones are
// served, and so are the admin listener and what needs a descriptor besides. The connection
// that has been idle for longest is closed first, whoever answered on it.
func TestKeptConnectionsLeaveDescriptors(t *testing.T) {
	t.Parallel()
	for _, express := range []string{"true", "false"} {
		t.Run("express "+express, func(t *testing.T) {
			m := startLimited(t, descriptors, "express: "+express+"\n"+only("qrcode"), "--replay")
			const path = "/api/qrcode?text=a"
			used := keep(t, m.public)
			for i := range 300 {
				if status := dialFrom(t, oneOf(i), m.public).ask([]string{path, "/docs", "/healthz"}[i%3]); status != http.StatusOK {
					t.Fatalf("connection %d: status %d", i, status)
				}
				if i%50 == 0 {
					if status := used.ask(path); status != http.StatusOK {
						t.Fatalf("with %d connections, the one in use is closed: status %d", i, status)
					}
				}
			}
			client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
			for _, url := range []string{m.admin + "/metrics", m.admin + "/admin/", m.public + path} {
				resp, err := client.Get(url)
				if err != nil {
					t.Fatal(err)
				}
				_ = resp.Body.Close()
				if resp.StatusCode != http.StatusOK {
					t.Errorf("%s: status %d", url, resp.StatusCode)
				}
			}
			if most := m.metric("sundry_connections_limit"); most != "85" {
				t.Errorf("limit of connections: %s", most)
			}
			if evicted := m.metric("sundry_connection_evictions_total"); evicted == "0" {
				t.Error("no idle connection was closed")
			}
			if failed := m.metric("sundry_accept_failures_total"); failed != "0" {
				t.Errorf("%s connections could not be accepted", failed)
			}
		})
	}
}

// TestSlowUpstreamsLeaveDescriptors: where all public connections wait for upstreams, each of
// which takes a descriptor as well, the admin listener is reached.
func TestSlowUpstreamsLeaveDescriptors(t *testing.T) {
	t.Parallel()
	const endpoints = 4
	var asked atomic.Int64
	hold, dir := make(chan struct{}), t.TempDir()
	up := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		select {
		case <-hold:
		case <-r.Context().Done():
		}
	})
	for i := range endpoints { // each of a host of its own, whose calls are bounded
		s := httptest.NewServer(up)
		t.Cleanup(s.Close)
		writeSources(t, dir, fmt.Sprint("own", i), "ttl: 1h", `sources: [{name: up, timeout: 20s, http: {url: "`+s.URL+`/", query: {id: "{id}"}}}]`)
	}
	t.Cleanup(func() { close(hold) })
	m := startLimited(t, descriptors, "", "--catalog", dir)
	most, err := strconv.ParseInt(m.metric("sundry_connections_limit"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 160 {
		_, _ = fmt.Fprintf(dialFrom(t, oneOf(i), m.public), "GET /api/own%d?id=%d HTTP/1.1\r\nHost: x\r\n\r\n", i%endpoints, i+1)
	}
	waittest.Until(t, "each has its upstream", func() bool { return asked.Load() >= most })
	client := &http.Client{Timeout: 3 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for _, path := range []string{"/metrics", "/healthz", "/readyz"} {
		resp, err := client.Get(m.admin + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%s: status %d", path, resp.StatusCode)
		}
	}
	if failed := m.metric("sundry_accept_failures_total"); failed != "0" {
		t.Errorf("%s connections could not be accepted", failed)
	}
}
