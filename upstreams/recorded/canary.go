package recorded

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"sundry/upstreams"
)

// askForCanary asks a source for an input that cannot exist, where one is declared. A
// source that answers it as it answered the real one says nothing about either.
// Replay would answer every input alike.
func (s *Subject) askForCanary(ctx context.Context, f *Finding) {
	if len(s.Source.Canary) == 0 || s.endpoint.Replayed() {
		return
	}
	query, _ := url.ParseQuery(f.query) // the real call was made of it
	for name, value := range s.Source.Canary {
		query.Set(name, value)
	}
	call, err := s.callOf(query.Encode(), "", f.Call.Now)
	if err != nil {
		f.Notes = append(f.Notes, "the canary is refused: "+err.Error())
		return
	}
	answer, err := s.probe(ctx, call, nil)
	if err == nil && sameAnswer(f.Call, &f.Answer, call, &answer) {
		f.Health, f.Notes = Indifferent, append(f.Notes, "its answer to "+canaryText(s.Source.Canary)+", which cannot exist, is the same")
	}
}

func canaryText(canary map[string]string) string {
	var input []string
	for _, name := range slices.Sorted(maps.Keys(canary)) {
		input = append(input, name+"="+canary[name])
	}
	return strings.Join(input, " ")
}

// sameAnswer compares two answers, apart from the input that they repeat.
func sameAnswer(call *upstreams.Call, answer *upstreams.Answer, other *upstreams.Call, otherAnswer *upstreams.Answer) bool {
	if answer.Blob != nil && otherAnswer.Blob != nil {
		return bytes.Equal(answer.Blob.Bytes, otherAnswer.Blob.Bytes)
	}
	return reflect.DeepEqual(withoutInput(plain(answer.Data), call), withoutInput(plain(otherAnswer.Data), other))
}

// withoutInput is data with the values of the parameters blanked.
func withoutInput(v any, call *upstreams.Call) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, field := range v {
			out[name] = withoutInput(field, call)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = withoutInput(item, call)
		}
		return out
	case nil, bool:
		return v
	}
	for name, value := range call.Params {
		if fmt.Sprint(value) == fmt.Sprint(v) {
			return "parameter " + name
		}
	}
	return v
}
