package export

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"strconv"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// writeBuffer is how much is written at once, in bytes.
const writeBuffer = 256 << 10

// writeJSONL writes a session log again. What was chosen by a filter is
// numbered anew, says so in its meta line, and each line says which one of the
// log it was.
func writeJSONL(ctx context.Context, w io.Writer, in *Input) error {
	return writeLines(ctx, w, in, capture.AppendRecord, nil)
}

// writeTape writes mcp-tape v1.
func writeTape(ctx context.Context, w io.Writer, in *Input) error {
	var tape capture.TapeWriter
	return writeLines(ctx, w, in, tape.Append, tape.Flush)
}

// writeLines writes the records of a log, each by appending it; flush appends
// what is held back until the end.
func writeLines(ctx context.Context, w io.Writer, in *Input, add func([]byte, *capture.Record) []byte, flush func([]byte) []byte) error {
	out := bufio.NewWriterSize(w, writeBuffer)
	cut := &cutter{where: in.Where.String(), given: map[*Session]uint64{}}
	var line []byte
	err := in.Records(ctx, func(e *Entry) error {
		line = line[:0]
		if e.Session.picked != nil {
			if meta := cut.renumber(e); meta != nil {
				line = add(line, meta)
			}
		}
		line = add(line, e.Rec)
		_, err := out.Write(line)
		return err
	})
	if err != nil {
		return err
	}
	if flush != nil {
		if _, err := out.Write(flush(line[:0])); err != nil {
			return err
		}
	}
	return out.Flush()
}

// cutter makes a log of a part of a log.
type cutter struct {
	where string
	given map[*Session]uint64 // lines so far
}

// renumber gives a record the number that it has in the copy. Before the first
// record of a log without a meta line it returns one.
func (c *cutter) renumber(e *Entry) (meta *capture.Record) {
	rec := e.Rec
	n := c.given[e.Session]
	if n == 0 && rec.Direction != capture.Meta {
		n++
		meta = &capture.Record{
			SessionID: rec.SessionID, Label: rec.Label, Seq: n, TS: rec.TS, Direction: capture.Meta, Transport: rec.Transport,
			Raw: c.mark([]byte("{}")),
		}
	}
	n++
	c.given[e.Session] = n
	rec.OrigSeq, rec.Seq, rec.Dropped = rec.Seq, n, 0
	switch rec.Direction {
	case capture.Meta:
		rec.Raw = c.mark(rec.Raw)
	case capture.End:
		rec.Raw = setMember(rec.Raw, "frames", strconv.AppendInt(nil, e.Session.frameCount(), 10))
		rec.Raw = setMember(rec.Raw, "dropped", []byte("0"))
	}
	return meta
}

// mark says in a meta line which filter made the copy. A copy of a copy names
// both.
func (c *cutter) mark(meta []byte) []byte {
	where := c.where
	if before := wire.GetString(meta, "filter"); before != "" {
		where = "(" + before + ") (" + where + ")"
	}
	return setMember(meta, "filter", wire.AppendString(nil, where))
}

// setMember gives the object v with a value for one of its members, a new one
// at the end.
func setMember(v []byte, name string, value []byte) []byte {
	if wire.Get(v, name) != nil {
		return replaceMember(v, name, value)
	}
	end := bytes.LastIndexByte(v, '}')
	if end < 0 {
		return v
	}
	body := bytes.TrimRight(v[:end], " \t")
	out := append(make([]byte, 0, len(v)+len(name)+len(value)+4), body...)
	if len(body) > 0 && body[len(body)-1] != '{' {
		out = append(out, ',')
	}
	out = append(wire.AppendString(out, name), ':')
	return append(append(out, value...), '}')
}
