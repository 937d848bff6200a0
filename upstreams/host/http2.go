package host

import (
	"net/http"
	"time"
)

// HTTP2 is for transports to hosts. One connection takes all requests, so one that is lost would be waited for until the system gives it
// up: it is found by pings.
func HTTP2() *http.HTTP2Config {
	return &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 5 * time.Second}
}
