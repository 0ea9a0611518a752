package checks

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/redact"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// Finding is a rule that was broken, or another thing that went wrong, on the
// frame where it showed first. Repeats of one fault are one finding: the same
// rule on the same subject (the tool, else the method, and the JSON path).
type Finding struct {
	Rule   *Rule
	Signal Signal // of the rule, or less where the evidence is less
	Level  Level

	Seq   uint64 // number of the frame in the log; 0 when it is no matter of a frame
	Line  int    // line of the log, from 1; 0 for none
	Count int    // how often

	Segment int // file of the log that the line is of, from 1; 0 for the first

	Frame    uint32 // index of the frame in its session
	HasFrame bool
	Frames   []uint32      // indexes of the frames of the repeats too, the first ones
	Op       store.OpIndex // operation of the frame
	HasOp    bool

	ID      string // JSON text of the id
	Method  string
	Tool    string // what is addressed: a tool, a prompt, a resource
	Path    string // JSON pointer within the subject
	Message string
	Client  string // what the client of Options.Client does about it; "" for nothing that is known
}

// maxFrames bounds Finding.Frames.
const maxFrames = 64

// subject is what tells one finding from another.
type subject struct {
	rule *Rule
	name string // tool, else method
	path string
}

// findings collects what was found in one session.
type findings struct {
	list  []*Finding
	index map[subject]*Finding
}

// find returns the finding of a subject; it is new when its Count is 0. Beyond
// the bound there is one a rule for all that is new.
func (f *findings) find(s subject) *Finding {
	if found := f.index[s]; found != nil {
		return found
	}
	if len(f.list) >= maxFindings {
		s.name, s.path = "", "(more)"
		if found := f.index[s]; found != nil {
			return found
		}
	}
	n := &Finding{Rule: s.rule, Signal: s.rule.Signal, Level: s.rule.Level}
	if f.index == nil {
		f.index = map[subject]*Finding{}
	}
	f.index[s] = n
	f.list = append(f.list, n)
	return n
}

// add counts one more, on a frame when it has one.
func (f *Finding) add(frame uint32, ok bool) {
	f.Count++
	if ok && len(f.Frames) < maxFrames {
		f.Frames = append(f.Frames, frame)
	}
}

// sorted is the list in the order of the log; what is no matter of a frame
// stands at the end.
func (f *findings) sorted() []*Finding {
	out := slices.Clone(f.list)
	slices.SortStableFunc(out, func(a, b *Finding) int {
		switch {
		case a.Seq == b.Seq:
			return a.Signal.index() - b.Signal.index()
		case a.Seq == 0:
			return 1
		case b.Seq == 0 || a.Seq < b.Seq:
			return -1
		}
		return 1
	})
	return out
}

// message formats and bounds the text of a finding.
func message(format string, args ...any) string {
	s := format
	if len(args) > 0 {
		s = fmt.Sprintf(format, args...)
	}
	return clip(s, maxMessage)
}

// clip cuts s to at most n bytes, at a rune, and says so.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n-len("…")], "") + "…"
}

// quote shows a string from the wire in a message: quoted, escaped and short.
func quote(s string) string { return fmt.Sprintf("%q", clip(s, 80)) }

// show shows a JSON value from the wire in a message.
func show(v val) string {
	if v.isString() {
		return quote(v.str())
	}
	if !v.ok() {
		return "nothing"
	}
	return strings.Join(strings.Fields(clip(string(v.raw()), 80)), " ")
}

// pointerToken escapes a name for a JSON pointer.
func pointerToken(s string) string {
	return clip(strings.NewReplacer("~", "~0", "/", "~1").Replace(s), maxSubjectLen)
}

// marked reports whether a mark of redaction stands in a value: no rule judges
// what it hides.
func marked(v val) bool {
	return bytes.Contains(v.raw(), []byte("[REDACTED")) && redact.HasMark(string(v.raw()))
}

// hasMark does the same for a text that was taken from a message.
func hasMark(s string) bool { return strings.Contains(s, "[REDACTED") && redact.HasMark(s) }
