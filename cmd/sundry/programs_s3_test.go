package main

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"

	"sundry/upstreams/lib/peertest"
)

// s3Secret is the secret key of the client, whose access key is a name.
const s3Secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"

// bucket is the part of an S3 server that s3cmd needs for objects of one bucket. It verifies the signature of each request (AWS Signature
// Version 4), which covers the Host.
type bucket struct {
	mu      sync.Mutex
	objects map[string][]byte
	refused int
}

var s3Authorization = regexp.MustCompile(`^AWS4-HMAC-SHA256 Credential=key/(\d{8}/[^/]+/s3/aws4_request),\s*SignedHeaders=([^,]+),\s*Signature=([0-9a-f]{64})$`)

// isSigned reports whether a request has the signature of the secret.
func isSigned(r *http.Request) bool {
	parts := s3Authorization.FindStringSubmatch(r.Header.Get("Authorization"))
	if parts == nil {
		return false
	}
	var fields strings.Builder
	for name := range strings.SplitSeq(parts[2], ";") {
		value := strings.Join(r.Header.Values(name), ",")
		if name == "host" {
			value = r.Host
		}
		fmt.Fprintf(&fields, "%s:%s\n", name, strings.TrimSpace(value))
	}
	query, _ := url.ParseQuery(r.URL.RawQuery)
	canonical := strings.Join([]string{r.Method, r.URL.EscapedPath(), strings.ReplaceAll(query.Encode(), "+", "%20"), fields.String(), parts[2], r.Header.Get("X-Amz-Content-Sha256")}, "\n")
	sum := sha256.Sum256([]byte(canonical))
	text := "AWS4-HMAC-SHA256\n" + r.Header.Get("X-Amz-Date") + "\n" + parts[1] + "\n" + hex.EncodeToString(sum[:])
	key := []byte("AWS4" + s3Secret)
	for part := range strings.SplitSeq(parts[1], "/") {
		key = hmacOf(key, part)
	}
	return hex.EncodeToString(hmacOf(key, text)) == parts[3]
}

func hmacOf(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// ServeHTTP implements http.Handler.
func (b *bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	b.mu.Lock()
	defer b.mu.Unlock()
	if !isSigned(r) {
		b.refused++
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `<Error><Code>SignatureDoesNotMatch</Code><Message>of another Host</Message></Error>`)
		return
	}
	name, object := strings.CutPrefix(r.URL.Path, "/bucket/")
	stored, there := b.objects[name]
	switch {
	case object && name != "" && r.Method == http.MethodPut:
		b.objects[name] = body
		w.Header().Set("Etag", tagOf(body))
	case object && name != "" && r.Method == http.MethodDelete:
		delete(b.objects, name)
		w.WriteHeader(http.StatusNoContent)
	case object && name != "" && !there:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `<Error><Code>NoSuchKey</Code></Error>`)
	case object && name != "":
		w.Header().Set("Etag", tagOf(stored))
		w.Header().Set("Last-Modified", "Sun, 29 Nov 2026 00:00:00 GMT")
		w.Header().Set("Content-Length", fmt.Sprint(len(stored)))
		_, _ = w.Write(stored)
	case r.URL.Query().Has("location"):
		fmt.Fprint(w, `<LocationConstraint xmlns="http://s3.amazonaws.com/doc/2006-03-01/"></LocationConstraint>`)
	default:
		fmt.Fprint(w, `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>bucket</Name><IsTruncated>false</IsTruncated>`)
		for name, object := range b.objects {
			fmt.Fprintf(w, `<Contents><Key>%s</Key><LastModified>2026-11-29T00:00:00.000Z</LastModified><ETag>%s</ETag><Size>%d</Size></Contents>`, name, tagOf(object), len(object))
		}
		fmt.Fprint(w, `</ListBucketResult>`)
	}
}

func tagOf(object []byte) string { return fmt.Sprintf(`"%x"`, md5.Sum(object)) }

// TestS3cmd puts, lists, reads and deletes an object through Sundry: its requests are signed for the Host by which it reaches Sundry, which
// the server must get. With host: origin, it gets another one, and refuses them.
func TestS3cmd(t *testing.T) {
	t.Parallel()
	s3cmd := peertest.Program(t, "s3cmd", "s3cmd", "s3cmd")
	b := &bucket{objects: map[string][]byte{}}
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	p := serve(t, "--to", server.URL, "--ttl", "1m")
	dir, host := t.TempDir(), strings.TrimPrefix(p.public, "http://")
	config := write(t, dir, "s3cfg", "[default]\naccess_key = key\nsecret_key = "+s3Secret+"\nhost_base = "+host+"\nhost_bucket = "+host+"\nuse_https = False\nsignature_v2 = False\n")
	run := func(args ...string) string {
		return runClient(t, dir, nil, s3cmd, append([]string{"--config", config}, args...)...)
	}
	for _, text := range []string{"one", "two"} {
		write(t, dir, "a file", text)
		run("put", "a file", "s3://bucket/a file")
		if got := run("get", "--force", "s3://bucket/a file", "-"); !strings.Contains(got, text) {
			t.Errorf("%q, want %s", got, text)
		}
	}
	if got := run("ls", "s3://bucket"); !strings.Contains(got, "s3://bucket/a file") {
		t.Error(got)
	}
	run("del", "s3://bucket/a file")
	if got := run("ls", "s3://bucket"); strings.Contains(got, "a file") || b.refused > 0 {
		t.Errorf("%s\n%d requests refused", got, b.refused)
	}
	other := strings.TrimPrefix(serve(t, "--to", server.URL, "--host", "origin").public, "http://")
	cmd := exec.CommandContext(t.Context(), s3cmd, "--config", config, "--host", other, "--host-bucket", other, "ls", "s3://bucket")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "SignatureDoesNotMatch") || b.refused == 0 {
		t.Errorf("with host: origin: %v %s", err, out)
	}
}
