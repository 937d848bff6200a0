package redact

import (
	"cmp"
	"crypto/md5"  //nolint:gosec // services sign with it
	"crypto/sha1" //nolint:gosec // likewise
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"
)

// needlesOf returns what a text is searched for to find others.
func needlesOf(texts []string) []needle {
	var all []needle
	for _, text := range texts {
		for _, one := range decoded(text) {
			all = append(all, formsOf(one)...)
		}
	}
	slices.SortFunc(all, func(a, b needle) int { return cmp.Compare(a.text, b.text) })
	return slices.Compact(all)
}

// decoded returns a text, and what it is the escaped form or the base64 of.
func decoded(text string) []string {
	all := []string{text}
	if plain, escaped := (&layer{text: text}).unescape(); escaped {
		all = append(all, plain.text)
	}
	if plain, err := base64.StdEncoding.DecodeString(text); err == nil && len(plain) >= formMin && utf8.Valid(plain) {
		all = append(all, string(plain))
	}
	return all
}

// formsOf returns what a text is searched for to find a secret: the secret itself, its base64 at
// any offset of an encoded text, and its hashes. Of a secret shorter than formMin only the secret
// itself is searched for; one shorter than SecretMin is not searched for.
func formsOf(secret string) []needle {
	plain := []string{withoutBlanks(secret)}
	if len(secret) < SecretMin || len(plain[0]) < prefix {
		return nil
	}
	if strings.Contains(secret, " ") {
		plain = append(plain, withoutBlanks(strings.ReplaceAll(secret, " ", "+")))
	}
	var forms []needle
	for _, text := range plain {
		forms = append(forms, needle{lowered(text), len(text) < wordMin})
	}
	if len(secret) < formMin {
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

// withParts returns a secret, and what in it is one by itself: see partsOf.
func withParts(secret string) []string {
	all := []string{secret}
	for i := 0; i < len(all); i++ { // parts have parts
		for _, text := range decoded(all[i]) {
			for _, part := range partsOf(text) {
				if len(part) >= SecretMin && !slices.Contains(all, part) {
					all = append(all, part)
				}
			}
		}
	}
	return all
}

// partsOf returns the credentials in an address, the password behind a user and those behind a scheme, and long texts between
// separators, such as the values of cookies.
func partsOf(text string) (parts []string) {
	separators := " ;,&=:\"\r\n"
	if a, ok := parseAddress(text); ok {
		parts = a.credentials()
		text, separators = a.path+"?"+a.query, "/?&=" // the host is none
	} else if _, rest, ok := strings.Cut(text, ":"); ok && strings.Count(text, ":") == 1 && !strings.ContainsAny(text, " ;,&=") {
		parts = append(parts, rest)
	} else if scheme, rest, ok := strings.Cut(text, " "); ok && !strings.ContainsAny(scheme, "=:;,") && !strings.Contains(rest, " ") && len(rest) >= wordMin {
		parts = append(parts, rest)
	}
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
		if len(part) >= partMin {
			parts = append(parts, part)
		}
	}
	return parts
}
