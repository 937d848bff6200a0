package advise

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"slices"
	"strings"
	"time"

	"sundry/cache/durable"
)

// What was seen is kept over a restart in a file: a line that names its kind, a checksum,
// and the spaces by encoding/gob.

// stateKind is the beginning of the file; the version is its last letter.
const stateKind = "sundry advice 1\n"

// maxState bounds the file: all spaces, with all events that are kept of each.
const maxState = maxSpaces*(DefaultEvents*eventBytes+4096) + 4096

// ErrForeign is returned for a file that is something other than a state, and is left as
// it is.
var ErrForeign = errors.New("the file is not what advice keeps, and is left as it is")

// errDamaged is returned for a state that is not as it was written.
var errDamaged = errors.New("damaged: it is written anew")

// kept is a space in the file.
type kept struct {
	Name      string
	Version   uint64
	Rule      string
	Since     time.Time
	Predicted *Rule
	Halved    uint8
	TTL       time.Duration
	Events    []byte
}

// WriteFile puts what was seen into a file, in the place of the one before: whoever reads it
// finds the one or the other. Only this user can read it. "" is no file: nothing happens.
func (o *Observer) WriteFile(name string) error {
	if name == "" {
		return nil
	}
	old, err := durable.ReadBegin(name, len(stateKind))
	if errors.Is(err, durable.ErrNotRegular) || err == nil && len(old) > 0 && !replaceable(string(old)) {
		return fmt.Errorf("%s: %w", name, ErrForeign)
	}
	var all []kept
	for name, s := range o.all() {
		all = append(all, s.kept(name))
	}
	var b bytes.Buffer
	b.WriteString(stateKind)
	b.Write(make([]byte, crc32.Size))
	if err := gob.NewEncoder(&b).Encode(all); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	sum, body := b.Bytes()[len(stateKind):], b.Bytes()[len(stateKind)+crc32.Size:]
	binary.BigEndian.PutUint32(sum, crc32.ChecksumIEEE(body))
	return durable.WriteFile(name, b.Bytes())
}

// replaceable reports whether a file that begins so is a state of this version, or of an earlier one.
func replaceable(begin string) bool {
	kind, version := stateKind[:len(stateKind)-2], stateKind[len(stateKind)-2:]
	of, ok := strings.CutPrefix(begin, kind)
	return ok && of <= version
}

func (s *space) kept(name string) kept {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := kept{name, s.version, s.rule, s.since, s.predicted, s.seen.halved, s.seen.ttl, make([]byte, 0, len(s.seen.events)*eventBytes)}
	for _, e := range s.seen.events {
		k.Events = e.append(k.Events)
	}
	return k
}

// ReadFile takes over what an earlier process has kept of the spaces that a rule is in force
// for. Where there is no file, or the name is "", nothing happens. An error means that the observer knows no
// more than before.
func (o *Observer) ReadFile(name string, now time.Time) error {
	begin, err := durable.ReadBegin(name, len(stateKind))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, durable.ErrNotRegular), err == nil && string(begin) != stateKind:
		return fmt.Errorf("%s: %w", name, ErrForeign)
	case err != nil:
		return err
	}
	b, err := durable.ReadFile(name, maxState)
	if err != nil {
		return err
	}
	all, err := readState(b)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for i := range all {
		if s := o.known(all[i].Name); s != nil {
			s.restore(&all[i], now)
		}
	}
	return nil
}

func readState(b []byte) (all []kept, err error) {
	body, ok := bytes.CutPrefix(b, []byte(stateKind))
	switch {
	case !ok:
		return nil, ErrForeign
	case len(body) < crc32.Size || binary.BigEndian.Uint32(body) != crc32.ChecksumIEEE(body[crc32.Size:]):
		return nil, errDamaged
	}
	err = gob.NewDecoder(bytes.NewReader(body[crc32.Size:])).Decode(&all)
	return all, err
}

// restore puts what was kept before what was seen since. What is from the future, by a clock
// that was ahead, is left out.
func (s *space) restore(k *kept, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k.Version != s.version {
		return
	}
	if k.Rule == s.rule {
		s.since, s.predicted = k.Since, k.Predicted
	}
	since := s.seen.events
	s.seen = Seen{halved: k.Halved, ttl: k.TTL}
	for ; len(k.Events) >= eventBytes; k.Events = k.Events[eventBytes:] {
		if e := eventOf(k.Events); e.time() <= now.UnixMilli() && e.kind() <= sample {
			s.seen.add(e)
		}
	}
	for _, e := range slices.DeleteFunc(since, func(e event) bool { return !s.seen.keeps(e.key) }) {
		s.seen.add(e)
	}
}

func (e event) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(e.at))
	b = binary.BigEndian.AppendUint32(b, e.key)
	return binary.BigEndian.AppendUint32(b, math.Float32bits(e.n))
}

func eventOf(b []byte) event {
	return event{int64(binary.BigEndian.Uint64(b)), binary.BigEndian.Uint32(b[8:]), math.Float32frombits(binary.BigEndian.Uint32(b[12:]))}
}
