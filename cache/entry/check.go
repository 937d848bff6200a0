package entry

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"
)

var errDigest = errors.New("entry whose content does not match its digest")

// Check validates a whole entry that comes from Redis: its bytes are not trusted
// before.
func (e *Entry) Check(now time.Time) error {
	if e.Split() || e.Raw[1]&^(flagNegative|flagLastResort) != 0 {
		return errLayout
	}
	for _, check := range []func() error{
		e.checkHead, func() error { return e.Meta.checkTimes(now) }, e.checkTable, e.checkContent,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (e *Entry) checkHead() error {
	m := &e.Meta
	switch {
	case !Printable(m.Source), m.Edition != "" && !isDate(m.Edition), !utf8.ValidString(e.Message):
		return errLayout
	case m.Negative != (e.Message != ""), !m.Negative && e.Forms == 0:
		return errLayout
	}
	return nil
}

const (
	// maxDistance bounds how far from now any date of an entry may be.
	maxDistance = 100 * 365 * 24 * time.Hour
	// maxAhead is how far in the future an entry may have been created to be read at all.
	maxAhead = time.Minute
)

// checkTimes refuses dates that no fill writes, clock skew allowed for. Expires and
// Fresh can only shorten an entry's life.
func (m *Meta) checkTimes(now time.Time) error {
	latest, earliest := now.Add(maxAhead), time.UnixMilli(0)
	switch {
	case m.Created.After(latest) || !m.Created.After(earliest):
		return fmt.Errorf("entry created %v", m.Created)
	case m.Modified.After(m.Created) || !m.Modified.After(earliest):
		return fmt.Errorf("entry changed %v, created %v", m.Modified, m.Created)
	case !m.Since.IsZero() && (m.Since.After(latest) || !m.Since.After(earliest)):
		return fmt.Errorf("entry with a part created %v", m.Since)
	case !m.Expires.IsZero() && (m.Expires.After(now.Add(maxDistance)) || !m.Expires.After(earliest)):
		return fmt.Errorf("entry that expires %v", m.Expires)
	}
	return nil
}

// checkTable requires the records to fill the bytes from the table's end to the
// entry's.
func (e *Entry) checkTable() error {
	records := 0
	for i := range e.Forms {
		bodies, compresses := e.Form(i)
		if bodies > len(e.Raw) || e.formFlags(i)&^formCompresses != 0 || compresses && bodies != 1 {
			return errLayout
		}
		records += bodies
	}
	table := e.table + e.Forms*formRow
	if records > len(e.Raw) || table+4*(records+1) > len(e.Raw) {
		return errLayout
	}
	first := binary.LittleEndian.Uint32(e.Raw[table:])
	last := binary.LittleEndian.Uint32(e.Raw[table+4*records:])
	if int(first) != table+4*(records+1) || int(last) != len(e.Raw) || e.Size() != len(e.Raw) {
		return errLayout
	}
	return nil
}

func (e *Entry) checkContent() error {
	sum, err := e.content()
	if err == nil && sum != e.Digest {
		err = errDigest
	}
	return err
}

// content reads every record once, and digests them.
func (e *Entry) content() (uint64, error) {
	d, n := newDigest(e.Message), 0
	for i := range e.Forms {
		bodies, _ := e.Form(i)
		for range bodies {
			rep, err := e.checkRecord(n)
			if err != nil {
				return 0, err
			}
			d.body(rep.Status, rep.Type, rep.ETag, rep.Location, rep.Data)
			n++
		}
		d.form(e.formFlags(i))
	}
	return d.sum(), nil
}

func (e *Entry) checkRecord(n int) (Rep, error) {
	rec, err := e.Record(n)
	if err != nil {
		return Rep{}, err
	}
	rep, err := parseRecord(rec, false)
	switch {
	case err != nil:
		return Rep{}, err
	case rep.Status < 200 || rep.Status > 599 || http.StatusText(rep.Status) == "":
		return Rep{}, fmt.Errorf("representation with status %d", rep.Status)
	case !Printable(rep.Type), !Printable(rep.Location), !isTag(rep.ETag):
		return Rep{}, errors.New("representation with an invalid header")
	}
	return rep, nil
}

// Printable reports whether text is valid in a header.
func Printable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == utf8.RuneError }) < 0
}

func isTag(s string) bool {
	opaque := strings.TrimPrefix(s, "W/")
	return s == "" || Printable(s) && len(opaque) >= 2 && opaque[0] == '"' && strings.IndexByte(opaque[1:], '"') == len(opaque)-2
}

func isDate(s string) bool {
	if len(s) != len(time.DateOnly) {
		return false
	}
	for i := range s {
		if dash := i == 4 || i == 7; dash != (s[i] == '-') || !dash && (s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return true
}
