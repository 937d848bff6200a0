package web

import (
	"strconv"
	"time"
)

// cacheName is how this cache calls itself.
const cacheName = "sundry"

// CacheStatus says what a cache did with a request (RFC 9211).
type CacheStatus struct {
	Hit    bool
	Fwd    string // why it was sent on: uri-miss, vary-miss, stale, request, method, bypass, partial; "": it was not
	Status int    // that the origin answered with, where it is another than what is sent; 0: left out
	Stored bool
	Shared bool // with the request of another caller
	TTL    time.Duration
	Detail string
}

// String is a member of a Cache-Status field.
func (s CacheStatus) String() string {
	out := append(make([]byte, 0, 64), cacheName...)
	if s.Hit {
		out = append(out, "; hit"...)
	}
	if s.Fwd != "" {
		out = append(append(out, "; fwd="...), s.Fwd...)
	}
	if s.Status != 0 {
		out = strconv.AppendInt(append(out, "; fwd-status="...), int64(s.Status), 10)
	}
	if s.Hit {
		out = strconv.AppendInt(append(out, "; ttl="...), int64(s.TTL/time.Second), 10)
	}
	if s.Stored {
		out = append(out, "; stored"...)
	}
	if s.Shared {
		out = append(out, "; collapsed"...)
	}
	if s.Detail != "" {
		out = append(append(out, "; detail="...), s.Detail...)
	}
	return string(out)
}
