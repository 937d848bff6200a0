package jq

import (
	"fmt"
	"time"

	"sundry/upstreams/waybill"
)

// carriers is the function carriers: who may have a parcel of this number.
func carriers(id string) any {
	var out = []any{}
	for _, c := range waybill.Recognize(id) {
		out = append(out, map[string]any{"code": c.Code, "name": c.Name, "confidence": c.Confidence, "why": c.Why})
	}
	return out
}

// carrierName is the function carrier_name; null for a code that is not known.
func carrierName(code string) any {
	if name, ok := waybill.Carrier(code); ok {
		return name
	}
	return nil
}

// trail is the function trail: events of {time, text, place} as they came, made
// one trail, newest first. Phone numbers in it are masked.
func trail(v any) any {
	list, ok := v.([]any)
	if !ok {
		return fmt.Errorf("trail: want an array of events, got %T", v)
	}
	events := make([]waybill.Event, 0, len(list))
	for _, item := range list {
		m, _ := item.(map[string]any)
		at, err := waybill.ParseTime(AsText(m["time"]))
		if err != nil {
			return fmt.Errorf("trail: %w", err)
		}
		text, place := AsText(m["text"]), AsText(m["place"])
		events = append(events, waybill.Event{Time: at, Text: waybill.MaskPhones(text), Place: place})
	}
	out := make([]any, 0, len(events))
	for _, e := range waybill.Sort(events) {
		out = append(out, map[string]any{"time": e.Time.Format(time.RFC3339), "text": e.Text, "place": OrNil(e.Place)})
	}
	return out
}

// OrNil is the string, or nil for an empty one: null in JSON.
func OrNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// toKdniao is the function to_kdniao; null where the service has no code.
func toKdniao(code string) any {
	if c, ok := waybill.ToKdniao(code); ok {
		return c
	}
	return nil
}
