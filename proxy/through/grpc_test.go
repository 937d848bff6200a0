package through

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"sundry/cache/web"
)

// bytesCodec has messages of gRPC as they are, so that no schema is needed.
type bytesCodec struct{}

func (bytesCodec) Name() string { return "bytes" }

func (bytesCodec) Marshal(v any) ([]byte, error) { return []byte(*v.(*string)), nil }

func (bytesCodec) Unmarshal(data []byte, v any) error {
	*v.(*string) = string(data)
	return nil
}

// converse is a service of gRPC: what it does depends on the first message.
func converse(_ any, s grpc.ServerStream) error {
	in, _ := metadata.FromIncomingContext(s.Context())
	if !strings.HasPrefix(strings.Join(in["content-type"], ""), "application/grpc") {
		return status.Errorf(codes.Internal, "%v", in)
	}
	s.SetTrailer(metadata.Pairs("x-end", "trailer"))
	first := ""
	if err := s.RecvMsg(&first); err != nil {
		return err
	}
	send := func(text string) error { return s.SendMsg(&text) }
	switch first {
	case "refused":
		return status.Error(codes.PermissionDenied, "not you")
	case "broken off":
		_ = send("one")
		return status.Error(codes.DataLoss, "no more")
	case "many answers":
		return errors.Join(send("one"), send("two"), send("three"))
	case "many questions":
		all := ""
		for {
			next := ""
			if err := s.RecvMsg(&next); errors.Is(err, io.EOF) {
				return send(all)
			} else if err != nil {
				return err
			}
			all += next
		}
	}
	for text := first; ; { // each question has its answer
		if err := send("re: " + text); err != nil {
			return err
		}
		if err := s.RecvMsg(&text); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// newGRPC serves converse behind a handler, and returns what calls it. With certificates, both sides are over TLS.
func newGRPC(t *testing.T, certificates []tls.Certificate, believed *x509.CertPool) (*grpc.ClientConn, *Handler) {
	t.Helper()
	origin, front := loopback(t), loopback(t)
	options := []grpc.ServerOption{grpc.ForceServerCodec(bytesCodec{})}
	target, mine := Target{URL: &url.URL{Scheme: "http", Host: origin.Addr().String()}, HTTP2: true, Sent: "example.com"}, insecure.NewCredentials()
	if certificates != nil {
		options = append(options, grpc.Creds(credentials.NewServerTLSFromCert(&certificates[0])))
		target.URL.Scheme, target.HTTP2, mine = "https", false, credentials.NewClientTLSFromCert(believed, "example.com")
	}
	back := grpc.NewServer(options...)
	back.RegisterService(&grpc.ServiceDesc{ServiceName: "test.Talk", HandlerType: (*any)(nil), Streams: []grpc.StreamDesc{{StreamName: "Converse", Handler: converse, ServerStreams: true, ClientStreams: true}}}, nil)
	go func() { _ = back.Serve(origin) }()
	t.Cleanup(back.Stop)
	h := newHandler(t, "example.com", true, (&net.Dialer{}).DialContext)
	h.origin = NewOrigin([]Target{target}, First, Health{}, Connections{Connect: connectTime, Head: 30 * time.Second, KeepAlive: true, TLS: &tls.Config{RootCAs: believed, ServerName: "example.com"}}, (&net.Dialer{}).DialContext)
	t.Cleanup(h.origin.Close)
	server := &http.Server{Handler: h, ErrorLog: silent, Protocols: new(http.Protocols), TLSConfig: &tls.Config{Certificates: certificates}}
	server.Protocols.SetHTTP2(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	go func() {
		if certificates != nil {
			_ = server.ServeTLS(front, "", "")
		} else {
			_ = server.Serve(front)
		}
	}()
	t.Cleanup(func() { _ = server.Close() })
	conn, err := grpc.NewClient(front.Addr().String(), grpc.WithTransportCredentials(mine), grpc.WithDefaultCallOptions(grpc.ForceCodec(bytesCodec{})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn, h
}

func loopback(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// talk sends messages, each after the answer to the one before if turns is set, and returns the answers with the status and the trailer.
func talk(t *testing.T, conn *grpc.ClientConn, turns bool, messages ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	s, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, "/test.Talk/Converse")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range messages {
		if err := s.SendMsg(&m); err != nil {
			t.Fatal(err)
		}
		if answer := ""; turns {
			if err := s.RecvMsg(&answer); err != nil {
				t.Fatalf("no answer to %q: %v", m, err)
			}
			got = append(got, answer)
		}
	}
	if err := s.CloseSend(); err != nil {
		t.Fatal(err)
	}
	for {
		answer := ""
		if err := s.RecvMsg(&answer); errors.Is(err, io.EOF) {
			return fmt.Sprint(got, " ", s.Trailer()["x-end"])
		} else if err != nil {
			return fmt.Sprint(got, " ", status.Code(err), " ", status.Convert(err).Message())
		}
		got = append(got, answer)
	}
}

// TestGRPC passes calls of each kind, with their trailers and without storing them: also those in which a client sends nothing more until it
// has got an answer.
func TestGRPC(t *testing.T) {
	t.Parallel()
	certificates, believed := certificate(t)
	for over, certificates := range map[string][]tls.Certificate{"in clear": nil, "over TLS": certificates} {
		t.Run(over, func(t *testing.T) {
			t.Parallel()
			conn, h := newGRPC(t, certificates, believed)
			long := strings.Repeat("long ", 50_000)
			for name, row := range map[string]struct {
				turns bool
				sent  []string
				want  string
			}{
				"unary":                   {false, []string{"hello"}, "[re: hello] [trailer]"},
				"refused":                 {false, []string{"refused"}, "[] PermissionDenied not you"},
				"answers without an end":  {false, []string{"broken off"}, "[one] DataLoss no more"},
				"answers":                 {false, []string{"many answers"}, "[one two three] [trailer]"},
				"questions":               {false, []string{"many questions", "a", "b", long}, "[ab" + long + "] [trailer]"},
				"a conversation":          {true, []string{"a", "b", "c"}, "[re: a re: b re: c] [trailer]"},
				"a conversation, at once": {false, []string{"a", long}, "[re: a re: " + long + "] [trailer]"},
			} {
				for range 2 {
					if got := talk(t, conn, row.turns, row.sent...); got != row.want {
						t.Errorf("%s: %.200s, want %.200s", name, got, row.want)
					}
				}
			}
			h.store.Walk(&web.Purge{At: time.Now().Add(time.Hour)}, func(uri string, _ *web.Object) bool {
				t.Errorf("%s is stored", uri)
				return true
			})
		})
	}
}

// TestRefusedCallsOfGRPC have their status in the header of a response without a body. The test repeats this, because it once depended on timing.
func TestRefusedCallsOfGRPC(t *testing.T) {
	t.Parallel()
	conn, _ := newGRPC(t, nil, nil)
	for range 200 {
		if got := talk(t, conn, false, "refused"); got != "[] PermissionDenied not you" {
			t.Fatal(got)
		}
	}
}
