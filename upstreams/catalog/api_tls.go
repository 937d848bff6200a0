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

	"sundry/metrics/words"
	"sundry/upstreams/declare"
	"sundry/upstreams/lib/guard"
)

// compileTLS reads the settings of connections to https addresses, and the files that they name. line is that of the API's name.
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

// compileClientCertificate reads the certificate by which the API knows this service.
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

// errNoFile means that a path leads to a directory, a pipe or a device, which might be waited for.
var errNoFile = errors.New("not a file")

// maxPEM is the size limit of a file of certificates. The bundles of systems have 250 kB.
const maxPEM = 4 << 20

// readPEM reads a file that the API's own names, relative to the directory of that. ok is false if there is none, or it cannot be read.
func (a *API) readPEM(name declare.Text, key string, problems *declare.Problems) (data []byte, ok bool) {
	if name.Value == "" {
		return nil, false
	}
	path := name.Value
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(a.File), path)
	}
	info, err := os.Stat(path)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxPEM) {
		err = &os.PathError{Op: "read", Path: path, Err: errNoFile}
	}
	if err == nil {
		data, err = os.ReadFile(path) //nolint:gosec // the operator names it
	}
	if err != nil {
		problems.Add(name.Line, "proxy: tls: %s: expected a file in PEM beside this one, or an absolute path: %s", key, words.Failure(err))
		return nil, false
	}
	a.Files = append(a.Files, path)
	a.declaration += strconv.FormatUint(xxhash.Sum64(data), 36) // a certificate that is renewed is a change
	return data, true
}

// identity tells apart the servers that connections lead to, and the clients that this service is for them. A certificate that is renewed for
// the same subject makes no other one.
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
