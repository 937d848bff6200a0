package minecraft

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Status is the status that a server reports. Empty texts and nil are unknown.
type Status struct {
	Version    string
	Protocol   *int
	Online     *int
	Max        *int
	Software   string   // Paper, Velocity, Forge …
	Sample     []Player // some of the players
	Mods       []Mod
	MOTD       string // plain
	MOTDRaw    string // with § codes
	Icon       string // data URI of a PNG, or ""
	SecureChat bool
	Latency    *time.Duration
	Address    string // of the connection
	Port       uint16 // of the target
	SRV        bool   // the address is from an SRV record
}

// Data is the status as JSON-ready values.
func (s Status) Data() map[string]any {
	sample := make([]any, len(s.Sample))
	for i, p := range s.Sample {
		sample[i] = map[string]any{"name": p.Name, "uuid": textOrNil(p.UUID)}
	}
	mods := make([]any, len(s.Mods))
	for i, m := range s.Mods {
		mods[i] = map[string]any{"name": m.Name, "version": textOrNil(m.Version)}
	}
	d := map[string]any{
		"online": true, "edition": "java", "port": int(s.Port), "address": s.Address, "srv": s.SRV,
		"software": textOrNil(s.Software), "version": textOrNil(s.Version), "protocol": orNil(s.Protocol),
		"players": map[string]any{"online": orNil(s.Online), "max": orNil(s.Max), "sample": sample},
		"motd":    s.MOTD, "motd_raw": s.MOTDRaw, "icon": textOrNil(s.Icon), "secure_chat": s.SecureChat,
		"latency_ms": nil, "mods": mods,
	}
	if s.Latency != nil {
		d["latency_ms"] = int(s.Latency.Milliseconds())
	}
	return d
}

func textOrNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func orNil(n *int) any {
	if n == nil {
		return nil
	}
	return *n
}

// wireStatus is the response's JSON; all of it is optional.
type wireStatus struct {
	Version struct {
		Name     string `json:"name"`
		Protocol any    `json:"protocol"`
	} `json:"version"`
	Players struct {
		Online any          `json:"online"`
		Max    any          `json:"max"`
		Sample []wirePlayer `json:"sample"`
	} `json:"players"`
	Description        json.RawMessage `json:"description"`
	Favicon            string          `json:"favicon"`
	EnforcesSecureChat bool            `json:"enforcesSecureChat"`
	wireMods
}

func parseStatus(text []byte) (Status, error) {
	var w wireStatus
	if text = bytes.TrimSpace(withoutControls(text)); !bytes.HasPrefix(text, []byte("{")) {
		return Status{}, errors.New("status is not a JSON object")
	}
	if err := decode(text, &w); err != nil {
		return Status{}, fmt.Errorf("status: %w", err)
	}
	raw, err := flatten(w.Description)
	if err != nil {
		return Status{}, err
	}
	s := Status{
		Version: line(w.Version.Name, maxVersion), Protocol: number(w.Version.Protocol),
		Online: number(w.Players.Online), Max: number(w.Players.Max),
		MOTD: clean(raw, maxMOTD), MOTDRaw: printable(raw, maxRaw),
		Icon: icon(w.Favicon), SecureChat: w.EnforcesSecureChat,
		Sample: players(w.Players.Sample), Mods: w.mods(), Software: w.software(w.Version.Name),
	}
	return s, nil
}

// withoutControls replaces control characters with spaces: JSON does not allow them in
// texts, and the game's own list accepts them.
func withoutControls(text []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, text)
}

// decode decodes JSON and ignores fields of the wrong type, as the game's own list
// does with the mistakes of plugins. Its error is a fixed text, because those of
// encoding/json contain parts of the input.
func decode(raw []byte, v any) error {
	err := json.Unmarshal(raw, v)
	var wrong *json.UnmarshalTypeError
	if err != nil && !errors.As(err, &wrong) {
		return errors.New("malformed JSON")
	}
	return nil
}

// number is a JSON number, or one in quotes, of 32 bits; nil for anything else.
func number(v any) *int {
	f, ok := v.(float64)
	if s, quoted := v.(string); quoted {
		n, err := strconv.ParseFloat(s, 64)
		f, ok = n, err == nil
	}
	if !ok || !(f >= math.MinInt32 && f <= math.MaxInt32) { // negated, so that it is true for NaN as well
		return nil
	}
	return new(int(f))
}
