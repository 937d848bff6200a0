package through

import (
	"net/http"
	"sync"
	"sync/atomic"

	"sundry/cache/web"
	"sundry/metrics/words"
)

// firstResponsesCount is the number of responses after which an operator is told that none could be stored.
const firstResponsesCount = 20

// firstResponses holds why the first responses of an API could not be stored. The first stored response ends the counting. Errors do not
// count, whether they are stored or not: any client can cause them, and they tell nothing of the other responses.
type firstResponses struct {
	state atomic.Uint32
	mu    sync.Mutex
	// findings has one element for each response that was not stored, until there are enough.
	findings []web.Finding
	finding  web.Finding // the most frequent one, while the state is unstored
}

const (
	counting uint32 = iota
	// unstored means that none of the first responses was stored.
	unstored
	// settled means that a response was stored.
	settled
)

// add adds a finding, and returns the most frequent one when there are enough of them.
func (f *firstResponses) add(one web.Finding) (most web.Finding, enough bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.state.Load() != counting {
		return most, false
	}
	f.findings = append(f.findings, one)
	if len(f.findings) < firstResponsesCount {
		return most, false
	}
	f.finding, f.findings = web.MostFrequent(f.findings), nil
	f.state.Store(unstored)
	return f.finding, true
}

// settle ends the counting.
func (f *firstResponses) settle() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.findings = nil
	f.state.Store(settled)
}

// unstoredFinding returns the most frequent finding; ok is false while no operator needs it.
func (f *firstResponses) unstoredFinding() (finding web.Finding, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.finding, f.state.Load() == unstored
}

// countStored notes that a response with a status is stored.
func (h *Handler) countStored(status int) {
	if h.first.state.Load() != settled && status < http.StatusBadRequest {
		h.first.settle()
	}
}

// whyUnstored returns why a response to a GET is not stored; nil means that it may be, that it tells nothing of others, or that the counting
// has ended.
func (h *Handler) whyUnstored(q *web.Request, r *web.Response, mayStore, fits bool) *web.Finding {
	if mayStore && fits || h.first.state.Load() != counting {
		return nil
	}
	if one, ok := web.FindingOf(q, r, fits, &h.Rules); ok {
		return &one
	}
	return nil
}

// countUnstored notes that a complete response to a GET is not stored. After as many as firstResponsesCount it logs why, once.
func (h *Handler) countUnstored(one web.Finding) {
	most, enough := h.first.add(one)
	if !enough {
		return
	}
	cause, remedy := most.Explain()
	h.log.Warn("none of the first responses of an API could be stored", "api", h.Name, "responses", firstResponsesCount, "cause", cause.EN(), "remedy", remedy.EN())
}

// Unstored says that none of the first responses could be stored, why, and what an operator can do; zero means that one was stored, or
// that too few have come.
func (h *Handler) Unstored() words.Text {
	finding, ok := h.first.unstoredFinding()
	if !ok {
		return words.Text{}
	}
	cause, remedy := finding.Explain()
	return words.Sayf("none of its first %d responses could be stored: %s; %s", "最初的 %d 个响应都未能缓存：%s；%s", firstResponsesCount, cause, remedy)
}
