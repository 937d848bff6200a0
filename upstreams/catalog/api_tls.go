package catalog

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"sundry/cache/durable"
	"sundry/metrics/words"
	"sundry/upstreams/declare"
	"sundry/upstreams/lib/guard"
)

// compileTLS reads the settings of connections to https addresses, and the files that they name. line is the line of the API's name.
func (a *API) compileTLS(s *tlsSpec, line int, problems *declare.Problems, warnings *[]Mistake) {
	if *s == (tlsSpec{}) {
		return
	}
	if len(a.Targets) > 0 && !a.hasTLS() {
		problems.Add(line, "proxy: tls: expected an address in to that begins with https://")
	}
	a.TLS = &tls.Config{ServerName: s.ServerName.Value, InsecureSkipVerify: s.Verify != nil && !*s.Verify} //nolint:gosec // check warns of it
	if _, err := guard.CheckHost(a.TLS.ServerName); a.TLS.ServerName != "" && err != nil {
		problems.Add(s.ServerName.Line, "proxy: tls: server_name: expected the name of its certificate such as weather.internal, got %q", a.TLS.ServerName)
	}
	if ca, ok := a.readPEM(s.CA, "ca", problems); ok {
		a.TLS.RootCAs = x509.NewCertPool()
		if !a.TLS.RootCAs.AppendCertsFromPEM(ca) {
			problems.Add(s.CA.Line, "proxy: tls: ca: %s: expected certificates in PEM, which begin with -----BEGIN CERTIFICATE-----", s.CA.Value)
		}
	}
	a.compileClientCertificate(s, problems)
	if a.TLS.InsecureSkipVerify {
		*warnings = append(*warnings, Mistake{a.File, line, unverified()})
	}
}

func (a *API) hasTLS() bool {
	for _, t := range a.Targets {
		if t.URL.Scheme == "https" {
			return true
		}
	}
	return false
}

// compileClientCertificate reads the certificate that the API gets from this service.
func (a *API) compileClientCertificate(s *tlsSpec, problems *declare.Problems) {
	if (s.Cert.Value == "") != (s.Key.Value == "") {
		problems.Add(max(s.Cert.Line, s.Key.Line), "proxy: tls: expected both cert and key, for example {cert: client.pem, key: client-key.pem}")
		return
	}
	cert, hasCert := a.readPEM(s.Cert, "cert", problems)
	key, hasKey := a.readPEM(s.Key, "key", problems)
	if !hasCert || !hasKey {
		return
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		problems.Add(s.Cert.Line, "proxy: tls: cert and key: expected a certificate and its private key in PEM: %v", err)
		return
	}
	a.TLS.Certificates = []tls.Certificate{pair}
}

// errNoFile means that a path leads to a directory, or to a pipe or a device, which may block the read, or that a file exceeds maxPEM.
var errNoFile = words.NewError("not a regular file of at most 4 MiB", "不是普通文件，或超过 4 MiB")

// maxPEM is the size limit in bytes of a PEM file. The bundles of systems have 250 kB.
const maxPEM = 4 << 20

// readPEM reads a PEM file that the API's own file names, relative to its directory. ok is false if none is named, or if it cannot be read.
func (a *API) readPEM(name declare.Text, key string, problems *declare.Problems) (data []byte, ok bool) {
	if name.Value == "" {
		return nil, false
	}
	path := name.Value
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(a.File), path)
	}
	data, err := durable.ReadFile(path, maxPEM)
	if errors.Is(err, durable.ErrNotRegular) || errors.Is(err, durable.ErrTooLarge) {
		err = &os.PathError{Op: "read", Path: path, Err: errNoFile}
	}
	if err != nil {
		problems.Add(name.Line, "proxy: tls: %s: expected a file in PEM beside this one, or an absolute path: %s", key, words.Failure(err))
		return nil, false
	}
	a.Files = append(a.Files, path)
	a.declaration += strconv.FormatUint(xxhash.Sum64(data), 36) // a renewed certificate is a change of the API
	return data, true
}

// identity returns what identifies the server that connections lead to, and this service as its client. A renewed certificate with the same
// subject and names does not change it.
func (a *API) identity() string {
	if a.TLS == nil {
		return ""
	}
	subject := ""
	for _, c := range a.TLS.Certificates {
		subject = c.Leaf.Subject.String() + fmt.Sprint(c.Leaf.DNSNames, c.Leaf.URIs)
	}
	return fmt.Sprint(a.TLS.ServerName, a.TLS.InsecureSkipVerify, subject)
}

// unverified explains verify: false.
func unverified() words.Text {
	return words.Say("proxy: tls: verify: false: whoever is between this service and the API can read and change everything, and what is stored; expected ca with the certificate of the API's authority, or server_name where only the name differs",
		"proxy: tls: verify: false：中间人可以读取并篡改一切，包括存储下来的响应；应改用 ca 给出签发该 API 证书的机构，若只是名称不符，请用 server_name")
}
