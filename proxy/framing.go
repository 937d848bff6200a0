package proxy

import "net/http"

// doubtful tells a request whose end another reader may have seen elsewhere: in
// chunks, because net/http keeps silent about a length beside them, or with a
// body in a version that knew no chunks. No caller needs either. Its connection
// ends with the answer (RFC 9112, 6.1), or what a proxy in front took for its
// body would be the next request.
func doubtful(r *http.Request) bool {
	return len(r.TransferEncoding) > 0 || r.ContentLength != 0 && r.ProtoMajor == 1 && r.ProtoMinor == 0
}
