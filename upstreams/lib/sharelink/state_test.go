package sharelink

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

const marker = "window.__INITIAL_STATE__"

func TestInitState(t *testing.T) {
	for in, want := range map[string]string{
		`<script>window.__INITIAL_STATE__={"a":1}</script>`:                                              `{"a":1}`,
		"<script>window.__INITIAL_STATE__ \n=\t{\"a\":1};var b={};(function(){})()</script>":             `{"a":1}`,
		`window.__INITIAL_STATE__={"a":undefined,"b":[undefined,undefined],"c":"undefined, :undefined"}`: `{"a":null,"b":[null,null],"c":"undefined, :undefined"}`,
		`window.__INITIAL_STATE__={"a" : undefined }`:                                                    `{"a" : null }`,
		`window.__INITIAL_STATE__={"undefined":{"u":"\"undefined"}}`:                                     `{"undefined":{"u":"\"undefined"}}`,
		`window.__INITIAL_STATE__={"a":"</script>{[}\\","b":"\\\"}"}</script>`:                           `{"a":"</script>{[}\\","b":"\\\"}"}`,
		`window.__INITIAL_STATE__={"loaderData":{"video_(id)/page":{"id":7412345678901234567}}};`:        `{"loaderData":{"video_(id)/page":{"id":7412345678901234567}}}`,
		`window.__INITIAL_STATE__={"n":[-1.5e+3,true,false,null,"\u002F中"]} //`:                          `{"n":[-1.5e+3,true,false,null,"\u002F中"]}`,
		`window.__INITIAL_STATE__={}`:                                                                    `{}`,
		// Mentions of the name without the assignment of an object are skipped.
		`if(window.__INITIAL_STATE__){} window.__INITIAL_STATE__=undefined; window.__INITIAL_STATE__=={}; window.__INITIAL_STATE__2={"no":1}; window.__INITIAL_STATE__={"a":1}`: `{"a":1}`,
		`window.__INITIAL_STATE__={"first":1}; window.__INITIAL_STATE__={"second":1}`:                                                                                           `{"first":1}`,
		marker + `=` + strings.Repeat(`{"a":`, maxDepth-1) + `{}` + strings.Repeat(`}`, maxDepth-1):                                                                             strings.Repeat(`{"a":`, maxDepth-1) + `{}` + strings.Repeat(`}`, maxDepth-1),
	} {
		if got, err := InitState([]byte(in), marker); err != nil || string(got) != want {
			t.Errorf("%s: %v\n got %s\nwant %s", in, err, got, want)
		}
	}
}

func TestInitStateTakesTheMarker(t *testing.T) {
	page := []byte(`<script>window.INIT_STATE = {"k":1}</script><script>window._ROUTER_DATA = {"r":1}</script>`)
	for name, want := range map[string]string{"window.INIT_STATE": `{"k":1}`, "window._ROUTER_DATA": `{"r":1}`, "_ROUTER_DATA": `{"r":1}`} {
		if got, err := InitState(page, name); err != nil || string(got) != want {
			t.Errorf("%s: %s %v", name, got, err)
		}
	}
}

func TestInitStateOfAScriptElement(t *testing.T) {
	for in, want := range map[string]string{
		`<script id="__NEXT_DATA__" type="application/json">{"props":{"a":"</script>"}}</script>`: `{"props":{"a":"</script>"}}`,
		`<SCRIPT type="application/json" ID='__NEXT_DATA__' >` + "\n" + `{"a":1}</script>`:        `{"a":1}`,
		`<script id=__NEXT_DATA__>{"a":1}</script>`:                                               `{"a":1}`,
		// Other elements are skipped, and scripts that hold no object.
		`<div id="__NEXT_DATA__">{"no":1}</div><script id="__NEXT_DATA__2">{"no":2}</script><script data-id="__NEXT_DATA__">{"no":3}</script><script id="__NEXT_DATA__">null</script><script id="__NEXT_DATA__">{"a":1}</script>`: `{"a":1}`,
	} {
		if got, err := InitState([]byte(in), "#__NEXT_DATA__"); err != nil || string(got) != want {
			t.Errorf("%s: %s %v", in, got, err)
		}
	}
	for in, want := range map[string]error{
		``: ErrNoState, `<script id="__NEXT_DATA__">`: ErrNoState, `<script id="other">{"a":1}</script>`: ErrNoState, `#__NEXT_DATA__={"a":1}`: ErrNoState,
		`<script id="__NEXT_DATA__">{"a":1`: ErrBadState, `<script id="__NEXT_DATA__">{a:1}</script>`: ErrBadState,
	} {
		if got, err := InitState([]byte(in), "#__NEXT_DATA__"); !errors.Is(err, want) || got != nil {
			t.Errorf("%s: %s %v", in, got, err)
		}
	}
	if got, err := InitState([]byte(`<script id="">{"a":1}</script>`), "#"); !errors.Is(err, ErrNoState) || got != nil {
		t.Errorf("no id: %s %v", got, err)
	}
}

func TestInitStateErrors(t *testing.T) {
	for in, want := range map[string]error{
		``: ErrNoState, `<html></html>`: ErrNoState, `window.__INITIAL_STATE__`: ErrNoState, `window.__INITIAL_STATE__=`: ErrNoState, `window.__INITIAL_STATE__=[]`: ErrNoState,
		`window.__INITIAL_STATE__={`: ErrBadState, `window.__INITIAL_STATE__={"a":1`: ErrBadState, `window.__INITIAL_STATE__={"a":"}`: ErrBadState, `window.__INITIAL_STATE__={"a\`: ErrBadState,
		`window.__INITIAL_STATE__={a:1}`: ErrBadState, `window.__INITIAL_STATE__={'a':1}`: ErrBadState, `window.__INITIAL_STATE__={"a":1,}`: ErrBadState, `window.__INITIAL_STATE__={]`: ErrBadState,
		`window.__INITIAL_STATE__={"a":undefinedx}`: ErrBadState, `window.__INITIAL_STATE__={"a":_undefined}`: ErrBadState, `window.__INITIAL_STATE__={"a":x.undefined}`: ErrBadState, `window.__INITIAL_STATE__={"a":NaN}`: ErrBadState,
		`window.__INITIAL_STATE__={undefined:1}`: ErrBadState, `window.__INITIAL_STATE__={"a":1]}`: ErrBadState,
		marker + `=` + strings.Repeat(`{"a":`, maxDepth) + `{}` + strings.Repeat(`}`, maxDepth): ErrBadState,
		marker + `=` + strings.Repeat(`{"a":[`, 1<<20):                                          ErrBadState,
		marker + `={"a":"` + strings.Repeat(`x`, maxState) + `"}`:                               ErrBadState,
	} {
		if got, err := InitState([]byte(in), marker); !errors.Is(err, want) || got != nil {
			t.Errorf("%.100s: %.100s %v", in, got, err)
		}
	}
	if got, err := InitState([]byte(`={"a":1}`), ""); !errors.Is(err, ErrNoState) || got != nil {
		t.Errorf("no marker: %s %v", got, err)
	}
}

func TestInitStateReadsWhatScriptsWrite(t *testing.T) {
	var state struct{ Note struct{ ID, Title *string } }
	got, err := InitState([]byte(`<script>window.__INITIAL_STATE__={"note":{"id":"68e8","title":undefined}}</script>`), marker)
	if err != nil || json.Unmarshal(got, &state) != nil || *state.Note.ID != "68e8" || state.Note.Title != nil {
		t.Errorf("%s %v", got, err)
	}
}
