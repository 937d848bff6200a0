package express

import (
	"errors"
	"fmt"
	"strings"
)

// Kinds of fields that the lane itself heeds. The kind of a configured field is its
// index in Config.Fields.
const (
	unknownField    = -1 - iota
	hostField       // exactly one, of plain octets
	connectionField // says whether the connection stays open
	passedField     // net/http answers what has it
	framingField    // the request may have a body, or change the protocol
)

// maxFields bounds the configured fields: Request has a bit for each of them.
const maxFields = 64

var ownFields = map[string]int{
	"host": hostField, "connection": connectionField, "range": passedField,
	"content-length": framingField, "transfer-encoding": framingField, "expect": framingField, "upgrade": framingField,
	"te": framingField, "trailer": framingField, "proxy-connection": framingField,
}

// fieldTable finds the kind of a field by its name, in any case.
type fieldTable struct {
	slots      [64][]fieldName
	configured int
}

type fieldName struct {
	lower string
	kind  int
}

func newFieldTable(configured []string) (*fieldTable, error) {
	if len(configured) > maxFields {
		return nil, fmt.Errorf("%d fields are configured, at most %d can be read", len(configured), maxFields)
	}
	t := &fieldTable{configured: len(configured)}
	for name, kind := range ownFields {
		t.add(name, kind)
	}
	for i, name := range configured {
		if err := t.configure(strings.ToLower(name), i); err != nil {
			return nil, fmt.Errorf("field %q cannot be read: %w", name, err)
		}
	}
	return t, nil
}

func (t *fieldTable) configure(lower string, i int) error {
	if lower == "" || strings.Trim(lower, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return errors.New("a name consists of letters, digits and hyphens")
	}
	if t.kind([]byte(lower)) != unknownField {
		return errors.New("the lane heeds it itself, or it is configured twice")
	}
	t.add(lower, i)
	return nil
}

func (t *fieldTable) add(lower string, kind int) {
	slot := fieldSlot([]byte(lower))
	t.slots[slot] = append(t.slots[slot], fieldName{lower, kind})
}

// kind returns the kind of the field with a name, which consists of octets that
// names may have.
func (t *fieldTable) kind(name []byte) int {
	for _, f := range t.slots[fieldSlot(name)] {
		if equalsLower(name, f.lower) {
			return f.kind
		}
	}
	return unknownField
}

// fieldSlot is the same for a name in any case.
func fieldSlot(name []byte) int {
	first, last := int(name[0]|0x20), int(name[len(name)-1]|0x20)
	return (5*len(name) ^ first ^ 3*last) & 63
}

// equalsLower compares without regard to case. lower consists of lower case letters,
// digits and hyphens, so that the bit that makes letters lower case can be set in
// every octet that text may have.
func equalsLower(text []byte, lower string) bool {
	if len(text) != len(lower) {
		return false
	}
	for i := range text {
		if text[i]|0x20 != lower[i] {
			return false
		}
	}
	return true
}
