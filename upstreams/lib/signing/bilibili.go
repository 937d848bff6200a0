package signing

import (
	"crypto/md5" //nolint:gosec // what the site checks; it protects nothing of ours
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Errors of malformed keys.
var (
	// ErrWBIKey means that the names of the site's key images are no longer keys.
	ErrWBIKey = errors.New("not a WBI key of 32 letters and digits")
	// ErrMixin means that the key to sign with was not made by WBIKey.
	ErrMixin = errors.New("not a mixin key of 32 letters and digits")
)

var keyForm = regexp.MustCompile(`^[0-9A-Za-z]{32}$`)

// order has the positions of the mixin key's characters in the two concatenated
// keys. The site's table has 64 positions, of which 32 are used.
var order = [32]int{46, 47, 18, 2, 53, 8, 23, 32, 15, 50, 10, 31, 58, 3, 45, 35, 27, 43, 5, 49, 33, 9, 42, 19, 29, 28, 14, 39, 12, 38, 41, 13}

// WBIKey makes the key that signs, which changes about once a day, from the addresses of the two images that
// the site's nav API names (data.wbi_img.img_url and sub_url): the images' names
// without their extension are the keys. The error wraps ErrWBIKey.
func WBIKey(imgURL, subURL string) (string, error) {
	img, err := stem(imgURL)
	if err != nil {
		return "", fmt.Errorf("read img_url: %w", err)
	}
	sub, err := stem(subURL)
	if err != nil {
		return "", fmt.Errorf("read sub_url: %w", err)
	}
	raw := img + sub
	var mixin [len(order)]byte
	for i, at := range order {
		mixin[i] = raw[at]
	}
	return string(mixin[:]), nil
}

// stem is the file name of the URL without its extension.
func stem(imageURL string) (string, error) {
	u, err := url.Parse(imageURL)
	if err != nil {
		return "", ErrWBIKey
	}
	name := path.Base(u.Path)
	name = strings.TrimSuffix(name, path.Ext(name))
	if !keyForm.MatchString(name) {
		return "", ErrWBIKey
	}
	return name, nil
}

// WBISign signs a query the way that Bilibili's own pages do (WBI), so that its API
// answers without a login. The algorithm is undocumented; it is that of the site's
// scripts, as described by the bilibili-API-collect project in docs/misc/sign/wbi.md.
//
// It adds the time (wts, unix seconds) and the signature (w_rid) to an encoded
// query, in place of those it may hold. The result is the query to send
// unchanged: sorted, encoded as the site's scripts do, and without the characters
// !'()* in its values, which they drop. The same query, key and second give the
// same text. The error wraps ErrMixin, or what is wrong with the query.
func WBISign(query, mixin string, now time.Time) (string, error) {
	if !keyForm.MatchString(mixin) {
		return "", fmt.Errorf("sign a query: %w", ErrMixin)
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", fmt.Errorf("sign a query: %w", err)
	}
	for _, all := range values {
		for i, v := range all {
			all[i] = strings.Map(dropUnsent, v)
		}
	}
	values.Del("w_rid")
	values.Set("wts", strconv.FormatInt(now.Unix(), 10))
	// A plus sign in a value is %2B by now: those that remain are spaces.
	signed := strings.ReplaceAll(values.Encode(), "+", "%20")
	sum := md5.Sum([]byte(signed + mixin)) //nolint:gosec // see the import
	return signed + "&w_rid=" + hex.EncodeToString(sum[:]), nil
}

// dropUnsent drops the characters that the site's scripts do not send.
func dropUnsent(r rune) rune {
	if strings.ContainsRune("!'()*", r) {
		return -1
	}
	return r
}
