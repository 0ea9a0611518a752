package store

import (
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// Kind is what a frame is.
type Kind uint8

// The kinds of frames.
const (
	KindNone         Kind = iota // a line without a message: a status, the head or end of a stream
	KindRequest                  // a JSON-RPC request
	KindNotification             // a JSON-RPC notification
	KindResult                   // a JSON-RPC response with a result
	KindError                    // a JSON-RPC error response
	KindInvalid                  // on a protocol channel, and no JSON-RPC message
	KindStderr                   // a line of the server's standard error
	KindBody                     // an HTTP body that is no message: text, HTML, a document
)

// String is the word for the kind, as the filter language has it.
func (k Kind) String() string {
	return [...]string{"http", "req", "notify", "resp", "resp", "invalid", "stderr", "http"}[k]
}

// Flags are what else is known of a frame.
type Flags uint16

// The flags.
const (
	Truncated  Flags = 1 << iota // the recorded copy was cut
	Redacted                     // the recorder took secrets out
	Batch                        // an element of a JSON-RPC batch
	Gap                          // frames are missing just before this one
	NoEOL                        // the stream ended inside this line
	Late                         // an answer after the cancel
	Unpaired                     // a response that answers nothing seen, or a cancel of nothing seen
	Replayed                     // an event that a resumed stream brought again
	IsTool                       // a frame of a tools/call operation
	StreamEnd                    // the end of an event stream
	StreamHead                   // the head of an event stream
	Blank                        // an empty line
	Repeat                       // a notification like the frame before it: of the same method and the same call
)

// Frame is one row of the index: a fixed 64 bytes, never changed once
// published. Strings and the body are found through its Session.
type Frame struct {
	Offset   int64  // of the log line in its segment
	TS       int64  // nanoseconds since 1970, UTC
	Seq      uint64 // number in the log
	Length   uint32 // of the log line in bytes, without its line end
	Size     uint32 // of the frame on the wire in bytes
	Line     uint32 // number of the line in its segment, from 1
	op       uint32 // index of the operation + 1
	method   uint32 // name of the method, also on responses that were paired
	exchange uint32
	rev      revision
	Status   uint16 // HTTP status, 0 when none
	segment  uint16
	sub      uint16 // which frame of the line, for formats that keep batches in one
	client   uint16
	Flags    Flags
	Kind     Kind
	dir      capture.Direction
}

// Direction says which way the frame went.
func (f *Frame) Direction() capture.Direction { return f.dir }

// Time is when the last byte of the frame had been read.
func (f *Frame) Time() time.Time { return time.Unix(0, f.TS).UTC() }

// Has reports whether all the flags are set.
func (f *Frame) Has(fl Flags) bool { return f.Flags&fl == fl }

// Exchange is the number of the HTTP exchange within the log, 0 for none.
func (f *Frame) Exchange() uint64 { return uint64(f.exchange) }

// Client numbers the client session that the frame belongs to, from 0.
func (f *Frame) Client() int { return int(f.client) }

// Op is the index of the operation that the frame belongs to.
func (f *Frame) Op() (OpIndex, bool) { return OpIndex(f.op - 1), f.op > 0 }

func kindOf(rec *capture.Record, m *wire.Message) Kind {
	switch {
	case rec.Direction == capture.Stderr:
		return KindStderr
	case rec.Raw == nil && !rec.Truncated:
		return kindOfText(rec)
	}
	switch m.Kind {
	case wire.Request:
		return KindRequest
	case wire.Notification:
		return KindNotification
	case wire.Result:
		return KindResult
	case wire.Error:
		return KindError
	case wire.Other:
	}
	if rec.HTTP != nil && rec.HTTP.Doc != "" || rec.Status >= 400 {
		return KindBody
	}
	return KindInvalid
}

// kindOfText tells what a frame without JSON is. On HTTP a text body beside
// an error status is ordinary; on stdio nothing but messages may pass.
func kindOfText(rec *capture.Record) Kind {
	switch {
	case !rec.HasBody():
		return KindNone
	case rec.Transport == capture.HTTP:
		return KindBody
	}
	return KindInvalid
}
