package checks

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Baseline is what was trusted of a server: definitions, and which fields of
// them it can answer for.
type Baseline struct {
	Version  int                                   `json:"version"`
	Label    string                                `json:"label"`
	Origin   string                                `json:"origin,omitempty"`
	Session  string                                `json:"session"`
	Recorded time.Time                             `json:"recorded"`
	Tracks   map[string][]string                   `json:"tracks"`
	Kinds    map[string]map[string]json.RawMessage `json:"definitions"`

	items map[string]Items
}

// NewBaseline makes a baseline of the definitions of a session.
func NewBaseline(label, session string, recorded time.Time, d *Definitions) *Baseline {
	b := &Baseline{Version: 1, Label: label, Origin: d.Origin, Session: session, Recorded: recorded.UTC(), Tracks: map[string][]string{}, items: d.Kinds}
	for _, k := range defKinds() {
		if d.Kinds[k.kind] != nil {
			b.Tracks[k.kind] = k.fields
		}
	}
	return b
}

// Encode writes the baseline as it is kept: sorted, one definition a line as
// far as that goes, so that a change can be read in a diff.
func (b *Baseline) Encode() ([]byte, error) {
	b.Kinds = map[string]map[string]json.RawMessage{}
	for kind, items := range b.items {
		b.Kinds[kind] = map[string]json.RawMessage{}
		for name, fields := range items {
			raw := map[string]json.RawMessage{}
			for f, v := range fields {
				raw[f] = json.RawMessage(v)
			}
			text, err := json.Marshal(raw)
			if err != nil {
				return nil, fmt.Errorf("encode %s: %w", name, err)
			}
			b.Kinds[kind][name] = text
		}
	}
	text, err := json.MarshalIndent(b, "", " ")
	if err != nil {
		return nil, fmt.Errorf("encode the baseline of %s: %w", b.Label, err)
	}
	return append(text, '\n'), nil
}

var errBaseline = errors.New("not a baseline")

// ParseBaseline reads what Encode wrote.
func ParseBaseline(text []byte) (*Baseline, error) {
	b := &Baseline{}
	if err := json.Unmarshal(text, b); err != nil {
		return nil, fmt.Errorf("%w: %w", errBaseline, err)
	}
	if b.Version < 1 || b.Kinds == nil {
		return nil, errBaseline
	}
	b.items = map[string]Items{}
	for kind, list := range b.Kinds {
		b.items[kind] = Items{}
		for name, text := range list {
			var raw map[string]json.RawMessage
			if err := json.Unmarshal(text, &raw); err != nil {
				return nil, fmt.Errorf("%w: %s: %w", errBaseline, name, err)
			}
			fields := Fields{}
			for f, v := range raw {
				fields[f] = canonicalText(v)
			}
			b.items[kind][name] = fields
		}
	}
	return b, nil
}

// Tools are the names of the tools in the baseline.
func (b *Baseline) Tools() []string {
	var out []string
	for name := range b.items["tools"] {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Untracked lists the fields that the baseline cannot answer for: it was made
// before they were looked at, or before that kind was listed.
func (b *Baseline) Untracked(d *Definitions) []string {
	var out []string
	for _, k := range defKinds() {
		switch {
		case d.Kinds[k.kind] == nil:
		case b.Tracks[k.kind] == nil:
			out = append(out, k.kind)
		default:
			for _, f := range k.fields {
				if !slices.Contains(b.Tracks[k.kind], f) {
					out = append(out, k.kind+"."+f)
				}
			}
		}
	}
	return out
}

// Comparable reports whether the definitions are of the server that the
// baseline was made of.
func (b *Baseline) Comparable(d *Definitions) bool {
	return b.Origin == "" || d.Origin == "" || b.Origin == d.Origin
}
