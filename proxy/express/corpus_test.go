package express

import (
	"fmt"
	"strings"
)

// fieldCorpus are lines, each with its end: every field that matters to framing, to
// the lane or to the shop, well and badly written.
func fieldCorpus() []string {
	lines := []string{
		"", "Accept: */*\r\n", "accept:text/html\r\n", "ACCEPT:   a  \r\n", "Accept:\r\n", "Accept: a\r\nAccept: b\r\n", "Accept : a\r\n", " Accept: a\r\n",
		"Accept: a\r\n b\r\n", "Accept: a\r\n\tb\r\n", "Accept:\ta\r\n", "Accept: a\t\r\n", "Accept: a\tb\r\n", "Accept: \xff\xfe\r\n", "Accept: 中文\r\n",
		"Accept: a\x00b\r\n", "Accept: a\x0bb\r\n", "Accept: a\x7f\r\n", "Accept: a\n", "Accept: a\r", "Accept: a\rb\r\n", "Accept\r\n", ": a\r\n", "\x00: a\r\n",
		"Acc\xe9pt: a\r\n", "Acc@pt: a\r\n", "Accept-Encoding: gzip, zstd\r\n", "If-None-Match: \"a\", W/\"b\"\r\n", "X-Forwarded-For: 192.0.2.1\r\n",
		"X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-For: 192.0.2.2\r\n", "Range: bytes=0-3\r\n", "Pragma: no-cache\r\n", "Cookie: a=b; c=d\r\n",
		"Connection: keep-alive\r\n", "Connection: Keep-Alive\r\n", "connection: close\r\n", "Connection: keep-alive, close\r\n", "Connection: close\r\nConnection: keep-alive\r\n",
		"Connection: Upgrade\r\nUpgrade: websocket\r\n", "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n",
		"Connection: Accept\r\n", "Connection:\r\n", "Proxy-Connection: keep-alive\r\n", "Keep-Alive: timeout=5\r\n", "TE: trailers\r\n", "TE: gzip\r\n", "Trailer: Accept\r\n",
		"Upgrade: a\r\n", "Expect: 100-continue\r\n", "Expect: something\r\n", "Host: b.example\r\n", "Host: a.example\r\n", "host:a.example\r\n", "HOST:\r\n",
		"Content-Length: 0\r\n", "Content-Length: 5\r\n", "Content-Length: +5\r\n", "Content-Length: -1\r\n", "Content-Length: 5, 5\r\n", "Content-Length: 5\r\nContent-Length: 5\r\n",
		"Content-Length: 5\r\nContent-Length: 6\r\n", "Content-Length:\r\n", "Content-Length: 0x5\r\n", "Content-Length : 5\r\n", "Content_Length: 5\r\n", "Content-Length: 5\x0b\r\n",
		"content-length:5\r\n", "Transfer-Encoding: chunked\r\n", "Transfer-Encoding: Chunked\r\n", "Transfer-Encoding: identity\r\n", "Transfer-Encoding: gzip, chunked\r\n",
		"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding : chunked\r\n", " Transfer-Encoding: chunked\r\n", "Transfer-Encoding:\x0bchunked\r\n",
		"Transfer-Encoding: x\r\n chunked\r\n", "Transfer-Encoding\r\n: chunked\r\n", "Transfer_Encoding: chunked\r\n", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
		"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "X: " + strings.Repeat("a", 3000) + "\r\n", "X: " + strings.Repeat("a", 4000) + "\r\n", "X: " + strings.Repeat("a", 9000) + "\r\n",
	}
	for n := 3980; n < 4060; n += 7 { // heads of about the size of net/http's buffer
		lines = append(lines, "X: "+strings.Repeat("a", n)+"\r\n")
	}
	return lines
}

// targets are what stands behind the method.
func targets() []string {
	return []string{
		"/hit", "/hit?a=1&b=2", "/hit?", "/hit??", "/hit?a?b", "/hit?a=%20%zz", "/hit?a=\"<>\\^`{|}", "/hit/\"<>\\^`{|}[]", "/hit;a=b", "/hit:80", "/hit?a=中文", "/hit中文",
		"/%68it", "/hit%2f", "/hit%", "/hit%zz", "//hit", "/hit//", "/hit/../hit", "/./hit", "/hit#a", "/hit?a#b", "/miss", "/miss?a=1", "/", "/?", "*", "", "hit", "?hit",
		"http://a.example/hit", "HTTP://a.example/hit", "a.example:80", "/hit a", "/hit\ta", "/hit\x00", "/hit\x7f", "/hit\r", "/read", "/big", "/medium", "/close", "/hijack", "/@hit", "/a@b:c/hit",
	}
}

