package checks

import (
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
)

// Signal is what a finding counts as. The words are those of --fail-on.
type Signal string

// The signals, in the order in which reports list them.
const (
	Error      Signal = "error"       // a call failed, or HTTP said 4xx or 5xx
	Invalid    Signal = "invalid"     // bytes or messages that are not legal
	Warn       Signal = "warn"        // a rule of the protocol is broken
	Mismatch   Signal = "mismatch"    // routing headers are missing or contradict the body
	Pending    Signal = "pending"     // a call has no answer
	LateResult Signal = "late-result" // an answer came after the cancel
	Drift      Signal = "drift"       // a definition differs from its baseline
	Deprecated Signal = "deprecated"  // legal, and on its way out
	Incomplete Signal = "incomplete"  // the record has holes
	Schema     Signal = "schema"      // legal, and clients handle it badly
	Auth       Signal = "auth"        // a claim that nobody verified
	Info       Signal = "info"        // worth knowing
)

var signals = []Signal{Error, Invalid, Warn, Mismatch, Pending, LateResult, Drift, Deprecated, Incomplete, Schema, Auth, Info}

// Signals lists all signals in the order of reports. The caller does not change it.
func Signals() []Signal { return signals }

// index is the place of the signal in signals.
func (s Signal) index() int {
	for i, o := range signals {
		if o == s {
			return i
		}
	}
	return len(signals) - 1
}

// key is the name of the signal as a member of JSON reports.
func (s Signal) key() string { return strings.ReplaceAll(string(s), "-", "_") }

// Level is how binding a rule is.
type Level string

// The levels.
const (
	Must   Level = "must"   // the specification says MUST, or the bytes are not legal
	Should Level = "should" // it says SHOULD, or the evidence is less than complete
	Note   Level = "note"   // no rule of the specification
)

// Revisions is a set of revisions of the specification. As a property of a
// rule it says where the rule holds; as a property of a frame, which revisions
// it may belong to: one when it is known, several when it is not. A rule
// applies to a frame when it holds in each of them.
type Revisions uint8

// The revisions, and the sets of them that rules are stated for.
const (
	R1 Revisions = 1 << iota // 2024-11-05
	R2                       // 2025-03-26
	R3                       // 2025-06-18
	R4                       // 2025-11-25
	R5                       // 2026-07-28 and later

	Legacy   = R1 | R2 | R3 | R4 // those with the initialize handshake
	Modern   = R5                // those with metadata on each request
	AnyRev   = Legacy | Modern
	R2Up     = R2 | R3 | R4 | R5
	R3Up     = R3 | R4 | R5
	R4Up     = R4 | R5
	Sessions = R2 | R3 | R4 // streamable HTTP with sessions and resumable streams
)

// within reports whether all of r is in o.
func (r Revisions) within(o Revisions) bool { return r&^o == 0 }

// revisionsOf is the set for one revision. A date that is not in the list
// belongs to the newest one that is not newer; what is no date is unknown.
func revisionsOf(v mcp.Revision) Revisions {
	if !v.Known() {
		return AnyRev
	}
	set := R1
	for i, r := range mcp.Revisions() {
		if v >= r {
			set = 1 << i
		}
	}
	return set
}

// String lists the revisions as dates; "all" for all of them.
func (r Revisions) String() string {
	if r&AnyRev == AnyRev {
		return "all"
	}
	var out []string
	for i, v := range mcp.Revisions() {
		if r&(1<<i) != 0 {
			out = append(out, string(v))
		}
	}
	return strings.Join(out, ", ")
}

// Transports is a set of transports.
type Transports uint8

// The transports a rule is stated for.
const (
	OnStdio Transports = 1 << iota
	OnHTTP
	AnyTransport = OnStdio | OnHTTP
)

// String is the word for the set: stdio, http or both.
func (t Transports) String() string {
	switch t {
	case OnStdio:
		return "stdio"
	case OnHTTP:
		return "http"
	}
	return "both"
}
