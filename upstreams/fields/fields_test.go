package fields

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// decoded is a document as maps emit it.
func decoded(t *testing.T, document string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(document), &v); err != nil {
		t.Fatal(document, err)
	}
	return v
}

var (
	item = &Field{Name: "url", Is: Link, Must: true}
	news = &Demands{Fields: []*Field{
		{Name: "title", Must: true}, {Name: "date", Is: Date}, {Name: "at", Is: Time}, {Name: "n", Is: Integer},
		{Name: "count", Counts: "list"}, {Name: "list", AtLeast: 2, Fields: []*Field{item, {Name: "cover", Is: Link}}},
		{Name: "tags", Is: Text}, {Name: "author", Fields: []*Field{{Name: "name", Must: true}}},
	}}
	few  = `"list": [{"url": "https://a.example/1"}, {"url": "https://a.example/2", "cover": "//a"}, {"url": "https://a.example/null/x"}, {"url": ""}, null, 3]`
	kept = `"list": [{"url": "https://a.example/1"}, {"url": "https://a.example/2", "cover": null}]`
)

// TestAnswersAreJudged: what must be there, what is left out, what becomes null.
func TestAnswersAreJudged(t *testing.T) {
	for document, want := range map[string]string{
		`{"title": "a", "count": 6, ` + few + `}`:                                                                `{"title": "a", "count": 2, ` + kept + `}`,
		`{"title": "a", "date": "2026-02-30", "at": "2026-11-21T08:00:00", "n": 1.5, ` + kept + `}`:              `{"title": "a", "date": null, "at": null, "n": null, "count": 2, ` + kept + `}`,
		`{"title": "a", "date": "", "at": 1763683200, "n": 3, "tags": ["x", "", 3], "author": {}, ` + kept + `}`: `{"title": "a", "date": null, "at": "2025-11-21T08:00:00+08:00", "n": 3, "tags": ["x"], "author": null, "count": 2, ` + kept + `}`,
		`{"title": "a", "author": {"name": " "}, ` + kept + `}`:                                                  `{"title": "a", "author": null, "count": 2, ` + kept + `}`,
		`{"title": "a", "author": "b", "other": "", ` + kept + `}`:                                               `{"title": "a", "author": null, "other": "", "count": 2, ` + kept + `}`,
	} {
		in := decoded(t, document)
		got, err := news.Check(in, false)
		if err != nil {
			t.Errorf("%s: %v", document, err)
			continue
		}
		b, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(decoded(t, want), decoded(t, string(b))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", document, diff)
		}
		if diff := cmp.Diff(decoded(t, document), in); diff != "" {
			t.Errorf("%s was changed:\n%s", document, diff)
		}
	}
}

// TestNumbersOfReplies are as they were decoded: exact.
func TestNumbersOfReplies(t *testing.T) {
	of := &Demands{Fields: []*Field{{Name: "n", Is: Integer, Must: true}, {Name: "x", Is: Number}, {Name: "at", Is: Time}}}
	got, err := of.Check(map[string]any{"n": json.Number("37963"), "x": json.Number("30.2943"), "at": json.Number("1763683200")}, false)
	want := map[string]any{"n": json.Number("37963"), "x": json.Number("30.2943"), "at": "2025-11-21T08:00:00+08:00"}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if got, err := of.Check(map[string]any{"n": json.Number("1.5")}, false); err == nil {
		t.Error(got)
	}
}

// TestIncompleteAnswers are refused, with the field and why.
func TestIncompleteAnswers(t *testing.T) {
	for document, want := range map[string]string{
		`{` + kept + `}`:                  "title: expected a value, got null",
		`{"title": "", ` + kept + `}`:     `title: expected a value, got ""`,
		`{"title": " \n", ` + kept + `}`:  `title: expected a value, got " \n"`,
		`{"title": "null", ` + kept + `}`: `title: expected a value, got "null"`,
		`{"title": "a"}`:                  "list: expected a list of at least 2, got null",
		`{"title": "a", "list": []}`:      "list: expected a list of at least 2, got a list of 0",
		`{"title": "a", "list": [{"url": "https://a.example/"}, {"url": "a"}]}`: `list: expected a list of at least 2, got a list of 1; left out: [].url: expected a link, such as https://www.example.org/, got "a"`,
		`null`: "expected a value, got null",
		`{}`:   "expected a value, got an object of 0",
		`3`:    "expected an object, got 3",
	} {
		if got, err := news.Check(decoded(t, document), false); err == nil || err.Error() != want {
			t.Errorf("%s: %v, %v, want %s", document, got, err, want)
		}
	}
}

// TestAListThatMayBeEmpty, because its source says that there is nothing.
func TestAListThatMayBeEmpty(t *testing.T) {
	got, err := news.Check(decoded(t, `{"title": "a", "list": []}`), true)
	if diff := cmp.Diff(map[string]any{"title": "a", "count": 0, "list": []any{}}, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if _, err := news.Check(decoded(t, `{"list": []}`), true); err == nil {
		t.Error("it has no title")
	}
}

// TestPools have candidates.
func TestPools(t *testing.T) {
	for document, want := range map[string]string{
		`{"list": [{"url": "https://a.example/"}, {"url": null}], "n": 1}`: `{"list": [{"url": "https://a.example/"}], "n": 1}`,
		`{"list": [{"url": null}]}`:                                        "", `{"list": []}`: "", `{}`: "", `null`: "", `[]`: "",
	} {
		got, err := (&Demands{Pool: []string{"list"}, Fields: []*Field{item}}).Check(decoded(t, document), false)
		if want == "" {
			if err == nil {
				t.Errorf("%s: %v", document, got)
			}
		} else if diff := cmp.Diff(decoded(t, want), got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", document, err, diff)
		}
	}
	if _, err := (&Demands{Pool: []string{}, Fields: []*Field{item}}).Check(decoded(t, `[]`), false); err == nil {
		t.Error("an empty pool is an answer")
	}
}

func TestLinks(t *testing.T) {
	for link, want := range map[string]bool{
		"https://a.example.org/?b": true, "http://a.example.org:80/null-and-void.png": true, "https://a.example.org/nullable?x=nulls": true,
		"https:///a": false, "//a.example.org/": false, "ftp://a.example.org/": false, "a": false, "https://a..org/": false, "https://.org/": false,
		"https://a.example.org/id/null/": false, "https://a.example.org/?id=null.mp3": false, "https://a.example.org/?id=null&b": false, "https://a.example.org/undefined": false,
	} {
		if IsLink(link) != want {
			t.Errorf("%s: %v", link, !want)
		}
	}
}

// BenchmarkJudge is what each miss pays.
func BenchmarkJudge(b *testing.B) {
	var v any
	if err := json.Unmarshal([]byte(`{"title": "a", `+kept+`}`), &v); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := news.Check(v, false); err != nil {
			b.Fatal(err)
		}
	}
}
