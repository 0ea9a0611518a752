package capture

import (
	"encoding/base64"
	"time"
)

// Direction says which way a frame went, or that a line is about the session itself.
type Direction uint8

// The directions of a log line. Unknown ones are skipped by every reader.
const (
	DirUnknown Direction = iota
	C2S                  // client to server
	S2C                  // server to client
	Stderr               // the server's standard error
	Meta                 // the first line of a log or segment
	End                  // the last line
)

var directionNames = [...]string{"", "c2s", "s2c", "stderr", "meta", "end"}

// String is the word for it in the log.
func (d Direction) String() string { return directionNames[d] }

// IsFrame reports whether the line holds something that crossed the wire.
func (d Direction) IsFrame() bool { return d == C2S || d == S2C || d == Stderr }

func parseDirection(s []byte) Direction {
	for d := C2S; d <= End; d++ {
		if string(s) == directionNames[d] {
			return d
		}
	}
	return DirUnknown
}

// Transport is how client and server talk.
type Transport uint8

// The transports.
const (
	TransportUnknown Transport = iota
	Stdio
	HTTP
)

var transportNames = [...]string{"", "stdio", "http"}

// String is the word for it in the log.
func (t Transport) String() string { return transportNames[t] }

// Record is one line of a session log. Members that are absent have their zero
// value. At most one of Raw, Text and Bytes holds the frame.
type Record struct {
	SessionID string
	Label     string
	Seq       uint64
	TS        time.Time
	Direction Direction
	Transport Transport

	Raw   []byte // the JSON message as it stood on the wire
	Text  string // what is not JSON; HasText tells an empty text from none
	Bytes []byte // what is not UTF-8

	HasText bool
	Size    int64 // length on the wire without the line end; 0 when it is what is kept
	EOL     string

	Truncated, Redacted, Batch, Reflowed bool

	Dropped uint64
	OrigSeq uint64

	ConnID     string
	Exchange   uint64
	MCPSession string

	MCPMethod, MCPName, MCPProtocolVersion string
	MCPParamHeaders                        []ParamHeader

	HTTP          *HTTPFacts
	Status        int
	AuthChallenge []string
	Auth          *AuthFacts
}

// ParamHeader is one Mcp-Param-* routing header (2026-07-28, transports#custom-headers).
type ParamHeader struct {
	Name     string
	Value    string
	Redacted bool
}

// HTTPFacts is what the specification states rules about, each only when
// present. Paths come without their query.
type HTTPFacts struct {
	Method, Path, Accept, ContentType string
	ContentLength                     *int64
	Origin, Host, UserAgent, Encoding string
	LastEventID, Allow, Location      string
	AccelBuffering                    string
	End                               string // server, client or reset: how an event stream ended

	Session    *SessionHeader
	SSE        *SSEFacts
	QueryToken bool
	Repeated   []string // names of headers that stood more than once
	Doc        string   // prm or as: an authorization document
	Mapped     []Mapping
}

// SessionHeader is the shape of an Mcp-Session-Id, never the id.
type SessionHeader struct {
	Len   int
	ASCII bool // visible ASCII only
}

// SSEFacts are the fields of one server-sent event beside its data.
type SSEFacts struct {
	Event    string
	ID       string
	HasID    bool
	Retry    int64
	HasRetry bool
}

// Mapping says that the proxy changed a URL in what it passed on.
type Mapping struct{ What, From, To string }

// AuthFacts are facts derived from a credential, never the credential.
type AuthFacts struct {
	Present bool
	Scheme  string
	SHA256  string // first 16 hex digits
	InBody  bool
	JWT     *JWTFacts
}

// JWTFacts are claims read from a token whose signature nobody verified.
type JWTFacts struct {
	Aud             []string
	Iss, Scope, Sub string
	Exp             int64 // seconds since 1970, 0 when absent
}

// Body returns the frame as far as it is kept: JSON, text or bytes.
func (r *Record) Body() []byte {
	switch {
	case r.Raw != nil:
		return r.Raw
	case r.HasText:
		return []byte(r.Text)
	}
	return r.Bytes
}

// HasBody reports whether the line holds a frame, be it empty.
func (r *Record) HasBody() bool { return r.Raw != nil || r.HasText || r.Bytes != nil }

// WireSize is the length of the frame on the wire in bytes, without its line end.
func (r *Record) WireSize() int64 {
	if r.Size > 0 {
		return r.Size
	}
	if r.HasText {
		return int64(len(r.Text))
	}
	return int64(len(r.Raw) + len(r.Bytes))
}

const timeLayout = "2006-01-02T15:04:05.000000000Z"

func appendBase64(dst, b []byte) []byte { return base64.StdEncoding.AppendEncode(dst, b) }
