package signing

import (
	"encoding/json"
	"net/url"
	"time"
)

// What browsers call their graphics: of WebGL, and of the card behind it. The site's
// scripts send both in base64, without its last two characters.
const (
	graphics = "V2ViR0wgMS4wIChPcGVuR0wgRVMgMi4wIENocm9taXVtKQ"
	card     = "QU5HTEUgKEludGVsLCBJbnRlbChSKSBVSEQgR3JhcGhpY3MgNjMwICgweDAwMDAzRTkyKSBEaXJlY3QzRDExIHZzXzVfMCBwc181XzAsIEQzRDExKUdvb2dsZSBJbmMuIChJbnRlbC"
)

// The window that BilibiliPlayer describes: a full one of a common screen, not scrolled.
const windowWidth, windowHeight = 1920, 1080

// BilibiliPlayer adds to an encoded query what the site's player says about the browser and
// itself. Since spring 2026 the API of links to play refuses queries without it, with
// status 412. Add it before the query is signed.
func BilibiliPlayer(query string, now time.Time) (string, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", err
	}
	window, err := json.Marshal(windowAt(now))
	if err != nil {
		return "", err
	}
	for name, v := range map[string]string{
		"dm_img_list": "[]", "dm_img_str": graphics, "dm_cover_img_str": card, "dm_img_inter": string(window),
		"gaia_source": "pre-load", "isGaiaAvoided": "true", "try_look": "1", "web_location": "1315873",
	} {
		values.Set(name, v)
	}
	return values.Encode(), nil
}

// interaction is dm_img_inter: what was clicked, the window's size, and how far it is
// scrolled. The sizes are mixed with a number that the scripts draw at random and
// append.
type interaction struct {
	Clicked  []int  `json:"ds"`
	Size     [3]int `json:"wh"`
	Scrolled [3]int `json:"of"`
}

// windowAt mixes the sizes as the site's scripts do. The time stands in for their
// random numbers, so that a query is the same for the same second.
func windowAt(now time.Time) interaction {
	size, scrolled := int(now.Unix()%114), int(now.Unix()%514)
	return interaction{
		Clicked:  []int{},
		Size:     [3]int{2*windowWidth + 2*windowHeight + 3*size, 4*windowWidth - windowHeight + size, size},
		Scrolled: [3]int{scrolled, 2 * scrolled, scrolled},
	}
}
