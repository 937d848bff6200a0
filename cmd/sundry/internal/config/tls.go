package config

import (
	"cmp"
	"net/netip"
	"net/url"
	"strings"

	"sundry/metrics/words"
)

// ACME holds the settings for certificates that an authority issues (RFC 8555).
type ACME struct {
	Hosts     []string // nil means that no certificate is requested
	Email     string
	Directory string // URL; "" means Let's Encrypt
	Cache     string // directory; "" means the default of CertificateDir
}

// CheckTLS returns an error for TLS settings that do not go together.
func (c *Config) CheckTLS() error {
	switch a := c.ACME; {
	case c.TLSCert != "" && c.TLSKey == "":
		return c.Mistake("tls.cert", words.Say("expected together with the file of its private key, such as tls: {cert: fullchain.pem, key: privkey.pem}", "应同时给出私钥文件，例如 tls: {cert: fullchain.pem, key: privkey.pem}"))
	case c.TLSKey != "" && c.TLSCert == "":
		return c.Mistake("tls.key", words.Say("expected together with the file of the certificate, such as tls: {cert: fullchain.pem, key: privkey.pem}", "应同时给出证书文件，例如 tls: {cert: fullchain.pem, key: privkey.pem}"))
	case c.TLSCert != "" && len(a.Hosts) > 0:
		return c.Mistake("acme.hosts", words.Say("expected without tls, which has a certificate already; remove one of them", "不能与 tls 同时使用，后者已有证书；请删去其中一个"))
	case len(a.Hosts) > 0 && c.CertificateDir() == "":
		return c.Mistake("acme.hosts", words.Say("expected together with a directory for certificates, such as data: /var/lib/sundry", "应同时给出保存证书的目录，例如 data: /var/lib/sundry"))
	case len(a.Hosts) == 0 && cmp.Or(a.Email, a.Directory, a.Cache) != "":
		return words.NewError("acme: expected hosts, such as acme: {hosts: [api.example.org]}", "acme：应有 hosts，例如 acme: {hosts: [api.example.org]}")
	case c.Redirect != "" && !c.Secure():
		return c.Mistake("redirect", words.Say("expected together with tls or acme: there is no HTTPS to redirect to", "应与 tls 或 acme 同时使用：没有可以跳转到的 HTTPS"))
	}
	return nil
}

// Secure reports whether the public listener speaks TLS.
func (c *Config) Secure() bool { return c.TLSCert != "" || len(c.ACME.Hosts) > 0 }

// Scheme returns the scheme of the public listener's addresses.
func (c *Config) Scheme() string {
	if c.Secure() {
		return "https"
	}
	return "http"
}

// CertificateDir returns the directory for certificates from an authority, by default one in the data directory; "" means that
// neither is set.
func (c *Config) CertificateDir() string {
	return cmp.Or(c.ACME.Cache, c.InData("acme"))
}

// parseHostOfCertificate reads a name that an authority may issue a certificate for.
func parseHostOfCertificate(s string) (string, error) {
	name, err := parseHost(s)
	if _, ip := netip.ParseAddr(name); err != nil || ip == nil || !strings.Contains(name, ".") {
		return "", errInvalid
	}
	return name, nil
}

// isACMEDirectory reports whether a text is the URL of a directory. Without TLS, it must be on this machine.
func isACMEDirectory(s string) bool {
	u, err := url.Parse(s)
	if err != nil || !hostName.MatchString(u.Host) {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || err == nil && ip.IsLoopback())
}
