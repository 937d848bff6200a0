package signing

import (
	"encoding/base64"
	"net/url"
	"testing"
	"time"
)

// TestPlayer: the numbers of dm_img_inter are those of the site's scripts for a
// window of 1920 by 1080 and the random numbers 31 and 373.
func TestPlayer(t *testing.T) {
	now := time.Unix(114*514*30000+373, 0) // 373 is 31 modulo 114
	got, err := BilibiliPlayer("bvid=BV1xx411c7mD&try_look=0", now)
	if err != nil {
		t.Fatal(err)
	}
	values, err := url.ParseQuery(got)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"bvid": "BV1xx411c7mD", "dm_img_list": "[]",
		"dm_img_inter": `{"ds":[],"wh":[6093,6631,31],"of":[373,746,373]}`,
		"gaia_source":  "pre-load", "isGaiaAvoided": "true", "try_look": "1", "web_location": "1315873",
	} {
		if values.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, values.Get(name), want)
		}
	}
	for name, want := range map[string]string{"dm_img_str": "WebGL 1.0 (OpenGL ES 2.0 Chromium)", "dm_cover_img_str": "ANGLE (Intel, Intel(R) UHD Graphics 630 (0x00003E92) Direct3D11 vs_5_0 ps_5_0, D3D11)Google Inc. (Intel"} {
		text, err := base64.RawStdEncoding.DecodeString(values.Get(name))
		if err != nil || string(text) != want {
			t.Errorf("%s: %q %v, want %q", name, text, err, want)
		}
	}
}

func TestPlayerRefusesOtherQueries(t *testing.T) {
	if got, err := BilibiliPlayer("a=%zz", time.Unix(1, 0)); err == nil {
		t.Errorf("no error but %q", got)
	}
}
