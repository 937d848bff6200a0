package shape

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// changesOf lists what a watch finds, as in "missing a.b".
func changesOf(t *testing.T, w *Watch, document string) []string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(document), &v); err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, c := range w.Changes(v) {
		found = append(found, strings.TrimSpace(string(c.Kind)+" "+c.Field))
	}
	return found
}

func readsOf(names string) map[string]bool {
	reads := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		reads[name] = true
	}
	return reads
}

func TestWatch(t *testing.T) {
	w := shapeOf(t,
		`{"a":1,"list":[{"u":"x","n":null},{"u":"y","n":2}],"maybe":{"u":"z"},"unread":1,"nothing":null,"empty":[]}`,
		`{"a":2,"list":[],"nothing":null,"empty":[]}`).Watch(readsOf("a list u n maybe nothing empty fresh"))
	for document, want := range map[string][]string{
		`{"a":3,"list":[{"u":"q","n":7}],"nothing":null,"empty":[]}`:              nil,
		`{"a":3,"list":[{"u":"q"}],"nothing":{"x":1},"empty":[{"u":3}],"more":1}`: nil, // n may be null, of nothing and empty nothing is known
		`{"list":[]}`:                     {"missing a", "missing empty"},
		`{"a":null,"list":[],"empty":[]}`: {"missing a"},
		`{"a":1,"list":[{"n":1},{"u":"x","n":1}],"empty":[]}`:          nil, // one of the items has it
		`{"a":1,"list":[{"n":1},{"n":null}],"empty":[]}`:               {"missing list[].u"},
		`{"a":1,"list":[{"u":"x"},{"u":5}],"empty":[]}`:                {"retyped list[].u"},
		`{"a":1,"list":{"u":5},"empty":[]}`:                            {"retyped list"},
		`{"a":1,"list":[{"u":"x","fresh":1}],"fresh":1,"empty":[]}`:    {"new fresh", "new list[].fresh"},
		`{"a":1,"list":[],"maybe":{"v":1},"unread":"text","empty":[]}`: {"missing maybe.u"},
		`[]`: {"retyped"},
	} {
		if got := changesOf(t, w, document); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", document, got, want)
		}
	}
}

// TestWatchOfLists: one that never was empty, and is now, has changed.
func TestWatchOfLists(t *testing.T) {
	w := shapeOf(t, `{"a":[1],"b":[{"c":[1]},{"c":[2]}],"d":[{"c":[]},{"c":[1]}]}`).Watch(readsOf("a b c d"))
	for document, want := range map[string][]string{
		`{"a":[2],"b":[{"c":[1]},{"c":[]}],"d":[{"c":[]}]}`: nil,
		`{"a":[],"b":[{"c":[]},{"c":[]}],"d":[]}`:           {"emptied a", "emptied b[].c", "emptied d"},
		`{"a":null,"b":[],"d":[{"c":[1]}]}`:                 {"missing a", "emptied b"},
	} {
		if got := changesOf(t, w, document); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", document, got, want)
		}
	}
}

// TestWatchOfListsBesideTexts: of values that may be either, no list is no empty list.
func TestWatchOfListsBesideTexts(t *testing.T) {
	w := shapeOf(t, `{"a":{"x":"text","y":[1]}}`).Watch(readsOf("a"))
	for document, want := range map[string][]string{
		`{"a":{"x":"text"}}`:        nil,
		`{"a":{"x":"text","y":[]}}`: {"emptied a.*"},
	} {
		if got := changesOf(t, w, document); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", document, got, want)
		}
	}
}

// TestWatchOfComputedNames: of an object none of whose fields has a name that is read,
// all fields are taken as one.
func TestWatchOfComputedNames(t *testing.T) {
	w := shapeOf(t, `{"11":{"1121":[{"title":"a"}],"1122":[{"title":"b"}]}}`).Watch(readsOf("title url"))
	for document, want := range map[string][]string{
		`{"12":{"1201":[{"title":"c"}]}}`:           nil,
		`{"12":{}}`:                                 nil,
		`{"12":{"1201":[{"headline":"c"}]}}`:        {"missing *.*[].title"},
		`{"12":{"1201":[{"title":["c"]}]}}`:         {"retyped *.*[].title"},
		`{"12":{"1201":[{"title":"c","url":"d"}]}}`: {"new *.*[].url"},
		`{"12":{"1201":{"title":"c"}}}`:             {"retyped *.*"},
	} {
		if got := changesOf(t, w, document); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", document, got, want)
		}
	}
}

// TestWatchIsBounded: of a document of any size, so many values are looked at.
func TestWatchIsBounded(t *testing.T) {
	w := shapeOf(t, `{"list":[{"u":1}]}`).Watch(readsOf("list u"))
	odd := strings.Repeat(`{"u":1},`, mostItems) + `{"u":"text"}`
	if got := changesOf(t, w, fmt.Sprintf(`{"list":[%s]}`, odd)); len(got) > 0 {
		t.Errorf("item %d was looked at: %v", mostItems+1, got)
	}
}
