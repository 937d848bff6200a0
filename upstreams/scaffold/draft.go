// Package scaffold makes a first version of a catalog file of one call: it guesses
// parameters from the address, and fields and their meaning from the reply. What it
// promises: the file compiles, and answers as the reply did; a secret in the address
// appears in nothing that it makes. What it guesses is for a human to read and mend.
package scaffold

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"sundry/metrics/words"
)

// Call is what was asked, and what came back.
type Call struct {
	// Name of the endpoint, with which the address was read.
	Name string
	// Address that was asked.
	Address *Address
	// Status, Header and Body of the reply.
	Status int
	Header http.Header
	Body   []byte
	// Host that a redirect led to; "" for none.
	Host string
	// Now is when it was asked.
	Now time.Time
}

// Draft is what is made of a call: files by their names in the directory of catalog
// files.
type Draft struct {
	Files map[string][]byte
	// Source is the name of the source, Exchange the directory of its recorded exchange.
	Source, Exchange string
	// Variables are described in data/variables.yaml, which may have others.
	Variables []byte
}

// New drafts an endpoint.
func New(c *Call) (*Draft, error) {
	if c.Status/100 != 2 {
		return nil, words.Errorf("the address answered %d %s; expected a good answer", "地址返回 %d %s；应返回正常的内容", c.Status, http.StatusText(c.Status))
	}
	r, err := readReply(c)
	if err != nil {
		return nil, err
	}
	d := &Draft{Source: sourceName(c.Address.url.Hostname())}
	d.Exchange = "testdata/" + c.Name + "/" + d.Source + "/good"
	d.Files = map[string][]byte{d.Exchange + "/" + r.File: c.Address.redact(r.body)}
	if d.Files[c.Name+".yaml"], err = fileOf(c, d.Source, r); err != nil {
		return nil, err
	}
	if d.Files[d.Exchange+"/exchange.yaml"], err = exchangeOf(c, r); err != nil {
		return nil, err
	}
	d.Variables, err = c.Address.describeVariables()
	return d, err
}

// sourceName names a source after the host: the part that its owner chose.
func sourceName(host string) string {
	labels := strings.Split(strings.ToLower(host), ".")
	name := labels[0]
	if n := len(labels); n > 1 && regexp.MustCompile(`^[a-z]+$`).MatchString(labels[n-1]) {
		name = labels[n-2]
	}
	if name = regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(name, "-"); strings.Trim(name, "-0123456789") == "" {
		return "origin"
	}
	return name
}

// exchangeOf is the recorded exchange.
func exchangeOf(c *Call, r *reply) ([]byte, error) {
	data := struct {
		*reply
		Params                       []string
		Now, Sent, Body, ContentType string
	}{
		reply: r, Now: c.Now.UTC().Format(time.RFC3339), Sent: c.Address.sent(), Body: string(c.Address.sentInReplay()),
		ContentType: c.Header.Get("Content-Type"),
	}
	for _, p := range c.Address.params {
		data.Params = append(data.Params, p.name+": "+quote(p.value))
	}
	return written("exchange", data)
}

// errAddress is the mistake of an address that cannot be drafted.
var errAddress = words.NewError("expected an http or https address, for example https://api.example.org/v1/joke?id=7", "应为 http 或 https 地址，例如 https://api.example.org/v1/joke?id=7")

// parse reads an address.
func parse(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return nil, errAddress
	}
	return u, nil
}
