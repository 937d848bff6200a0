// Package douyin makes the token with which the share page requests its video
// (reflow_id), and extracts from that page what the token is made of. It promises
// that the extracted values have the form that the next request requires, so
// that they can be inserted unchanged. It makes no connections.
//
// The protocol is undocumented: it is what the page's scripts have done since
// August 2026.
package douyin

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
)

var (
	// ErrNoWebID means that the page holds no webId that is a number of 16 to
	// 20 digits. Some replies contain "undefined": a retry may succeed.
	ErrNoWebID = errors.New("page holds no web id")
	// ErrNoToken means that the page holds no token of 1 to 512 printable ASCII
	// characters, without which the next request cannot be made.
	ErrNoToken = errors.New("page holds no reflow token")
)

var (
	webIDForm = regexp.MustCompile(`^[0-9]{16,20}$`)
	tokenForm = regexp.MustCompile(`^[!-~]{1,512}$`)
)

// ReflowID is the parameter reflow_id, not yet percent-encoded: the token's text
// by AES-128-CBC with PKCS #7 padding, in base64. Key and initial vector are the
// first 16 digits of the web id: nothing is secret here, the site only checks
// that its scripts were run. The error wraps ErrNoWebID or ErrNoToken when one does not have its form.
func ReflowID(token, webID string) (string, error) {
	switch {
	case !webIDForm.MatchString(webID):
		return "", fmt.Errorf("make a reflow id: %w", ErrNoWebID)
	case !tokenForm.MatchString(token):
		return "", fmt.Errorf("make a reflow id: %w", ErrNoToken)
	}
	key := []byte(webID[:aes.BlockSize])
	block, err := aes.NewCipher(key)
	if err != nil {
		return "", fmt.Errorf("make a reflow id: %w", err)
	}
	padding := aes.BlockSize - len(token)%aes.BlockSize
	text := append([]byte(token), bytes.Repeat([]byte{byte(padding)}, padding)...)
	cipher.NewCBCEncrypter(block, key).CryptBlocks(text, text)
	return base64.StdEncoding.EncodeToString(text), nil
}
