package store

import (
	"fmt"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
)

// Turn says who has to act next for a call to end.
type Turn uint8

// Whose turn it is.
const (
	NobodysTurn Turn = iota
	ServersTurn
	ClientsTurn // or that of its user
)

// String names the side.
func (t Turn) String() string { return [...]string{"nobody", "server", "client"}[t] }

// Turn says whose turn it is in an operation: of one that wants input, the
// client's; of one without an answer, that of the side that was asked, but the
// client's while it owes the server an answer.
func (s *Session) Turn(o *Operation) Turn {
	_, owed := s.Owed(o)
	switch {
	case owed:
		return ClientsTurn
	case o.WantsInput && o.next == 0, o.TaskState == TaskInputRequired:
		return ClientsTurn
	case o.State == Pending && o.Client, o.TaskState == TaskWorking:
		return ServersTurn
	case o.State == Pending:
		return ClientsTurn
	}
	return NobodysTurn
}

// maxOwed is how many operations after a call are looked at for what is owed.
const maxOwed = 1000

// Owed is what the server has asked the client since a call that is still open,
// and the client has not answered: the server may not be able to go on without.
func (s *Session) Owed(o *Operation) (*Operation, bool) {
	if o.State != Pending || !o.Client {
		return nil, false
	}
	at, ok := s.Frame(o.Request).Op()
	if !ok {
		return nil, false
	}
	for i := at + 1; i < min(s.OpLen(), at+maxOwed); i++ {
		asked := s.Op(i)
		if asked.Client || asked.State != Pending || asked.client != o.client {
			continue
		}
		switch s.OpMethod(asked) {
		case mcp.Elicit, mcp.CreateMessage, mcp.RootsList:
			return asked, true
		}
	}
	return nil, false
}

// Why says in words why an operation has no answer, "" when it has one.
func (s *Session) Why(o *Operation) string {
	switch {
	case o.State == Cancelled && o.Lost == ClientLeft:
		return "cancelled: the client closed the stream"
	case o.State == Cancelled:
		return "cancelled by the side that asked"
	case o.State != Pending:
		return ""
	}
	switch o.Lost {
	case StreamEnded:
		return "the server ended the event stream before its answer"
	case StreamReset:
		return "the connection was lost before the answer"
	case ClientLeft:
		return "the client closed the event stream before the answer"
	case NotLost:
	}
	sum := s.Summary()
	switch {
	case sum.Ended:
		return whyEnded(&sum.End)
	case sum.Torn:
		return "the capture was cut short"
	}
	return "no answer by the end of the capture"
}

// whyEnded says in words how a session ended that left a call unanswered.
func whyEnded(e *capture.EndInfo) string {
	switch {
	case e.Signal != "":
		return fmt.Sprintf("the server was ended by %s", e.Signal)
	case e.ExitCode != nil:
		return fmt.Sprintf("the server exited with code %d", *e.ExitCode)
	case e.Reason != "":
		return e.Reason
	}
	return "the session ended"
}
