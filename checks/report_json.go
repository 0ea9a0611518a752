package checks

import (
	"encoding/json"
	"io"
)

// The JSON report. Members are added, never renamed or removed.
type (
	reportJSON struct {
		Version    int           `json:"version"`
		Sessions   []sessionJSON `json:"sessions"`
		Assertions []Assertion   `json:"assertions"`
		Failed     []string      `json:"failed"`
		Exit       int           `json:"exit"`
	}
	sessionJSON struct {
		ID       string        `json:"id"`
		Label    string        `json:"label"`
		Path     string        `json:"path"`
		Frames   uint64        `json:"frames"`
		Calls    Calls         `json:"calls"`
		Signals  signalsJSON   `json:"signals"`
		Findings []findingJSON `json:"findings"`
		Client   *clientJSON   `json:"client,omitempty"`
	}
	clientJSON struct {
		Name  string     `json:"name"`
		Tools int        `json:"tools"`
		Lost  []lostJSON `json:"lost"`
	}
	lostJSON struct {
		Tool  string   `json:"tool"`
		Rules []string `json:"rules"`
	}
	signalsJSON struct {
		Error      int `json:"error"`
		Invalid    int `json:"invalid"`
		Warn       int `json:"warn"`
		Mismatch   int `json:"mismatch"`
		Pending    int `json:"pending"`
		LateResult int `json:"late_result"`
		Drift      int `json:"drift"`
		Deprecated int `json:"deprecated"`
		Incomplete int `json:"incomplete"`
		Schema     int `json:"schema"`
		Auth       int `json:"auth"`
		Info       int `json:"info"`
	}
	findingJSON struct {
		Rule    string `json:"rule"`
		Signal  Signal `json:"signal"`
		Level   Level  `json:"level"`
		Seq     uint64 `json:"seq,omitempty"`
		Line    int    `json:"line,omitempty"`
		Count   int    `json:"count"`
		ID      string `json:"id,omitempty"`
		Method  string `json:"method,omitempty"`
		Tool    string `json:"tool,omitempty"`
		Path    string `json:"path,omitempty"`
		Message string `json:"message"`
		Spec    string `json:"spec,omitempty"`
		Client  string `json:"client,omitempty"`
	}
)

// WriteJSON writes the report for programs.
func (r *Report) WriteJSON(w io.Writer) error {
	out := reportJSON{Version: 1, Sessions: []sessionJSON{}, Assertions: r.Assertions, Failed: r.Failed, Exit: r.Exit}
	for _, s := range r.Sessions {
		j := sessionJSON{
			ID: s.ID, Label: s.Label, Path: s.Path, Frames: s.Frames, Calls: s.Calls,
			Signals: namedCounts(s.Signals), Findings: []findingJSON{},
		}
		for _, f := range s.Findings {
			j.Findings = append(j.Findings, findingJSON{
				f.Rule.ID, f.Signal, f.Level, f.Seq, f.Line, f.Count, f.ID, f.Method, f.Tool, f.Path, f.Message, f.Rule.Spec, f.Client,
			})
		}
		if c := s.Client; c != nil {
			j.Client = &clientJSON{c.Client, c.Tools, []lostJSON{}}
			for _, l := range c.Lost {
				j.Client.Lost = append(j.Client.Lost, lostJSON(l))
			}
		}
		out.Sessions = append(out.Sessions, j)
	}
	return encode(w, out)
}

// namedCounts puts the counts in the order of signals under their names.
func namedCounts(c Counts) signalsJSON {
	return signalsJSON{c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], c[9], c[10], c[11]}
}

func encode(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(v)
}
