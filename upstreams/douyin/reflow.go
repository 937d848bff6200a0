// Package douyin makes the token by which the share page asks for its own work
// (reflow_id), and takes what it is made of out of that page. It promises that
// what comes out of a page is of the form that the next request needs, so that
// it can be put there as it is. It makes no connections.
//
// The protocol is undocumented: it is what the page's scripts do since August
// 2026.
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
	// 20 digits. Some replies say "undefined": another try may say more.
	ErrNoWebID = errors.New("page holds no web id")
	// ErrNoToken means that the page lacks the token it should be asked with,
	// of 1 to 512 printable ASCII characters.
	ErrNoToken = errors.New("page holds no reflow token")
)

var (
	webIDForm = regexp.MustCompile(`^[0-9]{16,20}$`)
	tokenForm = regexp.MustCompile(`^[!-~]{1,512}$`)
)

// ReflowID is the parameter reflow_id, not yet percent-encoded: the token's text
// by AES-128-CBC with PKCS #7 padding, in base64. Key and initial vector are the
// first 16 digits of the web id: this hides nothing, it shows who can compute
// it. The error wraps ErrNoWebID or ErrNoToken when one is not of its form.
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
