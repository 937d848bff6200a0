package recorded

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sundry/upstreams/catalog"
	"sundry/upstreams/replay"
)

// objects calls yield with each object of a document: its path, without the
// places in arrays, and its fields in order.
func objects(t *testing.T, document []byte, yield func(path string, names []string)) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(document))
	var value func(path string)
	token := func() json.Token {
		tok, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		return tok
	}
	value = func(path string) {
		switch token() {
		case json.Delim('['):
			for d.More() {
				value(path + "[]")
			}
			token()
		case json.Delim('{'):
			var names []string
			for d.More() {
				name := fmt.Sprint(token())
				names = append(names, name)
				value(path + "." + name)
			}
			token()
			if of, ok := strings.CutPrefix(path, ".data"); ok {
				yield(of, names)
			}
		}
	}
	value("")
}

// presented is the JSON of every recorded success, by endpoint and source.
func presented(t *testing.T, yield func(e *catalog.Endpoint, source string, document []byte)) {
	t.Helper()
	c, cases := mustLoad(t, nil), mustCases(t)
	if _, err := Exchanges(c, cases); err != nil {
		t.Fatal(err)
	}
	for _, e := range c.Endpoints {
		form := jsonForm(e)
		if form == nil {
			continue
		}
		for _, s := range form.Chain.Sources {
			for _, x := range CasesOf(cases, e.Name, s.Declared) {
				for _, data := range present(t.Context(), form, x) {
					document, err := form.Answer(data)
					if err != nil {
						t.Fatal(err)
					}
					yield(e, s.Declared, document)
				}
			}
		}
	}
}

// TestSourcesAgreeOnTheOrder: whichever source answers, two fields of an object
// come in the same order.
func TestSourcesAgreeOnTheOrder(t *testing.T) {
	type pair struct{ path, first, second string }
	seen := map[pair]string{}
	presented(t, func(e *catalog.Endpoint, source string, document []byte) {
		objects(t, document, func(path string, names []string) {
			for i, first := range names {
				for _, second := range names[i+1:] {
					seen[pair{e.Name + path, first, second}] = source
					if other, ok := seen[pair{e.Name + path, second, first}]; ok {
						t.Errorf("%s%s: %s before %s by %s, after it by %s", e.Name, path, first, second, source, other)
					}
				}
			}
		})
	})
	if len(seen) < 500 {
		t.Errorf("%d pairs of fields", len(seen))
	}
}

// TestOrderOfAnswers: as the files write them.
func TestOrderOfAnswers(t *testing.T) {
	rows := map[string]string{
		"kd":                  "id carrier carrier_name candidates status status_text delivered origin destination updated_at count events source",
		"kd.candidates[]":     "code name confidence",
		"kd.events[]":         "happened_at status place text",
		"dailynews":           "date count read_minutes stories top",
		"dailynews.stories[]": "id title url cover hint author minutes",
		"dailynews.top[]":     "id title url cover author",
		"lishi":               "month day count source items",
		"lishi.items[]":       "year title type description page cover",
		"60s":                 "date weekday lunar count news tip image page published_at updated_at source",
		"dailywp":             "date title caption description fact copyright credit url url_uhd url_mobile page",
		"vidparse":            "platform id type title author published_at cover url url_stable duration width height videos images music like_count comment_count share_count collect_count play_count headers watermark expires_at page",
		"vidparse.author":     "name avatar uid",
		"wpcat":               "n cid category page pages count total list",
		"wpcat.list[]":        "id url thumb width height tags created_at",
		"music":               "id name artist album cover url page duration playlist_id playable expires_at",
		"sjsp":                "category title author url cover tags published_at duration width height like_count comment_count share_count collect_count play_count source page expires_at",
		"ip":                  "ip version scope continent continent_code country country_code province city district postal isp asn as_name latitude longitude timezone adcode",
		"gamestatus":          "online edition host port address srv software version protocol players motd motd_raw icon mods plugins secure_chat latency_ms error source checked_at",
		"yiyan":               "id text from author category category_key length page created_at source",
	}
	found := map[string]bool{}
	presented(t, func(e *catalog.Endpoint, source string, document []byte) {
		objects(t, document, func(path string, names []string) {
			row, ok := rows[e.Name+path]
			if !ok {
				return
			}
			found[e.Name+path] = true
			want := slices.DeleteFunc(strings.Fields(row), func(name string) bool { return !slices.Contains(names, name) })
			if !slices.Equal(names, want) {
				t.Errorf("%s%s by %s: %v, want %v", e.Name, path, source, names, want)
			}
		})
	})
	for place := range rows {
		if !found[place] {
			t.Errorf("%s: no recorded answer has it", place)
		}
	}
}

// TestOrderOfComputedAnswers: what is made here, too.
func TestOrderOfComputedAnswers(t *testing.T) {
	c := mustLoad(t, replay.New(nil))
	for query, want := range map[string]string{
		"sfz?card=11010519491231002X": `"data":{"valid":`,
		"ipinfo?type=json":            `"data":{"ip":"203.0.113.1","location":`,
	} {
		name, raw, _ := strings.Cut(query, "?")
		e, _ := c.Get(name)
		in, bad := e.Parse(raw, catalog.Caller{Addr: caller})
		if bad != nil {
			t.Fatal(bad)
		}
		content, err := (&catalog.Fill{Input: in}).Load(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(content.Forms[in.Form.FormIndex()][0].Data); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}
