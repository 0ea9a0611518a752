package cli

import (
	"bufio"
	"context"
	"errors"
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

// lined gives a log that can be followed line by line: a HAR file, which is
// one text, is copied as a log to a temporary file. Other sources stay, and so
// does what cannot be read: the reader says why. remove takes the copy away.
func (a *App) lined(ctx context.Context, s source) (_ source, remove func(), err error) {
	remove = func() {}
	r, err := a.open(s)
	if err != nil {
		return s, remove, nil // it is opened again, and the error told then
	}
	defer r.Close()
	var it capture.Item
	if err := r.Next(&it); err != nil || r.Format() != "HAR" {
		return s, remove, nil // the same
	}
	f, err := os.CreateTemp(a.TempDir, "mcpsnoop-*.jsonl")
	if err != nil {
		return s, remove, fmt.Errorf("keep %s as a log: %w", s.Name, plain(err))
	}
	remove = func() { _ = os.Remove(f.Name()) }
	w := bufio.NewWriter(f)
	for err == nil && ctx.Err() == nil {
		if it.Problem == nil {
			_, err = w.Write(capture.AppendRecord(nil, &it.Record))
		}
		if err == nil {
			err = r.Next(&it)
		}
	}
	if errors.Is(err, io.EOF) {
		err = w.Flush()
	}
	if err = errors.Join(err, ctx.Err(), f.Close()); err == nil {
		s.Log, err = capture.Locate(a.FS, f.Name())
	}
	if err != nil {
		remove()
		return s, func() {}, fmt.Errorf("keep %s as a log: %w", s.Name, plain(err))
	}
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
