package config

import (
	"sundry/metrics/words"
)

// CheckTLS returns an error for settings of TLS that do not go together.
func (c *Config) CheckTLS() error {
	switch {
	case c.TLSCert != "" && c.TLSKey == "":
		return c.Mistake("tls.cert", words.Say("expected together with the file of its key, such as tls: {cert: fullchain.pem, key: privkey.pem}", "应同时给出私钥文件，例如 tls: {cert: fullchain.pem, key: privkey.pem}"))
	case c.TLSKey != "" && c.TLSCert == "":
		return c.Mistake("tls.key", words.Say("expected together with the file of the certificate, such as tls: {cert: fullchain.pem, key: privkey.pem}", "应同时给出证书文件，例如 tls: {cert: fullchain.pem, key: privkey.pem}"))
	}
	return nil
}

// Secure reports whether the public listener speaks TLS.
func (c *Config) Secure() bool { return c.TLSCert != "" }

// Scheme returns the scheme of the public listener's addresses.
func (c *Config) Scheme() string {
	if c.Secure() {
		return "https"
	}
	return "http"
}
