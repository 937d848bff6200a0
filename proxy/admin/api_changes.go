package admin

import (
	"fmt"
	"net/http"
	"time"

	"sundry/proxy/live"
)

// change carries out a change and answers with its record.
func (a *api) change(r *http.Request, c live.Change) (recordView, error) {
	c.By = who(r)
	s, err := a.Replicator.Change(r.Context(), c)
	if err != nil {
		return recordView{}, err
	}
	record := s.Audit[len(s.Audit)-1]
	return recordView{record, a.Replicator.IsPending(record)}, nil
}

// recordView is a change as the API tells it.
type recordView struct {
	live.Record
	// Pending: it is in force on this instance alone until the store is back.
	Pending bool `json:"pending,omitempty"`
}

func (v recordView) status() int {
	if v.Pending {
		return http.StatusAccepted
	}
	return http.StatusOK
}

func (a *api) audit(*http.Request) (any, error) {
	s, kept := a.Replicator.AuditLog()
	records := make([]recordView, len(s.Audit))
	for i, r := range s.Audit {
		records[i] = recordView{r, r.Seq > kept}
	}
	return map[string]any{"seq": s.Seq, "audit": records, "pending": s.Seq - kept, "knobs": s.Cache, "breakers": s.Breakers, "purges": s.Purges}, nil
}

func (a *api) undo(r *http.Request) (any, error) {
	var seq int64
	if _, err := fmt.Sscan(r.PathValue("seq"), &seq); err != nil {
		return nil, absent("change", r.PathValue("seq"))
	}
	c, err := a.Replicator.Settings().Undo(seq, who(r), time.Now())
	if err != nil {
		return nil, bad("%w", err)
	}
	return a.change(r, c)
}
