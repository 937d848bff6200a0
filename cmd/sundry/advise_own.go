package main

import (
	"bytes"
	"errors"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"

	"sundry/cache/advise"
	"sundry/proxy"
	"sundry/upstreams/catalog"
)

// ownLine is what is read of a line of Sundry's own log. Its texts are parts of the line,
// as they were quoted: those that matter need no quotes.
type ownLine struct {
	time                            time.Time
	message, endpoint, outcome, key []byte // the key is its mark, or empty
	weight, age                     []byte // empty: the line does not have it
}

var errOwn = errors.New("expected a line of Sundry's log, in text or JSON, such as time=2026-01-02T15:04:05Z level=INFO msg=request endpoint=lishi outcome=hit weight=100")

// isOwn reports whether a line is one of Sundry's log rather than of nginx's.
func isOwn(line []byte) bool {
	return len(line) > 0 && line[0] == '{' || bytes.HasPrefix(line, []byte("time="))
}

// parseOwn reads a line. Of those about anything but requests and fills it reads no more
// than the message.
func parseOwn(line []byte) (l ownLine, err error) {
	cut, end := cutText, ""
	if line[0] == '{' {
		cut, end = cutJSON, "}"
	}
	rest := line
	for string(rest) != end {
		name, value, left, ok := cut(rest)
		if !ok || !l.set(name, value) {
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

func (l *ownLine) isRequest() bool { return string(l.message) == proxy.RequestMessage }
func (l *ownLine) isFill() bool    { return string(l.message) == proxy.FillMessage }

func (l *ownLine) set(name, value []byte) bool {
	switch string(name) {
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
		l.weight = value
	case "age":
		l.age = value
	}
	return true
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

// wholeNumber is the whole number of a field; ok is false if it is none above 0.
func wholeNumber(text []byte) (n int64, ok bool) {
	n, err := strconv.ParseInt(string(text), 10, 64)
	return n, err == nil && n > 0
}

// ownLine takes what a line of Sundry's log says.
func (l *adviseLog) ownLine(line []byte) error {
	own, err := parseOwn(line)
	if err != nil {
		return err
	}
	to := l.endpoints[string(own.endpoint)]
	switch {
	case to == nil:
		l.counts.Other++
		return nil
	case own.time.After(l.latest):
		l.counts.Future++
		return nil
	case own.time.Before(l.earliest):
		return errOld
	}
	key, ok := to.keyOf(&own)
	switch outcome := string(own.outcome); {
	case own.isRequest() && (outcome == "invalid" || outcome == "limited" || outcome == "shed"):
		l.counts.Refused++
	case !ok:
		l.counts.Keyless[to.of.Name]++
	case own.isFill():
		return l.fill(to, key, &own)
	default:
		weight := int64(1)
		if len(own.weight) > 0 {
			if weight, ok = wholeNumber(own.weight); !ok {
				return errOwn
			}
		}
		l.request(to, key, own.time, int(weight))
	}
	return nil
}

// keyOf is a hash of the key's mark, or of the only key; ok is false if it is not known.
func (to *adviseEndpoint) keyOf(l *ownLine) (key uint64, ok bool) {
	switch {
	case len(l.key) > 0:
		return xxhash.Sum64(l.key), true
	case to.depends&catalog.OfDay != 0:
		return uint64(catalog.DayOf(l.time)), to.oneKey
	}
	return 0, to.oneKey
}

// fill notes what a refresh found.
func (l *adviseLog) fill(to *adviseEndpoint, key uint64, own *ownLine) error {
	found, known := advise.ParseOutcome(string(own.outcome))
	if !known && string(own.outcome) != "failed" {
		return errOwn
	}
	age, err := to.ageOf(uint32(key), own)
	switch {
	case err != nil:
		return err
	case age == 0:
		found = advise.First
	case found == advise.First && len(own.age) == 0:
		age = 0 // nothing was replaced
	}
	if l.counts.Fills++; string(own.outcome) == "failed" {
		return nil // it says nothing of the content
	}
	to.seen.Refresh(uint32(key), own.time, age, found)
	return nil
}

// ageOf is how old the copy was that was replaced; where the line does not say so, that is
// from the fill before. 0: not known.
func (to *adviseEndpoint) ageOf(key uint32, l *ownLine) (age time.Duration, err error) {
	if n, ok := wholeNumber(l.age); ok { // nanoseconds, in JSON
		return time.Duration(n), nil
	}
	if len(l.age) > 0 {
		if age, err = time.ParseDuration(string(l.age)); err != nil || age < 0 {
			return 0, errOwn
		}
		return age, nil
	}
	before, known := to.filled[key]
	if known {
		age = max(0, l.time.Sub(before))
	}
	if known || len(to.filled) < mostFilled {
		to.filled[key] = l.time
	}
	return age, nil
}
