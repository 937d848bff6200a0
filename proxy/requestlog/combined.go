package requestlog

import (
	"bytes"
	"strconv"
	"time"

	"sundry/metrics/words"
)

// combinedLine is a line of nginx's combined format.
type combinedLine struct {
	addr   string // of the client
	time   time.Time
	method string // empty, with the target, if the request was none of HTTP
	target string
	status int
	agent  string // empty: the line does not have it, or there was none
}

// combinedTime is the layout of its times.
const combinedTime = "02/Jan/2006:15:04:05 -0700"

var errCombined = words.Errorf("expected nginx's combined format, as in %s", "应为 nginx 的 combined 格式，例如 %s",
	`192.0.2.1 - - [02/Jan/2026:15:04:05 +0000] "GET /api/ip HTTP/1.1" 200 312 "-" "curl/8.0"`)

// parseCombined reads a line. What follows the status may be missing, and what
// follows the User-Agent is ignored.
func parseCombined(line []byte) (l combinedLine, err error) {
	end, at := bytes.IndexByte(line, ' '), bytes.Index(line, []byte(`] "`))-len(combinedTime) // no user has a quote
	if end <= 0 || at <= end || line[at-1] != '[' {
		return l, errCombined
	}
	l.addr = string(line[:end])
	if l.time, err = time.Parse(combinedTime, string(line[at:at+len(combinedTime)])); err != nil {
		return l, errCombined
	}
	request, rest, ok := quotedField(line[at+len(combinedTime)+len("] "):])
	if !ok || len(rest) < 4 || rest[0] != ' ' {
		return l, errCombined
	}
	if l.status, err = strconv.Atoi(string(rest[1:4])); err != nil || l.status < 100 || len(rest) > 4 && rest[4] != ' ' {
		return l, errCombined
	}
	method, target := requestLine(request)
	l.method, l.target, l.agent = string(method), unescape(target), unescape(agentIn(rest[4:]))
	return l, nil
}

// quotedField cuts what is between quotes at the beginning. A backslash keeps what
// follows it from ending it.
func quotedField(text []byte) (field, rest []byte, ok bool) {
	if len(text) == 0 || text[0] != '"' {
		return nil, text, false
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return text[1:i], text[i+1:], true
		}
	}
	return nil, text, false
}

// requestLine cuts "GET /path HTTP/1.1".
func requestLine(request []byte) (method, target []byte) {
	method, rest, ok := bytes.Cut(request, []byte(" "))
	end := bytes.LastIndexByte(rest, ' ')
	if !ok || end <= 0 || !bytes.HasPrefix(rest[end+1:], []byte("HTTP/")) {
		return nil, nil
	}
	return method, rest[:end]
}

// agentIn is the User-Agent in the fields after the status: bytes, referer, agent.
func agentIn(rest []byte) []byte {
	i := bytes.IndexByte(rest, '"')
	if i < 0 {
		return nil
	}
	_, rest, ok := quotedField(rest[i:])
	if !ok || len(rest) == 0 {
		return nil
	}
	agent, _, _ := quotedField(rest[1:])
	if string(agent) == "-" {
		return nil
	}
	return agent
}

// unescape undoes \xXX, and \" and \\, in a field; nginx writes no other escapes.
func unescape(field []byte) string {
	if bytes.IndexByte(field, '\\') < 0 {
		return string(field)
	}
	text, err := strconv.Unquote(`"` + string(field) + `"`)
	if err != nil {
		return string(field)
	}
	return text
}
