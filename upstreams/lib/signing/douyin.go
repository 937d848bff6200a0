package signing

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

// DouyinReflow is the parameter reflow_id, with which a share page of Douyin requests its
// video; that is undocumented, and what the page's scripts have done since August 2026. It
// is not yet percent-encoded: the token's text
// by AES-128-CBC with PKCS #7 padding, in base64. Key and initial vector are the
// first 16 digits of the web id: nothing is secret here, the site only checks
// that its scripts were run. The error wraps ErrNoWebID or ErrNoToken when one does not have its form.
func DouyinReflow(token, webID string) (string, error) {
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
