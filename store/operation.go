package store

import (
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// OpIndex numbers the operations of a session in the order of their requests.
type OpIndex uint32

// State is where an operation stands.
type State uint8

// The states of an operation. A late answer does not change Cancelled.
const (
	Pending   State = iota // no answer, no cancel
	OK                     // answered with a result
	Failed                 // answered with an error, or a result with isError
	Cancelled              // given up by the side that asked
)

// String is the word for the state.
func (s State) String() string { return [...]string{"pending", "ok", "error", "cancelled"}[s] }

// Operation is a request and all that belongs to it, in 128 bytes. Readers get copies that
// never change; the appender publishes a new one when something happened.
type Operation struct {
	ID       wire.ID
	Start    int64 // nanoseconds since 1970: when the request had been read
	Finish   int64 // when the answer or the cancel had been read, 0 while pending
	LastSign int64 // newest progress or message that belongs to it, 0 for none

	Request  uint32 // frame index
	answer   uint32 // frame index + 1
	cancel   uint32
	late     uint32
	method   uint32
	name     uint32
	exchange uint32
	prev     uint32 // index + 1 of the operation that this one retries
	next     uint32 // index + 1 of the retry
	task     uint32 // name of the task
	last     uint32 // index + 1 of its newest frame
	rev      revision
	Progress uint32    // progress notifications so far
	Polls    uint32    // tasks/get requests for its task
	rules    *[]uint32 // names of the rules that marked it, nil for none; never written to once set

	signals    signals
	Status     uint16 // highest HTTP status of its answers, 0 when none
	client     uint16
	trip       uint16
	link       Link
	hasToken   bool
	State      State
	TaskState  TaskState
	Lost       Loss // what became of the way of its answer
	ToolError  bool // the failure is a result with isError, not a JSON-RPC error
	Uncertain  bool // its id was in flight twice: which answer is whose is a guess
	WantsInput bool // its answer asks for input (2026-07-28)
	Client     bool // asked by the client; false for a server's request
	Cut        bool // its answer was recorded cut
}

// marked lists the names of the rules that marked the operation.
func (o *Operation) marked() []uint32 {
	if o.rules == nil {
		return nil
	}
	return *o.rules
}

// Answer is the index of the answering frame.
func (o *Operation) Answer() (uint32, bool) { return o.answer - 1, o.answer > 0 }

// Cancel is the index of the frame that gave the operation up.
func (o *Operation) Cancel() (uint32, bool) { return o.cancel - 1, o.cancel > 0 }

// Late is the index of an answer that came after the cancel.
func (o *Operation) Late() (uint32, bool) { return o.late - 1, o.late > 0 }

// ClientIndex numbers the client session that asked or was asked, from 0.
func (o *Operation) ClientIndex() int { return int(o.client) }

// Duration is how long the operation took; for one without an end, until now.
func (o *Operation) Duration(now time.Time) time.Duration {
	if o.Finish > 0 {
		return time.Duration(o.Finish - o.Start)
	}
	return max(0, time.Duration(now.UnixNano()-o.Start))
}

// Direction is the way the request went.
func (o *Operation) Direction() capture.Direction {
	if o.Client {
		return capture.C2S
	}
	return capture.S2C
}
