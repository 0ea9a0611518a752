package store

// Signal is what a finding means for a gate. The words are those of --fail-on.
type Signal uint8

// The signals.
const (
	SignalError      Signal = iota // a failed call
	SignalInvalid                  // bytes or messages that are not legal
	SignalWarn                     // a protocol rule is broken
	SignalMismatch                 // routing headers missing or against the body
	SignalPending                  // no answer
	SignalLateResult               // an answer after the cancel
	SignalDrift                    // tools changed against the baseline
	SignalDeprecated               // a feature on its way out
	SignalIncomplete               // frames lost or cut
	SignalSchema                   // constructs that clients handle badly
	SignalAuth                     // claims that cannot be verified
	SignalInfo                     // worth knowing
	signalCount
)

var signalNames = [signalCount]string{
	"error", "invalid", "warn", "mismatch", "pending", "late-result", "drift", "deprecated", "incomplete", "schema", "auth", "info",
}

// String is the word for the signal.
func (g Signal) String() string { return signalNames[g] }

// Signals lists all signals in the order of the command line's documentation.
func Signals() []Signal {
	out := make([]Signal, signalCount)
	for i := range out {
		out[i] = Signal(i)
	}
	return out
}

// Mark is a finding on a frame: which rule, and what it means.
type Mark struct {
	Frame  uint32
	rule   uint32 // number of the rule's name
	next   uint32 // index + 1 of the mark before this one on the same frame
	Signal Signal
}
