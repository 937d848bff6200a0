package redact

import (
	"cmp"
	"crypto/md5"  //nolint:gosec // services sign with it
	"crypto/sha1" //nolint:gosec // likewise
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// needlesOf returns what a text is searched for to find secrets and their parts.
func needlesOf(secrets []string) []needle {
	var all []needle
	for _, secret := range secrets {
		for _, one := range withParts(secret) {
			all = append(all, formsOf(one)...)
		}
	}
	slices.SortFunc(all, func(a, b needle) int { return cmp.Compare(a.text, b.text) })
	return slices.Compact(all)
}

// formsOf returns what a text is searched for to find a secret: the secret itself, its base64 at
// any offset of an encoded text, and its hashes. Of a secret shorter than DerivedMin only the secret
// itself is searched for; one shorter than SecretMin is not searched for.
func formsOf(secret string) []needle {
	if len(secret) < SecretMin {
		return nil
	}
	plain := []string{secret}
	if strings.Contains(secret, " ") {
		plain = append(plain, strings.ReplaceAll(secret, " ", "+"))
	}
	var forms []needle
	for _, text := range plain {
		forms = append(forms, needle{lowered(text), len(text) < wordMin})
	}
	if len(secret) < DerivedMin {
		return forms
	}
	for _, text := range slices.Concat(base64Forms(secret), Hashes(secret)) {
		forms = append(forms, needle{lowered(text), false})
	}
	return forms
}

func lowered(s string) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = lower(c)
	}
	return string(b)
}

// base64Forms returns what the secret looks like inside the base64 of a longer
// text: one form for each of the three offsets at which it can begin, without the
// characters that also depend on the bytes before or after it.
func base64Forms(secret string) []string {
	var forms []string
	for offset := range 3 {
		b := append(make([]byte, offset), secret...)
		start, end := (offset*8+5)/6, len(b)*8/6
		for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			forms = append(forms, e.EncodeToString(b)[start:end])
		}
	}
	return forms
}

// Hashes returns a secret in hexadecimal digits, and then its MD5, SHA-1 and
// SHA-256 sums, likewise in lower-case hexadecimal.
func Hashes(secret string) []string {
	b := []byte(secret)
	m, s1, s2 := md5.Sum(b), sha1.Sum(b), sha256.Sum256(b) //nolint:gosec // as above
	return []string{hex.EncodeToString(b), hex.EncodeToString(m[:]), hex.EncodeToString(s1[:]), hex.EncodeToString(s2[:])}
}

// withParts returns a secret, and what in it is one by itself: what it is the escaped form or the base64 of,
// the password in an address or before basic authentication, the credentials behind their scheme, and long texts
// between separators, such as the values of cookies.
func withParts(secret string) []string {
	all := []string{secret}
	add := func(part string, least int) {
		if len(part) >= least && !slices.Contains(all, part) {
			all = append(all, part)
		}
	}
	for i := 0; i < len(all); i++ { // parts have parts
		text := all[i]
		if plain, err := url.PathUnescape(text); err == nil {
			add(plain, SecretMin)
		}
		if plain, err := base64.StdEncoding.DecodeString(text); err == nil && utf8.Valid(plain) && len(text) >= wordMin {
			add(string(plain), DerivedMin)
			_, password, _ := strings.Cut(string(plain), ":")
			add(password, SecretMin)
		}
		if _, rest, isURL := strings.Cut(text, "://"); isURL {
			addURL(rest, add)
			continue
		}
		if scheme, rest, ok := strings.Cut(text, " "); ok && !strings.ContainsAny(scheme, "=:;,") && !strings.Contains(rest, " ") {
			add(rest, wordMin)
		}
		for _, part := range strings.FieldsFunc(text, isSeparator) {
			add(part, SignatureMin)
		}
	}
	return all
}

// addURL adds what is secret in a URL, without its scheme: its user or password, long segments of its path, and the values of its query. The host is not.
func addURL(rest string, add func(part string, least int)) {
	rest, query, _ := strings.Cut(rest, "?")
	if user, after, ok := cutLast(rest, "@"); ok {
		rest = after
		name, password, _ := strings.Cut(user, ":")
		if password == "" {
			add(name, wordMin)
		}
		add(password, SecretMin)
	}
	_, path, _ := strings.Cut(rest, "/")
	for segment := range strings.SplitSeq(path, "/") {
		add(segment, SignatureMin)
	}
	for pair := range strings.SplitSeq(query, "&") {
		_, value, _ := strings.Cut(pair, "=")
		add(value, wordMin)
	}
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return "", s, false
}

func isSeparator(r rune) bool { return strings.ContainsRune(` ;,&=:"`, r) }
