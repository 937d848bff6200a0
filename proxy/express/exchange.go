package express

// exchange is what answering takes. Connections borrow one while they answer: one
// that waits holds none.
type exchange struct {
	head     head
	response Response
	answered int // requests since the exchange was taken
}

const (
	// batchSize bounds what is collected of the answers to a pipeline.
	batchSize = 64 << 10
	// copiedBody is the size up to which a body is copied behind its head: that costs
	// less than handing both to the kernel.
	copiedBody = 16 << 10
	// keptBuffer is the largest buffer that is kept for other answers.
	keptBuffer = batchSize + 2*copiedBody
)

func newExchange(fields *fieldTable) *exchange {
	x := &exchange{head: head{fields: fields}, response: Response{Buf: make([]byte, 0, 4<<10)}}
	x.head.request.values = make([]string, fields.configured)
	return x
}

// release forgets the connection's buffer.
func (x *exchange) release() {
	x.answered = 0
	x.head.buf = nil
	values := x.head.request.values
	clear(values)
	x.head.request = Request{values: values}
	if cap(x.response.Buf) > keptBuffer {
		x.response.Buf = nil
	}
	x.response.Buf, x.response.Body = x.response.Buf[:0], nil
}

// answer asks for the answer to the request that was read. Without an answer, the
// response is as it was.
func (x *exchange) answer(a Answerer) bool {
	r := &x.response
	before := len(r.Buf)
	if !a.Answer(&x.head.request, r) {
		r.Buf, r.Body = r.Buf[:before], nil
		return false
	}
	x.answered++
	if len(r.Body) <= copiedBody {
		r.Buf, r.Body = append(r.Buf, r.Body...), nil
	}
	return true
}

// full reports whether the response should be written before another is appended.
func (x *exchange) full() bool { return len(x.response.Buf) >= batchSize || x.response.Body != nil }
