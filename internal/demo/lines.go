package demo

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// maxLine bounds a line that the client takes from its server.
const maxLine = 1 << 20

// lineWriter hands each Write to w in one piece, whichever goroutine it comes
// from. The SDK writes one frame in one Write, so lines never cut frames.
type lineWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lineWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// Close does nothing: the stream belongs to whoever gave it.
func (l *lineWriter) Close() error { return nil }

// printf writes one line; what it says about a stream that is gone is lost.
func (l *lineWriter) printf(format string, args ...any) {
	_, _ = l.Write(fmt.Appendf(nil, format+"\n", args...))
}

// countWriter counts the writes that have reached w.
type countWriter struct {
	io.WriteCloser

	mu   sync.Mutex
	n    int
	grew chan struct{}
}

func newCountWriter(w io.WriteCloser) *countWriter {
	return &countWriter{WriteCloser: w, grew: make(chan struct{})}
}

func (c *countWriter) Write(p []byte) (int, error) {
	n, err := c.WriteCloser.Write(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	close(c.grew)
	c.grew = make(chan struct{})
	return n, err
}

// next returns a channel that is closed with the next write that ends.
func (c *countWriter) next() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.grew
}

// jsonLines passes on the lines of src that are JSON objects and gives the
// others to stray. The SDK's reader ends the connection at the first byte that
// is not JSON; clients that are kinder to their servers filter like this.
type jsonLines struct {
	src   io.ReadCloser
	lines *bufio.Scanner
	stray func(line string)
	buf   []byte // the line that is being read, and its line end
	rest  []byte // what of buf has not been read yet
}

func newJSONLines(src io.ReadCloser, stray func(line string)) *jsonLines {
	s := bufio.NewScanner(src)
	s.Buffer(nil, maxLine)
	return &jsonLines{src: src, lines: s, stray: stray}
}

func (j *jsonLines) Read(p []byte) (int, error) {
	for len(j.rest) == 0 {
		if !j.lines.Scan() {
			if err := j.lines.Err(); err != nil {
				return 0, err
			}
			return 0, io.EOF
		}
		line := bytes.TrimSpace(j.lines.Bytes())
		switch {
		case len(line) == 0:
		case line[0] == '{' && json.Valid(line):
			j.buf = append(append(j.buf[:0], line...), '\n')
			j.rest = j.buf
		default:
			j.stray(string(line))
		}
	}
	n := copy(p, j.rest)
	j.rest = j.rest[n:]
	return n, nil
}

func (j *jsonLines) Close() error { return j.src.Close() }
