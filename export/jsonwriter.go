package export

import (
	"bufio"
	"strconv"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// jsonWriter writes a JSON text piece by piece. Values from the wire go in as
// they stand: a number keeps its digits and a string its spelling. It makes no
// errors of its own; the writer below remembers the first.
type jsonWriter struct {
	w       *bufio.Writer
	scratch []byte
	comma   bool // something stands before the next member or element
}

func (j *jsonWriter) raw(s string) { _, _ = j.w.WriteString(s) }

func (j *jsonWriter) sep() {
	if j.comma {
		j.raw(",")
	}
	j.comma = true
}

func (j *jsonWriter) open(bracket string) { j.sep(); j.raw(bracket); j.comma = false }

func (j *jsonWriter) close(bracket string) { j.raw(bracket); j.comma = true }

// line begins a new line for what comes next. The comma stands before it.
func (j *jsonWriter) line() {
	if j.comma {
		j.raw(",")
		j.comma = false
	}
	j.raw("\n")
}

// member writes the name of a member; its value comes next.
func (j *jsonWriter) member(name string) {
	if j.comma {
		j.raw(",")
	}
	j.raw(`"`)
	j.raw(name) // one of ours
	j.raw(`":`)
	j.comma = false
}

func (j *jsonWriter) text(name, v string) {
	j.member(name)
	j.string(v)
}

func (j *jsonWriter) string(v string) {
	j.sep()
	j.scratch = wire.AppendString(j.scratch[:0], v)
	_, _ = j.w.Write(j.scratch)
}

// stringBytes writes a string value.
func (j *jsonWriter) stringBytes(v []byte) {
	j.sep()
	j.scratch = wire.AppendString(j.scratch[:0], v)
	_, _ = j.w.Write(j.scratch)
	if cap(j.scratch) > writeBuffer { // after a huge frame
		j.scratch = nil
	}
}

// textIf writes a member unless it is empty.
func (j *jsonWriter) textIf(name, v string) {
	if v != "" {
		j.text(name, v)
	}
}

// value writes JSON as it stands. v must not lie in scratch.
func (j *jsonWriter) value(name string, v []byte) {
	j.member(name)
	_, _ = j.w.Write(v)
	j.comma = true
}

func (j *jsonWriter) num(name string, n int64) {
	j.member(name)
	j.scratch = strconv.AppendInt(j.scratch[:0], n, 10)
	_, _ = j.w.Write(j.scratch)
	j.comma = true
}

func (j *jsonWriter) numIf(name string, n int64) {
	if n != 0 {
		j.num(name, n)
	}
}

func (j *jsonWriter) yes(name string, v bool) {
	if v {
		j.literal(name, "true")
	}
}

// bool writes the value of the member that was named last.
func (j *jsonWriter) bool(v bool) {
	j.raw(strconv.FormatBool(v))
	j.comma = true
}

func (j *jsonWriter) literal(name, v string) {
	j.member(name)
	j.raw(v)
	j.comma = true
}

// time writes a time, null for none.
func (j *jsonWriter) time(name string, t time.Time) {
	if t.IsZero() {
		j.literal(name, "null")
		return
	}
	j.stamp(name, t)
}

// stamp writes a time.
func (j *jsonWriter) stamp(name string, t time.Time) {
	j.member(name)
	j.scratch = append(t.UTC().AppendFormat(append(j.scratch[:0], '"'), time.RFC3339Nano), '"')
	_, _ = j.w.Write(j.scratch)
	j.comma = true
}

// millis writes a duration in milliseconds, exact to the nanosecond.
func (j *jsonWriter) millis(name string, d time.Duration) {
	j.member(name)
	j.scratch = strconv.AppendFloat(j.scratch[:0], float64(d)/1e6, 'f', -1, 64)
	_, _ = j.w.Write(j.scratch)
	j.comma = true
}
