package catalog

import (
	"net/url"
	"path"
	"strings"

	"sundry/metrics/words"
	"sundry/upstreams/declare"
	"sundry/upstreams/host"
)

// ErrAddress means that a text is not the address of an API.
var ErrAddress = words.NewError("expected the address of an API such as https://api.example.org, http://127.0.0.1:3000/v1, h2c://127.0.0.1:50051 for HTTP/2 without TLS, or unix:/run/app.sock",
	"应为 API 的地址（冒号和点用半角），例如 https://api.example.org、http://127.0.0.1:3000/v1、不用 TLS 的 HTTP/2 h2c://127.0.0.1:50051，或 unix:/run/app.sock")

// ErrSocket means that a text that begins with unix: is not the address of an API at a Unix socket.
var ErrSocket = words.NewError("expected unix: and the absolute path of a socket, of at most 107 bytes; a colon and the path of the API there may follow; for example unix:/run/app.sock or unix:/run/app.sock:/v1",
	"unix: 后应为套接字的绝对路径，最长 107 字节，还可以接冒号和 API 在其中的路径，例如 unix:/run/app.sock 或 unix:/run/app.sock:/v1")

// CleartextHTTP2 is the scheme of addresses that speak HTTP/2 without TLS, and no other version of HTTP.
const CleartextHTTP2 = "h2c"

// ParseAddress reads the address of an API. For a Unix socket, the host of the URL is host.Socket with the path of the socket. The error is
// ErrAddress or ErrSocket.
func ParseAddress(text string) (*url.URL, error) {
	if rest, ok := strings.CutPrefix(text, host.Socket); ok {
		return parseSocket(rest)
	}
	u, ok := declare.Address(text, "http", "https", CleartextHTTP2)
	if !ok || u.User != nil {
		return nil, ErrAddress
	}
	return u, nil
}

// maxSocket is the length in bytes of the longest path of a socket in Linux.
const maxSocket = 107

// parseSocket reads the path of a socket and, after a colon, that of an API there.
func parseSocket(text string) (*url.URL, error) {
	socket, base, _ := strings.Cut(text, ":")
	if !path.IsAbs(socket) || len(socket) > maxSocket || strings.ContainsAny(socket, "[]?#%\" \t\r\n\x00") {
		return nil, ErrSocket
	}
	u, ok := declare.Address("http://"+socketHost+base, "http")
	if !ok || base != "" && base[0] != '/' {
		return nil, ErrSocket
	}
	u.Host = host.Socket + path.Clean(socket)
	return u, nil
}

// socketHost is the Host that an API at a Unix socket gets if host is origin.
const socketHost = "localhost"

// IsLocal reports whether the address is a Unix socket. The API then runs on this machine.
func (t *Target) IsLocal() bool {
	_, ok := host.SocketOf(t.URL.Host)
	return ok
}

// Address returns the address as it is written in a file.
func (t *Target) Address() string {
	if t.IsLocal() {
		return strings.TrimSuffix(t.URL.Host+":"+t.URL.EscapedPath(), ":")
	}
	return t.URL.String()
}

// At returns the address of a path of the API.
func (t *Target) At(path string) string {
	if t.IsLocal() {
		return t.URL.Host + ":" + strings.TrimSuffix(t.URL.EscapedPath(), "/") + path
	}
	return strings.TrimSuffix(t.URL.String(), "/") + path
}