// smuggling are requests with a body, or without one, by which two servers may come
// to differ about where the next begins.
func smuggling() []string {
	const next = "GET /hit?smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n"
	request := func(fields, body string) string {
		return "POST /read HTTP/1.1\r\nHost: a.example\r\n" + fields + "\r\n" + body
	}
	chunks := func(body string) string { return request("Transfer-Encoding: chunked\r\n", body) }
	out := []string{
		request("Content-Length: 6\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\nG"),
		request("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", "8\r\nSMUGGLED\r\n0\r\n\r\n"),
		request("Content-Length: 5\r\nContent-Length: 0\r\n", "hello"),
		request("Content-Length: 5\r\n", "hello"), request("Content-Length: 10\r\n", "hello"), request("", ""),
		chunks("5\r\nhello\r\n0\r\n\r\n"), chunks("5;a=b\r\nhello\r\n0\r\n\r\n"), chunks("5 ;a=\"\r\n\"\r\nhello\r\n0\r\n\r\n"), chunks("5\nhello\n0\n\n"),
		chunks("05\r\nhello\r\n00\r\n\r\n"), chunks("0x5\r\nhello\r\n0\r\n\r\n"), chunks("-1\r\n"), chunks("5\r\nhelloX\r\n0\r\n\r\n"), chunks("5\r\nhello\r\n0\r\nTrailer: a\r\n\r\n"),
		chunks("ffffffffffffffff1\r\nhello\r\n0\r\n\r\n"), chunks("5\r\nhello\r\n0\r\n\r\nX"), chunks("0\r\n\r\n"),
		"GET /hit HTTP/1.1\r\nHost: a.example\r\nContent-Length: " + fmt.Sprint(len(next)) + "\r\n\r\n",
		"GET /hit HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "GET /hit HTTP/1.1\nHost: a.example\n\n", "GET /hit HTTP/1.1\r\nHost: a.example\n\r\n",
		"GET /hit HTTP/1.1\r\nHost: a.example\r\n\n", "GET /hit HTTP/1.1\r\rHost: a.example\r\r", "GET /hit\r\n", "GET /hit\r\n\r\n", "GET /hit HTTP/0.9\r\n\r\n", "GET /hit HTTP/1.0\r\n\r\n",
		"GET /hit HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "GET /hit HTTP/1.2\r\nHost: a.example\r\n\r\n", "GET /hit HTTP/2.0\r\nHost: a.example\r\n\r\n", "GET /hit HTTP/1.1 \r\nHost: a.example\r\n\r\n",
		"GET /hit http/1.1\r\nHost: a.example\r\n\r\n", "GET\t/hit HTTP/1.1\r\nHost: a.example\r\n\r\n", "GET  /hit HTTP/1.1\r\nHost: a.example\r\n\r\n", "GET /hit  HTTP/1.1\r\nHost: a.example\r\n\r\n",
		"\r\n" + next, "\n" + next, "\r\n\r\n" + next, " " + next, "\x00" + next, "\x16\x03\x01\x00\xa5\x01\x00\x00", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"GET /hit HTTP/1.1\r\n\r\n", "GET /hit HTTP/1.1\r\nHost: a.example\r\nHost: a.example\r\n\r\n", "GET /hit HTTP/1.1\r\nHost : a.example\r\n\r\n", "GET /hit HTTP/1.1\r\n Host: a.example\r\n\r\n",
		"CONNECT a.example:80 HTTP/1.1\r\nHost: a.example\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: a.example\r\n\r\n", "TRACE /hit HTTP/1.1\r\nHost: a.example\r\n\r\n",
	}
	for _, rest := range []string{"G", "GE", "GET", "GET ", "GET /", "\r\n", "0\r\n\r", "\r\n\r\n"} { // a connection that ends in the middle of the second request, or before it
		out = append(out, next+rest)
	}
	return out
}

// methods, with a body or without one.
func methods() []string {
	return []string{"GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE", "get", "G", "GETS", "HEADER", "PATCH", "GE T", "GET\x00", "(GET)"}
}

// corpus are raw requests: all methods, versions, targets and fields, each with what
// follows it on the connection.
func corpus() []string {
	var out []string
	hosts := []string{"a.example", "a.example:80", "[::1]:80", "127.0.0.1", "", " ", "a b", "a/b", "a@b", "a%41", "a,b", "a.example\x00", "ä.example", "a_b", "*", "a:b:c", "[a"}
	for _, target := range targets() {
		for _, method := range methods() {
			for _, version := range []string{"HTTP/1.1", "HTTP/1.0", "HTTP/1.2", "HTTP/2.0", "http/1.1", "HTTP/1.1 ", "HTTP/01.1", "HTTP/1.1a", ""} {
				if version == "HTTP/1.1" || method == "GET" && strings.HasPrefix(target, "/hit?a=1") {
					out = append(out, method+" "+target+" "+version+"\r\nHost: a.example\r\n\r\n")
				}
			}
		}
	}
	for _, field := range fieldCorpus() {
		for _, target := range []string{"/hit", "/miss", "/read"} {
			for _, method := range []string{"GET", "HEAD", "POST"} {
				out = append(out, method+" "+target+" HTTP/1.1\r\nHost: a.example\r\n"+field+"\r\n", method+" "+target+" HTTP/1.1\r\n"+field+"Host: a.example\r\nUser-Agent: a\r\n\r\n",
					method+" "+target+" HTTP/1.1\r\nHost: a.example\r\n"+field+"\r\nhello")
			}
		}
	}
	for _, host := range hosts {
		out = append(out, "GET /hit HTTP/1.1\r\nHost: "+host+"\r\n\r\n", "GET /miss HTTP/1.1\r\nhost:"+host+"\r\n\r\n")
	}
	return append(out, smuggling()...)
}
