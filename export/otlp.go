package export

import (
	"bufio"
	"context"
	"io"

	"github.com/mcpsnoop/mcpsnoop/internal/otlp"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// writeOTLP writes OTLP JSON: a TracesData with one ResourceSpans a session.
// What tools were given and gave is part of it, in the attributes that the
// conventions have for that: who writes a file has asked for it.
func writeOTLP(ctx context.Context, w io.Writer, in *Input) error {
	out := bufio.NewWriterSize(contextWriter{ctx, w}, writeBuffer)
	if _, err := out.WriteString(`{"resourceSpans":[`); err != nil {
		return err
	}
	bodies := newBodyReader(in)
	bodies.calls = true
	for n, s := range in.Sessions() {
		sep := "\n"
		if n > 0 {
			sep = ",\n"
		}
		if _, err := out.WriteString(sep); err != nil {
			return err
		}
		var pick func(store.OpIndex) bool
		if s.picked != nil {
			pick = s.hasOp
		}
		spans := otlp.NewSpans(s.Session, bodies.record, s.until())
		spans.Content = true
		if err := otlp.WriteJSON(out, spans, in.Version, pick); err != nil {
			return err
		}
	}
	if _, err := out.WriteString("]}\n"); err != nil {
		return err
	}
	return out.Flush()
}

// contextWriter writes until the context ends.
type contextWriter struct {
	ctx context.Context
	w   io.Writer
}

func (c contextWriter) Write(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.w.Write(p)
}
