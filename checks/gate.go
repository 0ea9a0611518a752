package checks

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Gate says what makes a check fail. The zero Gate lets everything pass.
type Gate struct {
	FailOn []Signal // findings of these; Warn trips on Mismatch too

	ExpectTools []string // each must have been called, whatever came back
	ForbidTools []string // none of them may have been called

	// Of ended tools/call operations; the retries of a call are one with it. 0 is no bound.
	MaxDuration       time.Duration // from the first request to the last answer
	MaxServerDuration time.Duration // of that, what the server took
	MaxRoundTrips     int           // requests of one call, also of calls that are still open
	MaxAuthAttempts   int           // attempts of one authorization ladder

	MaxDefinitionBytes int64 // of one whole tools/list, white space removed
	MaxResultBytes     int64 // of the largest single result, as it came
}

// DefaultFailOn are the signals that fail a check unless others are named.
func DefaultFailOn() []Signal { return []Signal{Error, Invalid, Warn} }

// ParseSignals reads the words of --fail-on: signals with commas between them,
// all, or none.
func ParseSignals(s string) ([]Signal, error) {
	out := []Signal{}
	for w := range strings.SplitSeq(s, ",") {
		w = strings.TrimSpace(w)
		switch {
		case w == "" || w == "none":
		case w == "all":
			out = append(out, signals...)
		case slices.Contains(signals, Signal(w)):
			if !slices.Contains(out, Signal(w)) {
				out = append(out, Signal(w))
			}
		default:
			return nil, fmt.Errorf("%q is no signal; want all, none or some of %s", w, words(signals))
		}
	}
	return out, nil
}

func words(s []Signal) string {
	out := make([]string, len(s))
	for i := range s {
		out[i] = string(s[i])
	}
	return strings.Join(out, ",")
}

// trips reports whether findings of signal s fail the gate.
func (g *Gate) trips(s Signal) bool {
	return slices.Contains(g.FailOn, s) || s == Mismatch && slices.Contains(g.FailOn, Warn)
}

// Assertion is one assertion of a Gate, judged.
type Assertion struct {
	Flag    string `json:"flag"`
	Value   string `json:"value"`
	OK      bool   `json:"ok"`
	Message string `json:"message"`
}

// assert judges all assertions of the gate.
func (r *Report) assert() {
	g := &r.gate
	for _, t := range g.ExpectTools {
		n := r.facts.tools[t]
		r.add("--expect-tool", t, n > 0, toolMessage(t, n))
	}
	for _, t := range g.ForbidTools {
		n := r.facts.tools[t]
		r.add("--forbid-tool", t, n == 0, toolMessage(t, n))
	}
	bound(r, "--max-duration", g.MaxDuration, r.facts.total, time.Duration.String)
	bound(r, "--max-server-duration", g.MaxServerDuration, r.facts.server, time.Duration.String)
	bound(r, "--max-round-trips", g.MaxRoundTrips, r.facts.trips, func(n int) string { return fmt.Sprintf("%d", n) })
	bound(r, "--max-auth-attempts", g.MaxAuthAttempts, r.facts.attempts, func(n int) string { return fmt.Sprintf("%d", n) })
	bound(r, "--max-definition-bytes", g.MaxDefinitionBytes, r.facts.definitions, func(n int64) string { return fmt.Sprintf("%d", n) })
	bound(r, "--max-result-bytes", g.MaxResultBytes, r.facts.result, func(n int64) string { return fmt.Sprintf("%d", n) })
}

func toolMessage(tool string, n int) string {
	switch n {
	case 0:
		return fmt.Sprintf("%s was not called", tool)
	case 1:
		return fmt.Sprintf("%s was called once", tool)
	}
	return fmt.Sprintf("%s was called %d times", tool, n)
}

func (r *Report) add(flag, value string, ok bool, message string) {
	r.Assertions = append(r.Assertions, Assertion{flag, value, ok, message})
}

// most is the largest value that was seen, and where.
type most[T time.Duration | int | int64] struct {
	value T
	what  string
}

func (m *most[T]) see(v T, what func() string) {
	if v > m.value {
		m.value, m.what = v, what()
	}
}

func bound[T time.Duration | int | int64](r *Report, flag string, limit T, seen most[T], show func(T) string) {
	if limit <= 0 {
		return
	}
	text := "nothing to measure"
	if seen.value > 0 {
		text = fmt.Sprintf("the most is %s, of %s", show(seen.value), seen.what)
	}
	r.add(flag, show(limit), seen.value <= limit, text)
}
