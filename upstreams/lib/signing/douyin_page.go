package signing

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strconv"

	"golang.org/x/net/html"

	"sundry/upstreams/lib/webpage"
)

// Bounds of a page.
const (
	maxPage     = 4 << 20 // bytes
	maxElements = 16      // that hold an attribute which is read
)

// defaultElement is the id of the element with the token where the page does not
// say which.
const defaultElement = "douyin_reflow_token"

// DouyinPage is what a share page holds for the request that follows it.
type DouyinPage struct {
	// WebID is a number of 16 to 20 digits: the parameters web_id and device_id.
	WebID string
	// UserIP is the address from which the page was requested, the parameter
	// user_cip; empty where the page holds none.
	UserIP string
	// Token is what DouyinReflow takes.
	Token string
}

// ReadDouyinPage reads a share page. Which of its tokens counts is a rule in
// the page: for a part of the web ids, selected by their last three digits, it
// may be that of a new element. The error wraps ErrNoWebID or ErrNoToken, or says that the page is
// larger than 4 MiB.
func ReadDouyinPage(page []byte) (DouyinPage, error) {
	if len(page) > maxPage {
		return DouyinPage{}, fmt.Errorf("read a share page: larger than %d bytes", maxPage)
	}
	f, err := collect(page)
	if err != nil {
		return DouyinPage{}, fmt.Errorf("read a share page: %w", err)
	}
	if !webIDForm.MatchString(f.webID) {
		return DouyinPage{}, fmt.Errorf("read a share page: %w", ErrNoWebID)
	}
	p := DouyinPage{WebID: f.webID, Token: f.tokens[f.cooperation.element(f.webID)]}
	if !tokenForm.MatchString(p.Token) {
		return DouyinPage{}, fmt.Errorf("read a share page: %w", ErrNoToken)
	}
	if a, err := netip.ParseAddr(f.userIP); err == nil && a.Zone() == "" {
		p.UserIP = a.String()
	}
	return p, nil
}

// elements are the attributes that are read from a page, unchecked.
type elements struct {
	webID, userIP string
	tokens        map[string]string // by the id of the element
	cooperation   cooperation
}

// collect walks the page's tags. The first element of an id counts. Text
// in scripts and comments is not a tag.
func collect(page []byte) (elements, error) {
	f := elements{tokens: map[string]string{}}
	seen := map[string]bool{}
	z := html.NewTokenizer(bytes.NewReader(page))
	for {
		switch z.Next() {
		case html.ErrorToken:
			if err := z.Err(); !errors.Is(err, io.EOF) {
				return elements{}, err
			}
			return f, nil
		case html.StartTagToken, html.SelfClosingTagToken:
			attrs := webpage.Attributes(z, true)
			id := attrs["id"]
			if _, hasToken := attrs["xsstoken"]; seen[id] || id != "douyin_reflow_webId" && id != "douyin_reflow_tcc" && !hasToken {
				continue
			}
			if len(seen) < maxElements {
				seen[id] = true
				f.add(id, attrs)
			}
		}
	}
}

func (f *elements) add(id string, attrs map[string]string) {
	switch id {
	case "douyin_reflow_webId":
		f.webID, f.userIP = attrs["webid"], attrs["usercip"]
	case "douyin_reflow_tcc":
		f.cooperation = parseConfig(attrs["tccconfig"])
	default:
		f.tokens[id] = attrs["xsstoken"]
	}
}

// cooperation is the rule of the page's config by which a token is chosen.
type cooperation struct {
	Key    string      `json:"fe_key"`
	NewKey string      `json:"new_fe_key"`
	Ratio  json.Number `json:"new_fe_key_ratio"` // of a thousand web ids, those that use NewKey
}

// parseConfig returns the zero rule for a config that cannot be parsed: then the
// default element is used, and a wrong token is rejected by the site.
func parseConfig(config string) cooperation {
	var c struct {
		Cooperation cooperation `json:"token_encry_cooperation"`
	}
	if json.Unmarshal([]byte(config), &c) != nil {
		return cooperation{}
	}
	return c.Cooperation
}

// element is the id of the element whose token a web id uses.
func (c cooperation) element(webID string) string {
	last, err := strconv.Atoi(webID[len(webID)-3:])
	ratio, notNumber := c.Ratio.Float64()
	switch {
	case err == nil && notNumber == nil && float64(last) < ratio && c.NewKey != "":
		return c.NewKey
	case c.Key != "":
		return c.Key
	}
	return defaultElement
}
