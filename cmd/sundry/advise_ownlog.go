package main

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"sundry/proxy"
)

// ownLine is what a what-if needs of a line of Sundry's own log.
type ownLine struct {
	Time     time.Time     `json:"time"`
	Message  string        `json:"msg"`
	Endpoint string        `json:"endpoint"`
	Outcome  string        `json:"outcome"`
	Source   string        `json:"source"`
	Key      string        `json:"key"`  // its mark, or ""
	Took     time.Duration `json:"took"` // nanoseconds
}

var errOwnLine = errors.New("expected a line of Sundry's log, in text or JSON")

// parseOwn reads a line in JSON or text. Lines about anything but requests come back
// with their message alone to be of use.
func parseOwn(line []byte) (ownLine, error) {
	var l ownLine
	var err error
	if len(line) > 0 && line[0] == '{' {
		err = json.Unmarshal(line, &l)
	} else {
		err = l.readText(string(line))
	}
	var other *json.UnmarshalTypeError // a field of another line has the same name
	if errors.As(err, &other) && l.Message != proxy.RequestMessage {
		err = nil
	}
	if err != nil || l.Message == "" || l.Message == proxy.RequestMessage && (l.Time.IsZero() || l.Endpoint == "" || l.Took < 0) {
		return ownLine{}, errOwnLine
	}
	return l, nil
}

// readText reads key=value pairs, whose values are quoted where they have to be.
func (l *ownLine) readText(line string) error {
	for line != "" {
		key, rest, ok := strings.Cut(line, "=")
		if !ok {
			return errOwnLine
		}
		var value string
		if strings.HasPrefix(rest, `"`) {
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return err
			}
			if value, err = strconv.Unquote(quoted); err != nil {
				return err
			}
			line = strings.TrimPrefix(rest[len(quoted):], " ")
		} else {
			value, line, _ = strings.Cut(rest, " ")
		}
		if err := l.set(key, value); err != nil {
			return err
		}
	}
	return nil
}

func (l *ownLine) set(key, value string) (err error) {
	switch key {
	case "time":
		l.Time, err = time.Parse(time.RFC3339Nano, value)
	case "msg":
		l.Message = value
	case "endpoint":
		l.Endpoint = value
	case "outcome":
		l.Outcome = value
	case "source":
		l.Source = value
	case "key":
		l.Key = value
	case "took":
		if l.Message == proxy.RequestMessage {
			l.Took, err = time.ParseDuration(value)
		}
	}
	return err
}

// isOwn reports whether a line is one of Sundry's log rather than of nginx's.
func isOwn(line []byte) bool {
	return len(line) > 0 && line[0] == '{' || strings.HasPrefix(string(line[:min(len(line), 5)]), "time=")
}
