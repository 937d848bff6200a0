package secure

import (
	"bytes"
	"crypto/tls"
	"strings"
	"time"

	"sundry/cache/durable"
	"sundry/metrics/words"
)

// Pair is a certificate with its private key, from two files.
type Pair struct {
	Certificate *tls.Certificate

	cert, key []byte // content of the files
}

// Mistake is an error in one of the files of a pair.
type Mistake struct {
	OfKey bool // in the file of the key; otherwise in the file of the certificate
	What  words.Text
}

// Error implements error.
func (m Mistake) Error() string { return m.What.EN() }

// maxPEM is the size limit in bytes of a PEM file.
const maxPEM = 4 << 20

// ReadPair reads a certificate, followed by its chain, and its key from PEM files. It returns open if the files have the same
// content, even if the certificate has expired; a nil open means that no certificate is in force. The error is a Mistake.
func ReadPair(certFile, keyFile string, open *Pair, now time.Time) (*Pair, error) {
	p := &Pair{}
	for file, into := range map[string]*[]byte{certFile: &p.cert, keyFile: &p.key} {
		var err error
		if *into, err = durable.ReadFile(file, maxPEM); err != nil {
			return nil, Mistake{file == keyFile, words.Failure(err)}
		}
	}
	if open != nil && bytes.Equal(open.cert, p.cert) && bytes.Equal(open.key, p.key) {
		return open, nil
	}
	made, err := tls.X509KeyPair(p.cert, p.key)
	if err != nil {
		return nil, mistakeOf(certFile, keyFile, err)
	}
	if end := made.Leaf.NotAfter; now.After(end) {
		return nil, Mistake{false, words.Sayf("%s: the certificate expired on %s", "%s：证书已于 %s 过期", certFile, end.UTC().Format(time.DateTime+" UTC"))}
	}
	p.Certificate = &made
	return p, nil
}

// mistakeOf returns the Mistake for an error of package tls.
func mistakeOf(certFile, keyFile string, err error) Mistake {
	text := strings.TrimPrefix(err.Error(), "tls: ")
	switch {
	case strings.Contains(text, "does not match"):
		return Mistake{true, words.Sayf("%s: the key is not that of the certificate in %s", "%s：私钥与 %s 中的证书不匹配", keyFile, certFile)}
	case strings.Contains(text, "key") && !strings.Contains(text, "certificate input"):
		return Mistake{true, words.Sayf("%s: expected a private key in PEM (%s)", "%s：应为 PEM 格式的私钥（详情为英文：%s）", keyFile, text)}
	}
	return Mistake{false, words.Sayf("%s: expected a certificate in PEM, followed by its chain (%s)", "%s：应为 PEM 格式的证书，后接证书链（详情为英文：%s）", certFile, text)}
}
