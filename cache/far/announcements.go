package far

import (
	"context"
	"strconv"
	"strings"
	"time"

	"sundry/cache/entry"
)

// Instances tell each other through one channel of Redis which values of APIs they have written, and which marks. Those of endpoints
// are not announced: copies of them are confirmed when they are served.
//
// What is guaranteed: whoever hears an announcement finds in Redis what it is about,
// because that was written before. Nothing else: an announcement may be lost, with the
// connection of its sender or of a listener, and be heard twice. Nothing may depend on
// one. Who hears none finds the newer value when its own copy is no longer fresh.
//
// A message is small text, "replaced <unix milliseconds> <key>". The time of
// a mark has a plus sign, which instances of earlier versions take for the same number.
// Everybody who may publish in this Redis can send one, so it is only a hint to look
// into Redis, or not to use older values of a key. Of one of another version, or of a stranger,
// nothing is used.

const (
	replacedKind = "replaced "
	markSign     = "+"
)

// announcements is the name of the channel. It has the number of the database, which
// channels do not belong to.
func (t *Tier) announcements() string {
	return keyPrefix + "announcements:" + strconv.Itoa(t.database)
}

// readAnnouncement reads a message; false when it is not one of ours.
func readAnnouncement(message string) (key string, created time.Time, ok bool) {
	rest, ok := strings.CutPrefix(message, replacedKind)
	at, key, found := strings.Cut(rest, " ")
	if !ok || !found || !announceable(key) {
		return "", time.Time{}, false
	}
	ms, err := strconv.ParseInt(at, 10, 64)
	if err != nil || ms <= 0 {
		return "", time.Time{}, false
	}
	return key, time.UnixMilli(ms), true
}

// isOfMark reports whether a message is the announcement of a mark.
func isOfMark(message string) bool { return strings.HasPrefix(message, replacedKind+markSign) }

// announceable reports whether a key may be announced: keys are short and printable.
func announceable(key string) bool {
	unprintable := func(r rune) bool { return r < ' ' || r == 0x7f }
	return key != "" && len(key) <= entry.MostAnnounced && !strings.ContainsFunc(key, unprintable)
}

// Listen calls replaced for each key of which an instance has announced a value (this one's too),
// with its creation time by this machine's clock, and for each announced one of which Redis had a newer one than was to be written. It calls hears with true whenever it is
// subscribed, because those of before are lost, and with false at first and when it hears
// no more, as when Redis is killed. It returns when ctx ends. None of them may block. See
// above for what is guaranteed: announcements are hints, which may be lost.
func (t *Tier) Listen(ctx context.Context, replaced func(key string, created time.Time), hears func(bool)) {
	hears(false)
	t.superseder.Store(&replaced)
	defer t.superseder.Store(nil)
	s := subscription{
		tier: t, channel: t.announcements(), pingAfter: watchPingAfter,
		subscribed: func() {
			// What was missed is looked at again now, which open circuits would reject.
			t.reads.close()
			t.writes.close()
			hears(true)
			t.metrics.listening.Set(1)
		},
		ended: func() { t.metrics.listening.Set(0); hears(false) },
		received: func(message string) {
			switch key, created, ok := readAnnouncement(message); {
			case !ok:
				t.metrics.announced("invalid")
			default:
				t.metrics.announced("received")
				if marked := t.markListener.Load(); marked != nil && isOfMark(message) {
					(*marked)(key, t.clock.local(created))
				}
				replaced(key, t.clock.local(created))
			}
		},
	}
	s.run(ctx)
}

// OnMark has Listen call a function for each mark that an instance has written, with its time by this machine's clock. It must not block.
func (t *Tier) OnMark(marked func(key string, at time.Time)) { t.markListener.Store(&marked) }

// superseded tells whoever listens that Redis has a newer entry of a key than the one
// that was to be written.
func (t *Tier) superseded(key string, created time.Time) {
	if replaced := t.superseder.Load(); replaced != nil {
		(*replaced)(key, created)
	}
}
