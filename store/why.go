package store

import (
	"fmt"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
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
// client's; of one without an answer, that of the side that was asked.
func (s *Session) Turn(o *Operation) Turn {
	switch {
	case o.WantsInput && o.next == 0, o.TaskState == TaskInputRequired:
		return ClientsTurn
	case o.State == Pending && o.Client, o.TaskState == TaskWorking:
		return ServersTurn
	case o.State == Pending:
		return ClientsTurn
	}
	return NobodysTurn
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
