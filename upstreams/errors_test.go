package upstreams

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"sundry/upstreams/host"
	"sundry/upstreams/lib/redact"
)

// TestTitlesInChineseCharsets: the title of a page is read in the encoding that the page names.
func TestTitlesInChineseCharsets(t *testing.T) {
	title, page := TitleOf([]byte("<html><meta charset=gb2312><title>\xb5\xc7\xc2\xbc\x81\x39\xee\x39</title>"))
	if !page || title != "登录㐀" || !(&Refusal{Page: true, Said: title}).ForBrowsers() {
		t.Errorf("%q %v", title, page)
	}
}

// TestOutcomes: what counts against a host is that it failed, was silent, or
// asked us to slow down.
func TestOutcomes(t *testing.T) {
	for kind := range errorKinds {
		want := host.Healthy
		if kind == Unavailable || kind == Timeout || kind == Limited {
			want = host.Failing
		}
		if got := healthOf(&Error{Kind: kind}); got != want {
			t.Errorf("%v: %v, want %v", kind, got, want)
		}
	}
	if healthOf(nil) != host.Healthy || healthOf(context.DeadlineExceeded) != host.Failing {
		t.Error("nil, or a deadline that is over")
	}
	if got := healthOf(&Error{Kind: Unavailable, Err: fmt.Errorf("send: %w", context.Canceled)}); got != host.Ignored {
		t.Errorf("a call that nobody wanted any more: %v", got)
	}
}

func TestKinds(t *testing.T) {
	if errorKinds.String() != "unknown" || (errorKinds+1).String() != "unknown" || Skipped.String() != "skipped" {
		t.Error("names past the end of the enumeration")
	}
	_, refused := (&net.Dialer{}).DialContext(t.Context(), "tcp", "127.0.0.1:1")
	for want, err := range map[ErrorKind]error{
		Timeout: context.DeadlineExceeded, Unavailable: refused, Internal: io.EOF, Negative: fmt.Errorf("x: %w", &Error{Kind: Negative}),
	} {
		if got := KindOf(err); got != want {
			t.Errorf("%v is %v, want %v", err, got, want)
		}
	}
}

func TestErrorsAreBlottedOut(t *testing.T) {
	r := redact.New("31415926")
	err := r.Err(&Error{Kind: Limited, Source: "one", Status: 429, Err: fmt.Errorf("token 31415926: %w", context.DeadlineExceeded)})
	if err.Error() != "one: limited (status 429): token ***: context deadline exceeded" || KindOf(err) != Limited || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	long := r.Err(errors.New(strings.Repeat("x", redact.ErrorTextMax-4) + "31415926"))
	if strings.Contains(long.Error(), "3141") {
		t.Errorf("half a secret: %s", long.Error()[redact.ErrorTextMax/2-20:])
	}
	if fine := errors.New("fine"); !errors.Is(r.Err(fine), fine) || r.Err(fine).Error() != "fine" {
		t.Error("an error without secrets is another")
	}
}
