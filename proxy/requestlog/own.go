package requestlog

import (
	"bytes"
	"strconv"
	"time"

	"sundry/metrics/words"
	"sundry/proxy"
)

// ownLine is a line of Sundry's own log about a request or a fill. Its texts are parts of the line,
// as they were quoted: those that matter need no quotes. Of other lines there is no more than
// the message.
type ownLine struct {
	time                            time.Time
	message, endpoint, outcome, key []byte        // the key is its mark, or empty
	weight                          int           // how many requests it stands for
	age                             time.Duration // of the copy that a fill replaced; 0: there was none
}

var errOwn = words.Errorf("expected a line of Sundry's log, in text or JSON, such as %s",
	"应为 Sundry 的日志（文本或 JSON）中的一行，例如 %s",
	"time=2026-01-02T15:04:05Z level=INFO msg=request endpoint=lishi outcome=hit weight=100")

// isOwn reports whether a line is one of Sundry's log rather than of nginx's.
func isOwn(line []byte) bool {
	return len(line) > 0 && line[0] == '{' || bytes.HasPrefix(line, []byte("time="))
}

// parseOwn reads a line for which isOwn is true.
func parseOwn(line []byte) (ownLine, error) {
	l := ownLine{weight: 1}
	cut, end := cutText, ""
	if line[0] == '{' {
		cut, end = cutJSON, "}"
	}
	for rest := line; string(rest) != end; {
		name, value, left, ok := cut(rest)
		if !ok || !l.set(string(name), value) {
			return ownLine{}, errOwn
		}
		if rest = left; len(l.message) > 0 && !l.isRequest() && !l.isFill() {
			return l, nil
		}
	}
	if l.time.IsZero() || len(l.message) == 0 || len(l.endpoint) == 0 || len(l.outcome) == 0 {
		return ownLine{}, errOwn
	}
	return l, nil
}

// isRequest reports whether the line is about a request.
func (l *ownLine) isRequest() bool { return string(l.message) == proxy.RequestMessage }

// isFill reports whether the line is about a fill.
func (l *ownLine) isFill() bool { return string(l.message) == proxy.FillMessage }

// set takes a field; false means that its value is none.
func (l *ownLine) set(name string, value []byte) (ok bool) {
	switch name {
	case "time":
		return l.time.UnmarshalText(value) == nil
	case "msg":
		l.message = value
		return len(value) > 0
	case "endpoint":
		l.endpoint = value
	case "outcome":
		l.outcome = value
	case "key":
		l.key = value
	case "weight":
		n, err := strconv.Atoi(string(value))
		l.weight = n
		return err == nil && n > 0
	case "age":
		l.age, ok = parseAge(string(value))
		return ok
	}
	return true
}

// parseAge reads nanoseconds, as in JSON, or a duration.
func parseAge(text string) (age time.Duration, ok bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	if age = time.Duration(n); err != nil {
		age, err = time.ParseDuration(text)
	}
	return age, err == nil && age >= 0
}

// cutText cuts name=value off the beginning of a line. The value may be quoted.
func cutText(line []byte) (name, value, rest []byte, ok bool) {
	name, rest, ok = bytes.Cut(line, []byte("="))
	if !ok || len(name) == 0 {
		return nil, nil, nil, false
	}
	if len(rest) > 0 && rest[0] == '"' {
		value, rest, ok = quotedField(rest)
		return name, value, bytes.TrimPrefix(rest, []byte(" ")), ok
	}
	value, rest, _ = bytes.Cut(rest, []byte(" "))
	return name, value, rest, true
}

// cutJSON cuts "name":value off, with the brace or the comma before it.
func cutJSON(line []byte) (name, value, rest []byte, ok bool) {
	if len(line) < 2 || line[0] != '{' && line[0] != ',' {
		return nil, nil, nil, false
	}
	name, rest, ok = quotedField(line[1:])
	if !ok || len(rest) < 2 || rest[0] != ':' {
		return nil, nil, nil, false
	}
	if rest = rest[1:]; rest[0] == '"' {
		value, rest, ok = quotedField(rest)
		return name, value, rest, ok
	}
	end := bytes.IndexAny(rest, ",}")
	if end <= 0 || rest[0] == '{' || rest[0] == '[' { // lines of requests and fills have no such values
		return nil, nil, nil, false
	}
	return name, rest[:end], rest[end:], true
}
