package tui

import (
	"context"
	"os/exec"
	"time"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// Replayer sends captured calls again. What it shows is redacted as the viewer
// sees the session.
type Replayer interface {
	// Plan says what would be sent and to whom, and sends nothing. With
	// params the call's params are these instead of the captured ones. The
	// error says why the call cannot be sent again.
	Plan(s *store.Session, op uint32, params []byte) (ReplayPlan, error)
	// Params are those of the captured call, for editing them: also of one
	// that cannot be sent as it is.
	Params(s *store.Session, op uint32) ([]byte, error)
	// Send does it. What it returns is the answer, also when that is an error
	// of the server; the error is for when there was no answer.
	Send(ctx context.Context, p ReplayPlan) (ReplayAnswer, error)
}

// ReplayPlan is a call that is ready to be sent.
type ReplayPlan struct {
	Session *store.Session
	Op      uint32
	// Target is what runs or is dialled: a command line or an address.
	Target string
	// Starts says that Target is a command, which runs in Dir.
	Starts bool
	Dir    string
	// Method and Name are what is called.
	Method, Name string
	// Request is the message as it would be sent.
	Request []byte
	// Command does the same without the UI; "" when there is none.
	Command string
	// Edited says that params were given.
	Edited bool
	// Notes are what is to be known before it is sent.
	Notes []string
	// Recorded is how the captured call ended.
	Recorded ReplayEnd
	// Call is the Replayer's own.
	Call any
}

// ReplayEnd is how a call ended.
type ReplayEnd struct {
	// Message is the answer as it came; nil for none.
	Message []byte
	State   store.State
	Took    time.Duration
	// Cut says that Message is only the beginning.
	Cut bool
}

// ReplayAnswer is what came back.
type ReplayAnswer struct {
	ReplayEnd
	// Notes are what else is to be said: standard error of a process that
	// died, a challenge.
	Notes []string
}

// Editor lets the user edit a text in a program of their own.
type Editor interface {
	// Open puts the text where only the user can read it and gives the program
	// that edits it there. What done returns is the text after that; it takes
	// the copy away.
	Open(text []byte) (program *exec.Cmd, done func() ([]byte, error), err error)
}
