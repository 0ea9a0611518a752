package tui

import (
	"context"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// Replayer sends captured calls again.
type Replayer interface {
	// Plan says what would be sent and to whom, and sends nothing. With
	// params the call's params are these instead of the captured ones. The
	// error says why the call cannot be sent again.
	Plan(s *store.Session, op uint32, params []byte) (ReplayPlan, error)
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
	// Request is the message as it would be sent.
	Request []byte
	// Command does the same without the UI; "" when there is none.
	Command string
	// Edited says that params were given.
	Edited bool
}

// ReplayAnswer is what came back.
type ReplayAnswer struct {
	// Message is the answer as it came.
	Message []byte
	// TookNanos is the time from sending to the answer.
	TookNanos int64
	// Notes are what else is to be said: standard error of a process that
	// died, a challenge.
	Notes []string
}
