package web

import (
	"errors"
	"strings"
)

// ErrPurge means that a text is no purge.
var ErrPurge = errors.New("expected url, prefix, tag or group with a value, such as: url /news?page=2, prefix /news/, tag front, group front; with soft before it, what it is about becomes stale instead")

// The words of a purge as a text.
const (
	wordSoft   = "soft "
	wordURL    = "url "
	wordPrefix = "prefix "
	wordTag    = "tag "
	wordGroup  = "group "
)

// ParsePurge reads a purge of what is stored of an API, such as soft tag front. The error is ErrPurge.
func ParsePurge(api, text string) (Purge, error) {
	var p Purge
	text, p.Soft = strings.CutPrefix(text, wordSoft)
	if path, ok := strings.CutPrefix(text, wordURL); ok && strings.HasPrefix(path, "/") {
		p.Key = api + path
		return p, nil
	}
	if path, ok := strings.CutPrefix(text, wordPrefix); ok && strings.HasPrefix(path, "/") {
		p.Prefix = api + path
		return p, nil
	}
	if tag, ok := strings.CutPrefix(text, wordTag); ok && tag != "" && !strings.ContainsAny(tag, " ,") {
		p.Tag, p.Prefix = asInJSON(tag), api+"/"
		return p, nil
	}
	if group, ok := strings.CutPrefix(text, wordGroup); ok && group != "" {
		p.Group, p.Prefix = group, api+"/"
		return p, nil
	}
	return Purge{}, ErrPurge
}
