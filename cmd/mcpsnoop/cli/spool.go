package cli

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

// spool copies a log from standard input to a temporary file, for commands
// that read a log more than once. Other sources stay. remove takes the file
// away.
func (a *App) spool(ctx context.Context, s source) (_ source, remove func(), err error) {
	if !s.Stdin {
		return s, func() {}, nil
	}
	if a.ReadOnly {
		return s, nil, errReadOnly
	}
	f, err := os.CreateTemp(a.TempDir, "mcpsnoop-*.jsonl")
	if err != nil {
		return s, nil, fmt.Errorf("keep standard input for a second reading: %w", err)
	}
	remove = func() { _ = os.Remove(f.Name()) }
	_, err = io.Copy(f, contextReader{ctx, a.In})
	if err2 := f.Close(); err == nil {
		err = err2
	}
	if err != nil {
		remove()
		return s, nil, fmt.Errorf("keep standard input for a second reading: %w", err)
	}
	if s.Log, err = capture.Locate(a.FS, f.Name()); err != nil {
		remove()
		return s, nil, fmt.Errorf("read standard input again: %w", err)
	}
	s.Log.ID = "stdin"
	s.Stdin = false
	return s, remove, nil
}

// contextReader reads until the context ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.r.Read(p)
}
