package far

import (
	"context"
	"strconv"
	"strings"
	"time"

	"sundry/cache/entry"
)

// Instances notify each other of marks through one channel of Redis. Other values are not announced: copies of them are confirmed when they
// are served.
//
// What is guaranteed: whoever hears an announcement finds in Redis what it is about, because that was written before. Nothing else: an
// announcement may be lost, with the connection of its sender or of a listener, and be heard twice. Nothing may depend on one.
//
// A message is small text, "replaced +<unix milliseconds> <key>". Everybody who may publish in this Redis can send one, so it is only a hint
// not to use older values of a key. Of one of another version, or of a stranger, nothing is used.

const announcedMark = "replaced +"

// announcements is the name of the channel. It has the number of the database, which
// channels do not belong to.
func (t *Tier) announcements() string {
	return keyPrefix + "announcements:" + strconv.Itoa(t.database)
}

// readAnnouncement reads a message; false when it is not one of ours.
func readAnnouncement(message string) (key string, created time.Time, ok bool) {
	rest, ok := strings.CutPrefix(message, announcedMark)
	at, key, found := strings.Cut(rest, " ")
	if !ok || !found || !announceable(key) {
		return "", time.Time{}, false
	}
	ms, err := strconv.ParseUint(at, 10, 63)
	if err != nil || ms == 0 {
		return "", time.Time{}, false
	}
	return key, time.UnixMilli(int64(ms)), true
}

// announceable reports whether a key may be announced: keys are short and printable.
func announceable(key string) bool {
	unprintable := func(r rune) bool { return r < ' ' || r == 0x7f }
	return key != "" && len(key) <= entry.MostAnnounced && !strings.ContainsFunc(key, unprintable)
}

// Listen calls marked for each mark that an instance has written (this one's too), with its time by this machine's clock. It calls hears
// with true whenever it is subscribed, because announcements of before are lost, and with false at first and when it hears no more, as when
// Redis is killed. It returns when ctx ends. None of them may block. See above for what is guaranteed.
func (t *Tier) Listen(ctx context.Context, marked func(key string, at time.Time), hears func(bool)) {
	hears(false)
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
			key, created, ok := readAnnouncement(message)
			if !ok {
				t.metrics.announced("invalid")
				return
			}
			t.metrics.announced("received")
			marked(key, t.clock.local(created))
		},
	}
	s.run(ctx)
}
