package sharelink

import (
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sound says what is wrong with a Link that was recognised.
func sound(l Link) string {
	u, err := url.Parse(l.URL)
	switch {
	case err != nil || u.Scheme != "https" || u.User != nil || u.Port() != "" || u.Fragment != "":
		return "URL is not plain"
	case platformOf(u.Host) == nil || platformOf(u.Host).name != l.Platform || strings.Contains(u.Host, "chenzhongtech"):
		return "URL is not on a named host of its platform"
	case l.Short && (l.ID != "" || l.Kind != "" || !slices.Contains(hostsOfShortLinks()[l.Platform], u.Host)):
		return "short, but with an id or on another host"
	case !l.Short && (l.ID == "" || len(l.ID) > 85):
		return "no id, or too long"
	case l.Extra != nil && len(l.Extra) == 0:
		return "empty Extra is not nil"
	}
	again, err := Parse(l.URL)
	if diff := cmp.Diff(l, again); err != nil || diff != "" {
		return "not the same again: " + diff
	}
	return ""
}

func FuzzParse(f *testing.F) {
	for in := range recognised() {
		f.Add(in)
	}
	f.Add("看看 v.douyin.com/abc/。")
	f.Add("https%3A%2F%2Fb23.tv%2Fabc")
	f.Add("https://user@v.douyin.com:1/abc")
	f.Fuzz(func(t *testing.T, raw string) {
		l, err := Parse(raw)
		if err == nil {
			if problem := sound(l); problem != "" {
				t.Errorf("%q: %#v: %s", raw, l, problem)
			}
			return
		}
		if !cmp.Equal(l, Link{}) || !strings.Contains(err.Error(), " are not supported; ") && !errors.Is(err, ErrNoLink) && !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrNotPost) {
			t.Errorf("%q: %v %v", raw, l, err)
		}
	})
}

func FuzzResolve(f *testing.F) {
	shorts := []string{"https://v.douyin.com/a/", "https://v.kuaishou.com/a", "https://b23.tv/a", "https://xhslink.com/o/a", "https://t.cn/a", "https://h5.pipix.com/s/a/", "https://video.weishi.qq.com/a", "https://t.co/a", "https://vm.tiktok.com/a/", "https://s.lofter.com/-s/a"}
	i := byte(0)
	for in := range recognised() {
		f.Add(i, in)
		i++
	}
	f.Add(byte(0), "//v.douyin.com/b")
	f.Add(byte(1), "https://captcha.kuaishou.com/")
	f.Fuzz(func(t *testing.T, which byte, location string) {
		from := parsed(t, shorts[int(which)%len(shorts)])
		l, err := from.Resolve(location)
		switch {
		case err == nil && l.Platform != from.Platform:
			t.Errorf("%v redirected to %#v", from, l)
		case err == nil:
			if problem := sound(l); problem != "" {
				t.Errorf("%q: %#v: %s", location, l, problem)
			}
		case errors.Is(err, ErrNotPost) == errors.Is(err, ErrChallenge) || !cmp.Equal(l, Link{}):
			t.Errorf("%q: %v %v", location, l, err)
		}
	})
}

func FuzzInitState(f *testing.F) {
	f.Add([]byte(`window.__INITIAL_STATE__={"a":undefined,"b":["</script>\"",{"c":-1.5e3}]};x`))
	f.Add([]byte(`window.__INITIAL_STATE__=undefined;window.__INITIAL_STATE__ = {"undefined":"\\"}`))
	f.Fuzz(func(t *testing.T, page []byte) {
		state, err := InitState(page, marker)
		if err != nil {
			if state != nil || errors.Is(err, ErrNoState) == errors.Is(err, ErrBadState) {
				t.Errorf("%q: %q %v", page, state, err)
			}
			return
		}
		if !json.Valid(state) || state[0] != '{' || state[len(state)-1] != '}' {
			t.Errorf("%q: %q", page, state)
		}
		again, err := InitState(slices.Concat([]byte(marker+"="), state, []byte("</script>")), marker)
		if err != nil || string(again) != string(state) {
			t.Errorf("%q read again: %q %v", state, again, err)
		}
	})
}
