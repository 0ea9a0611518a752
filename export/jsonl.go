package export

import (
	"bufio"
	"context"
	"io"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

// writeBuffer is how much is written at once, in bytes.
const writeBuffer = 256 << 10

// writeJSONL writes a session log again.
func writeJSONL(ctx context.Context, w io.Writer, in *Input) error {
	out := bufio.NewWriterSize(w, writeBuffer)
	var line []byte
	err := in.Records(ctx, func(e *Entry) error {
		line = capture.AppendRecord(line[:0], e.Rec)
		_, err := out.Write(line)
		return err
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

// writeTape writes mcp-tape v1.
func writeTape(ctx context.Context, w io.Writer, in *Input) error {
	out := bufio.NewWriterSize(w, writeBuffer)
	var tape capture.TapeWriter
	var line []byte
	err := in.Records(ctx, func(e *Entry) error {
		line = tape.Append(line[:0], e.Rec)
		_, err := out.Write(line)
		return err
	})
	if err != nil {
		return err
	}
	if _, err := out.Write(tape.Flush(line[:0])); err != nil {
		return err
	}
	return out.Flush()
}
