package admin

import (
	"errors"
	"net/http"
	"strconv"

	"sundry/metrics/words"
	"sundry/proxy/live"
	"sundry/upstreams/lib/redact"
)

// maxKey limits the key of a change, in bytes: the last 450 keys are encoded again with each change.
const maxKey = 2 << 10

// change makes a change in the name of the caller and returns its record.
func (a *api) change(r *http.Request, c live.Change) (recordView, error) {
	if len(c.Key) > maxKey {
		return recordView{}, badRequest("a key, URL, prefix or tag: expected at most %d bytes, got %d; a prefix also purges longer URLs", "键、URL、前缀或标签：最多 %d 字节，而不是 %d 字节；更长的 URL 可用前缀清除", maxKey, len(c.Key))
	}
	var err error
	if c.By, err = operator(r); err != nil {
		return recordView{}, err
	}
	record, err := a.Replicator.Change(r.Context(), c)
	if err != nil {
		return recordView{}, err
	}
	a.Log.Info("changed by an operator", "seq", record.Seq, "by", record.By, "from", r.RemoteAddr)
	_, pending := a.Replicator.AuditLog()
	return newRecordView(record, pending[record.ID]), nil
}

// fields of a record, without its methods: as a part of recordView, it is not to encode itself.
type fields live.Record

// recordView is a record of the audit log in the API.
type recordView struct {
	fields
	// Pending means in force on this instance only, until it can be stored.
	Pending bool `json:"pending,omitempty"`
}

func newRecordView(r live.Record, pending bool) recordView {
	if r.Do == live.DoDrop {
		r.Note = redact.Query(r.Note) // it may be a URL
	}
	return recordView{fields(r), pending}
}

func (v recordView) status() int {
	if v.Pending {
		return http.StatusAccepted
	}
	return http.StatusOK
}

func (a *api) audit(*http.Request) (any, error) {
	s, pending := a.Replicator.AuditLog()
	records := make([]recordView, len(s.Audit))
	for i, r := range s.Audit {
		records[i] = newRecordView(r, pending[r.ID])
	}
	return map[string]any{"seq": s.Seq, "audit": records, "pending": len(pending), "cache": s.Cache, "breakers": s.Breakers, "purges": s.Purges}, nil
}

func (a *api) undo(r *http.Request) (any, error) {
	change := r.PathValue("change")
	by, err := operator(r)
	if err != nil {
		return nil, err
	}
	c, err := a.Replicator.Settings().Undo(change, by, a.Replicator.Now())
	switch _, noNumber := strconv.ParseInt(change, 10, 64); {
	case errors.Is(err, live.ErrNoChange) && noNumber != nil:
		return nil, notFound(words.Say("change", "更改"), change)
	case errors.Is(err, live.ErrNoChange):
		return nil, badRequest("change %s is not in the audit log", "审计日志中没有更改 %s", change)
	case errors.Is(err, live.ErrChangedSince):
		return nil, refuse(http.StatusConflict, wordsOf(err))
	case err != nil:
		return nil, told("", err)
	}
	return a.change(r, c)
}
