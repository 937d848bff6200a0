package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/cache/entry"
	"sundry/cache/snapshot"
	"sundry/cache/web/webtest"
)

// groupNames is a field with so many groups.
func groupNames(n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf(`"group-%026d"`, i) // 32 characters
	}
	return strings.Join(names, ", ")
}

// TestGroupsOfAField: RFC 9875, section 2, and RFC 9651, section 3.1.
func TestGroupsOfAField(t *testing.T) {
	for _, row := range []struct {
		lines []string
		want  []string
	}{
		{nil, nil},
		{[]string{""}, nil},
		{[]string{`"ux", "scripts"`}, []string{"ux", "scripts"}},
		{[]string{`"ux"`, ` "scripts" `}, []string{"ux", "scripts"}},
		{[]string{`"ux";a=1;b, "Ux";c="d, e"`}, []string{"ux", "Ux"}},
		{[]string{`"a, b", "c \"d\" \\"`}, []string{"a, b", `c "d" \`}},
		{[]string{`"a", "a"`}, []string{"a"}},
		{[]string{`"a", token`}, nil},
		{[]string{`"a", 1`}, nil},
		{[]string{`"a", ("b" "c")`}, nil},
		{[]string{`"a", :YQ==:`}, nil},
		{[]string{`"a", ?1`}, nil},
		{[]string{`"a", %"b"`}, nil},
		{[]string{`"a",`}, nil},
		{[]string{`"a" "b"`}, nil},
		{[]string{`"a`}, nil},
		{[]string{"\"\u00e4\""}, nil},
	} {
		if got := GroupsIn(row.lines); !slices.Equal(got, row.want) {
			t.Errorf("%q: %q, want %q", row.lines, got, row.want)
		}
	}
	if got := GroupsIn([]string{groupNames(32)}); len(got) != 32 || len(got[31]) != 32 {
		t.Errorf("%d groups of 32 characters are read of 32", len(got))
	}
	if got := GroupsIn([]string{groupNames(7000)}); len(got) != maxGroups+1 { // or each name would be compared with all others
		t.Errorf("%d groups are read of 7000", len(got))
	}
	if got := GroupsIn([]string{groupNames(7000) + ", token"}); got != nil {
		t.Errorf("%d groups are read of a field that is none", len(got))
	}
}

// grouped is an object in a group of each API, and in others.
func grouped(after int, groups string) *Object { return object(after, "body", "Cache-Groups: "+groups) }

// TestGroupsArePurged: of one API alone, case-sensitively, with the responses that were under way.
func TestGroupsArePurged(t *testing.T) {
	for name, row := range map[string]struct {
		invalidation string
		gone         []string
	}{
		"one":              {`"x"`, []string{"a/1", "a/2"}},
		"several":          {`"y";p=1, "none", "X"`, []string{"a/2", "a/3"}},
		"none that is":     {`"none"`, nil},
		"not strings":      {`"x", y`, nil},
		"32, the last one": {groupNames(31) + `, "x"`, []string{"a/1", "a/2"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTestStore(t, 1<<20)
			all := map[string]string{"a/1": `"x"`, "a/2": `"z", "x", "y"`, "a/3": `"X"`, "a/4": `x`, "b/1": `"x", "y", "X"`}
			for key, groups := range all {
				s.Put(key, grouped(0, groups))
			}
			s.Put("a/5", object(0, "body", "Cache-Tag: x"))
			s.PurgeGroups("a", []string{row.invalidation}, noon.Add(10*time.Second))
			for key, groups := range all {
				gone := slices.Contains(row.gone, key)
				if (stored(s, key, "1") == "") != gone || gone && s.Put(key, grouped(9, groups)) {
					t.Errorf("%s is there: %v; or what was under way is stored", key, !gone)
				}
				if s.PurgedSince(key, noon.Add(9*time.Second)) != gone || s.PurgedSince(key, noon.Add(11*time.Second)) {
					t.Errorf("%s: a flight that began before is joined, or one that began after is not", key)
				}
				if !s.Put(key, grouped(11, groups)) || stored(s, key, "1") == "" {
					t.Errorf("%s: what was requested later is not stored", key)
				}
			}
			if stored(s, "a/5", "1") == "" {
				t.Error("a tag is taken for a group")
			}
		})
	}
}

// TestOperatorsPurgeGroups exactly, also softly, and their tags are no groups.
func TestOperatorsPurgeGroups(t *testing.T) {
	s := newTestStore(t, 1<<20)
	for _, key := range []string{"a/1", "b/1"} {
		s.Put(key, grouped(0, `"x"`))
	}
	at := noon.Add(10 * time.Second)
	if n := s.Purge(Purge{Prefix: "a/", Tag: "x", At: at}); n != 0 {
		t.Errorf("%d are purged as if they had the tag", n)
	}
	if n := s.Purge(Purge{Prefix: "a/", Group: "x", Soft: true, At: at}); n != 1 || s.Get("a/1")[0].Left(at) > 0 {
		t.Errorf("%d become stale", n)
	}
	if n := s.Purge(Purge{Prefix: "a/", Group: "x", At: at}); n != 1 || stored(s, "a/1", "1") != "" || stored(s, "b/1", "1") == "" {
		t.Errorf("%d are purged", n)
	}
}

// TestPurgedGroupsEverywhere: purged responses are not found in memory, listed, or written to a file.
func TestPurgedGroupsEverywhere(t *testing.T) {
	s := newTestStore(t, 1<<20)
	s.Put("a/1", grouped(0, `"x"`))
	s.Put("a/2", grouped(0, `"y"`))
	s.PurgeGroups("a", []string{`"x"`}, noon.Add(time.Second))
	ready := func(key string) *Object {
		return s.Ready(key, &usualRules, noon.Add(2*time.Second), func(*Object) (yes, known bool) { return true, true })
	}
	if ready("a/1") != nil || ready("a/2") == nil {
		t.Error("it is ready, or the other is not")
	}
	n := 0
	s.Walk(&Purge{At: noon.Add(time.Hour)}, func(string, *Object) bool { n++; return true })
	again := newTestStore(t, 1<<20)
	if got := restart(s, again, always, time.Time{}, noon.Add(3*time.Second)); n != 1 || got[snapshot.Read] != 1 || len(got) != 1 {
		t.Errorf("%d are listed, %v are kept", n, got)
	}
	again.PurgeGroups("a", []string{`"y"`}, noon.Add(4*time.Second))
	if stored(s, "a/2", "1") == "" || stored(again, "a/2", "1") != "" {
		t.Error("the groups of a response are lost in a file")
	}
}

// TestGroupsAfterValidation: a 304 that names none leaves the groups as they are (RFC 9111, section 3.2), others take their place.
func TestGroupsAfterValidation(t *testing.T) {
	for lines, want := range map[string]string{"Date: x": "x", `Cache-Groups: "y"`: "y"} {
		old := grouped(0, `"x"`)
		r := received(http.StatusOK)
		r.Header = Updated(old.Header, fields(lines))
		terms := TermsOf(r, &usualRules)
		if o := NewObject(r, &terms, selector("X-A: 1"), &usualRules); !slices.Equal(o.Groups, []string{want}) || o.Header["Cache-Groups"] == nil {
			t.Errorf("%s: %q", lines, o.Groups)
		}
	}
}

// TestGroupsTakeMemory: groups count in the weight of a response.
func TestGroupsTakeMemory(t *testing.T) {
	if few, many := grouped(0, groupNames(1)).Weight(), grouped(0, groupNames(maxGroups)).Weight(); many-few < (maxGroups-1)*3*32 {
		t.Errorf("%d bytes, and %d with %d groups", few, many, maxGroups)
	}
}

// fleetOfTwo are two instances that share a Far.
func fleetOfTwo(t *testing.T) (one, two *Store, far webtest.Far) {
	t.Helper()
	one, two, far = newTestStore(t, 1<<20), newTestStore(t, 16<<20), webtest.Far{}
	for _, s := range []*Store{one, two} {
		s.Far, s.Name = far, "/web"
	}
	return one, two, far
}

// found is the body that an instance finds so many seconds after noon.
func found(t *testing.T, s *Store, key string, after int) string {
	t.Helper()
	request := selector("X-A: 1")
	if o := s.Find(t.Context(), key, request, &usualRules, noon.Add(time.Duration(after)*time.Second)).Select(request, false); o != nil {
		return string(o.Body)
	}
	return ""
}

// TestPurgedGroupsInAFleet reach instances that are subscribed, that were disconnected, and that start later.
func TestPurgedGroupsInAFleet(t *testing.T) {
	for name, row := range map[string]struct {
		before bool // the second instance has it in memory already
		tell   func(two *Store)
		later  string // what it serves then
	}{
		"hears": {true, func(two *Store) {
			two.Marked(two.groupKey("a", groupWord, groupNumber("x")), noon.Add(10*time.Second))
		}, ""},
		"was out of touch":           {true, func(two *Store) { two.Missed() }, ""},
		"starts later":               {false, func(two *Store) { two.Missed() }, ""},
		"is out of touch":            {false, func(*Store) {}, ""},
		"is out of touch, in memory": {true, func(*Store) {}, "body"}, // as with all that is purged of a URL
		"hears of another group": {true, func(two *Store) {
			two.Marked(two.groupKey("a", groupWord, groupNumber("z")), noon.Add(10*time.Second))
		}, "body"},
		"hears of another API": {true, func(two *Store) {
			two.Marked(two.groupKey("b", groupWord, groupNumber("x")), noon.Add(10*time.Second))
		}, "body"},
		"hears of it before": {true, func(two *Store) {
			two.Marked(two.groupKey("a", groupWord, groupNumber("x")), noon.Add(-10*time.Second))
		}, "body"},
	} {
		t.Run(name, func(t *testing.T) {
			one, two, _ := fleetOfTwo(t)
			one.Put("a/1", grouped(0, `"y", "x"`))
			if row.before && found(t, two, "a/1", 5) == "" {
				t.Fatal("the instances share nothing")
			}
			one.PurgeGroups("a", []string{`"x"`}, noon.Add(10*time.Second))
			row.tell(two)
			if got := found(t, two, "a/1", 20); got != row.later {
				t.Errorf("%q is served", got)
			}
			one.Put("a/1", grouped(30, `"y", "x"`))
			if found(t, two, "a/1", 31) == "" {
				t.Error("what was requested later is not shared")
			}
		})
	}
}

// silentFar does not answer lookups of keys that contain a text.
type silentFar struct {
	webtest.Far
	about string
}

// Look implements Far.
func (f silentFar) Look(ctx context.Context, key string, lease time.Duration) entry.Found {
	if strings.Contains(key, f.about) {
		return entry.Found{}
	}
	return f.Far.Look(ctx, key, lease)
}

// TestGroupsThatCannotBeLookedUp keep responses in Redis from being used, and responses in memory unconfirmed.
func TestGroupsThatCannotBeLookedUp(t *testing.T) {
	one, two, far := fleetOfTwo(t)
	one.Put("a/1", grouped(0, `"x"`))
	one.Put("a/2", grouped(0, `"x"`))
	found(t, two, "a/2", 1)
	one.PurgeGroups("a", []string{`"x"`}, noon.Add(10*time.Second))
	two.Far = silentFar{far, groupWord}
	two.Missed()
	if found(t, two, "a/1", 20) != "" || found(t, two, "a/2", 20) == "" {
		t.Error("a response from Redis is used whose groups are not known, or one in memory is not")
	}
	two.Far = far
	if found(t, two, "a/2", 20) != "" {
		t.Error("it is no longer in doubt")
	}
}

// TestManyGroupsArePurged: whatever the names, memory is limited, in Redis as well, and the responses of other APIs stay.
func TestManyGroupsArePurged(t *testing.T) {
	one, _, far := fleetOfTwo(t)
	one.Put("b/1", grouped(0, `"x"`))
	one.Put("a/1", object(0, "body"))
	for i := range groupNumbers + 1000 {
		number := groupNumber(fmt.Sprint(i))
		one.groups.add(one.groupID("a", groupWord, number), noon.Add(time.Second))
		if number >= groupNumbers || one.groupKey("a", groupWord, number) == "" {
			t.Fatal(number)
		}
	}
	if n := len(one.groups.at); n > groupNumbers {
		t.Errorf("%d are remembered of an API", n)
	}
	if stored(one, "b/1", "1") == "" || stored(one, "a/1", "1") == "" {
		t.Error("what is of another API, or in no group, is gone")
	}
	one.PurgeGroups("c", []string{groupNames(maxGroups + 1)}, noon.Add(time.Second))
	if len(far) != 4+maxGroups { // two responses, each with a variant
		t.Errorf("%d values are in Redis", len(far))
	}
	for i := range uint64(maxGroupPurges) { // by announcements that nobody makes
		one.groups.add(1<<63+i, noon.Add(2*time.Second))
	}
	if n := len(one.groups.at); n > maxGroupPurges || stored(one, "b/1", "1") != "" || stored(one, "a/1", "1") == "" || !one.Put("b/1", grouped(9, `"x"`)) {
		t.Errorf("%d are remembered; what was forgotten may be served, or what has no groups is not", n)
	}
}

// TestStrangeAnnouncementsOfGroups have no effect.
func TestStrangeAnnouncementsOfGroups(t *testing.T) {
	_, two, _ := fleetOfTwo(t)
	for _, key := range []string{"a group ", "a group -1", "a group 5ms4", "a group zzzzzzzzzzzzzzzzz", "a group 1 2", "group 1", "a/b group 1"} {
		two.Marked("/web:"+key, noon)
	}
	if n := len(two.groups.at); n != 0 {
		t.Errorf("%d are remembered", n)
	}
	two.Marked(two.groupKey("a", groupWord, groupNumber("x")), time.Now().Add(time.Hour))
	if two.Put("a/1", grouped(0, `"x"`)); two.GroupsPurged("a/1", grouped(0, `"x"`)).After(time.Now()) {
		t.Error("it is purged in the future")
	}
}

// TestWhatIsBelowACollectionIsPurged, and nothing beside it.
func TestWhatIsBelowACollectionIsPurged(t *testing.T) {
	all := []string{"a/f", "a/f/", "a/f/1", "a/f/1?x=/y/", "a/f/g/2", "a/fg", "a/x?/f/1", "a/", "b/f/1"}
	for removed, gone := range map[string][]string{
		"a/f/":     {"a/f/", "a/f/1", "a/f/1?x=/y/", "a/f/g/2"},
		"a/f":      {"a/f/", "a/f/1", "a/f/1?x=/y/", "a/f/g/2"},
		"a/f/g":    {"a/f/g/2"},
		"a/f/1":    nil,
		"a/":       all[:8],
		"a/f/?x=1": nil,
		"b/":       {"b/f/1"},
	} {
		one, two, _ := fleetOfTwo(t)
		for _, key := range all {
			one.Put(key, object(0, "body"))
			if found(t, two, key, 5) == "" {
				t.Fatal("the instances share nothing")
			}
		}
		one.PurgeBelow(removed, noon.Add(10*time.Second))
		api, path, _ := strings.Cut(removed, "/")
		if path = strings.TrimSuffix(path, "/"); path != "" {
			path += "/"
		}
		if !strings.Contains(path, "?") {
			two.Marked(two.groupKey(api, belowWord, numberOf(path)), noon.Add(10*time.Second))
		}
		for _, key := range all {
			for i, s := range []*Store{one, two} {
				if got := found(t, s, key, 20) == ""; got != slices.Contains(gone, key) || got != s.PurgedSince(key, noon.Add(9*time.Second)) {
					t.Errorf("%s is removed: %s is gone from instance %d: %v", removed, key, i+1, got)
				}
			}
		}
		if one.Put("a/f/g/2", object(11, "new")); stored(one, "a/f/g/2", "1") != "new" {
			t.Errorf("%s is removed: what is requested later is not stored", removed)
		}
	}
}

// TestALongPathIsComparedInOneGo: as many of its collections as are compared, and in little time.
func TestALongPathIsComparedInOneGo(t *testing.T) {
	if n := len(collectionNumbers(strings.Repeat("/", 1<<16))); n != maxDepth {
		t.Errorf("%d collections are compared", n)
	}
	if got := collectionNumbers("f/g/1"); !slices.Equal(got, []uint64{numberOf(""), numberOf("f/"), numberOf("f/g/")}) {
		t.Errorf("%d", got)
	}
}

// TestAPurgedGroupOfWhatIsNotShared: a response that is too large for Redis is also compared with the purges during an outage.
func TestAPurgedGroupOfWhatIsNotShared(t *testing.T) {
	one, two, _ := fleetOfTwo(t)
	for key, groups := range map[string]string{"a/1": `"x"`, "a/2": `"y"`} {
		large := grouped(0, groups)
		large.Body = make([]byte, mostFar+1)
		two.Put(key, large)
	}
	one.PurgeGroups("a", []string{`"x"`}, noon.Add(10*time.Second))
	two.Missed()
	if found(t, two, "a/1", 20) != "" || found(t, two, "a/2", 20) == "" {
		t.Error("it is served, or another one is not")
	}
}

// TestAPurgeIsLookedForOnceForAllVariants: each request that waits for another one looks, while all others of the API wait.
func TestAPurgeIsLookedForOnceForAllVariants(t *testing.T) {
	s := newTestStore(t, 1<<20)
	s.PurgeBelow("a/other/", noon)
	allocations := func() float64 {
		found(t, s, "a/x", 20) // as a request does first
		return testing.AllocsPerRun(10, func() {
			if s.PurgedSince("a/x", noon.Add(100*time.Second)) {
				t.Error("purged")
			}
		})
	}
	least := allocations()
	for i := range mostSites {
		o := grouped(10, `"a", "b"`)
		o.Site = fmt.Sprint("https://", i)
		o.selecting = o.keyFor(o.Names)
		s.Put("a/x", o)
	}
	if n := len(s.Get("a/x")); n != mostSites {
		t.Fatalf("%d variants", n)
	}
	if most := allocations(); most > least+2 { // the list of them is one
		t.Errorf("%v allocations for %d variants, %v for none", most, mostSites, least)
	}
}
