package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"

	"sundry/upstreams/catalog"
)

// combinedLine is a line of nginx's combined format. Its texts are parts of the line,
// as nginx escaped them.
type combinedLine struct {
	addr   []byte // of the client
	time   []byte // as in 02/Jan/2026:15:04:05 +0000
	method []byte // empty, with the target, if the request was none of HTTP
	target []byte
	status int
	agent  []byte // empty: the line does not have it, or there was none
}

// combinedTime is the layout of its times.
const combinedTime = "02/Jan/2006:15:04:05 -0700"

var errCombined = errors.New(`expected nginx's combined format, as in 192.0.2.1 - - [02/Jan/2026:15:04:05 +0000] "GET /api/ip HTTP/1.1" 200 312 "-" "curl/8.0"`)

// parseCombined reads a line. What follows the status may be missing, and what
// follows the User-Agent is ignored.
func parseCombined(line []byte) (l combinedLine, err error) {
	end, at := bytes.IndexByte(line, ' '), bytes.Index(line, []byte(`] "`))-len(combinedTime) // no user has a quote
	if end <= 0 || at <= end || line[at-1] != '[' {
		return l, errCombined
	}
	l.addr, l.time = line[:end], line[at:at+len(combinedTime)]
	rest := line[at+len(combinedTime)+len("] "):]
	request, rest, ok := quotedField(rest)
	if !ok || len(rest) < 4 || rest[0] != ' ' {
		return l, errCombined
	}
	if l.status, err = strconv.Atoi(string(rest[1:4])); err != nil || l.status < 100 || len(rest) > 4 && rest[4] != ' ' {
		return l, errCombined
	}
	l.method, l.target = requestLine(request)
	l.agent = agentIn(rest[4:])
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

// unescapeLog undoes \xXX, and \" and \\, in a field; nginx writes no other escapes.
func unescapeLog(field []byte) []byte {
	if bytes.IndexByte(field, '\\') < 0 {
		return field
	}
	text, err := strconv.Unquote(`"` + string(field) + `"`)
	if err != nil {
		return field
	}
	return []byte(text)
}

// mostMeanings bounds what is remembered of the meaning of queries.
const mostMeanings = 1 << 18

// meaning is what a query asks for.
type meaning struct {
	key     uint64
	refused bool
}

// combinedLine takes what a line of nginx's log says.
func (l *adviseLog) combinedLine(line []byte) error {
	c, err := parseCombined(line)
	if err != nil {
		return err
	}
	at, err := time.Parse(combinedTime, string(c.time))
	if err != nil {
		return errCombined
	}
	path, query, _ := bytes.Cut(unescapeLog(c.target), []byte("?"))
	to := l.paths[string(path)]
	switch {
	case to == nil, string(c.method) != http.MethodGet && string(c.method) != http.MethodHead:
		l.counts.Other++
		return nil
	case at.After(l.latest):
		l.counts.Future++
		return nil
	case at.Before(l.earliest):
		return errOld
	}
	switch c.status {
	case http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		l.counts.Refused++ // it did not get as far as the cache
		return nil
	}
	if m := l.meaning(to, query, &c, at); m.refused {
		l.counts.Refused++
	} else {
		l.request(to, m.key, at, 1)
	}
	return nil
}

// meaning is that of a query, which is remembered for the circumstances that decide it.
func (l *adviseLog) meaning(to *adviseEndpoint, query []byte, c *combinedLine, at time.Time) meaning {
	if to.depends&catalog.OfChance != 0 {
		return to.parse(string(query), c, at)
	}
	b := append(append(append(l.scratch[:0], to.of.Name...), '?'), query...)
	if to.depends&catalog.OfAddress != 0 {
		b = append(append(b, 0), c.addr...)
	}
	if to.depends&catalog.OfAgent != 0 {
		b = append(append(b, 0), c.agent...)
	}
	if to.depends&catalog.OfDay != 0 {
		b = binary.LittleEndian.AppendUint64(append(b, 0), uint64(catalog.DayOf(at)))
	}
	l.scratch = b
	if m, known := l.meanings[string(b)]; known {
		return m
	}
	if len(l.meanings) >= mostMeanings {
		clear(l.meanings)
	}
	m := to.parse(string(query), c, at)
	l.meanings[string(b)] = m
	return m
}

// parse is how the service understands the query.
func (to *adviseEndpoint) parse(query string, c *combinedLine, at time.Time) meaning {
	addr, _ := netip.ParseAddr(string(c.addr))
	caller := catalog.Caller{Addr: addr.Unmap()}
	if len(c.agent) > 0 {
		caller.Header = http.Header{"User-Agent": {string(unescapeLog(c.agent))}}
	}
	in, bad := to.of.ParseAt(query, caller, func() time.Time { return at })
	if bad != nil {
		return meaning{refused: true}
	}
	return meaning{key: xxhash.Sum64String(in.Key())}
}
