package signing

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"
)

const (
	imgKey = "7cd084941338484aae1ad9425b84077c"
	subKey = "4932caff0ff746eab6f01bf08b70ac45"
	mixin  = "ea1db124af3c7062474693fa704f4ff8"
)

func TestWBIKey(t *testing.T) {
	const at = "https://i0.hdslb.com/bfs/wbi/"
	for _, urls := range [][2]string{
		{at + imgKey + ".png", at + subKey + ".png"},
		{"//i0.hdslb.com/bfs/wbi/" + imgKey + ".png?x=1", at + subKey + ".webp#a/b.c"},
		{imgKey, subKey},
	} {
		if got, err := WBIKey(urls[0], urls[1]); err != nil || got != mixin {
			t.Errorf("%q: %q %v", urls, got, err)
		}
	}
	swapped, err := WBIKey(subKey, imgKey)
	if err != nil || swapped == mixin {
		t.Errorf("the keys the other way round: %q %v", swapped, err)
	}
}

func TestWBIKeyRefusesOtherNames(t *testing.T) {
	for _, bad := range []string{"", "/", "https://i0.hdslb.com/", "https://i0.hdslb.com/bfs/wbi/.png", imgKey[1:] + ".png", imgKey + "0.png", imgKey[:31] + "&", "https://%zz/" + imgKey, imgKey + ".tar.gz"} {
		if got, err := WBIKey(bad, subKey); !errors.Is(err, ErrWBIKey) || got != "" || !strings.Contains(err.Error(), "img_url") {
			t.Errorf("img %q: %q %v", bad, got, err)
		}
		if got, err := WBIKey(imgKey, bad); !errors.Is(err, ErrWBIKey) || got != "" || !strings.Contains(err.Error(), "sub_url") {
			t.Errorf("sub %q: %q %v", bad, got, err)
		}
	}
}

func TestWBISign(t *testing.T) {
	now := time.Unix(1702204169, 999)
	for in, want := range map[string]string{
		"foo=114&bar=514&zab=1919810":                           "bar=514&foo=114&wts=1702204169&zab=1919810&w_rid=8f6f2b5b3d485fe1886cec6a0be8c5d4",
		"zab=1919810&foo=(1!1'4*)&bar=514":                      "bar=514&foo=114&wts=1702204169&zab=1919810&w_rid=8f6f2b5b3d485fe1886cec6a0be8c5d4",
		"w_rid=old&wts=1&w_rid=x&foo=114&zab=1919810&bar=5%314": "bar=514&foo=114&wts=1702204169&zab=1919810&w_rid=8f6f2b5b3d485fe1886cec6a0be8c5d4",
		// Recomputed with OpenSSL's MD5.
		"":                       "wts=1702204169&w_rid=5295f8a00b73f35334f058ac0f8b70da",
		"k=%E4%B8%AD+a%2Bb%20c~": "k=%E4%B8%AD%20a%2Bb%20c~&wts=1702204169&w_rid=60a29c9d4ee3c59a3d566e91a828af0e",
	} {
		if got, err := WBISign(in, mixin, now); err != nil || got != want {
			t.Errorf("%q: %v\n got %q\nwant %q", in, err, got, want)
		}
	}
}

func TestWBISignRefuses(t *testing.T) {
	now := time.Unix(1702204169, 0)
	for _, bad := range []string{"", mixin[1:], mixin + "0", mixin[1:] + "\n", strings.Repeat("中", 32)} {
		if got, err := WBISign("a=1", bad, now); !errors.Is(err, ErrMixin) || got != "" {
			t.Errorf("key %q: %q %v", bad, got, err)
		}
	}
	for _, bad := range []string{"a=%zz", "a=1;b=2"} {
		if got, err := WBISign(bad, mixin, now); err == nil || got != "" {
			t.Errorf("query %q: %q %v", bad, got, err)
		}
	}
}

func FuzzWBISign(f *testing.F) {
	f.Add("bvid=BV1xx411c7mD&cid=2&qn=64", int64(1702204169))
	f.Add("a=+%20%2B!'()*&a=2&wts=x&w_rid=y&=", int64(-1))
	f.Add("%00=%ff&中=文", int64(0))
	f.Fuzz(func(t *testing.T, query string, unix int64) {
		now := time.Unix(unix, 0)
		signed, err := WBISign(query, mixin, now)
		if err != nil {
			return
		}
		if again, err := WBISign(signed, mixin, now); err != nil || again != signed {
			t.Errorf("signed twice: %q %v, once: %q", again, err, signed)
		}
		values, err := url.ParseQuery(signed)
		if err != nil || len(values["wts"]) != 1 || len(values["w_rid"]) != 1 || len(values.Get("w_rid")) != 32 {
			t.Errorf("%q: %v", signed, err)
		}
		if before, _, _ := strings.Cut(signed, "&w_rid="); strings.ContainsAny(before, "+!'()*") {
			t.Errorf("%q holds what the site's scripts do not send", signed)
		}
	})
}

func FuzzWBIKey(f *testing.F) {
	f.Add("https://i0.hdslb.com/bfs/wbi/"+imgKey+".png", subKey)
	f.Fuzz(func(t *testing.T, img, sub string) {
		if got, err := WBIKey(img, sub); (err == nil) != keyForm.MatchString(got) {
			t.Errorf("%q %q: %q %v", img, sub, got, err)
		}
	})
}
