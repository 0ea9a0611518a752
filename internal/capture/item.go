package capture

import "fmt"

// Ref says where a record stands, so that Bodies can read it again.
type Ref struct {
	Segment int   // 1 for the first file of the session
	Offset  int64 // of the line's first byte in the segment, decompressed
	Length  int   // of the line in bytes, without its line end
	Sub     int   // which frame of the line, from 0, where one line holds several
}

// Pos is a place to go on reading: everything before it has been read.
type Pos struct {
	Session string // id of the session that the segment begins with; "" when not known
	Segment int    // from 1; 0 means the first
	Offset  int64  // behind a whole line
}

// Item is what a Reader and a Tailer give: a record, or a Problem in its place.
type Item struct {
	Record  Record // Raw aliases a buffer that the next item overwrites; all else is owned
	Ref     Ref
	Line    int      // number of the line in its segment, from 1
	Problem *Problem // when not nil there is no record
}

// ProblemKind says what is wrong with a line or a log.
type ProblemKind uint8

// What can be wrong with a line (up to TooLong), and what can happen to a log
// that is followed. Each is reported once, where it was met.
const (
	NotJSON   ProblemKind = iota + 1 // a damaged line
	NotRecord                        // JSON, but no record
	Torn                             // the log ends inside this line
	Glued                            // the line feed between records is lost; whole records are given
	Woven                            // parts of several records in one line
	NULs                             // zero bytes, as a crash leaves them
	TooLong                          // longer than MaxLine
	Truncated                        // the log was cut; reading begins again at its start
	Replaced                         // another file stands in the log's place
	Deleted                          // the log is gone; it is awaited
)

var problemTexts = [...]string{
	"", "not JSON", "not a record", "incomplete: the log ends inside this line", "no line end between records",
	"two records woven into one line", "filled with zero bytes (NUL)", "longer than the limit",
	"the log was truncated", "the log was replaced", "the log was deleted",
}

// String describes the kind in a few words.
func (k ProblemKind) String() string { return problemTexts[k] }

// Problem is a bad line, skipped, or a mishap of a log that is followed.
type Problem struct {
	Kind    ProblemKind
	Segment int
	Line    int // from 1; 0 when it is no matter of a line
	Offset  int64
	Length  int64 // bytes skipped
	Err     error // more about it; may be nil
}

// Error says where and what.
func (p *Problem) Error() string {
	s := p.Kind.String()
	switch {
	case p.Err == nil:
	case p.Kind == NotJSON: // which is what Err says
		s = p.Err.Error()
	default:
		s += ": " + p.Err.Error()
	}
	switch {
	case p.Line == 0:
		return s
	case p.Segment > 1:
		return fmt.Sprintf("segment %d, line %d: %s", p.Segment, p.Line, s)
	}
	return fmt.Sprintf("line %d: %s", p.Line, s)
}

// Unwrap gives Err.
func (p *Problem) Unwrap() error { return p.Err }
