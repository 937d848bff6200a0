package express

import (
	"net/netip"
	"time"

	"sundry/cache/clients"
	"sundry/metrics/words"
)

// Answerer answers requests whose answers lie ready. It is called by many
// connections at once.
type Answerer interface {
	// Answer appends a complete answer, with head and body, to r, and reports whether
	// it did. Otherwise the request goes to net/http. It must not block: other requests
	// of the connection wait for it, and so does who closes it.
	Answer(q *Request, r *Response) bool
}

// MaxFields limits the fields of a request: a handler refuses one that has more, because each of them takes as much time as a
// hundred bytes. The lane leaves requests with more lines to it.
const MaxFields = 200

// ErrFields is the error of a request with more fields.
var ErrFields = words.Errorf("the request has too many fields; expected at most %d", "请求的字段太多；最多 %d 个", MaxFields)

// Request is a plain GET or HEAD request. Its strings are views of the connection's
// buffer, which are valid until Answer returns: what is kept must be cloned.
type Request struct {
	Head    bool   // the method is HEAD
	Host    string // the field Host, which is not empty
	Target  string // as net/http has it in RequestURI
	Path    string // of Target, before the first '?'; it contains no '%' and no "//"
	Query   string // of Target, after the first '?'
	Peer    netip.Addr
	Secure  bool // it came over TLS
	Arrived time.Time

	values []string // of the configured fields, in their order
	seen   uint64   // a bit for each of them
}

// Field returns the value of the i-th field of Config.Fields, without spaces around
// it, or "".
func (q *Request) Field(i int) string { return q.values[i] }

// Lines returns the value as http.Header has it: nil, or one line.
func (q *Request) Lines(i int) []string {
	if !q.Has(i) {
		return nil
	}
	return q.values[i : i+1 : i+1]
}

// Has reports whether the request has the i-th field of Config.Fields, which may be
// empty.
func (q *Request) Has(i int) bool { return q.seen&(1<<i) != 0 }

// Response is where an answer goes.
type Response struct {
	// Buf is appended to. It may hold the answers to earlier requests.
	Buf []byte
	// Body, unless it is nil, follows Buf in the answer. A large one is not copied: it
	// must never be changed.
	Body []byte
	// Client gets the answer.
	Client clients.ID
}
