// Command bare is what Sundry is measured against: net/http handlers that do what
// cannot be left out, and nothing else. Its first listener mirrors the headers and
// the body of a server's answers, its second is httputil.ReverseProxy in front of an
// upstream, its third makes one GET of Redis for each request.
package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"time"
)

func main() {
	mirrored := flag.String("mirror", "", "base URL of the server whose answers are mirrored")
	paths := flag.String("paths", "", "file with a coding (or identity) and a path to mirror on each line")
	upstream := flag.String("upstream", "", "base URL of what the reverse proxy is in front of")
	redisURL := flag.String("redis", "", "URL of the Redis that is asked")
	flag.Parse()
	if err := run(*mirrored, *paths, *upstream, *redisURL); err != nil {
		fmt.Fprintln(os.Stderr, "bare:", err)
		os.Exit(1)
	}
}

// run serves for ever, and prints the address of each listener on a line.
func run(mirrored, paths, upstream, redisURL string) error {
	mirror, err := newMirror(mirrored, paths)
	if err != nil {
		return err
	}
	proxy, err := newReverseProxy(upstream)
	if err != nil {
		return err
	}
	lookup, err := newLookup(redisURL)
	if err != nil {
		return err
	}
	// Sundry has such a block, too: the collector runs as seldom in both, however much
	// either keeps.
	ballast := make([]byte, 64<<20)
	defer runtime.KeepAlive(ballast)
	failed := make(chan error)
	var addresses []string
	for _, h := range []http.Handler{mirror, proxy, lookup} {
		l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is listened on until the process ends
		if err != nil {
			return err
		}
		addresses = append(addresses, l.Addr().String())
		go func() { failed <- newServer(h).Serve(l) }()
	}
	fmt.Println(strings.Join(addresses, " "))
	return <-failed
}

// newServer has the timeouts of Sundry's.
func newServer(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute}
}
