package web

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"golang.org/x/net/http/httpguts"

	"sundry/cache/entry"
	"sundry/metrics"
)

// Others than instances may have written what is in Redis or in a file, so that it is checked when it is read. Its checksum finds
// damage, the rest of the checks what would do more harm than a wrong body for the URL that it is stored under.

// mostHead is the size in bytes of the largest head of an object that is read. Those that instances write are smaller, because
// origins and clients have limits for headers.
const mostHead = 2 << 20

var (
	errNoObject = errors.New("not a shared object")
	// errOrigin: the object was stored under another Origin, which is no damage.
	errOrigin = errors.New("shared object of another origin")
)

// check reports why an object cannot be what an instance has stored; nil means that it can.
func (o *Object) check(rules *Rules, now time.Time) error {
	if !isComplete(o.Status) || !bodyAllowed(o.Status) && len(o.Body) > 0 {
		return fmt.Errorf("shared object with status %d and a body of %d bytes", o.Status, len(o.Body))
	}
	if o.Status == http.StatusPartialContent && o.Part == nil {
		return fmt.Errorf("shared object that is a part of nothing: %q", o.Header.Get("Content-Range"))
	}
	return cmp.Or(o.checkHeader(), o.checkNames(rules), o.checkTimes(now))
}

// checkHeader refuses fields that cannot be sent to a client as they are, and what would contradict the framing of the body.
func (o *Object) checkHeader() error {
	for name, lines := range o.Header {
		invalid := func(line string) bool { return !httpguts.ValidHeaderFieldValue(line) }
		if !isFieldName(name) || len(lines) == 0 || slices.ContainsFunc(lines, invalid) {
			return fmt.Errorf("shared object with an invalid field %q", name)
		}
	}
	length, said := o.Header["Content-Length"]
	switch {
	case HasConnectionFields(o.Header), o.Header["Age"] != nil:
		return errors.New("shared object with fields that are not stored")
	case said && (len(length) != 1 || length[0] != strconv.Itoa(len(o.Body))):
		return fmt.Errorf("shared object with the length %q and a body of %d bytes", length, len(o.Body))
	}
	return nil
}

// isFieldName reports whether a name is one as net/http has it.
func isFieldName(name string) bool {
	return httpguts.ValidHeaderFieldName(name) && http.CanonicalHeaderKey(name) == name
}

// checkNames requires the names by which the response says that it is selected, and none besides but those of routing fields: or the
// response would be sent to clients that it is not for.
func (o *Object) checkNames(rules *Rules) error {
	names, err := varyFields(o.Header, rules.Ignored)
	for _, name := range o.Names {
		if IsRouting(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if !httpguts.ValidHeaderFieldValue(o.Site) {
		return fmt.Errorf("shared object with an invalid site %q", o.Site)
	}
	if slices.Sort(names); err != nil || !slices.Equal(o.Names, names) {
		return fmt.Errorf("shared object that is selected by %d names, of %d", len(o.Names), len(names))
	}
	return nil
}

// checkTimes refuses times from the future, which no purge would reach, and those that no clock had. An origin may say
// that a response is as old as a duration is long.
func (o *Object) checkTimes(now time.Time) error {
	latest := now.Add(entry.Skew)
	switch {
	case !o.Requested.After(time.UnixMilli(0)), o.Requested.After(latest), o.Received.After(latest), o.Requested.After(o.Received.Add(entry.Skew)):
		return fmt.Errorf("shared object requested %v, received %v", o.Requested, o.Received)
	case o.Born.After(o.Received), o.Born.Before(o.Received.Add(math.MinInt64)):
		return fmt.Errorf("shared object received %v, generated %v", o.Received, o.Born)
	}
	return nil
}

// brokenObjects counts what was read and is not believed.
type brokenObjects struct{ far, file prometheus.Counter }

func newBrokenObjects(reg prometheus.Registerer) brokenObjects {
	all := promauto.With(reg).NewCounterVec(prometheus.CounterOpts{Namespace: metrics.Namespace, Subsystem: "apis", Name: "broken_total",
		Help: "Responses and purges of APIs that were read from Redis, or from the file of the last process, and not used: they are damaged, from the future, of another version, or nothing that an instance writes."},
		[]string{"from"})
	return brokenObjects{far: all.WithLabelValues("redis"), file: all.WithLabelValues("file")}
}
